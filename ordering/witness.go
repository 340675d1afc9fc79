package ordering

import (
	"cmp"
	"slices"
	"time"
)

// Witness is a number that was heard of, and when: it shows that every number up to it exists.
type Witness struct {
	Seq int64
	At  time.Time
}

// maxShown is how many witnesses an entity keeps, some 40 bytes each. Of more, the two that came closest after each
// other become one.
const maxShown = 16

// hear raises the highest number that was heard of, and remembers who told.
func (c *Cursor) hear(seq int64, at time.Time) {
	c.MaxSeen = max(c.MaxSeen, seq)
	c.show(seq, at)
}

// show remembers that a number was heard of, where that tells more than what is known.
func (c *Cursor) show(seq int64, at time.Time) {
	c.Shown = telling(append(slices.Clone(c.Shown), Witness{seq, at.UTC()}))
	for len(c.Shown) > maxShown {
		closest := 0
		for i := range len(c.Shown) - 1 {
			if c.pause(i) < c.pause(closest) {
				closest = i
			}
		}
		c.Shown[closest+1].At = c.Shown[closest].At
		c.Shown = slices.Delete(c.Shown, closest, closest+1)
	}
}

// pause is the time between a witness and the next one.
func (c *Cursor) pause(i int) time.Duration { return c.Shown[i+1].At.Sub(c.Shown[i].At) }

// telling leaves out whoever came no earlier than a witness that shows as much. The rest is ascending, by number and
// by time.
func telling(all []Witness) []Witness {
	slices.SortFunc(all, func(a, b Witness) int { return cmp.Or(cmp.Compare(b.Seq, a.Seq), a.At.Compare(b.At)) })
	var kept []Witness
	for _, w := range all {
		if len(kept) == 0 || w.At.Before(kept[len(kept)-1].At) {
			kept = append(kept, w)
		}
	}
	slices.Reverse(kept)
	return kept
}

// tells reports whether a witness would say more than those that are known.
func (c *Cursor) tells(w Witness) bool {
	for _, known := range c.Shown {
		if known.Seq >= w.Seq && !known.At.After(w.At) {
			return false
		}
	}
	return true
}

// firstMissing is the lowest number that is missing, or that follows what is known.
func (c *Cursor) firstMissing() int64 {
	return c.Waiting.Through(c.Effective()) + 1
}

// shownAt is when what is missing was first shown, zero where nobody remembers. Where all who are remembered are passed,
// those who showed the rest came after them.
func (c *Cursor) shownAt() time.Time {
	first := c.firstMissing()
	var earliest, latest time.Time
	for _, w := range c.Shown {
		if w.Seq >= first {
			earliest = earlier(earliest, w.At)
		}
		if w.At.After(latest) {
			latest = w.At
		}
	}
	if earliest.IsZero() {
		return latest
	}
	return earliest
}

// GapSince is how old the gap is: since what first showed it was received. While the database adds, the attributes of the
// index are behind.
func (e *Entity) GapSince() time.Time {
	if since := e.shownAt(); !since.IsZero() && e.lacks() {
		return since
	}
	return e.Gap.Since
}
