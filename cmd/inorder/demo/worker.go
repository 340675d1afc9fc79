package demo

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/demo/producer"
	"inorder/cmd/inorder/demo/queue"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// invocationTimeout is a Lambda function's.
const invocationTimeout = 30 * time.Second

type received = queue.Received[*producer.Message]

// worker is one instance of the Lambda function: it has a consumer with a cache of its own, and handles one batch after
// the other. When an invocation dies its successor begins cold.
type worker struct {
	run      *run
	consumer *functions.Consumer
	watched  *watched
	at       time.Time          // when the batch at hand was received
	seen     []ordering.Outcome // of that batch, record by record
}

// watched looks over the loop's shoulder for what the consumer only writes into metrics.
type watched struct {
	functions.Applier

	mu        sync.Mutex
	distances []int64
	drained   int
}

// Apply hands on and takes notes.
func (w *watched) Apply(ctx context.Context, key ordering.Key, batch []ordering.Delivery) ordering.Report {
	r := w.Applier.Apply(ctx, key, batch)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range r.Distances {
		w.distances = append(w.distances, d.Numbers)
	}
	for count, n := range r.Counts {
		if count.Metric == ordering.MetricDrained {
			w.drained += n
		}
	}
	return r
}

func (w *watched) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.distances, w.drained = nil, 0
}

// start begins anew, with nothing in memory.
func (w *worker) start() {
	parts := w.run.parts
	parts.Observe = func(_ events.Message, outcomes []ordering.Outcome) { w.seen = append(w.seen, outcomes[0]) }
	w.consumer = functions.NewConsumer(parts)
	w.watched = &watched{Applier: w.consumer.Loop}
	w.consumer.Loop = w.watched
}

// work handles batches, and lets happen what happens besides, until nothing is left.
func (w *worker) work(ctx context.Context) error {
	w.start()
	for {
		size, requests := w.run.draw()
		batch, call := w.run.queue.Receive(size)
		w.at = w.run.queue.Now()
		if call != nil {
			call()
			continue
		}
		if batch == nil {
			return ctx.Err()
		}
		if queue.LastTry(batch) {
			requests = 0 // it is disorder that is tried here, not bad luck five times in a row
		}
		if err := w.invoke(ctx, batch, requests); err != nil {
			return err
		}
	}
}

// invoke hands one batch to the consumer and tells SQS what it answered, if it did.
func (w *worker) invoke(ctx context.Context, batch []*received, requests int) error {
	ctx, l := withLife(ctx, requests)
	defer l.end()
	ctx, cancel := context.WithTimeout(ctx, invocationTimeout)
	defer cancel()
	w.seen = make([]ordering.Outcome, 0, len(batch))
	w.watched.reset()
	response, err := w.consumer.Handle(ctx, sqsEvent(batch))
	if !l.answers() {
		w.run.history.record(len(batch), nil, nil)
		w.settle(batch, func(*received) bool { return false })
		w.start()
		return nil
	}
	if err != nil {
		return fmt.Errorf("the consumer refused a whole batch: %w", err)
	}
	if len(w.seen) != len(batch) {
		return fmt.Errorf("the consumer answered %d of %d messages", len(w.seen), len(batch))
	}
	w.run.history.record(len(batch), w.answers(batch), w.watched)
	failed := map[string]bool{}
	for _, f := range response.BatchItemFailures {
		failed[f.ItemIdentifier] = true
	}
	w.settle(batch, func(r *received) bool { return !failed[r.Message.ID] })
	return nil
}

// settle deletes what was acknowledged and lets the rest come back.
func (w *worker) settle(batch []*received, acked func(*received) bool) {
	done := 0
	for _, r := range batch {
		if acked(r) {
			w.run.queue.Delete(r)
			w.run.acked(r.Message)
			done++
		} else {
			w.run.queue.Return(r)
		}
	}
	w.run.bar.add(done)
}

func (w *worker) answers(batch []*received) []answered {
	out, now := make([]answered, len(batch)), w.run.queue.Now()
	for i, r := range batch {
		out[i] = answered{at: w.at, acked: now, message: r.Message, outcome: w.seen[i]}
	}
	return out
}

// sqsEvent is what Lambda hands to a function.
func sqsEvent(batch []*received) awsevents.SQSEvent {
	var out awsevents.SQSEvent
	for _, r := range batch {
		out.Records = append(out.Records, awsevents.SQSMessage{
			MessageId: r.Message.ID, Body: r.Message.Body,
			ReceiptHandle: fmt.Sprintf("%s#%d", r.Message.ID, r.Count),
			EventSource:   "aws:sqs", EventSourceARN: backend.QueueARN(backend.SourceURL), AWSRegion: "eu-west-1",
			Attributes: map[string]string{
				"ApproximateReceiveCount": strconv.Itoa(r.Count),
				"SentTimestamp":           strconv.FormatInt(r.Message.SentAt.UnixMilli(), 10),
			},
		})
	}
	return out
}
