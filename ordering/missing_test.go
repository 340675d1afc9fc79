package ordering_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"inorder/events"
	"inorder/ordering"
)

// What is missing is every number above the effective cursor, up to the highest known one and no further than a window,
// that neither waits nor is counted.
func TestMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &events.Stream{Mode: events.Step, Window: rapid.Int64Range(1, 12).Draw(t, "window")}
		c := ordering.Cursor{Applied: rapid.Int64Range(0, 5).Draw(t, "applied"), MaxSeen: rapid.Int64Range(0, 20).Draw(t, "max seen")}
		some := ordering.Numbers{}.With(rapid.SliceOfN(rapid.Int64Range(c.Applied+1, c.Applied+12), 0, 8).Draw(t, "here")...)
		if rapid.Bool().Draw(t, "delta") {
			s.Mode, c.Ahead = events.Delta, some
		} else {
			c.Waiting = some
		}
		e := &ordering.Entity{Exists: true, Cursor: c}
		var want, got []int64
		highest := max(c.MaxSeen, some.Max())
		for n := e.Effective() + 1; n <= min(highest, e.Effective()+s.Window); n++ {
			if !some.Has(n) {
				want = append(want, n)
			}
		}
		last := int64(0)
		for _, r := range e.Missing(s) {
			if r.First <= last+1 && last != 0 || r.First > r.Last {
				t.Fatalf("%v: ranges are ascending and have gaps between them", e.Missing(s))
			}
			for n := r.First; n <= r.Last; n++ {
				got = append(got, n)
			}
			last = r.Last
		}
		if !slices.Equal(got, want) {
			t.Fatalf("missing %v, want %v", got, want)
		}
	})
}

// Numbers at the end of the line overflow nothing.
func TestMissingAtTheEnd(t *testing.T) {
	s := &events.Stream{Mode: events.Step, Window: 1000}
	e := &ordering.Entity{Exists: true, Cursor: ordering.Cursor{Applied: math.MaxInt64 - 2, MaxSeen: math.MaxInt64}}
	if got := e.Missing(s); len(got) != 1 || got[0] != (ordering.Range{First: math.MaxInt64 - 1, Last: math.MaxInt64}) {
		t.Errorf("missing %v", got)
	}
	e = &ordering.Entity{Exists: true, Cursor: ordering.Cursor{Applied: math.MaxInt64 - 2, Waiting: ordering.Numbers{math.MaxInt64}}}
	if got := e.Missing(s); len(got) != 1 || got[0] != (ordering.Range{First: math.MaxInt64 - 1, Last: math.MaxInt64 - 1}) {
		t.Errorf("missing %v", got)
	}
	e = &ordering.Entity{Exists: true, Cursor: ordering.Cursor{Applied: math.MaxInt64}}
	if got := e.Missing(s); len(got) != 0 {
		t.Errorf("missing %v", got)
	}
	e = &ordering.Entity{Exists: true, Cursor: ordering.Cursor{MaxSeen: math.MaxInt64}}
	if got := e.Missing(s); len(got) != 1 || got[0] != (ordering.Range{First: 1, Last: 1000}) {
		t.Errorf("missing %v", got)
	}
}

// A request names no more than fits into a message; what is more goes into another one.
func TestRequestsAreSplit(t *testing.T) {
	s := &events.Stream{Mode: events.Step, Window: 100_000}
	e := &ordering.Entity{Exists: true}
	for n := int64(2); n <= 5000; n += 2 {
		e.Waiting = append(e.Waiting, n)
	}
	var ranges []ordering.Range
	requests := ordering.RequestsFor(events.RepublishRequest{Stream: "s"}, e, s)
	for _, r := range requests {
		ranges = append(ranges, r.Ranges...)
	}
	if len(requests) != 3 || !slices.Equal(ranges, e.Missing(s)) {
		t.Errorf("%d requests with %d ranges, missing are %d", len(requests), len(ranges), len(e.Missing(s)))
	}
}
