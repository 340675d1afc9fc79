package ddb

import (
	"context"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ordering"
)

// OutboxRow is an event that was written, as it was sent. What else a row has is not looked at: other programs write rows, too,
// and one of them that keeps its time otherwise shall not hold up the rest of an answer.
type OutboxRow struct {
	At    ordering.Position
	Event string // empty where the row holds none, or none that is a string
}

// Head is the newest position of a history; not found where nothing was ever written.
func (o *Outbox) Head(ctx context.Context, key OutboxKey) (at ordering.Position, found bool, err error) {
	pk := OutboxPK(key)
	head, err := o.head(ctx, pk)
	if err != nil {
		return at, false, fmt.Errorf("read the head of %s: %w", pk, err)
	}
	return head.at, head.exists, nil
}

// Rows reads the rows from first to last, both included, in their order, page by page as they are asked for. The read is
// strongly consistent. It ends with its first error. Whatever else a producer keeps between them is passed.
func (o *Outbox) Rows(ctx context.Context, key OutboxKey, gen, first, last int64) iter.Seq2[OutboxRow, error] {
	return func(yield func(OutboxRow, error) bool) {
		query := o.rowsQuery(key, gen, first, last)
		for { // the range is the limit, and the reader, who stops when its time is over
			out, err := o.API.Query(ctx, query)
			if err != nil {
				yield(OutboxRow{}, fmt.Errorf("read numbers %d to %d of %s: %w", first, last, OutboxPK(key), described(err)))
				return
			}
			for _, it := range out.Items {
				if row, ok := decodeOutboxRow(it); ok && !yield(row, nil) {
					return
				}
			}
			if len(out.LastEvaluatedKey) == 0 {
				return
			}
			query.ExclusiveStartKey = out.LastEvaluatedKey
		}
	}
}

func (o *Outbox) rowsQuery(key OutboxKey, gen, first, last int64) *dynamodb.QueryInput {
	x := newExpression()
	x.require(x.compare(attrPK, "=", text(OutboxPK(key))))
	from, to := ordering.Position{Gen: gen, Seq: first}, ordering.Position{Gen: gen, Seq: last}
	x.require(x.name(attrSK) + " BETWEEN " + x.value(text(outboxRowSK(from))) + " AND " + x.value(text(outboxRowSK(to))))
	return &dynamodb.QueryInput{
		TableName:                 &o.Table,
		KeyConditionExpression:    x.condition(),
		ExpressionAttributeNames:  x.names,
		ExpressionAttributeValues: x.values,
		ConsistentRead:            aws.Bool(true),
	}
}

func decodeOutboxRow(it item) (row OutboxRow, ok bool) {
	r := &itemReader{item: it}
	if row.At, ok = ParseOutboxSK(r.text(attrSK)); !ok {
		return row, false
	}
	if event, isText := it[outboxEvent].(*types.AttributeValueMemberS); isText {
		row.Event = event.Value
	}
	return row, true
}

// outboxHead is what a history's head says.
type outboxHead struct {
	exists bool
	at     ordering.Position
	token  string // of the call that raised it
}

func (o *Outbox) head(ctx context.Context, pk string) (outboxHead, error) {
	it, err := o.get(ctx, item{attrPK: text(pk), attrSK: text(outboxHeadSK)})
	if err != nil {
		return outboxHead{}, err
	}
	return decodeOutboxHead(it)
}

func decodeOutboxHead(it item) (outboxHead, error) {
	if len(it) == 0 {
		return outboxHead{}, nil
	}
	r := &itemReader{item: it}
	head := outboxHead{
		exists: true,
		at:     ordering.Position{Gen: r.integer(outboxGeneration), Seq: r.integer(outboxSeq)},
		token:  r.text(outboxToken),
	}
	return head, r.err
}

func (o *Outbox) get(ctx context.Context, key item) (item, error) {
	out, err := o.API.GetItem(ctx, &dynamodb.GetItemInput{TableName: &o.Table, Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, described(err)
	}
	return out.Item, nil
}
