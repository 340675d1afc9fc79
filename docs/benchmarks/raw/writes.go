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

// The same write as the consumer's: its item with all that it remembers of the last event, and its condition. A test holds
// both against each other.
var sameCondition = "(attribute_not_exists(#0) OR #0 < :0) AND (attribute_not_exists(#1) OR #2 < :1 OR (#2 = :1 AND #1 <= :2))"

// Same puts the state as the consumer does. The key is that of an entity in the consumer's table.
func Same(api API, table string, key func(entity string) string) Write {
	return func(ctx context.Context, e Event) error {
		_, err := api.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:                           &table,
			Item:                                Item(key(e.Entity), e),
			ConditionExpression:                 &sameCondition,
			ExpressionAttributeNames:            map[string]string{"#0": "_clock", "#1": "_max_seen", "#2": "_gen"},
			ExpressionAttributeValues:           item{":0": text(clock(e.Seq)), ":1": number(0), ":2": number(e.Seq)},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return unlessOld(err)
	}
}

// Item is an entity as the consumer keeps it.
func Item(pk string, e Event) map[string]types.AttributeValue {
	const now = "2026-03-01T12:00:00.123456789Z" // as long as a time is
	return item{
		"_pk": text(pk), "_clock": text(clock(e.Seq)), "_event_id": text(e.ID), "_type": text(e.Type),
		"_fingerprint": text("ABCDEFGHIJKLMNOPQRSTUV"), "_published_at": text(e.PublishedAt), "_received_at": text(now),
		"_applied_at": text(now), "_message_id": text(e.ID), "_receive_count": number(1), "_token": text("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
		"plan": text(e.Data.Plan), "currency": text(e.Data.Currency), "seats": number(e.Data.Seats), "amount": number(e.Data.Amount),
	}
}

func clock(seq int64) string { return fmt.Sprintf("%010d.%019d", 0, seq) }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
