package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"time"

	"inorder/cmd/inorder/backend"
	"inorder/ddb/local"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// check asks whether the life has ended where its producer meant it to. The faults carry the properties' names.
func (w *world) check() {
	for _, e := range w.entities {
		histories := e.histories()
		for _, key := range e.keys() {
			w.checkHistory(e, key, histories[key])
		}
		for _, f := range e.facts {
			w.checkTold(f)
		}
	}
	w.checkQuarantine()
}

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

func (w *world) checkHistory(e *entity, key ordering.Key, facts []*fact) {
	now := w.look(key)
	after := w.baseline(e, now, facts)
	m := meant(e.about, facts, after)
	property := map[events.Mode]string{events.State: "Convergence", events.Step: "StepOrder", events.Delta: "DeltaSum"}[e.about.Mode]
	if now.Absent() && len(m.state) > 0 || !now.Absent() && m.state == nil || len(now.State)+len(m.state) > 0 && !reflect.DeepEqual(now.State, m.state) {
		w.fault(property, "%s ends as %v (absent: %t), and was meant to be %v", e.id, now.State, now.Absent(), m.state)
	}
	if e.about.Mode == events.State || e.about.Order.By != events.BySeq {
		return
	}
	if now.Gen != m.gen || now.Effective() != m.cursor {
		w.fault("NoLostWakeup", "the cursor of %s is at %d.%d, and everything up to %d.%d is there", e.id, now.Gen, now.Effective(), m.gen, m.cursor)
	}
	if len(now.Waiting) > 0 || now.Blocked > 0 {
		w.fault("NoLostWakeup", "%s has waiting %v, blocked %d", e.id, now.Waiting, now.Blocked)
	}
	if e.about.Effects {
		w.checkEffects(e, m)
	}
}

// baseline is the number after which a stream began that may begin anywhere: the sum says which one it is, for every
// number has a digit of its own.
func (w *world) baseline(e *entity, now *ordering.Entity, facts []*fact) int64 {
	if !e.about.StartAny {
		return 0
	}
	for _, f := range facts {
		after := f.seq - 1
		if m := meant(e.about, facts, after); reflect.DeepEqual(m.state, now.State) {
			return after
		}
	}
	return 0
}

// place is where an effect belongs.
type place struct {
	gen, seq int64
	index    int
}

func (p place) before(o place) bool {
	if p.gen != o.gen {
		return p.gen < o.gen
	}
	if p.seq != o.seq {
		return p.seq < o.seq
	}
	return p.index < o.index
}

func (w *world) effectsOf(e *entity) (all []place) {
	for _, m := range w.queues.Sent(backend.EffectsURL) {
		var in ordering.Effect
		if err := json.Unmarshal([]byte(m.Body), &in); err != nil {
			w.fault("EffectOrder", "an effect that cannot be read: %s", m.Body)
		}
		if in.Stream == e.about.Name && in.EntityID == e.id {
			all = append(all, place{in.Generation, in.Seq, in.Index})
		}
	}
	return all
}

// checkEffects asks whether each step's effects came in order: what comes again, for it was not known to be sent, is
// what came before.
func (w *world) checkEffects(e *entity, m meaning) {
	seen := map[place]bool{}
	var last place
	for _, p := range w.effectsOf(e) {
		if !seen[p] && p.before(last) {
			w.fault("EffectOrder", "of %s effect %v comes after %v", e.id, p, last)
		}
		if !seen[p] {
			last = p
		}
		seen[p] = true
	}
	for _, f := range m.runs {
		for index := range e.effectsEach() {
			if p := (place{f.gen, f.seq, index}); !seen[p] {
				w.fault("EffectOrder", "effect %v of %s was never sent", p, e.id)
			}
			delete(seen, place{f.gen, f.seq, index})
		}
	}
	for p := range seen {
		if p.gen == m.gen {
			w.fault("EffectOrder", "effect %v of %s is of a number that has none", p, e.id)
		}
	}
}

func (e *entity) effectsEach() int {
	if e.about.Projection.Name != "" {
		return 2
	}
	return 1
}

// checkQuarantine asks whether everything that can never succeed lies there as it came, and nothing else does but what
// was there on its way.
func (w *world) checkQuarantine() {
	lies := map[string]events.Message{}
	for _, m := range w.queues.Sent(backend.QuarantineURL) {
		original := functions.Unwrap(m)
		mark, _ := functions.MarkOf(m)
		lies[original.Body] = original
		f := w.byBody[original.Body]
		switch {
		case slices.Contains(w.poison, original.Body):
		case slices.Contains(curable, string(mark.Reason)), mark.Reason == events.Conflict:
		case f != nil && (f.gone || f.kind == broken) && mark.Reason == events.Skipped:
		default:
			w.fault("NoSilentLoss", "a good message is in quarantine: %s %s: %s", mark.Reason, mark.Detail, original.Body)
		}
	}
	for i, body := range w.poison {
		if i >= w.count["act: "+poisoned.String()] {
			break
		}
		if m, is := lies[body]; !is || !reflect.DeepEqual(m.Attributes, someAttributes) {
			w.fault("NoSilentLoss", "what can never succeed is not in quarantine as it came: %s, attributes %v", body, m.Attributes)
		}
	}
}

// checkRequest looks at what a sweeper, or an operator, asks the relay for: each gap once in its back-off, and nothing
// that was acknowledged, for that would say that it was dropped.
func (w *world) checkRequest(body string) {
	var r events.RepublishRequest
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		w.fault("OneEscalation", "a request that cannot be read: %s", body)
		return
	}
	w.checkMissing(r)
	gap := fmt.Sprint(r.Stream, " ", r.EntityID, " ", r.Source, " ", r.Generation, " ", r.Ranges[0].First)
	if before, again := w.gaps[gap]; again && r.Attempt > 0 && before != body {
		w.checkBackOff(before, body)
	}
	if r.Attempt > 0 {
		w.gaps[gap] = body
		w.count["escalations"]++
	}
}

// checkAnswer asks whether the relay has answered all of a request that it acknowledges: with the event of each number, or
// a word about why there is none.
func (w *world) checkAnswer(request string, began time.Time, sent []string) {
	var r events.RepublishRequest
	if json.Unmarshal([]byte(request), &r) != nil || len(r.Ranges) == 0 {
		return // a note
	}
	answered := map[int64]bool{}
	for _, body := range sent {
		var said events.VoidEvent
		switch f := w.byBody[body]; {
		case f != nil && f.isOf(r):
			answered[f.seq] = true
		case json.Unmarshal([]byte(body), &said) == nil && said.Type == events.VoidType && said.EntityID == r.EntityID:
			for n := range numbersOf(said.Ranges) {
				answered[n] = true
			}
		}
	}
	for n := range numbersOf(r.Ranges) {
		for f, at := range w.written {
			if f != nil && f.isOf(r) && f.seq == n && at.Before(began) && !answered[n] {
				w.fault("NoSilentLoss", "the relay answered a request of %s and said nothing of number %d", r.EntityID, n)
			}
		}
	}
}

// isOf reports whether a fact is one of the history that a request is about.
func (f *fact) isOf(r events.RepublishRequest) bool {
	s := f.entity.about
	return f.entity.id == r.EntityID && f.gen == r.Generation && (!s.PerSource || f.source == r.Source)
}

// numbersOf are the numbers of ranges, for the few that facts can have.
func numbersOf(ranges []events.Range) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, r := range ranges {
			for n := r.First; n <= r.Last && n < 1000; n++ {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// skewed is how far two clocks may be apart: the largest jump, there and back.
const skewed = 6 * time.Second

func (w *world) checkBackOff(before, now string) {
	var a, b events.RepublishRequest
	if json.Unmarshal([]byte(before), &a) != nil || json.Unmarshal([]byte(now), &b) != nil {
		return
	}
	first, _ := time.Parse(time.RFC3339Nano, a.RequestedAt)
	second, _ := time.Parse(time.RFC3339Nano, b.RequestedAt)
	pause := 5 * time.Minute << min(a.Attempt-1, 10)
	if pause > time.Hour {
		pause = time.Hour
	}
	if second.Sub(first) < pause-skewed {
		w.fault("OneEscalation", "%s number %d: attempt %d came %s after attempt %d, whose back-off is %s",
			b.EntityID, b.Ranges[0].First, b.Attempt, second.Sub(first), a.Attempt, pause)
	}
}

func (w *world) checkMissing(r events.RepublishRequest) {
	for f, at := range w.acknowledged {
		if !f.isOf(r) || f.kind == broken {
			continue
		}
		asked := slices.ContainsFunc(r.Ranges, func(n events.Range) bool { return n.First <= f.seq && f.seq <= n.Last })
		if asked && time.Since(at) > time.Minute && !w.parkExpired(f) {
			w.fault("NoSilentLoss", "%s was acknowledged %s ago, and is asked for again", f.eventID(), time.Since(at))
		}
	}
}

// parkExpired reports whether a fact waited too long, and so left the log for quarantine.
func (w *world) parkExpired(f *fact) bool {
	return slices.ContainsFunc(w.queues.Sent(backend.QuarantineURL), func(m events.Message) bool {
		mark, _ := functions.MarkOf(m)
		body := functions.Unwrap(m).Body
		return mark.Reason == events.ParkExpired && (body == f.body || body == f.rivalBody())
	}) || w.redriven[f.body]+w.redriven[f.rivalBody()] > 0
}

// still is an entity without what a delivery may change that changes nothing.
func still(e *ordering.Entity) ordering.Entity {
	s := *e
	s.State = maps.Clone(e.State)
	s.Rev, s.Token, s.Park.Look = 0, "", time.Time{}
	return s
}

func (w *world) checkStill(before map[ordering.Key]ordering.Entity, effects int) {
	for _, e := range w.entities {
		for _, key := range e.keys() {
			if was, is := before[key], still(w.look(key)); !reflect.DeepEqual(was, is) {
				w.fault("AckIdempotence", "redeliveries made of %+v this: %+v", was, is)
			}
		}
	}
	if more := len(w.queues.Sent(backend.EffectsURL)) - effects; more > 0 {
		w.fault("AckIdempotence", "redeliveries sent %d effects", more)
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
