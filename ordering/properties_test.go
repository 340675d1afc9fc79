package ordering_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"inorder/events"
	"inorder/ordering"
)

// What must always hold. Each is checked at the end of simulated lives: when every message is acked, or was set aside.

// Convergence: in any order and with any copies, the state equals the newest clock's, per attribute, per source.
func TestConvergence(t *testing.T) {
	simulate(t, slices.Concat(ofState, []func(*rand.Rand) history{lossyState}), (*world).stateFaults)
}

// StepOrder: each step once, in order. The projection's sum and its last value tell.
func TestStepOrder(t *testing.T) {
	simulate(t, slices.Concat(ofSteps, []func(*rand.Rand) history{lossySteps, lossyLives, lossyStart}), (*world).stateFaults)
}

// DeltaSum: the sum of the distinct events.
func TestDeltaSum(t *testing.T) {
	simulate(t, slices.Concat(ofDeltas, []func(*rand.Rand) history{lossyDelta}), (*world).stateFaults)
}

func (w *world) stateFaults() []string {
	meant := w.history.state
	e := w.entity()
	if !e.Absent() && meant == nil || e.Absent() && len(meant) > 0 || len(e.State)+len(meant) > 0 && !reflect.DeepEqual(e.State, meant) {
		return []string{fmt.Sprintf("the state is %v, absent %t, and the producer meant %v", e.State, e.Absent(), meant)}
	}
	return nil
}

// NoLostWakeup: all acked and nothing missing: the effective cursor is at the highest number, or at the one that the
// projection cannot take, and whatever still waits has its row.
func TestNoLostWakeup(t *testing.T) {
	simulate(t, numbered, func(w *world) (faults []string) {
		e := w.entity()
		if e.Effective() != w.history.cursor || e.Blocked != w.history.blocked {
			faults = append(faults, fmt.Sprintf("the cursor is at %d, blocked at %d; everything up to %d came, and %d cannot be taken", e.Effective(), e.Blocked, w.history.cursor, w.history.blocked))
		}
		for _, n := range e.Waiting {
			if rows, _ := w.store.Rows(context.Background(), w.history.key, e.Gen, n, n); len(rows) == 0 {
				faults = append(faults, fmt.Sprintf("number %d waits and has no row", n))
			}
		}
		return faults
	})
}

// What the sweeper must look at is in its index at every moment, and what it need not is not there in the end.
func TestOpenEntitiesAreSeen(t *testing.T) {
	simulate(t, slices.Concat(ofSteps, ofDeltas, lossy), func(w *world) (faults []string) {
		if w.unseen != "" {
			faults = append(faults, w.unseen)
		}
		if w.backwards != "" {
			faults = append(faults, w.backwards)
		}
		if e := w.entity(); e.Gap != nil && w.history.blocked == 0 && w.history.config.Streams[0].Mode == events.Step {
			faults = append(faults, fmt.Sprintf("nothing is open, and the sweeper is sent there: %+v", *e.Gap))
		}
		return faults
	})
}

// NoSilentLoss: each message comes to an end, and none that is good ends in quarantine.
func TestNoSilentLoss(t *testing.T) {
	simulate(t, slices.Concat(all, lossy), func(w *world) (faults []string) {
		if len(w.acked) != w.sent {
			faults = append(faults, fmt.Sprintf("%d of %d messages came to an end", len(w.acked), w.sent))
		}
		for _, c := range w.quarantine {
			if c.Outcome.Reason != events.ProjectionError && c.Outcome.Reason != events.OldGeneration {
				faults = append(faults, fmt.Sprintf("a good message is in quarantine: %s %s", c.Outcome.Reason, c.Outcome.Detail))
			}
		}
		return faults
	})
}

// EffectOrder: per generation in order, none twice, and all of the last one.
func TestEffectOrder(t *testing.T) {
	simulate(t, slices.Concat(ofSteps, []func(*rand.Rand) history{lossySteps, lossyLives, lossyStart}), func(w *world) (faults []string) {
		type place struct {
			gen, seq int64
			index    int
		}
		var at place
		sent := map[place]bool{}
		for _, e := range w.received {
			here := place{e.Generation, e.Seq, e.Index}
			if cmp.Or(cmp.Compare(here.gen, at.gen), cmp.Compare(here.seq, at.seq), cmp.Compare(here.index, at.index)) <= 0 && len(sent) > 0 {
				faults = append(faults, fmt.Sprintf("%v comes after %v", here, at))
			}
			at, sent[here] = here, true
		}
		if !w.history.complete {
			return faults
		}
		for _, m := range w.history.messages {
			e := w.history.config.Decode(*m, begin)[0].Event
			if e.Generation != w.history.last || e.Seq <= w.history.baseline || e.Seq > w.history.cursor || e.Ignored {
				continue
			}
			for index := range max(1, w.history.each) {
				if !sent[place{e.Generation, e.Seq, index}] {
					faults = append(faults, fmt.Sprintf("effect %d of %d was never sent", index, e.Seq))
				}
			}
		}
		return faults
	})
}

// OneEscalation: however many sweepers overlap, and whatever fails, a gap is asked for once per back-off.
func TestOneEscalation(t *testing.T) {
	simulate(t, lossy, func(w *world) (faults []string) {
		if w.twice != "" {
			faults = append(faults, w.twice)
		}
		return faults
	})
}

// Conservation: every delivery of a batch that was answered has one of the eight dispositions.
func TestConservation(t *testing.T) {
	simulate(t, slices.Concat(all, lossy), func(w *world) []string {
		total := 0
		for _, d := range ordering.Dispositions() {
			total += w.outcomes[d]
		}
		if total != w.consumed {
			return []string{fmt.Sprintf("%d outcomes of %d consumed", total, w.consumed)}
		}
		return nil
	})
}

// AckIdempotence: delivering again what was acked changes nothing but the revision, the token and what was owed.
func TestAckIdempotence(t *testing.T) {
	simulate(t, slices.Concat(all, lossy), func(w *world) (faults []string) {
		before, effects := w.entity(), len(w.received)
		w.queue, w.acked, w.calm = slices.Clone(w.acked), nil, true
		w.drain()
		after := w.entity()
		for _, e := range []*ordering.Entity{&before, &after} {
			e.Rev, e.Token = 0, ""
		}
		if !reflect.DeepEqual(before, after) {
			faults = append(faults, fmt.Sprintf("from %+v to %+v", before, after))
		}
		if len(w.received) != effects {
			faults = append(faults, fmt.Sprintf("%d effects more", len(w.received)-effects))
		}
		return faults
	})
}

// Frugality: nobody in the way, a batch costs one write of its entity; beside it a log row for each step that has to
// wait, or for each step where effects or an audit want it, and one more write for effects.
func TestFrugality(t *testing.T) {
	for s := uint64(1); s <= *seeds && !t.Failed(); s++ {
		rng := rand.New(rand.NewPCG(s, 0))
		h := all[rng.IntN(len(all))](rng)
		stream := h.config.Streams[0]
		if stream.Marker {
			continue // what a transaction costs is its number of events
		}
		w := &world{rng: rng, history: h, calm: true, effects: map[string]bool{}, now: begin}
		loop := w.loop(view{w, func(struct{}) bool { return true }}, ordering.NewCache(10))
		for batch := range slices.Chunk(h.messages, 1+rng.IntN(5)) {
			writes := w.store.Writes()
			report := loop.Apply(context.Background(), h.key, w.deliveries(batch))
			allowed := 1
			switch {
			case stream.Effects:
				allowed += len(batch) + 1
			case stream.Mode == events.Step:
				allowed += len(batch) // at most: what has to wait, or all of it
			case stream.Clock == events.ClockAttribute, stream.Mode == events.Delta:
				allowed++ // a tombstone or a partly newer event is learnt by losing; a gap that closes is tidied up
			}
			for _, o := range report.Outcomes {
				if o.Disposition == ordering.Deferred && stream.Window == 1000 {
					t.Errorf("seed %d, %s: deferred with nobody in the way: %v", s, h.name, o.Err)
				}
			}
			generations := map[int64]bool{}
			for _, d := range w.deliveries(batch) {
				generations[d.Event.Generation] = true
			}
			if cost := w.store.Writes() - writes; cost > allowed*len(generations) {
				t.Errorf("seed %d, %s: a batch of %d cost %d writes, allowed are %d", s, h.name, len(batch), cost, allowed*len(generations))
			}
		}
	}
}

func (w *world) entity() ordering.Entity {
	if e := w.store.All()[w.history.key]; e != nil {
		own := *e
		own.State = maps.Clone(e.State)
		return own
	}
	return ordering.Entity{}
}
