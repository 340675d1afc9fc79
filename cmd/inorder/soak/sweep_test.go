package soak

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/demo/queue"
	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/functions"
	"inorder/ordering"
)

const (
	sweptTwiceIn     = 10 // the schedule may call two at once
	sweeperDiesOneIn = 8
	relayDiesOneIn   = 8
	mostSweepsAtEnd  = 600 // ten hours: longer than the longest back-off, several times
	calmSweeps       = 2
)

// scheduleSweep has a sweep at a time, and the next one a minute later, until nothing is left that could happen.
func (w *world) scheduleSweep(ctx context.Context, at time.Time) { w.sweepAt(ctx, at, 0, 0) }

func (w *world) sweepAt(ctx context.Context, at time.Time, calm, atEnd int) {
	if w.oneIn(sweptTwiceIn) {
		w.queue.Call(at, func() { w.sweep(ctx) })
	}
	w.queue.Call(at, func() {
		listed := w.sweep(ctx)
		quiet := w.queue.Calm()
		if w.fed.Load() {
			atEnd++
		}
		if calm++; listed > 0 || !w.fed.Load() || !quiet.Alone || !quiet.Next.IsZero() {
			calm = 0
		}
		switch {
		case calm == calmSweeps || ctx.Err() != nil:
		case atEnd == mostSweepsAtEnd:
			w.fault("after %d sweeps %d entities are still to be looked at", atEnd, listed)
		default:
			w.sweepAt(ctx, at.Add(time.Minute), calm, atEnd)
		}
	})
}

// listing is a sweeper's upkeep that counts what it finds in the index.
type listing struct {
	ordering.Upkeep
	entities atomic.Int64
}

func (l *listing) Marked(ctx context.Context, shard int, from time.Time, visit func([]ordering.Marked) bool) error {
	return l.Upkeep.Marked(ctx, shard, from, func(page []ordering.Marked) bool {
		l.entities.Add(int64(len(page)))
		return visit(page)
	})
}

// sweep returns how many entities were to be looked at; at least one where that is not known.
func (w *world) sweep(ctx context.Context) int {
	parts := w.parts(nil)
	parts.Metrics = io.Discard
	found := &listing{Upkeep: parts.Store.(*ddb.Store)}
	ctx, l := withLife(ctx, w, sweeperDiesOneIn, diesWithin)
	defer l.end()
	ctx, cancel := context.WithTimeout(ctx, invocationTimeout)
	defer cancel()
	err := functions.NewSweeper(functions.SweeperParts{Parts: parts, Upkeep: found, RepublishURL: republishURL}).Sweep(ctx)
	w.invocations.Add(1)
	if !l.answers() {
		w.deaths.Add(1)
		return 1
	}
	if err != nil {
		w.fault("a sweep: %v", err)
	}
	return int(found.entities.Load())
}

func (w *world) newRelay() *functions.Relay {
	outbox := &ddb.Outbox{Table: w.table.Outbox, Now: w.queue.Now, API: ddb.NewClient(w.engine.Config(), ddb.ClientOptions{
		Transport: mortal{local.Transport()}, MaxPause: time.Nanosecond, TryTimeout: time.Minute,
	})}
	return functions.NewRelay(functions.RelayParts{
		Streams: w.streams, Outbox: outbox, SQS: w.post, EventsURL: eventsURL, RepublishURL: republishURL,
		Metrics: io.Discard, Now: w.queue.Now,
	})
}

// ask has a republish request answered, again where it is not.
func (w *world) ask(ctx context.Context, body string, at time.Time, try int) {
	w.queue.Call(at, func() {
		ctx, l := withLife(context.WithoutCancel(ctx), w, relayDiesOneIn, diesWithin)
		if try == queue.MaxReceives {
			l.spare() // as with the consumer: of some thousand requests one would die in each of its tries
		}
		defer l.end()
		answer, err := w.relay.HandleQueue(ctx, awsevents.SQSEvent{Records: []awsevents.SQSMessage{{
			MessageId: w.newID(), Body: body, EventSource: "aws:sqs", EventSourceARN: republishARN,
		}}})
		w.invocations.Add(1)
		switch {
		case l.answers() && err == nil && len(answer.BatchItemFailures) == 0:
		case try == queue.MaxReceives:
			w.fault("the relay did not answer %s: %v", body, err)
		default:
			if !l.answers() {
				w.deaths.Add(1)
			}
			w.ask(ctx, body, at.Add(queue.Visibility), try+1)
		}
	})
}
