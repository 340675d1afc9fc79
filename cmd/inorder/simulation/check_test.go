package simulation

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"inorder/cmd/inorder/backend"
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

// checkBroken asks whether what no projection takes has its copy there: the consumer said that it is parked, or refused.
func (w *world) checkBroken(lies map[string]events.Message) {
	for f, all := range w.said {
		if f == nil || f.kind != broken || f.gen != f.entity.facts[len(f.entity.facts)-1].gen {
			continue
		}
		blocked := slices.Contains(all, ordering.Parked) || slices.Contains(all, ordering.Quarantined)
		if _, copied := lies[f.body]; blocked && !copied {
			w.fault("NoSilentLoss", "%s can never run, and no copy of it is in quarantine", f.eventID())
		}
	}
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
	w.checkBroken(lies)
	for i, body := range w.poison {
		if i >= w.count["act: "+poisoned.String()] {
			break
		}
		if m, is := lies[body]; !is || !reflect.DeepEqual(m.Attributes, someAttributes) {
			w.fault("NoSilentLoss", "what can never succeed is not in quarantine as it came: %s, attributes %v", body, m.Attributes)
		}
	}
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
