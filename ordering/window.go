package ordering

import (
	"fmt"

	"inorder/events"
)

// spanOf are the numbers that may be logged or run: a window from the cursor on. A stream that may begin anywhere, and
// has not begun, counts from the lowest number that waits or comes; one so low that a waiting one would lie beyond its
// window is out too.
func spanOf(s *events.Stream, base *Entity, facts []*job) Range {
	if !base.NoBaseline(s) {
		return window(base.Applied+1, s.Window)
	}
	floor, lowest := int64(1), int64(maxNumber)
	if len(base.Waiting) > 0 {
		floor, lowest = max(1, base.Waiting.Max()-s.Window+1), base.Waiting[0]
	}
	for _, j := range facts {
		if n := j.Event.Seq; n >= floor && j.Event.Generation == base.Gen {
			lowest = min(lowest, n)
		}
	}
	if lowest == maxNumber {
		return window(1, s.Window)
	}
	return window(lowest, s.Window)
}

// window is the numbers of a window that begins with first. Behind the highest number there is none.
func window(first, length int64) Range {
	if first < 1 {
		return Range{First: maxNumber, Last: maxNumber}
	}
	if last := first + length - 1; last >= first {
		return Range{First: first, Last: last}
	}
	return Range{First: first, Last: maxNumber}
}

func beyondWindow(n int64, s *events.Stream, span Range) error {
	return fmt.Errorf("number %d lies beyond the window of %d: now %d to %d are taken", n, s.Window, span.First, span.Last)
}
