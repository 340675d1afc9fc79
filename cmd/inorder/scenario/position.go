package scenario

import (
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// position is the number that an entity has come to: of the effective cursor, or of the newest clock. A clock that is
// no number has none.
func position(s *events.Stream, e *ordering.Entity) (int64, bool) {
	switch s.Mode {
	case events.Step:
		return e.Applied, true
	case events.Delta:
		return e.Ahead.Through(e.Applied), true
	case events.State:
	}
	clock := e.Newest()
	if clock == "" {
		return 0, true
	}
	_, seq, ok := events.ParseSeqClock(clock)
	return seq, ok
}

// reasonOf is why a message is in quarantine.
func reasonOf(m events.Message) string {
	mark, ok := functions.MarkOf(m)
	if !ok {
		return "a copy without the attribute inorder"
	}
	return string(mark.Reason)
}
