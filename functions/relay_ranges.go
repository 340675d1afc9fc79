package functions

import (
	"fmt"

	"inorder/events"
)

// joined is events.JoinRanges for ranges that somebody sent.
func joined(ranges []events.Range) ([]events.Range, error) {
	for _, r := range ranges {
		if r.First < 1 || r.Last < r.First {
			return nil, fmt.Errorf("%w: the range [%d,%d]", errBadMessage, r.First, r.Last)
		}
	}
	return events.JoinRanges(ranges), nil
}

// within reports whether ranges hold at most so many numbers. No sum runs over.
func within(ranges []events.Range, most int64) bool {
	for _, r := range ranges {
		if r.Last-r.First >= most {
			return false
		}
		most -= r.Last - r.First + 1
	}
	return true
}

// partedAt parts joined ranges behind a number.
func partedAt(ranges []events.Range, last int64) (upTo, above []events.Range) {
	for _, r := range ranges {
		switch {
		case r.Last <= last:
			upTo = append(upTo, r)
		case r.First > last:
			above = append(above, r)
		default:
			upTo = append(upTo, events.Range{First: r.First, Last: last})
			above = append(above, events.Range{First: last + 1, Last: r.Last})
		}
	}
	return upTo, above
}

// parted is what of joined ranges lies inside others, and what outside.
func parted(ranges, others []events.Range) (inside, outside []events.Range) {
	for _, r := range ranges {
		next := r.First
		for _, o := range others {
			first, last := max(next, o.First), min(r.Last, o.Last)
			if first > last {
				continue
			}
			if next < first {
				outside = append(outside, events.Range{First: next, Last: first - 1})
			}
			inside = append(inside, events.Range{First: first, Last: last})
			next = last + 1
			if last == r.Last {
				break
			}
		}
		if next <= r.Last && next >= r.First {
			outside = append(outside, events.Range{First: next, Last: r.Last})
		}
	}
	return inside, outside
}
