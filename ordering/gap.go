package ordering

import (
	"slices"
	"time"
)

// Highest is the highest number that the entity knows of.
func (c *Cursor) Highest() int64 {
	return max(c.Applied, c.MaxSeen, c.Waiting.Max(), c.Ahead.Max())
}

// Effective is the cursor continued through what is counted already. For a step entity it is the cursor.
func (c *Cursor) Effective() int64 { return c.Ahead.Through(c.Applied) }

// catchUp moves the cursor through what is counted already.
func (c *Cursor) catchUp() {
	c.Applied = c.Effective()
	c.Ahead = c.Ahead.Above(c.Applied)
	c.MaxSeen = max(c.MaxSeen, c.Applied)
}

// openGap reports whether anything is known above the effective cursor: missing, waiting or blocked.
func (c *Cursor) openGap() bool { return c.Highest() > c.Effective() }

// lacks reports whether a number is missing: known to exist, and neither here nor counted.
func (c *Cursor) lacks() bool {
	effective := c.Effective()
	return c.Highest()-effective > int64(len(c.Waiting)+len(c.Ahead.Above(effective)))
}

// drains reports whether what waits first is next in line.
func (c *Cursor) drains() bool { return c.Blocked == 0 && c.Waiting.Has(c.Applied+1) }

// OwesEffects reports whether effects up to the cursor are not sent yet.
func (c *Cursor) OwesEffects() bool {
	return c.Dispatched != nil && (c.Dispatched.Gen < c.Gen || c.Dispatched.Seq < c.Applied)
}

// settleGap puts the entity into the sweeper's index or takes it out. A gap is as old as the first sight of it; that
// something else was wrong before does not make it older. Attempts start again when the cursor moves.
func (e *Entity) settleGap(prev *Entity, now time.Time) {
	if !e.openGap() && !e.OwesEffects() && len(e.Marks) == 0 {
		e.Gap, e.Shown = nil, nil
		return
	}
	gap := Gap{Since: now}
	if goesOn := prev.Gap != nil && prev.Gen == e.Gen && (prev.lacks() || !e.lacks()); goesOn {
		gap = *prev.Gap
		if e.Effective() != prev.Effective() || prev.Applied != prev.Effective() { // the latter: while the database added
			gap.Escalations, gap.EscalateAt = 0, time.Time{}
		}
	}
	e.Shown = slices.DeleteFunc(telling(slices.Clone(e.Shown)), func(w Witness) bool { return w.Seq <= e.Effective() })
	if since := e.shownAt(); e.lacks() && !since.IsZero() {
		gap.Since = since
	}
	e.Gap = &gap
}
