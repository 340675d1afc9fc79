package main

import (
	"context"
	"fmt"
)

// crowd is how many invocations are at one entity at once.
const crowd = 16

// hot measures what an entity costs that everybody writes at once.
func hot(ctx context.Context, b *bench) (result, error) {
	r := result{Tables: []table{{
		Title: "One hot entity",
		Text: "Batches of 100 events of one entity, from one function instance and from sixteen at once. What comes back is handed over " +
			"again, as its queue would. Writes are those that leave the client, refused ones and log rows included.",
		Head: []string{"mode", "invocations at once", "events/s", "events per write", "write units per event"},
	}}}
	for _, m := range modes {
		for _, instances := range []int{1, crowd} {
			b.say("%s, %d at once", m.name, instances)
			events := b.n(200) * batchSize
			rate, cost, err := b.rush(ctx, m, instances, events)
			if err != nil {
				return r, err
			}
			perWrite := float64(events) / float64(cost.writes)
			r.Tables[0].Rows = append(r.Tables[0].Rows, []string{
				m.name, fmt.Sprint(instances), short(rate), short(perWrite), short(cost.writeUnits / float64(events)),
			})
			r.Goals = append(r.Goals, atLeast("events per write of one hot entity", m.name+", "+atOnceText(instances), 10, spreadOf([]float64{perWrite}), whyFought))
		}
	}
	perBatch, err := b.deltaCrowd(ctx)
	r.Goals = append(r.Goals, atMost("writes per batch of one hot entity", "delta, sixteen batches of ten at once", 1.3, spreadOf(perBatch), whyFought))
	return r, err
}

func atOnceText(instances int) string {
	if instances == 1 {
		return "one invocation at a time"
	}
	return "sixteen invocations at once"
}

const whyFought = "of invocations that write one item at once on a condition, one wins and the others decide again; early events of a " +
	"step stream are logged, a row each. Let fewer at it: a FIFO queue's message groups, or a lower MaximumConcurrency"

// rush lets instances write one entity, of which they take the batches in turns.
func (b *bench) rush(ctx context.Context, m mode, instances, events int) (rate float64, cost counted, err error) {
	tables, err := b.tables(ctx)
	if err != nil {
		return 0, cost, err
	}
	c := &counter{}
	all := several(instances, func() handler { return untilDone(b.consumer(m.stream, tables, c)) })
	batches := batched(bursts("hot", events, events), batchSize)
	took, err := timed(ctx, side{m.name, func(context.Context) (func(context.Context) error, error) {
		return func(ctx context.Context) error { return drive(ctx, batches, all...) }, nil
	}})
	return float64(events) / took.Seconds(), c.reset(), err
}

// deltaCrowd lets sixteen invocations count ten numbers each of a new entity, again and again, and returns the writes per
// batch of each entity.
func (b *bench) deltaCrowd(ctx context.Context) (perBatch []float64, err error) {
	b.say("delta, sixteen batches at once")
	tables, err := b.tables(ctx)
	if err != nil {
		return nil, err
	}
	c := &counter{}
	instances := several(crowd, func() handler { return untilDone(b.consumer(modes[2].stream, tables, c)) })
	for n := range b.n(40) {
		batches := batched(bursts(fmt.Sprint("crowd", n), crowd*10, crowd*10), 10)
		if err := drive(ctx, batches, instances...); err != nil {
			return nil, err
		}
		perBatch = append(perBatch, float64(c.reset().writes)/crowd)
	}
	return perBatch, nil
}
