package ordering_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"inorder/events"
	"inorder/ordering"
)

// The aim is 3 µs and 12 allocations per event: from the body of an SQS message to what is to be written and what became
// of each message. Messages come in batches of 10, 40 and 100 over 4, 8 and 10 entities, shuffled within a batch, to a
// warm function. The writes cost nothing.
func BenchmarkDecide(b *testing.B) {
	config, err := events.ParseStreams([]byte(decideStreams), events.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, mode := range []struct{ name, body string }{
		{"state", `{"event_id":"%[1]s:%[2]d","type":"subscription.changed","entity_id":"%[1]s","seq":%[2]d,"source":"billing","published_at":"2026-09-05T10:14:14.470Z",` +
			`"data":{"subscription_id":"%[1]s","plan":"basic","status":"active","seats":12,"price":"19.90","currency":"EUR","renews_at":"2026-10-01T00:00:00Z","cancel_at_period_end":false}}`},
		{"step", `{"event_id":"%[1]s:%[2]d","type":"entry.posted","entity_id":"%[1]s","seq":%[2]d,"source":"ledger","published_at":"2026-09-05T10:14:14.470Z",` +
			`"data":{"account":"%[1]s","entry":"payment","amount":"-19.90","currency":"EUR","booked_at":"2026-09-05T10:14:14.470Z","text":"Invoice 2026-000917, basic plan"}}`},
		{"delta", `{"event_id":"%[1]s:%[2]d","type":"usage.metered","entity_id":"%[1]s","seq":%[2]d,"source":"gateway","published_at":"2026-09-05T10:14:14.470Z",` +
			`"data":{"subscription_id":"%[1]s","calls":3,"bytes":17342,"cost":"0.0312","region":"eu-central-1","window_start":"2026-09-05T10:10:00Z","final":true}}`},
	} {
		b.Run(mode.name, func(b *testing.B) { benchDecide(b, config, mode.body) })
	}
}

const decideStreams = `
consumer: c
streams:
  - {name: rest, types: ["*"], mode: state, clock: entity}
  - {name: subscription, types: ["subscription.*"], mode: state, clock: entity}
  - {name: ledger, types: [entry.posted], ignore: [entry.viewed], mode: step, entity: data.account, projection: {sum: {balance: data.amount}, set: {currency: data.currency}}}
  - {name: usage, types: [usage.metered], mode: delta, entity: data.subscription_id, projection: {sum: {calls: data.calls, cost: data.cost}}}
`

func benchDecide(b *testing.B, config *events.Config, body string) {
	batches := decideBatches(body)
	d := &decider{config: config, at: map[string]int{}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, judged := 0, 0
	for b.Loop() {
		if n%len(batches) == 0 {
			d.restart() // or every event would be a duplicate
		}
		d.decide(b, batches[n%len(batches)])
		judged += len(batches[n%len(batches)])
		n++
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(0, "ns/op") // batches differ
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(judged), "ns/event")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(judged), "allocs/event")
}

// decideBatches are histories of entities, each in order but for the shuffling of a batch.
func decideBatches(body string) [][]events.Message {
	random := rand.New(rand.NewPCG(1, 2))
	var batches [][]events.Message
	next := map[string]int{}
	for range 100 {
		for _, shape := range []struct{ size, entities int }{{10, 4}, {40, 8}, {100, 10}} {
			batch := make([]events.Message, shape.size)
			for i := range batch {
				entity := fmt.Sprintf("sub_%02d%04d", shape.entities, i%shape.entities)
				next[entity]++
				id := fmt.Sprintf("%016x-%d", random.Uint64(), i)
				batch[i] = events.Message{ID: id, Body: fmt.Sprintf(body, entity, next[entity]), ReceivedAt: decideNow, ReceiveCount: 1}
			}
			random.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
			batches = append(batches, batch)
		}
	}
	return batches
}

var decideNow = time.Date(2026, 9, 5, 10, 14, 15, 0, time.UTC)

// decider is what a consumer does with a batch before and after its requests.
type decider struct {
	config *events.Config
	loop   *ordering.Loop
	tokens int

	at    map[string]int        // the place of each entity of the batch
	parts [][]ordering.Delivery // by place; used again
}

// restart forgets all entities.
func (d *decider) restart() {
	d.loop = &ordering.Loop{
		Store: costless{}, Streams: d.config, Cache: ordering.NewCache(10_000), Now: func() time.Time { return decideNow },
		NewToken: func() string { d.tokens++; return strconv.Itoa(d.tokens) },
	}
}

func (d *decider) decide(b *testing.B, batch []events.Message) {
	clear(d.at)
	for i := range batch {
		e := d.config.Decode(batch[i], decideNow)[0].Event
		if e == nil {
			b.Fatalf("%s is refused", batch[i].Body)
		}
		place, known := d.at[e.EntityID]
		if !known {
			place = len(d.at)
			d.at[e.EntityID] = place
			if place == len(d.parts) {
				d.parts = append(d.parts, nil)
			}
			d.parts[place] = d.parts[place][:0]
		}
		d.parts[place] = append(d.parts[place], ordering.Delivery{Event: e, Message: &batch[i]})
	}
	for _, part := range d.parts[:len(d.at)] {
		e := part[0].Event
		report := d.loop.Apply(context.Background(), ordering.Key{Consumer: "c", Stream: e.Stream.Name, ID: e.EntityID}, part)
		for i, o := range report.Outcomes {
			if o.Disposition != ordering.Applied && o.Disposition != ordering.Coalesced {
				b.Fatalf("%d of %s: %+v", part[i].Event.Seq, e.EntityID, o)
			}
		}
	}
}

// costless is a store that forgets at once. Whatever else a decision asks of it is a fault of the benchmark.
type costless struct{ ordering.Store }

func (costless) Entity(context.Context, ordering.Key) (*ordering.Entity, error) {
	return &ordering.Entity{}, nil
}

func (costless) Swap(context.Context, ordering.Key, *ordering.Entity, *ordering.Entity, []ordering.Marker) error {
	return nil
}

func (costless) PutNewer(context.Context, ordering.Key, *ordering.Entity, []ordering.Marker) error {
	return nil
}
