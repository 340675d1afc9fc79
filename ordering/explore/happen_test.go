package explore

import (
	"fmt"
	"strings"
)

// begin is the state from which everything starts.
func (m *model) begin() state {
	s := state{
		owner: -1, content: m.keep(m.atFirst()),
		mishaps: uint8(m.Mishaps), copies: uint8(m.Copies), sweeps: uint8(m.Sweeps), orders: uint8(m.Orders), redrives: uint8(m.Redrives), //nolint:gosec // few
	}
	for _, batch := range m.Before {
		m.handle(&s, batch)
	}
	for _, clock := range m.Swept {
		s.clock = uint8(clock) //nolint:gosec // few
		if _, fault := m.sweepAlone(&s); fault != "" {
			panic(m.Name + ": " + fault)
		}
	}
	s.clock = uint8(m.Clock) //nolint:gosec // few
	for i, message := range m.Messages {
		switch message.Origin {
		case Sent:
			s.queue.add(once(i))
			if message.Twice {
				s.queue.add(once(i))
			}
		case Later:
			s.later.put(i)
		case Lost, Earlier:
		}
	}
	return s
}

// handle lets a cold instance, that is gone afterwards, handle a batch alone.
func (m *model) handle(s *state, batch []int) {
	begins := start{role: consumer}
	for _, i := range batch {
		begins.batch.add(once(i))
	}
	fault := m.enter(s, 0, begins)
	for fault == "" && !s.slots[0].idle() {
		fault = m.work(s, 0, working)
	}
	if s.slots[0] = (slot{}); fault != "" {
		panic(m.Name + ": " + fault)
	}
}

// happen lets something happen. It returns what is wrong with it, beside what check sees.
func (m *model) happen(s *state, c choice) (fault string) {
	of := int(c.of)
	switch c.kind {
	case taking, takingNew:
		return m.take(s, c)
	case sweeping:
		s.sweeps--
		return m.enter(s, int(c.slot), start{role: sweeper, clock: s.clock})
	case skipping:
		s.orders--
		return m.enter(s, int(c.slot), start{role: operator, clock: s.clock, skip: m.Skips[c.of]})
	case working:
		return m.work(s, int(c.slot), c.kind)
	case answerLost, failing, throttling, contending, retrying:
		s.mishaps--
		return m.work(s, int(c.slot), c.kind)
	case dying:
		s.mishaps--
		s.queue.add(m.known[s.slots[c.slot].history].batch)
		m.leave(s, int(c.slot), slot{})
	case comingAgain:
		s.copies--
		s.queue.add(once(of))
	case republishing:
		s.asked.take(of)
		s.queue.add(once(of))
	case arriving:
		s.later.take(of)
		s.queue.add(once(of))
	case redriving:
		s.redrives--
		s.refused.take(of)
		s.acked.take(of)
		s.queue.add(once(of))
	case passing:
		s.clock++
	case deleting:
		row := m.all[s.content].rows[of]
		message, _ := m.holder(row)
		s.expired.put(message)
		s.content = m.without(s.content, row)
	}
	return ""
}

func (m *model) take(s *state, c choice) string {
	batch := m.batchOf(s, c)
	s.queue.take(batch)
	w := &s.slots[c.slot]
	if c.kind == takingNew {
		*w = slot{}
	}
	begins := start{role: consumer, clock: s.clock, batch: batch, cache: w.cache, fought: w.fought}
	current := int32(0)
	if w.fresh {
		current = revision(1)
	}
	*w = slot{current: current}
	return m.enter(s, int(c.slot), begins)
}

// batchOf is the batch that somebody takes by a choice.
func (m *model) batchOf(s *state, c choice) (batch counts) {
	if c.of == everything {
		return s.queue
	}
	for i := range m.Messages {
		if c.of>>i&1 == 1 {
			batch.add(once(i))
		}
	}
	return batch
}

// enter lets somebody begin.
func (m *model) enter(s *state, at int, begins start) string {
	return m.arrive(s, at, m.first(begins))
}

// arrive is where a history goes on, or ends.
func (m *model) arrive(s *state, at int, history uint32) string {
	s.slots[at].history = history
	if m.known[history].request != 0 {
		return ""
	}
	end := &m.known[history].ending
	if end.fault != "" {
		return end.fault
	}
	if m.tells != nil && len(end.outcomes) > 0 {
		m.tells("; ends with " + strings.Join(end.outcomes, ", "))
	}
	s.acked |= end.acked
	s.refused |= end.refused
	s.queue.add(end.back)
	w := slot{}
	if m.known[history].role == consumer {
		current := s.slots[at].current
		w = slot{cache: end.cache, fought: end.fought, fresh: end.cache != 0 && current != 0 && end.revision == current}
	}
	m.leave(s, at, w)
	if unsent := (end.applied & m.all[s.content].ran).minus(m.effects[s.effects].all); m.sends() && unsent != 0 {
		return fmt.Sprintf("%s is acknowledged before its effect is sent", m.names(unsent))
	}
	return ""
}

// leave is the end of somebody's work: nobody will look for its token any more.
func (m *model) leave(s *state, at int, idle slot) {
	s.slots[at] = idle
	if int(s.owner) == at {
		s.owner, s.token = -1, 0
	}
}

// sends reports whether the stream has effects.
func (m *model) sends() bool { return m.stream.Effects }

func (m *model) names(of set) (names []string) {
	for i := range m.Messages {
		if of.has(i) {
			names = append(names, fmt.Sprintf("m%d", i))
		}
	}
	return names
}
