package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func sortKeyBetween(ctx context.Context, b bench) error {
	if err := b.rows(ctx, "4", "2", "5", "1", "3"); err != nil {
		return err
	}
	got, err := b.between(ctx, "2", "4")
	if err != nil {
		return err
	}
	if !slices.Equal(got, []string{"2", "3", "4"}) {
		return fmt.Errorf("BETWEEN 2 AND 4 finds %v", got)
	}
	return nil
}

func queryPages(ctx context.Context, b bench) error {
	if err := b.rows(ctx, "1", "2", "3", "4", "5"); err != nil {
		return err
	}
	input := b.query("1", "9")
	input.Limit = aws.Int32(2)
	var got []string
	for range 4 { // pages of 2, 2 and 1, and perhaps an empty one
		page, err := b.db.Query(ctx, input)
		if err != nil {
			return err
		}
		got = append(got, sorted(page.Items)...)
		if input.ExclusiveStartKey = page.LastEvaluatedKey; len(page.LastEvaluatedKey) == 0 {
			break
		}
	}
	if !slices.Equal(got, []string{"1", "2", "3", "4", "5"}) {
		return fmt.Errorf("pages of two rows each find %v", got)
	}
	return nil
}

func (b bench) rows(ctx context.Context, sorted ...string) error {
	for _, s := range sorted {
		if err := b.put(ctx, b.key(s)); err != nil {
			return err
		}
	}
	return nil
}

// between returns the sort keys from one to the other, as the engine orders them.
func (b bench) between(ctx context.Context, from, to string) ([]string, error) {
	out, err := b.db.Query(ctx, b.query(from, to))
	if err != nil {
		return nil, err
	}
	return sorted(out.Items), nil
}

func (b bench) query(from, to string) *dynamodb.QueryInput {
	condition := "#pk = :pk AND #sk BETWEEN :from AND :to"
	return &dynamodb.QueryInput{
		TableName: &b.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression: &condition, ExpressionAttributeNames: used(condition),
		ExpressionAttributeValues: item{":pk": text(b.partition), ":from": text(from), ":to": text(to)},
	}
}

func sorted(items []item) []string {
	var keys []string
	for _, one := range items {
		if s, ok := one[sk].(*types.AttributeValueMemberS); ok {
			keys = append(keys, s.Value)
		}
	}
	return keys
}

func batchGet(ctx context.Context, b bench) error {
	if err := b.rows(ctx, "1", "3"); err != nil {
		return err
	}
	var keys []item
	for i := range batchKeys {
		keys = append(keys, b.key(strconv.Itoa(i)))
	}
	found, err := b.batch(ctx, keys)
	if err != nil {
		return instead("a batch of 100 keys is refused", err)
	}
	if got := slices.Sorted(slices.Values(sorted(found))); !slices.Equal(got, []string{"1", "3"}) {
		return fmt.Errorf("of two items among 100 keys it finds %v", got)
	}
	return nil
}

func (b bench) batch(ctx context.Context, keys []item) ([]item, error) {
	out, err := b.db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		b.table: {Keys: keys, ConsistentRead: aws.Bool(true)},
	}})
	if err != nil {
		return nil, err
	}
	return out.Responses[b.table], nil
}

func sparseIndex(ctx context.Context, b bench) error {
	if err := b.rows(ctx, "1"); err != nil {
		return err
	}
	if err := b.put(ctx, b.with(item{shard: text(b.partition), since: text("5"), "a": number("1")})); err != nil {
		return err
	}
	found, err := b.gaps(ctx)
	if err != nil {
		return err
	}
	if len(found) != 1 || len(found[0]) != 4 {
		return fmt.Errorf("of two items, one of them with the index's keys, the index shows %d", len(found))
	}
	if err := b.update(ctx, "REMOVE #shard", nil); err != nil {
		return err
	}
	if found, err = b.gaps(ctx); err != nil {
		return err
	}
	if len(found) != 0 {
		return errors.New("an item that loses the index's key stays in the index")
	}
	return nil
}

func (b bench) gaps(ctx context.Context) ([]item, error) {
	condition := "#shard = :shard"
	out, err := b.db.Query(ctx, &dynamodb.QueryInput{
		TableName: &b.table, IndexName: aws.String(gapsIndex),
		KeyConditionExpression: &condition, ExpressionAttributeNames: used(condition),
		ExpressionAttributeValues: item{":shard": text(b.partition)},
	})
	if err != nil {
		return nil, err
	}
	return out.Items, nil
}

func consumedCapacity(ctx context.Context, b bench) error {
	small, large, marked := b.key("s"), b.key("l"), b.key("m")
	large["a"] = text(strings.Repeat("x", 1024))
	marked[shard], marked[since] = text(b.partition), text("5")
	for _, write := range []struct {
		what  string
		whole item
		units float64
	}{{"a small item", small, 1}, {"an item of more than 1 KB", large, 2}, {"a small item that is in an index", marked, 2}} {
		out, err := b.db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &b.table, Item: write.whole, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if err != nil {
			return err
		}
		if err := costs(write.what, out.ConsumedCapacity, write.units); err != nil {
			return err
		}
	}
	return b.otherCosts(ctx)
}

func (b bench) otherCosts(ctx context.Context) error {
	transacted, err := b.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{b.putNew("1")}, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return err
	}
	if len(transacted.ConsumedCapacity) != 1 {
		return errors.New("a transaction reports no consumed capacity")
	}
	if err := costs("a small item in a transaction", &transacted.ConsumedCapacity[0], 2); err != nil {
		return err
	}
	read, err := b.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &b.table, Key: b.key(), ConsistentRead: aws.Bool(true),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return err
	}
	return costs("a consistent read", read.ConsumedCapacity, 1)
}

func costs(what string, capacity *types.ConsumedCapacity, units float64) error {
	if capacity == nil || capacity.CapacityUnits == nil {
		return fmt.Errorf("%s reports no consumed capacity", what)
	}
	if *capacity.CapacityUnits != units {
		return fmt.Errorf("%s costs %g units, not %g", what, *capacity.CapacityUnits, units)
	}
	return nil
}
