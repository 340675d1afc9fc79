package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"inorder/events"
)

// OrderKey is a clock as a producer would write it.
func OrderKey(s *events.Stream, clock string) string {
	switch s.Order.By {
	case events.BySeq:
		gen, seq, ok := events.ParseSeqClock(clock)
		switch {
		case !ok:
			return clock
		case gen != 0:
			return fmt.Sprintf("%d (generation %d)", seq, gen)
		}
		return strconv.FormatInt(seq, 10)
	case events.ByTime: // what follows breaks ties
		clock, _, _ = strings.Cut(clock, "|")
		if at, err := time.Parse(time.RFC3339Nano, clock); err == nil {
			return at.Format(time.RFC3339Nano)
		}
	case events.ByText, events.ByHex, events.ByNone:
	}
	return clock
}
