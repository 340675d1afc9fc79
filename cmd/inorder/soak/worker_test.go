package soak

import (
	"context"
	"fmt"
	"strconv"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/demo/queue"
	"inorder/functions"
)

// What happens to the consumer's invocations.
const (
	batchSize         = 100
	invocationTimeout = 30 * time.Second

	diesOneIn    = 25
	diesWithin   = 100 // requests
	overlapOneIn = 40  // a visibility timeout that is over too soon: all of the batch is delivered to another one
)

type received = queue.Received[*queued]

// worker is one execution environment of the consumer: when it dies its successor begins cold.
type worker struct {
	*world
	out      *Output
	consumer *functions.Consumer
	life     *life // of the invocation at hand
}

func (k *worker) start() { k.consumer = functions.NewConsumer(k.parts(k)) }

// Write is what the function says: the dead say nothing.
func (k *worker) Write(text []byte) (int, error) {
	if k.life.isDead() {
		return len(text), nil
	}
	return k.out.Write(text)
}

// work handles batches, and lets happen what happens besides, until nothing is left.
func (k *worker) work(ctx context.Context) error {
	k.out = k.lines.Output()
	defer k.out.Idle()
	k.start()
	for {
		batch, call := k.queue.Receive(batchSize)
		if batch == nil && call == nil {
			return ctx.Err()
		}
		if err := k.handle(ctx, batch, call); err != nil {
			return err
		}
		k.weigh()
	}
}

func (k *worker) handle(ctx context.Context, batch []*received, call func()) error {
	k.working.RLock()
	defer k.working.RUnlock()
	if call != nil {
		call()
		return nil
	}
	return k.invoke(ctx, batch)
}

// invoke hands one batch to the consumer and does with it what its answer says, if it gives one.
func (k *worker) invoke(ctx context.Context, batch []*received) error {
	k.invocations.Add(1)
	k.deliveries.Add(int64(len(batch)))
	if k.oneIn(overlapOneIn) {
		k.overlaps.Add(int64(len(batch)))
		for _, r := range batch {
			k.queue.Send(k.queue.Now(), r.Message)
		}
	}
	ctx, l := withLife(ctx, k.world, diesOneIn, diesWithin)
	if queue.LastTry(batch) {
		l.spare() // it is functions that die here, not messages five times in a row
	}
	defer l.end()
	k.life = l
	ctx, cancel := context.WithTimeout(ctx, invocationTimeout)
	defer cancel()
	answer, err := k.consumer.Handle(ctx, batchOf(batch))
	if !l.answers() {
		k.deaths.Add(1)
		k.out.Killed()
		k.start()
		k.settle(batch, func(*received) bool { return false })
		return nil
	}
	if err != nil {
		return fmt.Errorf("the consumer refused a whole batch: %w", err)
	}
	k.out.Idle()
	failed := map[string]bool{}
	for _, f := range answer.BatchItemFailures {
		failed[f.ItemIdentifier] = true
	}
	k.settle(batch, func(r *received) bool { return !failed[r.Message.id] })
	return nil
}

// settle deletes what was acknowledged and lets the rest come back.
func (k *worker) settle(batch []*received, acked func(*received) bool) {
	done := 0
	for _, r := range batch {
		if acked(r) {
			k.queue.Delete(r)
			done++
		} else {
			k.queue.Return(r)
		}
	}
	k.finished(done)
}

// batchOf is what Lambda hands to a function.
func batchOf(batch []*received) awsevents.SQSEvent {
	out := awsevents.SQSEvent{Records: make([]awsevents.SQSMessage, len(batch))}
	for i, r := range batch {
		out.Records[i] = awsevents.SQSMessage{
			MessageId: r.Message.id, Body: r.Message.body, ReceiptHandle: fmt.Sprintf("%s#%d", r.Message.id, r.Count),
			EventSource: "aws:sqs", EventSourceARN: eventsARN, AWSRegion: "eu-west-1",
			Attributes: map[string]string{
				"ApproximateReceiveCount": strconv.Itoa(r.Count),
				"SentTimestamp":           strconv.FormatInt(r.Message.sentAt.UnixMilli(), 10),
			},
		}
	}
	return out
}
