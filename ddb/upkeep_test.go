package ddb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/events"
	"inorder/ordering"
)

// halfway is a database that answers a batch with as many items as it is told, one number for each request, and with all
// when they are used up. It has an entity for every key, of which those of broken cannot be understood.
type halfway struct {
	API
	answers []int
	asked   [][]string
	broken  string
}

func (h *halfway) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	request := in.RequestItems["entities"]
	take := len(request.Keys)
	if n := len(h.asked); n < len(h.answers) {
		take = h.answers[n]
	}
	var asked []string
	var items []item
	for i, key := range request.Keys {
		pk := key[attrPK].(*types.AttributeValueMemberS).Value
		asked = append(asked, pk)
		if i >= take {
			continue
		}
		it := item{attrPK: text(pk), attrRev: integer(7)}
		if strings.HasSuffix(pk, h.broken) && h.broken != "" {
			it[attrRev] = text("seven")
		}
		items = append(items, it)
	}
	h.asked = append(h.asked, asked)
	out := &dynamodb.BatchGetItemOutput{Responses: map[string][]item{"entities": items}}
	if take < len(request.Keys) {
		left := request
		left.Keys = request.Keys[take:]
		out.UnprocessedKeys = map[string]types.KeysAndAttributes{"entities": left}
	}
	if request.ConsistentRead == nil || !*request.ConsistentRead {
		return nil, errors.New("a read that may be of yesterday")
	}
	return out, nil
}

func keysOf(n int) []ordering.Key {
	keys := make([]ordering.Key, n)
	for i := range keys {
		keys[i] = ordering.Key{Consumer: "c", Stream: "s", ID: fmt.Sprint(i)}
	}
	return keys
}

// What an answer leaves out is asked for again, for as long as answers bring something; three in a row that bring
// nothing are a throttle, as three tries of any other request are.
func TestUnprocessedKeysAreAskedForAgain(t *testing.T) {
	for _, c := range []struct {
		keys    int
		answers []int
		asked   []int // keys of each request
		want    error
	}{
		{keys: 3, asked: []int{3}},
		{keys: 250, asked: []int{100, 100, 50}},
		{keys: 130, answers: []int{52}, asked: []int{100, 48, 30}},
		{keys: 5, answers: []int{0, 0, 1, 0, 0, 2}, asked: []int{5, 5, 5, 4, 4, 4, 2}},
		{keys: 5, answers: []int{0, 0, 0}, asked: []int{5, 5, 5}, want: ordering.ErrThrottled},
		{keys: 5, answers: []int{3, 0, 0, 0}, asked: []int{5, 2, 2, 2}, want: ordering.ErrThrottled},
	} {
		h := &halfway{answers: c.answers}
		s := &Store{API: h, Tables: testTables}
		reads, err := s.Entities(t.Context(), keysOf(c.keys))
		var asked []int
		for _, keys := range h.asked {
			asked = append(asked, len(keys))
		}
		if !errors.Is(err, c.want) || !slices.Equal(asked, c.asked) {
			t.Errorf("%+v: %v after requests of %v keys", c, err, asked)
		}
		if c.want == nil && (len(reads) != c.keys || slices.ContainsFunc(reads, unread)) {
			t.Errorf("%+v: not all of them were read", c)
		}
	}
}

func unread(r ordering.EntityRead) bool { return r.Err != nil || r.Entity.Rev != 7 }

// An entity that cannot be understood, and a key that no table can hold, are their own trouble; and a key that is asked
// for twice, which the database would refuse, is asked for once.
func TestOneEntityHurtsNoOther(t *testing.T) {
	h := &halfway{broken: "/1"}
	keys := keysOf(4)
	keys[2].ID = strings.Repeat("x", maxKeyBytes)
	keys = append(keys, keys[0], keys[1])
	reads, err := (&Store{API: h, Tables: testTables}).Entities(t.Context(), keys)
	if err != nil || len(reads) != len(keys) {
		t.Fatalf("%d of %d, %v", len(reads), len(keys), err)
	}
	for i, read := range reads {
		bad := i == 1 || i == 2 || i == 5
		if (read.Err != nil) != bad || (read.Entity == nil) != bad {
			t.Errorf("%d: %+v", i, read)
		}
	}
	if !errors.Is(reads[2].Err, ErrBadKey) || !strings.Contains(reads[1].Err.Error(), "read c/s/1: attribute _rev") {
		t.Errorf("the errors are %v and %v", reads[2].Err, reads[1].Err)
	}
	if want := []string{"c/s/0", "c/s/1", "c/s/3"}; len(h.asked) != 1 || !slices.Equal(h.asked[0], want) {
		t.Errorf("asked for %v", h.asked)
	}
}

// The end of the context ends the pauses too.
func TestPausesEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &Store{API: &halfway{answers: []int{0, 0, 0}}, Tables: testTables}
	if _, err := s.Entities(ctx, keysOf(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// paged is a database whose index has these pages, and no end where it is told so.
type paged struct {
	API
	pages   [][]item
	endless bool
	asked   int
}

func (p *paged) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	p.asked++
	at := 0
	if key := in.ExclusiveStartKey; key != nil {
		r := itemReader{item: key}
		at = int(r.integer("at"))
	}
	out := &dynamodb.QueryOutput{Items: p.pages[at%len(p.pages)]}
	if p.endless || at+1 < len(p.pages) {
		out.LastEvaluatedKey = item{"at": integer(int64(at) + 1)}
	}
	return out, nil
}

// A shard is read to its end, page by page, through pages that are empty and entries that nobody understands.
func TestMarkedFollowsThePages(t *testing.T) {
	entry := func(pk, since string) item {
		return item{attrPK: text(pk), attrGapShard: integer(3), attrGapSince: text(since)}
	}
	at := "2026-01-01T00:00:00.000000001Z"
	p := &paged{pages: [][]item{
		{entry("c/s/a", at), entry("alien", at)}, {}, {entry("c/s/b%2F1/", "yesterday")}, {{attrPK: integer(7)}}, {},
	}}
	s := &Store{API: p, Tables: testTables}
	var sizes []int
	var all []ordering.Marked
	err := s.Marked(t.Context(), 3, time.Time{}, func(page []ordering.Marked) bool {
		sizes, all = append(sizes, len(page)), append(all, page...)
		return true
	})
	if err != nil || p.asked != 5 || !slices.Equal(sizes, []int{2, 1, 1}) {
		t.Fatalf("%v after %d requests, pages of %v", err, p.asked, sizes)
	}
	if m := all[0]; m.Key != (ordering.Key{Consumer: "c", Stream: "s", ID: "a"}) || events.FormatInstant(m.Since) != at || m.PK != "c/s/a" {
		t.Errorf("an entity: %+v", m)
	}
	if m := all[1]; m.Key != (ordering.Key{}) || m.PK != "alien" {
		t.Errorf("what is no entity: %+v", m)
	}
	if m := all[2]; m.Key.ID != "b/1" || !m.Key.PerSource || !m.Since.IsZero() {
		t.Errorf("what is no instant: %+v", m)
	}

	p.asked = 0
	if err := s.Marked(t.Context(), 3, time.Time{}, func([]ordering.Marked) bool { return false }); err != nil || p.asked != 1 {
		t.Errorf("told to stop: %v after %d requests", err, p.asked)
	}
	p.asked, p.endless = 0, true
	err = s.Marked(t.Context(), 3, time.Time{}, func([]ordering.Marked) bool { return true })
	if !errors.Is(err, errTooManyPages) || p.asked != maxMarkedPages || !strings.Contains(err.Error(), "shard 3") {
		t.Errorf("without an end: %v after %d requests", err, p.asked)
	}
}

// cancels is a database that cancels every transaction for these reasons, and holds nothing.
type cancels struct {
	API
	reasons []types.CancellationReason
	sent    int
}

func (c *cancels) TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	c.sent++
	return nil, &types.TransactionCanceledException{CancellationReasons: c.reasons}
}

func (c *cancels) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{}, nil
}

// A cancelled drop or skip is read by position, the entity first, and a lost race is only what nothing worse stands
// beside.
func TestCancelledUpkeep(t *testing.T) {
	const none, lost = "None", "ConditionalCheckFailed"
	for _, c := range []struct {
		codes []string
		drop  string // what DropRows tells, by its type
		audit string // what SwapAudited tells
		tries int    // of SwapAudited
	}{
		{[]string{lost, none}, "*ordering.LostError", "*ordering.LostError", 1},
		{[]string{lost, lost}, "*ordering.LostError", "*ordering.LostError", 1},
		{[]string{none, lost}, "*ordering.TakenError", "another transaction holds the item", maxAuditTries},
		{[]string{lost, "TransactionConflict"}, "another transaction holds the item", "another transaction holds the item", 1},
		{[]string{"ThrottlingError", lost}, "throttled", "throttled", 1},
		{[]string{lost, "ValidationError"}, "the database calls the request invalid", "the database calls the request invalid", 1},
		{[]string{lost, "SomethingNew"}, "unknown", "unknown", 1},
	} {
		db := &cancels{}
		for _, code := range c.codes {
			db.reasons = append(db.reasons, types.CancellationReason{Code: &code})
		}
		s := &Store{API: db, Tables: testTables}
		prev, next := &ordering.Entity{Exists: true, Rev: 1}, &ordering.Entity{Exists: true, Rev: 2}
		err := s.DropRows(t.Context(), testKey, prev, next, []ordering.Row{{Seq: 7}})
		if got := kindOf(err); got != c.drop || !strings.Contains(err.Error(), "c/s/a") {
			t.Errorf("%v: DropRows tells %s: %v", c.codes, got, err)
		}
		db.sent = 0
		err = s.SwapAudited(t.Context(), testKey, prev, next, ordering.Audit{})
		if got := kindOf(err); got != c.audit || db.sent != c.tries || !strings.Contains(err.Error(), "c/s/a") {
			t.Errorf("%v: SwapAudited tells %s after %d tries: %v", c.codes, got, db.sent, err)
		}
	}
}

func kindOf(err error) string {
	lost, taken := (*ordering.LostError)(nil), (*ordering.TakenError)(nil)
	switch {
	case errors.As(err, &lost):
		return fmt.Sprintf("%T", lost)
	case errors.As(err, &taken):
		return fmt.Sprintf("%T", taken)
	}
	for _, known := range classErrors {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "unknown"
}

// A clock that is not by seq has no marks to compare, so its write says no more than it did.
func TestOnlyClocksBySeqMeetMarks(t *testing.T) {
	for clock, want := range map[string]int{
		"2026-01-01T00:00:00.000000000Z|e|s": 1, "abc": 1, events.SeqClock(0, 7): 3,
	} {
		put, err := testTables.newerPut(testKey, &ordering.Entity{StateMarks: ordering.StateMarks{Clock: clock}})
		if err != nil {
			t.Fatal(err)
		}
		if len(put.ExpressionAttributeNames) != want {
			t.Errorf("%s: the condition names %d attributes, want %d: %s", clock, len(put.ExpressionAttributeNames), want, *put.ConditionExpression)
		}
	}
	next := &ordering.Entity{StateMarks: ordering.StateMarks{Marks: map[string]string{"": "abc"}}}
	if _, err := testTables.swapPut(testKey, &ordering.Entity{}, next); err == nil {
		t.Error("a mark that is no clock by seq is stored")
	}
}
