package terminal

import (
	"fmt"
	"strings"

	"inorder/events"
)

// shownRanges is how many ranges a terminal shows of one entity.
const shownRanges = 3

// Ranges writes ranges of numbers; short: the first few, and how many numbers there are beside.
func Ranges(all []events.Range, short bool) string {
	texts := make([]string, 0, len(all))
	var left int64
	for i, r := range all {
		switch {
		case short && i >= shownRanges:
			left += r.Last - r.First + 1
		case r.First == r.Last:
			texts = append(texts, fmt.Sprint(r.First))
		default:
			texts = append(texts, fmt.Sprintf("%d-%d", r.First, r.Last))
		}
	}
	if left > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(texts, " "), left)
	}
	return strings.Join(texts, " ")
}
