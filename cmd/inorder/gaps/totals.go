package gaps

import (
	"slices"
	"time"
)

// Totals are what the sweeper's gauges say, as they are now.
type Totals struct {
	Parked  int           // events that are logged and wait
	Missing int           // entities that lack a number
	Blocked int           // entities whose projection fails
	Owing   int           // entities whose effects are not all sent
	Oldest  *Gap          // of those that lack a number; nil where none does
	Age     time.Duration // its age
}

// Totals adds up what is open.
func (o *Open) Totals() Totals {
	var t Totals
	for i, g := range o.Gaps {
		t.Parked += g.Parked
		if g.Blocked != 0 {
			t.Blocked++
		}
		if slices.Contains(g.Why, OwesEffects) {
			t.Owing++
		}
		if !slices.Contains(g.Why, IsMissing) {
			continue
		}
		if t.Missing++; t.Oldest == nil { // they are in order of age
			t.Oldest, t.Age = &o.Gaps[i], time.Duration(g.AgeSeconds)*time.Second
		}
	}
	return t
}
