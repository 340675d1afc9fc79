package explore

import (
	"fmt"
	"slices"

	"inorder/events"
)

// ended looks at what one sweep, long after, makes of a state in which nobody works and no message waits: all that can
// run must have run, and what cannot must be in the sweeper's sight, and asked for where it is missing.
func (m *model) ended(from *state) string {
	s := *from
	s.clock = uint8(len(m.instant) - 1) //nolint:gosec // few
	asked, fault := m.sweepAlone(&s)
	if fault != "" {
		return fault + ", in the sweep after it"
	}
	e := m.all[s.content].now
	switch {
	case e.Blocked == 0 && e.Waiting.Has(e.Applied+1):
		return fmt.Sprintf("number %d waits for nothing, also after a sweep", e.Applied+1)
	case m.sends() && e.OwesEffects():
		return "effects are owed, also after a sweep"
	case m.sends() && m.all[s.content].ran.minus(m.effects[s.effects].all|s.expired) != 0:
		return fmt.Sprintf("the effects of %s were never sent", m.names(m.all[s.content].ran.minus(m.effects[s.effects].all)))
	case e.Gap != nil && e.Highest() == e.Effective():
		return "nothing is open any more, and it stands in the sweeper's index"
	}
	missing := e.Missing(m.stream)
	if len(missing) > 0 && len(asked) == 0 { // it drained first
		if asked, fault = m.sweepAlone(&s); fault != "" {
			return fault + ", in the second sweep after it"
		}
		missing = m.all[s.content].now.Missing(m.stream)
	}
	if !slices.Equal(missing, asked) {
		return fmt.Sprintf("%v is missing, and asked for is %v", missing, asked)
	}
	if m.Cursor != 0 && e.Effective() != m.Cursor && len(missing) == 0 && e.Blocked == 0 {
		return fmt.Sprintf("it ends at %d.%d%s, and should at %d", e.Gen, e.Applied, aside(e), m.Cursor)
	}
	if broken := m.broken(&s); broken != "" {
		return broken + ", after a sweep"
	}
	return ""
}

// sweepAlone is one run of a sweeper that nobody disturbs.
func (m *model) sweepAlone(s *state) (asked []events.Range, fault string) {
	const at = maxSlots - 1
	if m.all[s.content].now.Gap == nil {
		return nil, ""
	}
	fault = m.enter(s, at, start{role: sweeper, clock: s.clock})
	for fault == "" && !s.slots[at].idle() {
		if r := m.requests[m.known[s.slots[at].history].request]; r.op == opRepublish {
			asked = events.JoinRanges(append(asked, r.asksFor...))
		}
		fault = m.work(s, at, working)
	}
	return asked, fault
}
