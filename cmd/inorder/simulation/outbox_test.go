package simulation

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"inorder/cmd/inorder/backend"
	"inorder/ddb"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// An outbox is a producer's, in memory. It can prove of numbers that no event ever had them.
type outbox struct {
	*world
	rows  map[ddb.OutboxKey]map[ordering.Position]string
	heads map[ddb.OutboxKey]ordering.Position
	never map[ddb.OutboxKey]map[ordering.Position]bool
}

var (
	_ functions.OutboxReader = (*outbox)(nil)
	_ functions.Prover       = (*outbox)(nil)
)

func (f *fact) outboxKey() ddb.OutboxKey {
	return ddb.OutboxKey{Stream: f.entity.about.Name, EntityID: f.entity.id, Source: f.source, PerSource: f.entity.about.PerSource}
}

// historyOf is a key as the rows are kept by: sources matter only where each has a history of its own.
func historyOf(key ddb.OutboxKey) ddb.OutboxKey {
	if !key.PerSource {
		key.Source = ""
	}
	return key
}

func (o *outbox) Head(ctx context.Context, key ddb.OutboxKey) (at ordering.Position, found bool, err error) {
	fate := threadOf(ctx).pass(ctx, turn{op: "head of " + key.EntityID, lane: o.laneOf([]byte(key.EntityID)), effect: func() {
		at, found = o.heads[historyOf(key)]
	}})
	if fate.spoils() {
		return ordering.Position{}, false, fmt.Errorf("%w: %s", errLost, fate)
	}
	return at, found, nil
}

func (o *outbox) Rows(ctx context.Context, key ddb.OutboxKey, gen, first, last int64) iter.Seq2[ddb.OutboxRow, error] {
	return func(yield func(ddb.OutboxRow, error) bool) {
		var rows []ddb.OutboxRow
		fate := threadOf(ctx).pass(ctx, turn{op: "rows of " + key.EntityID, lane: o.laneOf([]byte(key.EntityID)), effect: func() {
			for n := first; n <= last && n <= 100; n++ {
				at := ordering.Position{Gen: gen, Seq: n}
				if body, has := o.rows[historyOf(key)][at]; has {
					rows = append(rows, ddb.OutboxRow{At: at, Event: body})
				}
			}
		}})
		if fate.spoils() {
			yield(ddb.OutboxRow{}, fmt.Errorf("%w: %s", errLost, fate))
			return
		}
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (o *outbox) NeverExisted(_ context.Context, key ddb.OutboxKey, gen int64, missing []events.Range) (proven []events.Range, err error) {
	for _, r := range missing {
		for n := r.First; n <= r.Last; n++ {
			if o.never[historyOf(key)][ordering.Position{Gen: gen, Seq: n}] {
				proven = append(proven, events.Range{First: n, Last: n})
			}
		}
	}
	return proven, nil
}

// keep writes a fact at once. What is gone is in the table's stream, and in the table no longer.
func (o *outbox) keep(f *fact) {
	key, at := historyOf(f.outboxKey()), f.position()
	o.heads[key] = at
	switch {
	case f.never:
		if o.never == nil {
			o.never = map[ddb.OutboxKey]map[ordering.Position]bool{}
		}
		if o.never[key] == nil {
			o.never[key] = map[ordering.Position]bool{}
		}
		o.never[key][at] = true
		o.written[f] = time.Now()
		return
	case !f.gone:
		if o.rows[key] == nil {
			o.rows[key] = map[ordering.Position]string{}
		}
		o.rows[key][at] = f.body
	}
	o.streamRow(ddb.OutboxPK(f.outboxKey()), fmt.Sprintf("%010d.%019d", at.Gen, at.Seq), f.body, f.source)
}

// produce lets the producer say a fact: into its outbox, or where it has no number straight into the queue.
func (w *world) produce(f *fact) {
	if f.rival {
		l := &letter{Message: events.Message{ID: "rival=" + f.eventID(), Body: f.rivalBody()}, at: time.Now().Add(f.delay / 2)}
		w.count[messages]++
		w.events.put(l)
	}
	switch {
	case f.entity.about.Order.By != events.BySeq:
		w.post(backend.SourceURL, events.Message{Body: f.body, Attributes: someAttributes})
		w.collect()
	case w.site == nil:
		w.told.keep(f)
	default:
		w.writeOut(f)
	}
}

var someAttributes = map[string]events.Attribute{"traceparent": {Type: "String", Text: "00-1-2-01"}, "raw": {Type: "Binary", Binary: []byte{0, 255}}}

// writeOut is the producer's program: it tries until it knows that the event is written.
func (w *world) writeOut(f *fact) {
	w.numbered++
	name := fmt.Sprint("p", w.numbered)
	w.writing[f.entity] = true
	var err error
	w.hire(producerName, &clock{}, invocationTimeout, func(t *thread) { err = t.writeFact(t.ctx, w.outbox(name), f) }, func(died bool) {
		w.writing[f.entity] = false
		if died || err != nil {
			w.traced(nil, "not written:", f.eventID(), err)
			w.agenda = append([]act{{at: time.Since(begin), what: write, fact: f}}, w.agenda...)
			return
		}
		if f.gone {
			w.forget()
		}
	})
}

func (t *thread) writeFact(ctx context.Context, out *ddb.Outbox, f *fact) error {
	if f.gone {
		out.TTL = time.Millisecond
	}
	key := f.outboxKey()
	head, found, err := out.Head(ctx, key)
	if err != nil {
		return err
	}
	if found && (head.Gen > f.gen || head.Gen == f.gen && head.Seq >= f.seq) {
		return nil // by a try that was not heard
	}
	order := ddb.OutboxWrite{Key: key, Draft: func(at ordering.Position) (ddb.OutboxDraft, error) {
		if at != f.position() {
			return ddb.OutboxDraft{}, fmt.Errorf("%w: it gives %s number %v", errNumber, f.eventID(), at)
		}
		return ddb.OutboxDraft{Event: []byte(f.body)}, nil
	}}
	if f.gen > 0 && (!found || head.Gen < f.gen) {
		order.Begin = f.gen
	}
	_, err = out.Write(ctx, order)
	return err
}

var errNumber = errors.New("the outbox numbers wrongly")

// marks has the relay tell of the newest numbers, as a producer may at any time.
func (w *world) marks() {
	var all []events.MarkEvent
	for _, e := range w.entities {
		if e.about.Order.By != events.BySeq {
			continue
		}
		for i, f := range e.facts {
			if e.isNewest(i) || i == len(e.facts)-1 {
				all = append(all, events.MarkEvent{Stream: e.about.Name, EntityID: e.id, Source: f.source, Generation: f.gen, Seq: f.seq})
			}
		}
	}
	i := w.newInstance()
	w.hire(relayName, i.clock, invocationTimeout, func(t *thread) { _ = w.relay(i).Marks(t.ctx, all) }, func(bool) {})
}
