package explore

import (
	"context"
	"fmt"

	"inorder/ordering"
	"inorder/ordering/memory"
)

// atFirst is the store that everything begins with.
func (m *model) atFirst() *memory.Store {
	store := &memory.Store{}
	if m.Begin != nil {
		if err := store.Swap(context.Background(), m.key, &ordering.Entity{}, m.Begin, nil); err != nil {
			panic(err)
		}
	}
	return store
}

// failures are what is heard where it is not the answer.
var failures = [...]failure{answerLost: noAnswer, failing: noAnswer, throttling: throttled, contending: contended, retrying: noFailure}

// work makes the next request of one who works, or fails to, and lets him hear the answer.
func (m *model) work(s *state, at int, how kind) (fault string) {
	h := &m.known[s.slots[at].history]
	made := [...]int{working: 1, answerLost: 1, retrying: 2, failing: 0, throttling: 0, contending: 0}[how]
	heard := answer{}
	for time := 1; time <= made && fault == ""; time++ {
		heard, fault = m.request(s, at, h, time == made && how != answerLost)
	}
	if failed := failures[how]; failed != noFailure {
		heard = answer{failure: failed}
	}
	if fault != "" {
		return fault
	}
	if m.tells != nil {
		m.tells(heard.text())
	}
	return m.arrive(s, at, m.hears(s.slots[at].history, heard))
}

// request makes a request, of the store or of a queue.
func (m *model) request(s *state, at int, h *history, answered bool) (a answer, fault string) {
	r := m.requests[h.request]
	if r.op < opQuarantine {
		return m.ofStore(s, at, h, answered)
	}
	if r.op == opQuarantine {
		s.refused.put(r.message)
	}
	if r.op == opSend {
		s.effects, fault = m.receive(s.effects, r.message)
	}
	s.asked |= r.missing
	return a, fault
}

// ofStore makes a request of the store. Whoever writes knows what is there then, and nobody else does; whoever is told
// knows it, too.
func (m *model) ofStore(s *state, at int, h *history, answered bool) (a answer, fault string) {
	w := &s.slots[at]
	before := s.content
	d := m.result(before, h.request, w.current != 0 && w.current == h.knows)
	s.content = d.content
	if d.wrote {
		for i := range s.slots {
			s.slots[i].current, s.slots[i].fresh = 0, false
		}
		w.current = h.makes                  // 0 where the database makes the revision
		s.owner, s.token = int8(at), h.token //nolint:gosec // below maxSlots
	}
	if fault = d.fault; fault == "" && d.wrote {
		fault = m.newLife(s, &m.all[before], &m.all[d.content])
	}
	a = answer{failure: d.failure, rows: d.rows}
	if !d.tells || !answered {
		return a, fault
	}
	after := &m.all[d.content]
	a.entity = after.entity
	if after.now.Exists {
		if w.current == 0 {
			w.current = revision(h.shown + 1)
		}
		a.revision = w.current
		if int(s.owner) == at {
			a.token = s.token
		}
	}
	return a, fault
}

// newLife says what the beginning of a generation must find in order.
func (m *model) newLife(s *state, before, after *content) string {
	if after.now.Gen == before.now.Gen {
		return ""
	}
	if forgotten := (before.waits & s.acked).minus(s.refused | s.expired | m.onTheirWay(s)); forgotten != 0 {
		return fmt.Sprintf("generation %d begins, and %s, which waits and is acknowledged, is in no quarantine", after.now.Gen, m.names(forgotten))
	}
	if unsent := before.ran.minus(m.effects[s.effects].all); m.sends() && unsent != 0 {
		return fmt.Sprintf("generation %d begins, and the effect of %s is not sent", after.now.Gen, m.names(unsent))
	}
	return ""
}

// backwards says what no write may do.
func (m *model) backwards(before, after *content) string {
	was, is := before.now, after.now
	if is.Gen < was.Gen || is.Gen == was.Gen && (is.Applied < was.Applied || after.reached < before.reached) {
		return fmt.Sprintf("the cursor goes back from %d.%d to %d.%d", was.Gen, before.reached, is.Gen, after.reached)
	}
	if isLower(is.Dispatched, was.Dispatched) {
		return fmt.Sprintf("_dispatched goes back from %v to %v", *was.Dispatched, is.Dispatched)
	}
	return ""
}

func isLower(is, was *ordering.Position) bool {
	return was != nil && (is == nil || is.Gen < was.Gen || is.Gen == was.Gen && is.Seq < was.Seq)
}
