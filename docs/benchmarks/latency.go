package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"
	"github.com/dustin/go-humanize"

	"inorder/cmd/inorder/backend"
	"inorder/ddb"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// The times that are settings, as the template and streams.yaml have them by default.
const (
	gapDeadline = 5 * time.Minute
	sweepEvery  = time.Minute
)

// latency measures what the code needs to drain and to heal, and says apart what is a setting.
func latency(ctx context.Context, b *bench) (result, error) {
	drain, err := b.drainTimes(ctx)
	if err != nil {
		return result{}, err
	}
	heal, err := b.healTimes(ctx)
	return result{Tables: []table{drain, heal}}, err
}

// drainTimes: so many steps wait in the table, and then the one comes that they wait for.
func (b *bench) drainTimes(ctx context.Context) (table, error) {
	t := table{
		Title: "Parked → drained",
		Text: "So many steps of one entity wait, and then the missing one comes: the time of that invocation, after which all of them are " +
			"in the entity. They are drained by the event's own invocation, so nothing else has to pass.",
		Head: []string{"waiting", "median", "95th percentile", "a step"},
	}
	tables, err := b.tables(ctx)
	if err != nil {
		return t, err
	}
	c := &counter{}
	handle := b.consumer(modes[1].stream, tables, c)
	for _, waiting := range sizes(b, 1, 10, 100, 1000) {
		b.say("%d steps drain", waiting)
		var times []time.Duration
		for n := range max(b.n(40_000)/(1000+waiting), 1) {
			entity := fmt.Sprintf("drain-%d-%d", waiting, n)
			all := bursts(entity, waiting+1, waiting+1)
			if err := drive(ctx, batched(all[1:], batchSize), handle); err != nil {
				return t, err
			}
			c.reset()
			start := time.Now()
			if err := drive(ctx, batched(all[:1], 1), handle); err != nil {
				return t, err
			}
			times = append(times, time.Since(start))
			if err := b.applied(ctx, tables, all[0].entity, int64(waiting+1)); err != nil {
				return t, err
			}
		}
		median, high := percentiles(times)
		t.Rows = append(t.Rows, []string{humanize.Comma(int64(waiting)), millis(median), millis(high), millis(median / time.Duration(waiting+1))})
	}
	return t, nil
}

var errNotThere = errors.New("the cursor is not where it should be")

// applied makes sure that what was timed also happened.
func (b *bench) applied(ctx context.Context, tables ddb.Tables, entity string, want int64) error {
	store := &ddb.Store{API: ddb.NewClient(b.engine.Config(), b.options(nil)), Tables: tables}
	e, err := store.Entity(ctx, ordering.Key{Consumer: "c", Stream: "s", ID: entity})
	if err == nil && e.Applied != want {
		err = fmt.Errorf("%w: %s is at %d, not at %d", errNotThere, entity, e.Applied, want)
	}
	return err
}

func percentiles(times []time.Duration) (median, high time.Duration) {
	slices.Sort(times)
	return times[len(times)/2], times[(len(times)*95)/100]
}

// healTimes: an event is lost on its way, the sweeper asks for it, the relay sends it again, the consumer takes it.
func (b *bench) healTimes(ctx context.Context) (table, error) {
	t := table{
		Title: "Gap → healed",
		Text: "A step is lost on its way, nine behind it wait. How long until the entity is whole, from the moment at which the gap is known: " +
			"what is a setting, and what the code takes, which is measured.",
		Head: []string{"", "time"},
	}
	h, err := b.newHealing(ctx)
	if err != nil {
		return t, err
	}
	b.say("gaps heal")
	var sweeps, relays, consumes, sums []time.Duration
	for n := range max(b.n(30), 2) {
		took, err := h.heal(ctx, fmt.Sprint("gap-", n))
		if err != nil {
			return t, err
		}
		sweeps, relays, consumes = append(sweeps, took[0]), append(relays, took[1]), append(consumes, took[2])
		sums = append(sums, took[0]+took[1]+took[2])
	}
	median := func(times []time.Duration) string { m, _ := percentiles(times); return millis(m) }
	_, high := percentiles(sums)
	t.Rows = [][]string{
		{"`gap_deadline`: a late event may still come by itself", fmt.Sprintf("%.0f min, a setting", gapDeadline.Minutes())},
		{"the schedule's next run", fmt.Sprintf("up to %.0f min, half of it on the average", sweepEvery.Minutes())},
		{"two queues on the way, each polled by Lambda", "not measured: of SQS and Lambda, not of this code"},
		{"the sweep: finds the gap, asks for it", median(sweeps)},
		{"the relay: reads the row, sends it again", median(relays)},
		{"the consumer: applies it and what waits behind it", median(consumes)},
		{"**the code together**", fmt.Sprintf("%s, 95th percentile %s", median(sums), millis(high))},
	}
	return t, nil
}

// healing is a producer's outbox, a relay, a consumer and a sweeper around queues in memory.
type healing struct {
	b        *bench
	tables   ddb.Tables
	ahead    atomic.Int64 // of the clock: a deadline passes without waiting
	queues   *backend.Queues
	outbox   *ddb.Outbox
	consumer *functions.Consumer
	sweeper  *functions.Sweeper
	relay    *functions.Relay
}

func (h *healing) now() time.Time { return time.Now().Add(time.Duration(h.ahead.Load())) }

func (b *bench) newHealing(ctx context.Context) (*healing, error) {
	h := &healing{b: b}
	tables, err := b.tables(ctx)
	if err != nil {
		return nil, err
	}
	h.tables = tables
	if err := ddb.CreateOutbox(ctx, b.engine.Client(), "outbox-"+tables.Entities); err != nil {
		return nil, err
	}
	parts := b.parts(modes[1].stream, tables, nil)
	h.queues = &backend.Queues{Now: h.now}
	parts.Now, parts.SQS = h.now, h.queues.Client(nil)
	h.outbox = &ddb.Outbox{API: ddb.NewClient(b.engine.Config(), b.options(nil)), Table: "outbox-" + tables.Entities, Now: h.now}
	h.consumer = functions.NewConsumer(parts)
	h.sweeper = functions.NewSweeper(backend.SweeperParts(parts))
	h.relay = functions.NewRelay(functions.RelayParts{
		Streams: parts.Streams, Outbox: h.outbox, SQS: h.queues.Client(nil), EventsURL: backend.SourceURL, RepublishURL: backend.RepublishURL,
		Metrics: parts.Metrics, Now: h.now,
	})
	return h, nil
}

// heal loses the first of ten events, and times sweep, relay and consumer until it is there all the same.
func (h *healing) heal(ctx context.Context, entity string) (took [3]time.Duration, err error) {
	arrive, err := h.publish(ctx, entity, 10)
	if err != nil {
		return took, err
	}
	if err := handler(h.consumer.Handle).take(ctx, awsevents.SQSEvent{Records: arrive[1:]}); err != nil {
		return took, err
	}
	h.ahead.Add(int64(gapDeadline + time.Second))
	steps := []func() error{
		func() error { return h.sweeper.Sweep(ctx) },
		func() error { return handler(h.relay.HandleQueue).take(ctx, h.received(backend.RepublishURL)) },
		func() error { return handler(h.consumer.Handle).take(ctx, h.received(backend.SourceURL)) },
	}
	for i, step := range steps {
		start := time.Now()
		if err := step(); err != nil {
			return took, err
		}
		took[i] = time.Since(start)
	}
	return took, h.b.applied(ctx, h.tables, entity, 10)
}

// publish writes events into the outbox and returns them as messages.
func (h *healing) publish(ctx context.Context, entity string, n int) (records []awsevents.SQSMessage, err error) {
	for range n {
		var message awsevents.SQSMessage
		_, err := h.outbox.Write(ctx, ddb.OutboxWrite{
			Key: ddb.OutboxKey{Stream: "s", EntityID: entity},
			Draft: func(at ordering.Position) (ddb.OutboxDraft, error) {
				message = record(place{entity, int(at.Seq)})
				return ddb.OutboxDraft{Event: json.RawMessage(message.Body)}, nil
			},
		})
		if err != nil {
			return nil, err
		}
		records = append(records, message)
	}
	return records, nil
}

// received takes what a queue holds, as Lambda would hand it over.
func (h *healing) received(url string) (batch awsevents.SQSEvent) {
	for _, m := range h.queues.Empty(url) {
		batch.Records = append(batch.Records, messageOf(m, url))
	}
	return batch
}

func messageOf(m events.Message, url string) awsevents.SQSMessage {
	return awsevents.SQSMessage{MessageId: m.ID, Body: m.Body, EventSource: "aws:sqs", EventSourceARN: backend.QueueARN(url)}
}
