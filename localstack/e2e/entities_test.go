package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"       //nolint:depguard // what is in the table must not be told by the code that is tested
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types" //nolint:depguard // the same
)

// consumerName is the consumer of events/streams.yaml.
const consumerName = "billing-view"

// entityName names an entity. The ids of these tests need no escape in a key.
type entityName struct{ stream, id string }

func (n entityName) String() string { return n.stream + " " + n.id }

// expectation is how an entity must end.
type expectation struct {
	state   string // JSON, all attributes of the item without those of the bookkeeping; empty: there is none, or it was deleted
	applied int64  // step and delta: the cursor
}

type expectations map[entityName]expectation

// itemReader reads what is stored.
type itemReader struct{ client *dynamodb.Client }

func newItemReader(config aws.Config) *itemReader {
	return &itemReader{dynamodb.NewFromConfig(config)}
}

type item map[string]types.AttributeValue

func (s *stack) item(ctx context.Context, name entityName) (item, error) {
	out, err := s.items.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(s.outputs["EntitiesTable"]), ConsistentRead: aws.Bool(true),
		Key: item{"_pk": &types.AttributeValueMemberS{Value: strings.Join([]string{consumerName, name.stream, name.id}, "/")}},
	})
	if err != nil {
		return nil, fmt.Errorf("read %v: %w", name, err)
	}
	return out.Item, nil
}

// number is the number of an attribute, 0 where there is none.
func (i item) number(attribute string) int64 {
	value, ok := i[attribute].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	n, _ := strconv.ParseInt(value.Value, 10, 64)
	return n
}

// missing tells which entities are not as they must be.
func (s *stack) missing(ctx context.Context, want expectations) string {
	var lacks []string
	for _, name := range slices.SortedFunc(maps.Keys(want), func(a, b entityName) int { return strings.Compare(a.String(), b.String()) }) {
		got, err := s.item(ctx, name)
		switch {
		case err != nil:
			lacks = append(lacks, err.Error())
		case got.differs(want[name]) != "":
			lacks = append(lacks, fmt.Sprintf("%v: %s", name, got.differs(want[name])))
		}
	}
	return strings.Join(lacks, "\n  ")
}

func (i item) differs(want expectation) string {
	state := i.state()
	if expected := parse(want.state); !same(state, expected) {
		return fmt.Sprintf("the state %s; there is %s", text(expected), text(state))
	}
	if want.applied != 0 && i.number("_applied") != want.applied {
		return fmt.Sprintf("its cursor at %d; it is at %d (highest seen: %d)", want.applied, i.number("_applied"), i.number("_max_seen"))
	}
	return ""
}

// state is all that the item holds but the bookkeeping, numbers as *big.Rat.
func (i item) state() map[string]any {
	state := map[string]any{}
	for name, value := range i {
		if !strings.HasPrefix(name, "_") {
			state[name] = plain(value)
		}
	}
	return state
}

func plain(value types.AttributeValue) any {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return rational(v.Value)
	case *types.AttributeValueMemberBOOL:
		return v.Value
	case *types.AttributeValueMemberNULL:
		return nil
	case *types.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i, one := range v.Value {
			list[i] = plain(one)
		}
		return list
	case *types.AttributeValueMemberM:
		all := map[string]any{}
		for name, one := range v.Value {
			all[name] = plain(one)
		}
		return all
	}
	return fmt.Sprintf("%T, which no state holds", value)
}

// parse reads an expected state; an empty one is that of no entity.
func parse(state string) map[string]any {
	if state == "" {
		return map[string]any{}
	}
	decoder := json.NewDecoder(strings.NewReader(state))
	decoder.UseNumber()
	var all map[string]any
	if err := decoder.Decode(&all); err != nil {
		panic(fmt.Sprintf("the expectation %s: %v", state, err))
	}
	return exact(all).(map[string]any)
}

// exact replaces JSON's numbers.
func exact(value any) any {
	switch v := value.(type) {
	case json.Number:
		return rational(v.String())
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = exact(v[name])
		}
	}
	return value
}

func rational(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(fmt.Sprintf("%q is no number", text))
	}
	return r
}

// same compares by value, numbers exactly. text writes each value in one way only.
func same(a, b map[string]any) bool { return text(a) == text(b) }

func text(state map[string]any) string {
	out, err := json.Marshal(state) // with the names sorted; a *big.Rat is a text with its fraction in lowest terms
	if err != nil {
		return err.Error()
	}
	return string(out)
}
