package ordering

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A gap is as old as the first sight of a number at or above the lowest missing one, whoever was forgotten because
// others show as much.
func TestAGapIsAsOldAsItsFirstSight(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		c := Cursor{Applied: rapid.Int64Range(0, 5).Draw(t, "applied")}
		var all []Witness
		for range rapid.IntRange(1, maxShown).Draw(t, "witnesses") {
			w := Witness{c.Applied + rapid.Int64Range(2, 20).Draw(t, "number"), begin.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "minute")) * time.Minute)}
			all = append(all, w)
			tells := c.tells(w)
			before := slices.Clone(c.Shown)
			c.hear(w.Seq, w.At)
			if told := !slices.Equal(before, c.Shown); told != tells {
				t.Fatalf("%v says more than %v: %t, and %v is remembered", w, before, tells, c.Shown)
			}
		}
		first := c.firstMissing()
		earliest := all[0].At.Add(time.Hour)
		for _, w := range all {
			if w.Seq >= first && w.At.Before(earliest) {
				earliest = w.At
			}
		}
		if got := c.shownAt(); !got.Equal(earliest) {
			t.Fatalf("shown at %s, want %s: %v of %v", got, earliest, c.Shown, all)
		}
	})
}

// However many show a gap, few are remembered, and it is never younger than it is.
func TestFewWitnessesAreRemembered(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := Cursor{}
	at := func(n int64) time.Time { return begin.Add(time.Duration(n*n) * time.Second) }
	for n := int64(2); n <= 200; n++ {
		c.hear(n, at(n))
	}
	if len(c.Shown) > maxShown {
		t.Errorf("%d are remembered", len(c.Shown))
	}
	for n := int64(2); n <= 200; n++ {
		c.Applied = n - 1
		if got := c.shownAt(); got.After(at(n)) || at(n).Sub(got) > at(200).Sub(begin)/8 {
			t.Errorf("a gap from %d on, shown at %s, is dated %s", n, at(n), got)
		}
	}
}
