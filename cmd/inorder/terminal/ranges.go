package terminal

import (
	"fmt"
	"strings"

	"inorder/events"
)

// shownRanges is how many ranges a terminal shows of one entity.
const shownRanges = 3

// Numbers is how many numbers ranges hold.
func Numbers(ranges []events.Range) (n int64) {
	for _, r := range ranges {
		n += r.Last - r.First + 1
	}
	return n
}

// Ranges writes ranges of numbers; short: the first few, and how many numbers there are beside.
func Ranges(all []events.Range, short bool) string {
	texts := make([]string, 0, len(all))
	shown := all
	if short {
		shown = all[:min(len(all), shownRanges)]
	}
	for _, r := range shown {
		if r.First == r.Last {
			texts = append(texts, fmt.Sprint(r.First))
		} else {
			texts = append(texts, fmt.Sprintf("%d-%d", r.First, r.Last))
		}
	}
	if left := Numbers(all[len(shown):]); left > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(texts, " "), left)
	}
	return strings.Join(texts, " ")
}
