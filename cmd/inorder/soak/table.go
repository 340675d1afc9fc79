package soak

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"       //nolint:depguard // what is in the table must not be told by the code that is tested
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types" //nolint:depguard // the same
)

// Table reads the entities, and writes the outbox, around all that is tested.
type Table struct {
	Client           *dynamodb.Client
	Entities, Outbox string
}

type attributes = map[string]types.AttributeValue

// Read returns all entities by their keys.
func (t Table) Read(ctx context.Context) (map[string]Item, error) {
	all, in := map[string]Item{}, &dynamodb.ScanInput{TableName: &t.Entities, ConsistentRead: aws.Bool(true)}
	for {
		out, err := t.Client.Scan(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("read the entities: %w", err)
		}
		for _, one := range out.Items {
			key, _ := one["_pk"].(*types.AttributeValueMemberS)
			if !strings.HasPrefix(key.Value, Consumer+"/") { // the sweeper's own notes
				continue
			}
			all[key.Value] = item(one)
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			return all, nil
		}
	}
}

func item(stored attributes) Item {
	out := Item{State: map[string]string{}}
	for name, value := range stored {
		if !strings.HasPrefix(name, "_") {
			out.State[name] = plain(value)
		}
	}
	out.Applied = cursor(stored)
	_, out.Open = stored["_gap_shard"]
	return out
}

// cursor is what `inorder inspect` shows as applied: it goes on through what a delta entity has already counted, for the stored
// one lags where writers met.
func cursor(stored attributes) (at int64) {
	if n, ok := stored["_applied"].(*types.AttributeValueMemberN); ok {
		at, _ = strconv.ParseInt(n.Value, 10, 64)
	}
	ahead, _ := stored["_ahead"].(*types.AttributeValueMemberNS)
	for ahead != nil && slices.Contains(ahead.Value, whole(at+1)) {
		at++
	}
	return at
}

func plain(value types.AttributeValue) string {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return text(v.Value)
	case *types.AttributeValueMemberN:
		return number(v.Value)
	}
	return fmt.Sprintf("%T, which nobody said", value)
}

// mostWrites is the limit of a BatchWriteItem.
const mostWrites = 25

// Keep writes rows, and the heads of their histories, as an outbox does (docs/outbox.md).
func (t Table) Keep(ctx context.Context, rows []Row) error {
	items := map[string]attributes{} // a request names an item once, and of a head the last one counts
	for _, r := range rows {
		key := r.Stream + "/" + r.Entity
		items[key+" head"] = attributes{"_pk": s(key), "_sk": s("head"), "generation": n(0), "seq": n(r.Seq), "token": s("soak")}
		at := fmt.Sprintf("%010d.%019d", 0, r.Seq)
		items[key+at] = attributes{
			"_pk": s(key), "_sk": s(at), "event": s(r.Body), "published_at": s(sayings.Format(time.RFC3339)),
			"expires_at": n(sayings.AddDate(10, 0, 0).Unix()),
		}
	}
	var writes []types.WriteRequest
	for _, one := range items {
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: one}})
	}
	for len(writes) > 0 {
		now := writes[:min(mostWrites, len(writes))]
		out, err := t.Client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{t.Outbox: now}})
		if err != nil {
			return fmt.Errorf("write the outbox: %w", err)
		}
		writes = append(writes[len(now):], out.UnprocessedItems[t.Outbox]...)
	}
	return nil
}

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(v, 10)}
}
