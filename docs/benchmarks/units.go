package main

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// units measures what an event of each mode costs, and sets it beside what others document.
func units(ctx context.Context, b *bench) (result, error) {
	r := result{Tables: []table{{
		Title: "Write units per event",
		Text: "Items of less than 1 KB; indexes and refused writes included, as the engine tells consumed capacity and DynamoDB bills it. " +
			"The second column is a batch of 100 in which each event is of another entity, the third ten events of each of ten entities, the " +
			"last the second with one event in twenty a place too late. [costs.md](costs.md) has every situation. What others document " +
			"is for one message of less than 1 KB, whatever batch it comes in.",
		Head: []string{"", "one of each entity", "ten of each in a batch", "one in twenty late", "reads per event"},
	}}}
	for _, m := range modes {
		b.say("%s", m.name)
		cells := []string{m.name}
		var reads float64
		for _, places := range [][]place{
			bursts("one", b.n(2000), 1), bursts("ten", b.n(2000), 10),
			reordered(rand.New(rand.NewPCG(1, 1)), "late", batchSize, max(b.n(30), 2), 0.05, 1),
		} {
			cost, err := b.cost(ctx, m, places)
			if err != nil {
				return r, err
			}
			if reads == 0 {
				reads = cost.readUnits / float64(len(places)) // of entities that the function does not know
			}
			cells = append(cells, short(cost.writeUnits/float64(len(places))))
		}
		r.Tables[0].Rows = append(r.Tables[0].Rows, append(cells, short(reads)))
	}
	for _, d := range documented {
		r.Tables[0].Rows = append(r.Tables[0].Rows, []string{d.name + ", " + d.page, d.writes, d.writes, d.writes, d.reads})
	}
	return r, nil
}

// documented is what a page says of another library.
type documentedCost struct{ name, page, writes, reads string }

var documented = []documentedCost{
	{"Powertools' idempotency and one write of one's own", "“Idempotency”, Powertools for AWS Lambda (TypeScript)", "3", "0"},
	{"NServiceBus, outbox and saga", "“AWS DynamoDB persistence capacity planning”, Particular", "5", "1"},
	{"Akka Projections, exactly once", "“Offset in DynamoDB”, Akka Projection", "5", "0"},
}

// cost is what a new function instance spends on events.
func (b *bench) cost(ctx context.Context, m mode, places []place) (counted, error) {
	tables, err := b.tables(ctx)
	if err != nil {
		return counted{}, err
	}
	c := &counter{}
	if err := drive(ctx, batched(places, batchSize), untilDone(b.consumer(m.stream, tables, c))); err != nil {
		return counted{}, fmt.Errorf("%s: %w", m.name, err)
	}
	return c.reset(), nil
}
