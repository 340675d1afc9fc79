package main

import (
	"context"
	"fmt"
	"slices"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/ddb"
)

// batchSize is the template's.
const batchSize = 100

// atATime is how many function instances are at work at once.
const atATime = 4

// The goals against the raw loop.
const (
	wantUnique = 0.95
	wantBursts = 5
)

// throughput measures the consumer against the loop, at equal concurrency on the same engine.
func throughput(ctx context.Context, b *bench) (result, error) {
	r := result{Tables: []table{{
		Title: "Consumer and raw loop",
		Head:  []string{"mode", "events", "consumer, events/s", "raw loop, events/s", "ratio"},
	}}}
	bars := chart{Name: "Times as fast as the raw loop"}
	var values []float64
	for _, c := range throughputCases(b) {
		b.say("%s, %s", c.mode.name, c.events)
		ours, theirs, err := c.measure(ctx, b)
		if err != nil {
			return r, err
		}
		ratio := spreadOf(ratios(ours, theirs))
		r.Tables[0].Rows = append(r.Tables[0].Rows, []string{
			c.mode.name, c.events, short(spreadOf(rates(c.n, ours)).Median), short(spreadOf(rates(c.n, theirs)).Median), ratio.with(),
		})
		if c.want > 0 {
			r.Goals = append(r.Goals, atLeast("events/s against the raw loop", c.mode.name+", "+c.events, c.want, ratio, c.whyNot))
		}
		if c.bar != "" {
			bars.X, values = append(bars.X, c.bar), append(values, ratio.Median)
		}
	}
	bars.Series = []series{{"times as fast", values}}
	r.Charts = []chart{bars}
	return r, nil
}

// throughputCase is a row: n events of a mode against a loop.
type throughputCase struct {
	mode   mode
	events string
	n      int
	each   int  // events of an entity, one after the other
	warm   bool // the function has had an event of each entity before
	same   bool // the loop makes the consumer's own write
	want   float64
	whyNot string
	bar    string
}

const (
	whyEngine = "dynoxide answers one request after the other and takes longer for each attribute and each word of a condition, of " +
		"which the consumer's writes have more than a loop's that remembers nothing of the last event; DynamoDB bills both alike. How " +
		"much that is shows the loop that makes the same write: what is missing against that one, too, is not the engine's"
	whyCode = "about a tenth of the processor time of such an event is the consumer's own (decode, decide, remember, count), the rest is " +
		"the SDK's; engine and both sides share the machine's cores, so what else runs there shows"
	whyCold = "each entity is read before it is written, once for each function instance and entity; a loop that changes four " +
		"attributes on a condition needs no read. On DynamoDB a read costs a fifth of a write"
)

func throughputCases(b *bench) (cases []throughputCase) {
	for _, m := range modes {
		one := throughputCase{mode: m, events: "one of each entity", n: b.n(3000), each: 1, want: wantUnique, whyNot: whyEngine, bar: m.name + ", 1 each"}
		ten := throughputCase{mode: m, events: "ten of each entity in a batch", n: b.n(6000), each: 10, want: wantBursts, whyNot: whyEngine, bar: m.name + ", 10 each"}
		for _, c := range []throughputCase{one, ten} {
			cases = append(cases, c.variants()...)
		}
	}
	return cases
}

// variants are the rows of a case: against a loop that makes the same write, where it can without knowing the entity; for
// step and delta with entities that the function knows, and does not know, which matters to nobody else.
func (c throughputCase) variants() (rows []throughputCase) {
	if c.mode.inOrder {
		cold := c
		cold.events, cold.whyNot, cold.bar = c.events+", which the function does not know", whyCold, ""
		c.events, c.warm = c.events+", which the function knows", true
		rows = append(rows, cold)
	}
	if c.each == 1 || !c.mode.inOrder {
		same := c
		same.events, same.same, same.bar = c.events+"; the loop makes the same write", true, c.bar+", same"
		same.whyNot = whyCode
		rows = append(rows, same)
	}
	rows = append(rows, c)
	slices.Reverse(rows)
	return rows
}

func (c throughputCase) measure(ctx context.Context, b *bench) (ours, theirs []float64, err error) {
	first, batches := c.batches()
	prepared := func(instance func(tables ddb.Tables) handler) func(ctx context.Context) (func(ctx context.Context) error, error) {
		return func(ctx context.Context) (func(ctx context.Context) error, error) {
			tables, err := b.tables(ctx)
			if err != nil {
				return nil, err
			}
			instances := several(atATime, func() handler { return instance(tables) })
			return func(ctx context.Context) error { return drive(ctx, batches, instances...) }, drive(ctx, first, instances...)
		}
	}
	seconds, err := interleave(ctx, b.rounds,
		side{"consumer", prepared(func(tables ddb.Tables) handler { return b.consumer(c.mode.stream, tables, nil) })},
		side{"raw loop", prepared(func(tables ddb.Tables) handler {
			if c.same {
				return b.sameLoop(c.mode, tables)
			}
			return b.loop(c.mode, tables, nil)
		})})
	if err != nil {
		return nil, nil, fmt.Errorf("%s, %s: %w", c.mode.name, c.events, err)
	}
	return seconds[0], seconds[1], nil
}

// batches are what warms up, and what is timed.
func (c throughputCase) batches() (first, batches []awsevents.SQSEvent) {
	places := bursts("e", c.n, c.each)
	if c.warm {
		first = batched(places, batchSize)
		for i := range places {
			places[i].seq += c.each
		}
	}
	return first, batched(places, batchSize)
}
