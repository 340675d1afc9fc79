package explore

import (
	"fmt"
	"strings"
)

// kind is what may happen next.
type kind uint8

const (
	taking    kind = iota // an instance takes a batch
	takingNew             // a new instance takes a batch, in the place of one that is warm
	sweeping
	skipping
	working // a request is made, and answered
	dying
	answerLost // the request was made
	failing    // it was not, and nobody can tell
	throttling
	contending
	retrying // the SDK makes it twice, and the first answer is lost
	comingAgain
	republishing
	arriving
	redriving
	passing  // of time
	deleting // of a row that is past its TTL
)

// choice is one thing that may happen next.
type choice struct {
	kind
	slot uint8
	of   uint16 // messages, a message, an order or a row
}

// everything is a batch of all that waits.
const everything = 0

// choices are all things that may happen next.
func (m *model) choices(s *state) []choice {
	var all []choice
	if s.queue != 0 {
		all = m.takings(s, all)
	}
	busy := false
	for i := range s.slots {
		if w := &s.slots[i]; !w.idle() {
			busy = true
			all = m.workings(s, uint8(i), all) //nolint:gosec // below maxSlots
		}
	}
	all = m.upkeep(s, all)
	all = m.comings(s, all)
	if !busy && int(s.clock) < len(m.Times) {
		all = append(all, choice{kind: passing})
	}
	if m.Expires {
		for i, row := range m.all[s.content].rows {
			if _, holds := m.holder(row); holds && past(row, m.instant[s.clock]) {
				all = append(all, choice{deleting, 0, uint16(i)}) //nolint:gosec // few
			}
		}
	}
	return all
}

// takings are the batches that an instance may take, and which instances there are to take them.
func (m *model) takings(s *state, all []choice) []choice {
	batches := m.waiting(s.queue)
	cold := false
	for i := range m.Consumers {
		w := &s.slots[i]
		if !w.idle() || i > 0 && *w == s.slots[i-1] {
			continue
		}
		cold = cold || w.cache == 0
		for _, batch := range batches {
			all = append(all, choice{taking, uint8(i), batch}) //nolint:gosec // below maxSlots
		}
	}
	for i := range m.Consumers {
		if !cold && s.slots[i].idle() {
			for _, batch := range batches {
				all = append(all, choice{takingNew, uint8(i), batch}) //nolint:gosec // below maxSlots
			}
			break
		}
	}
	return all
}

func (m *model) waiting(queue counts) (batches []uint16) {
	var here uint16
	total := 0
	for i := range m.Messages {
		if n := queue.of(i); n > 0 {
			here |= 1 << i
			total += n
		}
	}
	for batch := uint16(1); batch <= here && batch != 0; batch++ {
		isOne := batch&(batch-1) == 0
		if batch&^here == 0 && (m.AnyBatch || isOne) {
			batches = append(batches, batch)
		}
	}
	if total > 1 {
		batches = append(batches, everything)
	}
	return batches
}

// workings are how the next request of one who works may end.
func (m *model) workings(s *state, slot uint8, all []choice) []choice {
	all = append(all, choice{working, slot, 0})
	if s.mishaps == 0 {
		return all
	}
	request := m.requests[m.known[s.slots[slot].history].request]
	all = append(all, choice{dying, slot, 0}, choice{failing, slot, 0})
	if reads[request.op] {
		return all
	}
	all = append(all, choice{answerLost, slot, 0}, choice{retrying, slot, 0})
	if request.op < opQuarantine {
		all = append(all, choice{throttling, slot, 0})
	}
	if moves[request.op] {
		all = append(all, choice{contending, slot, 0})
	}
	return all
}

// upkeep is what sweepers and operators may begin.
func (m *model) upkeep(s *state, all []choice) []choice {
	if s.sweeps > 0 && m.all[s.content].now.Gap != nil {
		for i := m.Consumers; i < m.Consumers+m.Sweepers; i++ {
			if s.slots[i].idle() {
				all = append(all, choice{sweeping, uint8(i), 0}) //nolint:gosec // below maxSlots
				break
			}
		}
	}
	if s.orders > 0 && s.slots[maxSlots-1].idle() {
		for i := range m.Skips {
			all = append(all, choice{skipping, maxSlots - 1, uint16(i)}) //nolint:gosec // few
		}
	}
	return all
}

// comings are the messages that may come into the queue.
func (m *model) comings(s *state, all []choice) []choice {
	for i := range m.Messages {
		of := uint16(i) //nolint:gosec // below maxMessages
		if s.copies > 0 && s.queue.of(i) == 0 && (s.acked.has(i) || m.handled(s, i)) {
			all = append(all, choice{comingAgain, 0, of})
		}
		if s.asked.has(i) {
			all = append(all, choice{republishing, 0, of})
		}
		if s.later.has(i) {
			all = append(all, choice{arriving, 0, of})
		}
		if s.redrives > 0 && s.refused.has(i) {
			all = append(all, choice{redriving, 0, of})
		}
	}
	return all
}

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

// make lets something happen. It returns what is wrong with it, beside what check sees.
func (m *model) make(s *state, c choice) (fault string) {
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
	batch := s.queue
	if c.of != everything {
		batch = 0
		for i := range m.Messages {
			if c.of>>i&1 == 1 {
				batch.add(once(i))
			}
		}
	}
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
