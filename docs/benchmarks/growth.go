package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	awsevents "github.com/aws/aws-lambda-go/events"
	"github.com/dustin/go-humanize"

	"inorder/ddb"
	"inorder/docs/benchmarks/raw"
)

// growth measures what becomes of the speed with more entities, larger batches and more function instances.
func growth(ctx context.Context, b *bench) (result, error) {
	r := result{}
	for _, measure := range []func(context.Context, *bench) (table, chart, error){growEntities, growBatches, growWorkers} {
		t, c, err := measure(ctx, b)
		if err != nil {
			return r, err
		}
		r.Tables, r.Charts = append(r.Tables, t), append(r.Charts, c)
	}
	return r, nil
}

// pair times the consumer and the loop that makes the same write on the same batches, each on tables of its own, and adds
// a row.
func (b *bench) pair(ctx context.Context, t *table, c *chart, label string, ours, theirs side, events int) error {
	b.say("%s: %s", t.Head[0], label)
	seconds, err := interleave(ctx, b.few(), ours, theirs)
	if err != nil {
		return fmt.Errorf("%s %s: %w", t.Head[0], label, err)
	}
	our, their := spreadOf(rates(events, seconds[0])), spreadOf(rates(events, seconds[1]))
	t.Rows = append(t.Rows, []string{label, short(our.Median), short(their.Median), spreadOf(ratios(seconds[0], seconds[1])).with()})
	c.X = append(c.X, label)
	c.Series[0].Values, c.Series[1].Values = append(c.Series[0].Values, our.Median), append(c.Series[1].Values, their.Median)
	return nil
}

func growthTable(title, text, first string) (table, chart) {
	return table{Title: title, Text: text, Head: []string{first, "consumer, events/s", "raw loop, events/s", "ratio"}},
		chart{Name: title + ": events/s", Series: []series{{Name: "consumer"}, {Name: "raw loop"}}}
}

// growEntities: events of random entities of a table that holds so many.
func growEntities(ctx context.Context, b *bench) (table, chart, error) {
	t, c := growthTable("Entities in the table",
		"State events of random entities, each the second of its entity, batches of 100, four function instances, against the loop that makes the same write.", "entities")
	tables, err := b.tables(ctx)
	if err != nil {
		return t, c, err
	}
	client, filled, seq := ddb.NewClient(b.engine.Config(), b.options(nil)), 0, 1
	for _, full := range sizes(b, 1_000, 10_000, 100_000, 1_000_000) {
		entities, n := max(b.n(full), 100), b.n(3000)
		b.say("filling the table up to %s entities", humanize.Comma(int64(entities)))
		if err := raw.Fill(ctx, client, tables.Entities, filled, entities, first, key); err != nil {
			return t, c, err
		}
		filled = entities
		// Each round brings newer events, so that none is stale.
		batches := func() []awsevents.SQSEvent {
			seq += n
			return batched(randomOnes(entities, n, seq), batchSize)
		}
		err := b.pair(ctx, &t, &c, humanize.Comma(int64(entities)),
			on("consumer", batches, func() handler { return b.consumer(modes[0].stream, tables, nil) }),
			on("raw loop", batches, func() handler { return b.theirs(tables) }), n)
		if err != nil {
			return t, c, err
		}
	}
	return t, c, nil
}

// on drives function instances over tables that stay.
func on(name string, batches func() []awsevents.SQSEvent, instance func() handler) side {
	return side{name, func(context.Context) (func(context.Context) error, error) {
		all, handlers := batches(), several(atATime, instance)
		return func(ctx context.Context) error { return drive(ctx, all, handlers...) }, nil
	}}
}

func entityName(n int) string { return fmt.Sprintf("grown-%d", n) }

func first(n int) raw.Event {
	return raw.Event{ID: entityName(n) + ":1", Type: "PlanChanged", Entity: entityName(n), Seq: 1, PublishedAt: "2026-03-01T11:59:58.120Z"}
}

// randomOnes are events of different entities; of fewer entities than events as many as there are.
func randomOnes(entities, n, seq int) []place {
	rng := rand.New(rand.NewPCG(uint64(entities), uint64(seq)))
	places := make([]place, n)
	for i := range places {
		places[i] = place{entityName(rng.IntN(entities)), seq + i} // of two events of an entity in one round the later is newer
	}
	return places
}

// growBatches: the same events in batches of so many.
func growBatches(ctx context.Context, b *bench) (table, chart, error) {
	t, c := growthTable("Events in a batch",
		"State events, one of each entity, four function instances. 10,000 is the most that an event source mapping of a standard "+
			"queue hands over (“Creating and configuring an Amazon SQS event source mapping”, AWS Lambda Developer Guide).", "batch")
	n := b.n(10_000)
	for _, size := range sizes(b, 1, 10, 100, 1000, 10_000) {
		batches := batched(unique("batch", n), min(size, n))
		if err := b.pair(ctx, &t, &c, humanize.Comma(int64(size)), b.fresh("consumer", batches, atATime, b.ours), b.fresh("raw loop", batches, atATime, b.theirs), n); err != nil {
			return t, c, err
		}
	}
	return t, c, nil
}

// growWorkers: the same events by so many function instances.
func growWorkers(ctx context.Context, b *bench) (table, chart, error) {
	t, c := growthTable("Function instances at once",
		"State events, one of each entity, batches of ten. Engine, consumer and loop share the machine's cores, so more instances wait for the same engine.", "instances")
	n := b.n(3000)
	batches := batched(unique("worker", n), 10)
	for _, instances := range sizes(b, 1, 2, 4, 8, 16, 32, 64) {
		if err := b.pair(ctx, &t, &c, fmt.Sprint(instances), b.fresh("consumer", batches, instances, b.ours), b.fresh("raw loop", batches, instances, b.theirs), n); err != nil {
			return t, c, err
		}
	}
	return t, c, nil
}

func (b *bench) theirs(tables ddb.Tables) handler { return b.sameLoop(modes[0], tables) }

func (b *bench) ours(tables ddb.Tables) handler { return b.consumer(modes[0].stream, tables, nil) }

// fresh drives new function instances over new tables.
func (b *bench) fresh(name string, batches []awsevents.SQSEvent, instances int, instance func(tables ddb.Tables) handler) side {
	return side{name, func(ctx context.Context) (func(context.Context) error, error) {
		tables, err := b.tables(ctx)
		if err != nil {
			return nil, err
		}
		handlers := several(instances, func() handler { return instance(tables) })
		return func(ctx context.Context) error { return drive(ctx, batches, handlers...) }, nil
	}}
}
