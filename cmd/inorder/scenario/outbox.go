package scenario

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"inorder/ddb"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// An outbox is what the producer still has. It is the one that the relay reads: whatever was asked for was written
// once, so what has no row is gone, unless the script says that it never existed.
type outbox struct {
	streams *events.Config
	rows    []outboxRow // by history and position
	never   []neverExisted
}

// A history is whose numbers they are. The source is empty where all producers of an entity share one numbering.
type history struct{ stream, id, source string }

type outboxRow struct {
	of     history
	at     ordering.Position
	source string // as the event has it
	body   string
}

type neverExisted struct {
	of     history
	gen    int64
	ranges []events.Range
}

var (
	_ functions.OutboxReader = (*outbox)(nil)
	_ functions.Prover       = (*outbox)(nil)
)

// historyOf is where an event's number counts.
func historyOf(s *events.Stream, id, source string) history {
	h := history{stream: s.Name, id: id}
	if s.PerSource || s.Clock == events.ClockSource {
		h.source = source
	}
	return h
}

func (o *outbox) historyOf(key ddb.OutboxKey) history {
	return historyOf(o.streams.Stream(key.Stream), key.EntityID, key.Source)
}

// Head is beyond all numbers: the script need not list what was written and is gone.
func (o *outbox) Head(context.Context, ddb.OutboxKey) (at ordering.Position, found bool, err error) {
	return ordering.Position{Gen: ddb.MaxGeneration, Seq: math.MaxInt64}, true, nil
}

// Rows are the rows of a range of numbers.
func (o *outbox) Rows(_ context.Context, key ddb.OutboxKey, gen, first, last int64) iter.Seq2[ddb.OutboxRow, error] {
	of := o.historyOf(key)
	return func(yield func(ddb.OutboxRow, error) bool) {
		for _, row := range o.rows {
			if row.of != of || row.at.Gen != gen || row.at.Seq < first || row.at.Seq > last {
				continue
			}
			if !yield(ddb.OutboxRow{At: row.at, Event: row.body}, nil) {
				return
			}
		}
	}
}

// NeverExisted is what the script says of it.
func (o *outbox) NeverExisted(_ context.Context, key ddb.OutboxKey, gen int64, missing []events.Range) ([]events.Range, error) {
	of := o.historyOf(key)
	var proved []events.Range
	for _, never := range o.never {
		if never.of != of || never.gen != gen {
			continue
		}
		for _, a := range never.ranges {
			for _, b := range missing {
				if both := (events.Range{First: max(a.First, b.First), Last: min(a.Last, b.Last)}); both.First <= both.Last {
					proved = append(proved, both)
				}
			}
		}
	}
	return proved, nil
}

// heads are the newest rows, one of each history.
func (o *outbox) heads() []outboxRow {
	var heads []outboxRow
	for _, row := range o.rows { // of a history the newest comes last
		if n := len(heads); n > 0 && heads[n-1].of == row.of {
			heads = heads[:n-1]
		}
		heads = append(heads, row)
	}
	return heads
}

type setOutbox struct{ outbox *outbox }

// play replaces what the producer has.
func (a setOutbox) play(w *world, _ step) error {
	w.outbox = a.outbox
	return nil
}

func (r *reader) outbox(v *value) action {
	o := &outbox{streams: r.script.streams}
	rows := v
	if v.kind == mapKind {
		rows = v.get("rows")
		if never := v.get("never_existed"); never != nil && o.streams != nil {
			o.never = r.neverExisted(never)
		}
	}
	if rows != nil && o.streams != nil {
		o.rows = r.rows(rows)
	}
	return setOutbox{o}
}

// rows finds the place of each row in its history. Events of a type that no stream takes are somebody else's, and rows
// without a number are never asked for.
func (r *reader) rows(v *value) []outboxRow {
	var rows []outboxRow
	for _, item := range v.items {
		body := string(item.json(nil))
		d := r.script.streams.Decode(events.Message{Body: body}, epoch)[0]
		switch {
		case d.Refusal.Reason == events.NoRoute && d.Stream == nil:
			continue
		case d.Event == nil:
			r.fault(item.line, "outbox: no place for this event: %s", d.Refusal.Detail)
			continue
		case d.Event.Kind != events.Fact:
			r.fault(item.line, "outbox: %s is no event of a producer", d.Event.Type)
			continue
		case d.Event.Stream.Order.By != events.BySeq:
			continue
		}
		row := outboxRow{
			of: historyOf(d.Event.Stream, d.EntityID, d.Source), at: ordering.Position{Gen: d.Event.Generation, Seq: d.Event.Seq},
			source: d.Source, body: body,
		}
		if slices.ContainsFunc(rows, func(other outboxRow) bool { return other.of == row.of && other.at == row.at }) {
			r.fault(item.line, "outbox: number %d of %s stands twice", row.at.Seq, row.of.id)
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b outboxRow) int {
		return cmp.Or(cmp.Compare(a.of.stream, b.of.stream), cmp.Compare(a.of.id, b.of.id), cmp.Compare(a.of.source, b.of.source),
			cmp.Compare(a.at.Gen, b.at.Gen), cmp.Compare(a.at.Seq, b.at.Seq))
	})
	return rows
}

func (r *reader) neverExisted(v *value) []neverExisted {
	var all []neverExisted
	for _, item := range v.items {
		never := neverExisted{of: r.history(item, "id"), ranges: ranges(item.get("ranges"))}
		if generation := item.get("generation"); generation != nil {
			never.gen = int64(whole(generation))
		}
		all = append(all, never)
	}
	return all
}

// history reads whose numbers are meant.
func (r *reader) history(v *value, idKey string) history {
	name := r.name(v, idKey)
	h := history(name)
	if s := r.script.streams; s != nil && s.Stream(name.stream) != nil {
		source := ""
		if given := v.get("source"); given != nil {
			source = given.text
		}
		h = historyOf(s.Stream(name.stream), name.id, source)
	}
	return h
}

func ranges(v *value) []events.Range {
	all := make([]events.Range, len(v.items))
	for i, item := range v.items {
		all[i] = events.Range{First: int64(whole(item.items[0])), Last: int64(whole(item.items[1]))}
	}
	return all
}

// String is how a report names a history.
func (h history) String() string {
	return entityName(h).String()
}

// rangesText is how a message of the relay, or a failure, shows ranges.
func rangesText(all []events.Range) string {
	text := ""
	for i, r := range all {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprint(r.First)
		if r.Last > r.First {
			text += fmt.Sprintf("-%d", r.Last)
		}
	}
	return text
}
