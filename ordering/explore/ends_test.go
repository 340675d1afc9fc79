package explore

import (
	"fmt"
	"slices"

	"inorder/ordering"
)

// ended looks at what one sweep, long after, makes of a state in which nobody works and no message waits: all that can
// run must have run, and what cannot must be in the sweeper's sight, and asked for where it is missing.
func (m *model) ended(from *state) string {
	s := *from
	s.clock = uint8(len(m.instant) - 1) //nolint:gosec // few
	asked, fault := m.sweepAfter(&s)
	if fault != "" {
		return fault
	}
	k := &m.all[s.content]
	switch e := k.now; {
	case e.Blocked == 0 && k.hasRow(e.Applied+1):
		return fmt.Sprintf("number %d waits for nothing, also after a sweep", e.Applied+1)
	case m.unsent(&s) != 0:
		return fmt.Sprintf("the effects of %s were never sent", m.names(m.unsent(&s)))
	case m.lags(k):
		return "_dispatched is behind the cursor, also after a sweep"
	case e.Gap != nil && !m.isOpen(&s):
		return "nothing is open any more, and it stands in the sweeper's index"
	}
	return m.asksRightly(&s, asked)
}

// asksRightly says what is wrong with what a sweep asked for, and where its entity ends.
func (m *model) asksRightly(s *state, asked ordering.Numbers) (fault string) {
	missing := m.missing(s)
	if len(missing) > 0 && len(asked) == 0 { // it drained first
		if asked, fault = m.sweepAfter(s); fault != "" {
			return fault
		}
		missing = m.missing(s)
	}
	if !slices.Equal(missing, asked) {
		return fmt.Sprintf("%s is missing, and asked for is %s", ranges(missing), ranges(asked))
	}
	k := &m.all[s.content]
	if e := k.now; m.Cursor != 0 && k.reached != m.Cursor && len(missing) == 0 && e.Blocked == 0 {
		return fmt.Sprintf("it ends at %d.%d%s, and should at %d", e.Gen, e.Applied, aside(e), m.Cursor)
	}
	return ""
}

// sweepAfter is a sweep of an end, with what it must not leave.
func (m *model) sweepAfter(s *state) (asked ordering.Numbers, fault string) {
	asked, fault = m.sweepAlone(s)
	if fault == "" {
		fault = m.broken(s)
	}
	if fault != "" {
		fault += ", in the sweep after it"
	}
	return asked, fault
}

// sweepAlone is one run of a sweeper that nobody disturbs.
func (m *model) sweepAlone(s *state) (asked ordering.Numbers, fault string) {
	const at = maxSlots - 1
	if m.all[s.content].now.Gap == nil {
		return nil, ""
	}
	fault = m.enter(s, at, start{role: sweeper, clock: s.clock})
	for fault == "" && !s.slots[at].idle() {
		if r := m.requests[m.known[s.slots[at].history].request]; r.op == opRepublish {
			for _, of := range r.asksFor {
				for n := of.First; n <= of.Last; n++ {
					asked = append(asked, n)
				}
			}
		}
		fault = m.work(s, at, working)
	}
	return asked, fault
}
