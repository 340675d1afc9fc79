package ddb

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/events"
	"inorder/ordering"
)

var (
	testTables = Tables{Entities: "entities", Items: "items"}
	testKey    = ordering.Key{Consumer: "c", Stream: "s", ID: "a"}
)

// The limits that the contract names fit into one expression each, with room for what else a write says.
func TestExpressionsFitAtTheLimits(t *testing.T) {
	merge := ordering.Merge{Floor: events.SeqClock(1, 0), Last: fullLast()}
	for i := range ordering.MaxMergeParts {
		name := fmt.Sprint("attribute", i)
		merge.Parts = append(merge.Parts, ordering.Part{Name: name, Clock: "1", Set: map[string]any{name: "x"}})
	}
	update, err := testTables.mergeUpdate(testKey, merge)
	fits(t, "Merge", update, err)

	add := ordering.Addition{Last: fullLast(), GapSince: time.Unix(1, 0), Amounts: map[string]events.Number{}}
	for i := range ordering.MaxAddNumbers {
		add.Numbers = append(add.Numbers, math.MaxInt64-int64(ordering.MaxAddNumbers-i))
	}
	for i := range 20 {
		add.Amounts[fmt.Sprint("sum", i)] = "1"
	}
	update, err = testTables.addUpdate(testKey, add)
	fits(t, "Add", update, err)
}

func fits(t *testing.T, name string, update *types.Update, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, e := range []string{*update.UpdateExpression, *update.ConditionExpression} {
		t.Logf("%s: %d bytes, %d operators", name, len(e), countOperators(e))
	}
}

// A source that owns more than an update can say gets ErrTooComplex before any request, and the caller swaps the whole.
func TestMergeThatDoesNotFit(t *testing.T) {
	part := ordering.Part{Name: "crm", Clock: "1", Set: map[string]any{}}
	for fitting := 0; ; fitting++ {
		part.Set[fmt.Sprint("attribute", fitting)] = "x"
		_, err := testTables.mergeUpdate(testKey, ordering.Merge{Parts: []ordering.Part{part}, Last: fullLast()})
		if err == nil {
			continue
		}
		if !errors.Is(err, ordering.ErrTooComplex) {
			t.Fatal(err)
		}
		if fitting < 250 {
			t.Errorf("only %d attributes of one source fit", fitting)
		}
		t.Logf("%d attributes of one source fit", fitting)
		return
	}
}

func TestOperatorsAreCounted(t *testing.T) {
	for expression, want := range map[string]int{
		"#0 = :0":                                      1,
		"#0 <> :0 AND #1 >= :1":                        3,
		"NOT (contains(#0, :0) OR #1 < 2)":             4,
		"SET #0 = if_not_exists(#0, :0), #1 = #1 + :1": 3,
		"REMOVE #0, #1":                                0,
		"attribute_not_exists(#0)":                     1,
		"#0 BETWEEN :0 AND :1 OR #IN":                  3,
		"ADD #0 :0 DELETE #1 :1":                       0,
	} {
		if got := countOperators(expression); got != want {
			t.Errorf("%s has %d operators, counted %d", expression, want, got)
		}
	}
}

// No write is without a condition, but those whose condition is a marker; and each tells what is there when it fails.
func TestEveryWriteHasACondition(t *testing.T) {
	absent, old := &ordering.Entity{}, &ordering.Entity{Exists: true, Rev: 3}
	next := &ordering.Entity{Exists: true, Rev: 1, StateMarks: ordering.StateMarks{Clock: events.SeqClock(1, 2)}}
	create, err1 := testTables.swapPut(testKey, absent, next)
	swap, err2 := testTables.swapPut(testKey, old, next)
	newer, err3 := testTables.newerPut(testKey, next)
	row, err4 := testTables.rowPut(testKey, ordering.Row{Seq: 1})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]*types.Put{
		"create": create, "swap": swap, "newer": newer, "row": row, "marker": testTables.markerPut(ordering.Marker{}),
		"audit": testTables.auditPut(testKey, ordering.Audit{}), "bookmark": testTables.bookmarkPut("c", "", "a"),
		"moved bookmark": testTables.bookmarkPut("c", "a", "b"),
	} {
		if put.ConditionExpression == nil || put.ReturnValuesOnConditionCheckFailure != returnOld {
			t.Errorf("%s: %+v", name, put)
		}
		checkPlaceholders(t, name, *put.ConditionExpression, put.ExpressionAttributeNames, put.ExpressionAttributeValues)
	}
	merge, err1 := testTables.mergeUpdate(testKey, ordering.Merge{Parts: []ordering.Part{{Name: "a", Clock: "1", Tomb: true}}})
	add, err2 := testTables.addUpdate(testKey, ordering.Addition{Numbers: []int64{1}})
	first, err3 := testTables.firstAddUpdate(testKey, ordering.Addition{Numbers: []int64{1}, GapSince: time.Unix(1, 0)})
	up, err4 := testTables.catchUpUpdate(testKey, old, 1, time.Time{}, "t")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	for name, update := range map[string]*types.Update{
		"merge": merge, "add": add, "first add": first, "catch up": up,
		"extend": testTables.rowUpdate(testKey, ordering.Row{Seq: 1, EventID: "e"}, time.Unix(1, 0)),
	} {
		if update.ConditionExpression == nil || update.ReturnValuesOnConditionCheckFailure != returnOld {
			t.Errorf("%s: %+v", name, update)
		}
		all := *update.ConditionExpression + " " + *update.UpdateExpression
		checkPlaceholders(t, name, all, update.ExpressionAttributeNames, update.ExpressionAttributeValues)
	}
}

// No deletion is without a condition either.
func TestEveryDeletionHasACondition(t *testing.T) {
	row := testTables.rowDelete(testKey, ordering.Row{Seq: 1, EventID: "e", ExpiresAt: time.Unix(1, 0)})
	if row.ReturnValuesOnConditionCheckFailure != returnOld {
		t.Errorf("the deletion of a row: %+v", row)
	}
	checkPlaceholders(t, "row", *row.ConditionExpression, row.ExpressionAttributeNames, row.ExpressionAttributeValues)
	mark := testTables.bookmarkDelete("c", "a")
	checkPlaceholders(t, "bookmark", *mark.ConditionExpression, mark.ExpressionAttributeNames, mark.ExpressionAttributeValues)
}

// DynamoDB refuses a placeholder that is defined and not used, as well as the reverse.
func checkPlaceholders(t *testing.T, write, expression string, names map[string]string, values item) {
	t.Helper()
	used := make(map[string]bool)
	for _, token := range strings.FieldsFunc(expression, func(r rune) bool { return strings.ContainsRune(" ,()", r) }) {
		if token[0] == '#' || token[0] == ':' {
			used[token] = true
		}
	}
	if len(used) != len(names)+len(values) {
		t.Errorf("%s: %d placeholders are used, %d names and %d values defined: %s", write, len(used), len(names), len(values), expression)
	}
	for placeholder := range used {
		if names[placeholder] == "" && values[placeholder] == nil {
			t.Errorf("%s: %s is not defined", write, placeholder)
		}
	}
}

func fullLast() ordering.Last {
	at := time.Unix(1, 0)
	return ordering.Last{
		EventID: "e", Source: "s", Fingerprint: "f", Type: "t", Clock: "c", PublishedAt: at, ReceivedAt: at,
		AppliedAt: at, MessageID: "m", ReceiveCount: 1,
	}
}
