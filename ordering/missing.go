package ordering

import "inorder/events"

// Missing lists the numbers that the entity lacks below the highest one that it knows of, in order, and no more than a
// window of them: what lies beyond it would be sent back anyway. A number that waits, or is counted, is not missing.
func (e *Entity) Missing(s *events.Stream) []Range {
	if s.Mode == events.State {
		return nil // its marks tell, see MissingMarks
	}
	if e.NoBaseline(s) {
		return e.missingBeforeBaseline()
	}
	return e.lacking(s.Window)
}

// lacking lists the missing numbers of a window from the effective cursor on.
func (c *Cursor) lacking(window int64) []Range {
	from := c.Effective()
	last := c.Highest()
	if last <= from {
		return nil
	}
	if last-from > window {
		last = from + window
	}
	var missing []Range
	next := from + 1
	for _, here := range [2]Numbers{c.Waiting, c.Ahead} {
		for _, n := range here {
			if n > last {
				break
			}
			if n < next {
				continue
			}
			if n > next {
				missing = append(missing, Range{First: next, Last: n - 1})
			}
			if n == last {
				return missing
			}
			next = n + 1
		}
	}
	if next <= last {
		missing = append(missing, Range{First: next, Last: last})
	}
	return missing
}

// NoBaseline reports whether a stream that may begin anywhere has not begun yet. It begins at once with number one,
// also where that waits.
func (e *Entity) NoBaseline(s *events.Stream) bool {
	return s.StartAny && e.Applied == 0 && !e.Waiting.Has(1)
}

// missingBeforeBaseline is empty where something waits: that will be the baseline. Where all that is known is a number
// that somebody heard of, that one is asked for, to be where the history begins.
func (e *Entity) missingBeforeBaseline() []Range {
	if len(e.Waiting) > 0 || e.MaxSeen == 0 {
		return nil
	}
	return []Range{{First: e.MaxSeen, Last: e.MaxSeen}}
}

// MissingMarks lists, by source, the position of the newest event of a state entity that is known to exist and has not
// come. Older ones do not matter.
func (e *Entity) MissingMarks(s *events.Stream) map[string]Position {
	if s.Mode != events.State {
		return nil
	}
	missing := map[string]Position{}
	for source, mark := range e.Marks {
		if gen, seq, ok := events.ParseSeqClock(mark); ok && e.clockOf(s, source) < mark {
			missing[source] = Position{gen, seq}
		}
	}
	return missing
}

// clockOf is the highest clock of a state entity, or with `clock: source` that of one source.
func (e *Entity) clockOf(s *events.Stream, source string) string {
	if s.Clock == events.ClockSource {
		return e.Clocks[source]
	}
	return e.Newest()
}

// Newest is the position of the newest event that a state entity has, empty where it has none. Marks are not counted.
func (e *Entity) Newest() string {
	newest := max(e.Clock, e.Last.Clock)
	for _, clock := range e.Clocks {
		newest = max(newest, clock)
	}
	return newest
}
