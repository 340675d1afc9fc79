package raw

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type item = map[string]types.AttributeValue

// The parts of conditions and changes.
var (
	newer = "attribute_not_exists(#seq) OR #seq < :seq"
	next  = "attribute_not_exists(#cursor) OR #cursor = :before"
	later = "attribute_not_exists(#cursor) OR #cursor <= :before"
	add   = "SET #cursor = :seq, #event = :event ADD #balance :amount"
)

// State puts the state where the stored number is lower: the data, the number, and the event's id.
func State(api API, table string) Write {
	return func(ctx context.Context, e Event) error {
		_, err := api.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &table,
			Item: item{
				"_pk": text(e.Entity), "seq": number(e.Seq), "event_id": text(e.ID), "plan": text(e.Data.Plan),
				"currency": text(e.Data.Currency), "seats": number(e.Data.Seats), "amount": number(e.Data.Amount),
			},
			ConditionExpression:       &newer,
			ExpressionAttributeNames:  map[string]string{"#seq": "seq"},
			ExpressionAttributeValues: item{":seq": number(e.Seq)},
		})
		return unlessOld(err)
	}
}

// Step adds the amount where the cursor stands right before the event, as a step in order must.
func Step(api API, table string) Write { return moveCursor(api, table, &next) }

// Delta adds the amount where the cursor is lower. It cannot tell a copy from what it missed, for which it would need a
// set or a marker; as long as the events of an entity come in order it is right.
func Delta(api API, table string) Write { return moveCursor(api, table, &later) }

func moveCursor(api API, table string, condition *string) Write {
	return func(ctx context.Context, e Event) error {
		_, err := api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                &table,
			Key:                      item{"_pk": text(e.Entity)},
			UpdateExpression:         &add,
			ConditionExpression:      condition,
			ExpressionAttributeNames: map[string]string{"#cursor": "cursor", "#balance": "balance", "#event": "event_id"},
			ExpressionAttributeValues: item{
				":seq": number(e.Seq), ":before": number(e.Seq - 1), ":amount": number(e.Data.Amount), ":event": text(e.ID),
			},
		})
		return unlessOld(err)
	}
}

// The conditions of the consumer's own writes.
var (
	sameNewer = "(attribute_not_exists(#0) OR #0 < :0) AND (attribute_not_exists(#1) OR #2 < :1 OR (#2 = :1 AND #1 <= :2))"
	sameFirst = "attribute_not_exists(#0)"
	sameNext  = "attribute_exists(#0) AND #1 = :0 AND attribute_not_exists(#2)"
)

// SameState puts the state by the very request that the consumer makes, but for what no two events have in common: so it
// leaves out all that the consumer does beside its request. The key is that of an entity in the consumer's table. A test
// holds these against the consumer.
func SameState(api API, table string, key func(entity string) string) Write {
	return func(ctx context.Context, e Event) error {
		return putSame(ctx, api, &dynamodb.PutItemInput{
			TableName:                 &table,
			Item:                      Item(key(e.Entity), e),
			ConditionExpression:       &sameNewer,
			ExpressionAttributeNames:  map[string]string{"#0": "_clock", "#1": "_max_seen", "#2": "_gen"},
			ExpressionAttributeValues: item{":0": text(clock(e.Seq)), ":1": number(0), ":2": number(e.Seq)},
		})
	}
}

// SameStep does so for a step stream, as far as each event of an entity comes alone: the sum that it puts is the event's own
// amount, for it does not know the entity.
func SameStep(api API, table string, key func(entity string) string) Write {
	return func(ctx context.Context, e Event) error {
		return putSame(ctx, api, swap(table, counted(key(e.Entity), e), e.Seq-1))
	}
}

// SameDelta does so for a delta stream, which remembers the number of its last event beside the cursor.
func SameDelta(api API, table string, key func(entity string) string) Write {
	return func(ctx context.Context, e Event) error {
		entity := counted(key(e.Entity), e)
		entity["_last_clock"] = text(clock(e.Seq))
		return putSame(ctx, api, swap(table, entity, e.Seq-1))
	}
}

func putSame(ctx context.Context, api API, in *dynamodb.PutItemInput) error {
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	_, err := api.PutItem(ctx, in)
	return unlessOld(err)
}

// swap puts an entity that is still at a revision; of revision 0 there is none.
func swap(table string, entity item, rev int64) *dynamodb.PutItemInput {
	if rev == 0 {
		return &dynamodb.PutItemInput{
			TableName: &table, Item: entity, ConditionExpression: &sameFirst, ExpressionAttributeNames: map[string]string{"#0": "_pk"},
		}
	}
	return &dynamodb.PutItemInput{
		TableName: &table, Item: entity, ConditionExpression: &sameNext,
		ExpressionAttributeNames:  map[string]string{"#0": "_pk", "#1": "_rev", "#2": "_clock"},
		ExpressionAttributeValues: item{":0": number(rev)},
	}
}

// Item is a state entity as the consumer keeps it.
func Item(pk string, e Event) map[string]types.AttributeValue {
	entity := remembered(pk, e)
	for name, v := range (item{
		"_clock": text(clock(e.Seq)), "plan": text(e.Data.Plan), "currency": text(e.Data.Currency),
		"seats": number(e.Data.Seats), "amount": number(e.Data.Amount),
	}) {
		entity[name] = v
	}
	return entity
}

// counted is a step or delta entity with a cursor.
func counted(pk string, e Event) item {
	entity := remembered(pk, e)
	for name, v := range (item{
		"_rev": number(e.Seq), "_gen": number(0), "_applied": number(e.Seq), "_max_seen": number(e.Seq), "balance": number(e.Data.Amount),
	}) {
		entity[name] = v
	}
	return entity
}

// remembered is what an entity keeps of its last event.
func remembered(pk string, e Event) item {
	const now = "2026-03-01T12:00:00.123456789Z" // as long as a time is
	return item{
		"_pk": text(pk), "_event_id": text(e.ID), "_type": text(e.Type), "_fingerprint": text("ABCDEFGHIJKLMNOPQRSTUV"),
		"_published_at": text(now), "_received_at": text(now), "_applied_at": text(now), "_message_id": text(e.ID),
		"_receive_count": number(1), "_token": text("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
	}
}

func clock(seq int64) string { return fmt.Sprintf("%010d.%019d", 0, seq) }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
