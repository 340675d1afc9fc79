package local

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// As AWS's page "Constraints in Amazon DynamoDB" has them; KB are 1,024 bytes there.
const (
	itemBytes         = 400 * 1024
	operators         = 300
	expressionBytes   = 4 * 1024
	batchKeys         = 100 // "BatchGetItem"
	placeholderLength = 200 // of at most 255
)

func itemLimit(ctx context.Context, b bench) error {
	keys := len(pk) + len(b.partition) + len(sk) + len("0") + len("a")
	if err := b.put(ctx, b.with(item{"a": text(strings.Repeat("x", itemBytes-keys))})); err != nil {
		return instead("an item of 400 KB is refused", err)
	}
	return refused("an item beyond 400 KB", b.put(ctx, b.with(item{"a": text(strings.Repeat("x", itemBytes-keys+1))})))
}

// operatorLimit uses comparisons joined by OR: n of them are 2n - 1 operators.
func operatorLimit(ctx context.Context, b bench) error {
	terms := func(n int) string { return strings.Repeat("#a=:v OR ", n-1) + "#a=:v" }
	if err := b.put(ctx, b.with(item{"a": number("1")})); err != nil {
		return err
	}
	if err := b.ask(ctx, terms(operators/2), ":v"); err != nil {
		return instead("an expression of 299 operators is refused", err)
	}
	return refused("an expression of 301 operators", b.ask(ctx, terms(operators/2+1), ":v"))
}

func expressionLimit(ctx context.Context, b bench) error {
	value := ":" + strings.Repeat("v", placeholderLength-1)
	terms := func(bytes int) string {
		term := "#a = " + value
		more := " OR " + term
		return term + strings.Repeat(more, (bytes-len(term))/len(more))
	}
	if err := b.put(ctx, b.with(item{"a": number("1")})); err != nil {
		return err
	}
	if err := b.ask(ctx, terms(expressionBytes), value); err != nil {
		return instead("an expression below 4 KB is refused", err)
	}
	return refused("an expression beyond 4 KB", b.ask(ctx, terms(expressionBytes+placeholderLength+10), value))
}

func batchLimit(ctx context.Context, b bench) error {
	var keys []item
	for i := range batchKeys + 1 {
		keys = append(keys, b.key(strconv.Itoa(i)))
	}
	_, err := b.batch(ctx, keys)
	if err := refused("a batch of 101 keys", err); err != nil {
		return err
	}
	_, err = b.batch(ctx, []item{keys[0], keys[1], keys[0]})
	return refused("a batch with one key twice", err)
}

func (b bench) ask(ctx context.Context, condition, value string) error {
	return b.putIf(ctx, b.with(item{"a": number("1")}), condition, item{value: number("1")})
}

func emptyValues(ctx context.Context, b bench) error {
	nested := &types.AttributeValueMemberM{Value: item{"deep": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("")}}}}
	whole := b.with(item{"a": text(""), "b": binary([]byte{}), "c": nested})
	if err := b.put(ctx, whole); err != nil {
		return err
	}
	got, err := b.get(ctx)
	if err != nil {
		return err
	}
	if s, ok := got["a"].(*types.AttributeValueMemberS); !ok || s.Value != "" || len(got) != len(whole) {
		return errors.New("an empty value does not come back")
	}
	return nil
}

func emptyKeys(ctx context.Context, b bench) error {
	if err := refused("an empty partition key", b.put(ctx, item{pk: text(""), sk: text("0")})); err != nil {
		return err
	}
	if err := refused("an empty sort key", b.put(ctx, b.key(""))); err != nil {
		return err
	}
	return refused("an empty key of an index", b.put(ctx, b.with(item{shard: text(""), since: text("1")})))
}

func emptyNames(ctx context.Context, b bench) error {
	if err := refused("an attribute without a name", b.put(ctx, b.with(item{"": number("1")}))); err != nil {
		return err
	}
	expression := "SET #n = :n"
	_, err := b.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &b.table, Key: b.key(), UpdateExpression: &expression,
		ExpressionAttributeNames: map[string]string{"#n": ""}, ExpressionAttributeValues: item{":n": number("1")},
	})
	return refused("an update of an attribute without a name", err)
}
