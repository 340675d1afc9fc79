package republish

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/terminal"
	"inorder/events"
	"inorder/ordering"
)

// parseRanges reads 7,9-11 into ascending ranges that do not touch.
func parseRanges(text string) ([]events.Range, error) {
	var all []events.Range
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" && text == "" {
			break
		}
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		r := events.Range{}
		var err1, err2 error
		r.First, err1 = strconv.ParseInt(strings.TrimSpace(first), 10, 64)
		r.Last, err2 = strconv.ParseInt(strings.TrimSpace(last), 10, 64)
		if err1 != nil || err2 != nil || r.First < 1 || r.Last < r.First {
			return nil, fmt.Errorf("--ranges: %q is neither a number from 1 on nor a range such as 9-11", part)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b events.Range) int { return cmp.Compare(a.First, b.First) })
	joined := all[:0]
	for _, r := range all {
		if n := len(joined); n > 0 && r.First-1 <= joined[n-1].Last {
			joined[n-1].Last = max(joined[n-1].Last, r.Last)
			continue
		}
		joined = append(joined, r)
	}
	return joined, nil
}

// wish is what somebody asks for by its numbers.
type wish struct {
	stream  *events.Stream
	entity  *ordering.Entity
	key     ordering.Key
	missing []events.RepublishRequest // for all that is missing
	asked   []events.Range            // not empty, ascending
}

// withinWindow refuses what would be sent back when it comes, or is more than the producer must answer.
func (w wish) withinWindow() error {
	if w.stream.Mode == events.State {
		if n := terminal.Numbers(w.asked); n > 1 {
			return fmt.Errorf("of %s only the newest event matters, so ask for one number, not for %d", stack.NameOf(w.key), n)
		}
		return nil
	}
	window, cursor := w.stream.Window, w.entity.Effective()
	highest := w.asked[len(w.asked)-1].Last
	switch {
	case w.entity.NoBaseline(w.stream): // where it begins is not known
	case highest-cursor > window:
		return fmt.Errorf("number %d of %s lies beyond its window: the cursor is at %d, and at most %d numbers above it are taken",
			highest, stack.NameOf(w.key), cursor, window)
	}
	for _, r := range w.asked { // one by one: their sum may be more than a number holds
		if r.Last-r.First >= window {
			return w.tooMany()
		}
	}
	if terminal.Numbers(w.asked) > window {
		return w.tooMany()
	}
	return nil
}

func (w wish) tooMany() error {
	return fmt.Errorf("these are more numbers than the window of stream %s has (%d): ask for fewer at once", w.stream.Name, w.stream.Window)
}

// onlyMissing refuses what is here, or not known at all.
func (w wish) onlyMissing() error {
	var others []events.Range
	for _, r := range w.asked {
		for n := r.First; ; n++ {
			if !w.lacks(n) {
				others = append(others, events.Range{First: n, Last: n})
			}
			if n == r.Last { // which may be the highest number there is
				break
			}
		}
	}
	if len(others) == 0 {
		return nil
	}
	n := others[0].First
	more := ""
	if len(others) > 1 {
		more = fmt.Sprintf(" (and %d more like it)", len(others)-1)
	}
	return fmt.Errorf("number %d of %s %s%s: to ask all the same, add --force; without --ranges all that is missing is asked for",
		n, stack.NameOf(w.key), w.why(n), more)
}

func (w wish) lacks(n int64) bool {
	return slices.ContainsFunc(w.missing, func(r events.RepublishRequest) bool { return has(r.Ranges, n) })
}

func has(ranges []events.Range, n int64) bool {
	return slices.ContainsFunc(ranges, func(r events.Range) bool { return r.First <= n && n <= r.Last })
}

// why a number is not missing.
func (w wish) why(n int64) string {
	e := w.entity
	switch {
	case w.stream.Mode == events.State:
		return "is not known to be missing"
	case has(e.Skipped, n):
		return "was skipped"
	case n <= e.Effective():
		return "is applied already"
	case e.Waiting.Has(n):
		return "is parked already"
	case e.Ahead.Has(n):
		return "is counted ahead already"
	}
	return "is above all that is known"
}

// rangesPerRequest keeps a message far below what SQS takes.
const rangesPerRequest = 1000

// requests are for the numbers that were asked for. Of a state entity whose sources have clocks of their own, the number
// is asked for of the sources that lack it.
func (w wish) requests(template events.RepublishRequest) ([]events.RepublishRequest, error) {
	if w.stream.Mode == events.State {
		return w.ofState(template)
	}
	var requests []events.RepublishRequest
	for ranges := range slices.Chunk(w.asked, rangesPerRequest) {
		template.Ranges = ranges
		requests = append(requests, template)
	}
	return requests, nil
}

func (w wish) ofState(template events.RepublishRequest) ([]events.RepublishRequest, error) {
	var requests []events.RepublishRequest
	for _, request := range w.missing {
		if request.Ranges[0] == w.asked[0] {
			requests = append(requests, request)
		}
	}
	switch {
	case len(requests) > 0:
		return requests, nil
	case w.stream.Clock == events.ClockSource:
		return nil, fmt.Errorf("in stream %s each source has numbers of its own, and none of them lacks %d", terminal.Escape(w.stream.Name), w.asked[0].First)
	}
	template.Generation, _, _ = events.ParseSeqClock(w.entity.Newest())
	template.Ranges = w.asked
	return []events.RepublishRequest{template}, nil
}
