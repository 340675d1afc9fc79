package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

type item = map[string]types.AttributeValue

// bench is where one check works: a partition of its own in the probe's table. The placeholders of its expressions
// are fixed in names, so that the checks show little but what they check.
type bench struct {
	db        *dynamodb.Client
	table     string
	partition string
}

var names = map[string]string{
	"#pk": pk, "#sk": sk, "#shard": shard, "#a": "a", "#b": "b", "#c": "_clock.crm", "#asked": "asked",
}

func (b bench) on(name Name) bench {
	b.partition = string(name)
	return b
}

// key is the one of the check's first item; a check that needs more names them.
func (b bench) key(sorted ...string) item {
	if len(sorted) == 0 {
		sorted = []string{"0"}
	}
	return item{pk: text(b.partition), sk: text(sorted[0])}
}

// with is the check's item with these attributes.
func (b bench) with(attributes item) item {
	whole := b.key()
	maps.Copy(whole, attributes)
	return whole
}

func (b bench) put(ctx context.Context, whole item) error {
	_, err := b.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &b.table, Item: whole})
	return err
}

func (b bench) putIf(ctx context.Context, whole item, condition string, values item) error {
	_, err := b.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &b.table, Item: whole,
		ConditionExpression: &condition, ExpressionAttributeNames: used(condition), ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return err
}

func (b bench) update(ctx context.Context, expression string, values item) error {
	_, err := b.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &b.table, Key: b.key(),
		UpdateExpression: &expression, ExpressionAttributeNames: used(expression), ExpressionAttributeValues: values,
	})
	return err
}

func (b bench) get(ctx context.Context) (item, error) {
	consistent := true
	out, err := b.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &b.table, Key: b.key(), ConsistentRead: &consistent})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// holds tells whether the check's item fulfils the condition, by a write that would change nothing else.
func (b bench) holds(ctx context.Context, condition string, values item) (bool, error) {
	set := "SET #asked = :asked"
	values = maps.Clone(values)
	values[":asked"] = number("1")
	_, err := b.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &b.table, Key: b.key(), UpdateExpression: &set, ConditionExpression: &condition,
		ExpressionAttributeNames: used(condition + set), ExpressionAttributeValues: values,
	})
	if lost(err) {
		return false, nil
	}
	return err == nil, err
}

var placeholder = regexp.MustCompile(`#\w+`)

// used are the placeholders that stand in the expression: DynamoDB refuses those that do not.
func used(expression string) map[string]string {
	found := map[string]string{}
	for _, p := range placeholder.FindAllString(expression, -1) {
		found[p] = names[p]
	}
	return found
}

func text(s string) types.AttributeValue    { return &types.AttributeValueMemberS{Value: s} }
func number(n string) types.AttributeValue  { return &types.AttributeValueMemberN{Value: n} }
func binary(b []byte) types.AttributeValue  { return &types.AttributeValueMemberB{Value: b} }
func set(ns ...string) types.AttributeValue { return &types.AttributeValueMemberNS{Value: ns} }

// digits is the number as the engine returned it; empty when there is none.
func digits(value types.AttributeValue) string {
	if n, ok := value.(*types.AttributeValueMemberN); ok {
		return n.Value
	}
	return ""
}

func members(value types.AttributeValue) []string {
	if ns, ok := value.(*types.AttributeValueMemberNS); ok {
		return slices.Sorted(slices.Values(ns.Value))
	}
	return nil
}

// lost tells that a write's condition did not hold.
func lost(err error) bool {
	failed := (*types.ConditionalCheckFailedException)(nil)
	return errors.As(err, &failed)
}

// refused is nil when err is the validation error that AWS answers to what; else it says what happened.
func refused(what string, err error) error {
	if err == nil {
		return fmt.Errorf("%s is accepted", what)
	}
	if said := smithy.APIError(nil); errors.As(err, &said) && said.ErrorCode() == "ValidationException" {
		return nil
	}
	return instead(what+" is refused, but not as invalid", err)
}

// instead says what is wrong, and what the engine answered where it answered an error.
func instead(what string, err error) error {
	if err == nil {
		return errors.New(what)
	}
	return fmt.Errorf("%s: %s", what, plain(err))
}
