package ordering

import (
	"iter"
	"slices"

	"inorder/events"
)

// remember adds skipped numbers to those that an entity remembers.
func (c *Cursor) remember(skipped Range) {
	c.Skipped = addRange(c.Skipped, skipped)
	c.Skipped = c.Skipped[max(0, len(c.Skipped)-maxSkipped):]
}

// maxSkipped is how many ranges of skipped numbers an entity remembers. They are few by nature; a thousand take some
// 20 KB of its item. Beyond them the lowest are forgotten, whose originals are then duplicates.
const maxSkipped = 1000

// addRange returns ascending, disjoint ranges with one more in them, neighbours joined.
func addRange(ranges []Range, r Range) []Range {
	return events.JoinRanges(append(slices.Clip(ranges), r))
}

// between yields the numbers from first to last, which may be the highest there is.
func between(first, last int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		if first > last {
			return
		}
		for n := first; yield(n) && n != last; n++ {
		}
	}
}

// rangeOf returns the range that holds n, zero where none does.
func rangeOf(ranges []Range, n int64) Range {
	for _, r := range ranges {
		if r.First <= n && n <= r.Last {
			return r
		}
	}
	return Range{}
}

func within(ranges []Range, n int64) bool { return rangeOf(ranges, n) != Range{} }
