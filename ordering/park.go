package ordering

import (
	"time"

	"inorder/events"
)

// settlePark keeps account of the rows that must not expire: how old the oldest waiting one is, and when the sweeper
// has to look at them. Both are bounds, which only its look makes exact: a row that leaves does not raise them.
func (p *stepPlan) settlePark(in stepInput) {
	next := p.next
	for n, row := range in.logged {
		if n > next.Applied || in.sends() {
			next.Park.include(in.stream, row, n > next.Applied)
		}
	}
	next.clearPark()
}

// include makes room for one more row.
func (p *Park) include(s *events.Stream, row Row, waits bool) {
	look := row.ExpiresAt.Add(-s.ParkTTL / 2)
	if waits && row.Void == "" {
		look = earlier(look, row.ReceivedAt.Add(s.MaxParkAge))
		p.Since = earlier(p.Since, row.ReceivedAt)
	}
	p.Look = earlier(p.Look, look)
}

// earlier returns the earlier of two instants, of which a zero one is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// clearPark forgets what no row is left for.
func (c *Cursor) clearPark() {
	switch {
	case len(c.Waiting) > 0:
	case c.OwesEffects():
		c.Park.Since = time.Time{}
	default:
		c.Park = Park{}
	}
}
