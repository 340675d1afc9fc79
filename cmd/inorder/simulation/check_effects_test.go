package simulation

import (
	"encoding/json"
	"slices"

	"inorder/cmd/inorder/backend"
	"inorder/ordering"
)

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
	if w.sends != ordering.EffectsOn {
		w.checkNoEffects(e)
		return
	}
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

// checkNoEffects asks whether nothing is sent, and nothing kept to be sent later, where EFFECTS is off or hold.
func (w *world) checkNoEffects(e *entity) {
	if sent := w.effectsOf(e); len(sent) > 0 {
		w.fault("EffectOrder", "effects of %s are off or held, and %v are sent", e.id, sent)
	}
	for _, key := range e.keys() {
		if now := w.look(key); now != nil && now.OwesEffects() {
			w.fault("EffectOrder", "effects of %s are off or held, and it owes some", e.id)
		}
		w.count["entities without effects"]++
	}
}

// checkSent asks whether the effects of an event lie in their queue by the time that its message is acknowledged.
func (w *world) checkSent(f *fact) {
	if f == nil || w.sends != ordering.EffectsOn || !f.entity.about.Effects || f.kind != plain && f.kind != flaky {
		return
	}
	if !slices.Contains(w.effectsOf(f.entity), place{f.gen, f.seq, 0}) {
		w.fault("EffectOrder", "%s is acknowledged as applied, and its effect is not sent", f.eventID())
	}
}

// checkSeen asks whether the sweeper would find what a compare-and-set leaves owed.
func (w *world) checkSeen(key ordering.Key, next *ordering.Entity) {
	if d := next.Dispatched; next.Gap == nil && d != nil && (d.Gen < next.Gen || d.Seq < next.Applied) {
		w.fault("NoLostWakeup", "effects of %s are owed, and the sweeper would not see it", key.ID)
	}
}

func (e *entity) effectsEach() int {
	if e.about.Projection.Name != "" {
		return 2
	}
	return 1
}
