package demo

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/demo/producer"
	"inorder/functions"
	"inorder/ordering"
)

// tableStream plays the stream of the outbox's table, as Lambda hands it to the relay: its records are the rows that were
// written, in the order of their commits.
type tableStream struct {
	*run
	relay *functions.Relay

	mu        sync.Mutex
	changes   []awsevents.DynamoDBEventRecord // not read yet
	reading   bool
	committed int
	crashes   int
}

// add is a row that was committed.
func (t *tableStream) add(ctx context.Context, pk string, at ordering.Position, e *producer.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.committed++
	t.changes = append(t.changes, change(t.committed, pk, at, e))
	t.readSoon(ctx)
}

// change is what the table's stream tells of a new row.
func change(number int, pk string, at ordering.Position, e *producer.Event) awsevents.DynamoDBEventRecord {
	return awsevents.DynamoDBEventRecord{
		EventName: string(awsevents.DynamoDBOperationTypeInsert), EventSource: "aws:dynamodb",
		Change: awsevents.DynamoDBStreamRecord{
			SequenceNumber: fmt.Sprintf("%021d", number),
			Keys: map[string]awsevents.DynamoDBAttributeValue{
				"_pk": awsevents.NewStringAttribute(pk),
				"_sk": awsevents.NewStringAttribute(fmt.Sprintf("%010d.%019d", at.Gen, at.Seq)),
			},
			NewImage: map[string]awsevents.DynamoDBAttributeValue{
				"event": awsevents.NewStringAttribute(e.Body()), "source": awsevents.NewStringAttribute(e.Source()),
			},
		},
	}
}

// pollEvery is how often Lambda looks for new records of a stream ("How Lambda processes records from stream and
// queue-based event sources").
const pollEvery = time.Second

// readSoon has the stream read unless it is read already: a shard has one reader. Call it with mu held.
func (t *tableStream) readSoon(ctx context.Context) {
	if t.reading || len(t.changes) == 0 {
		return
	}
	t.reading = true
	t.queue.Call(t.queue.Now().Add(pollEvery), func() { t.read(ctx) })
}

// streamBatch is how many records of a stream an invocation gets by default.
const streamBatch = 100

func (t *tableStream) read(ctx context.Context) {
	t.mu.Lock()
	batch := slices.Clone(t.changes[:min(len(t.changes), streamBatch)])
	t.mu.Unlock()
	ctx, l := withLife(context.WithValue(ctx, newRows, true), t.drawDoom())
	response, err := t.relay.HandleStream(ctx, awsevents.DynamoDBEvent{Records: batch})
	l.end()
	if err != nil {
		t.fail(fmt.Errorf("the relay refused a batch of its stream: %w", err))
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reading = false
	done := len(batch)
	switch {
	case !l.answers():
		t.crashes++
		done = 0
	case len(response.BatchItemFailures) > 0:
		done = slices.IndexFunc(batch, func(r awsevents.DynamoDBEventRecord) bool {
			return r.Change.SequenceNumber == response.BatchItemFailures[0].ItemIdentifier
		})
	}
	t.changes = t.changes[max(done, 0):]
	t.readSoon(context.WithoutCancel(ctx))
}
