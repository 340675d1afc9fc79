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
			"last the second with one event in twenty a place too late. [costs.md](costs.md) has every situation.",
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
	r.Tables = append(r.Tables, documented)
	return r, nil
}

// documented is what the pages of others say, worked out for a message of less than 1 KB that changes one item.
var documented = table{
	Title: "Write units per event that others document",
	Text: "For a message of less than 1 KB that changes one item and sends nothing, whatever else is in its batch. Powertools was also run: see " +
		"below. The other two are what their pages, and for Akka its source, come to; they were not run.",
	Head: []string{"", "write units", "reads", "of", "page"},
	Rows: [][]string{
		{
			"Powertools' idempotency and a write of one's own", "3", "0", "a record before the handler and one after, and the write",
			"“Idempotency”, Powertools for AWS Lambda (TypeScript): two writes for each new invocation",
		},
		{
			"NServiceBus, saga and outbox", "5", "1, and 1 that loads the saga", "saga and outbox record in a transaction, 2 units each, and one that marks it as dispatched",
			"“AWS DynamoDB persistence capacity planning”, Particular: “Saga and outbox combined” without messages sent",
		},
		{
			"Akka Projections, exactly once", "5", "0", "the handler's item and the sequence number in a transaction, 2 units each, and the slice's offset",
			"“Offset in DynamoDB”, Akka Projection, “exactly-once”; the slice's offset by its `DynamoDBOffsetStore`",
		},
	},
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
