package explore

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
