package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"inorder/ddb/local"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// checkTold asks whether whoever wrote an event said so: where no invocation died of it and none gave it back, one delivery
// at least is more than a duplicate. An answer that was lost is no excuse, for a write is recognised by its token.
func (w *world) checkTold(f *fact) {
	all := w.said[f]
	if len(all) == 0 || w.untold[f] || f.rival || f.entity.about.StartAny {
		return
	}
	if !slices.ContainsFunc(all, func(d ordering.Disposition) bool { return d != ordering.Duplicate }) {
		w.fault("Conservation", "all that was said of %s is that it is a duplicate, %d times", f.eventID(), len(all))
	}
}

// checkRepeated asks whether a marker tells what was here before, whatever a clock may say.
func (w *world) checkRepeated(l *letter, o ordering.Outcome) {
	if !w.repeats || l.fact == nil || !l.fact.entity.about.Marker {
		return
	}
	if o.Disposition != ordering.Duplicate {
		w.fault("AckIdempotence", "%s was acknowledged before, and is %s now", l.ID, o.Disposition)
	}
}

// checkConservation compares what an invocation says in its metrics with what it was given.
func (w *world) checkConservation(i *instance, batch []*letter) {
	said, consumed := 0.0, 0.0
	for line := range bytes.Lines(i.lines.Bytes()) {
		var document map[string]any
		if err := json.Unmarshal(line, &document); err != nil {
			w.fault("Conservation", "a metric line that is no JSON: %s", line)
			continue
		}
		for _, d := range ordering.Dispositions() {
			n, _ := document[d.Metric()].(float64)
			said += n
		}
		n, _ := document[functions.MetricConsumed].(float64)
		consumed += n
	}
	i.lines.Reset()
	if len(i.outcomes) != len(batch) {
		w.fault("Conservation", "%d outcomes of %d messages", len(i.outcomes), len(batch))
	}
	if said != consumed || int(consumed) != len(batch) {
		w.fault("Conservation", "%d messages, %v consumed, and %v dispositions", len(batch), consumed, said)
	}
}

// checkFrugality looks at what a batch cost that nobody was in the way of.
func (w *world) checkFrugality(t *thread, i *instance, batch []*letter) {
	if t.disturbed || w.engine == local.Minidyn { // which makes some reads necessary that AWS does not
		return
	}
	of := map[*entity]*bill{}
	for _, l := range batch {
		if l.fact == nil {
			return // marks and voids have costs of their own
		}
		b := of[l.fact.entity]
		if b == nil {
			b = &bill{generations: map[string]bool{}}
			of[l.fact.entity] = b
		}
		b.events++
		b.generations[fmt.Sprint(l.fact.gen, l.fact.source)] = true
	}
	for e, b := range of {
		spent := t.cost[e.lane]
		w.count["costs compared"]++
		writes, reads := b.allowed(e.about)
		if t.stale[e.lane] || e.about.PerSource { // what this machine remembers is old, which it learns by losing
			writes, reads = 2*writes, 2*reads+2
		}
		if spent.writes > writes || spent.reads > reads {
			w.fault("Frugality", "%d events of %s cost %d writes and %d reads; allowed are %d and %d", b.events, e.id, spent.writes, spent.reads, writes, reads)
		}
	}
}

type bill struct {
	events      int64
	generations map[string]bool // and sources
}

// allowed is the most that the design's table of costs lets a batch cost, where everything is out of order and cold.
func (b *bill) allowed(s *events.Stream) (writes, reads int64) {
	writes = 1
	switch {
	case s.Marker:
		writes, reads = 2*(1+b.events), 1
	case s.Mode == events.State && s.Clock == events.ClockEntity:
	case s.Mode == events.State:
		writes = 2 // a tombstone or a partly newer event is learnt by losing
	case s.Mode == events.Delta:
		writes, reads = 2, 1 // a gap that closes is tidied up
	case s.Effects:
		writes, reads = 2*b.events+3, 3
	default:
		writes, reads = 2*b.events+2, 3 // a copy of one that has waited long gives its row more time
	}
	n := int64(len(b.generations))
	return writes * n, reads * n
}
