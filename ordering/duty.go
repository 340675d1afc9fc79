package ordering

import (
	"time"

	"inorder/events"
)

// Duty is what the sweeper has to do about an entity. The list is closed, and its order is the order in which duties
// are done: what heals by itself comes before what asks somebody.
type Duty uint8

// The duties.
const (
	NoDuty       Duty = iota
	TakeBaseline      // start: any, one gap deadline old: the lowest number that waits is the beginning
	FinishDrain       // what waits first is next in line: an invocation was interrupted
	RetryBlocked      // the projection may take by now what it refused
	TendLog           // rows may need more time, or be too old; and before anybody is asked, the entity may not know them all
	SendOwed          // effects
	TidyUp            // nothing is open, yet it stands in the index; or it owes effects that nobody sends any more
	Escalate          // the gap is overdue: ask for what is missing
	dutyCount
)

// dutySet are the duties that were tried in this sweep. Each is tried once: what it could not do is the next sweep's.
type dutySet [dutyCount]bool

// DutyOf says what is to be done first about an entity, by itself and the time alone. sends: effects are sent.
func DutyOf(s *events.Stream, e *Entity, now time.Time, sends bool) Duty {
	return dutyOf(s, e, now, sends, dutySet{})
}

func dutyOf(s *events.Stream, e *Entity, now time.Time, sends bool, tried dutySet) Duty {
	for duty := TakeBaseline; duty < dutyCount; duty++ {
		if !tried[duty] && e.hasDuty(duty, s, now, sends) {
			return duty
		}
	}
	return NoDuty
}

func (e *Entity) hasDuty(duty Duty, s *events.Stream, now time.Time, sends bool) bool {
	isStep := s.Mode == events.Step
	switch duty {
	case TakeBaseline:
		return isStep && e.NoBaseline(s) && len(e.Waiting) > 0 && !e.drains() && e.overdue(s, now)
	case FinishDrain:
		return isStep && e.drains()
	case RetryBlocked:
		return isStep && e.Blocked != 0
	case TendLog:
		return isStep && (e.rowsNeedLook(now) || e.escalates(s, now))
	case SendOwed:
		return isStep && sends && e.OwesEffects()
	case TidyUp:
		return e.Gap != nil && !e.isOpen(s, sends) || isStep && !sends && e.OwesEffects()
	case Escalate:
		return e.escalates(s, now)
	case NoDuty, dutyCount:
	}
	return false
}

// rowsNeedLook reports whether a row may have less than half of its time left, or be too old. An entity whose rows
// nobody has looked at yet needs it.
func (e *Entity) rowsNeedLook(now time.Time) bool {
	return (len(e.Waiting) > 0 || e.OwesEffects()) && !e.Park.Look.After(now)
}

// isOpen reports whether anything is left that the sweeper must look at.
func (e *Entity) isOpen(s *events.Stream, sends bool) bool {
	if s.Mode == events.State {
		return len(e.MissingMarks(s)) > 0
	}
	return e.openGap() || sends && e.OwesEffects()
}

// overdue reports whether what is wrong with the entity was seen a gap deadline ago.
func (e *Entity) overdue(s *events.Stream, now time.Time) bool {
	return e.Gap != nil && now.Sub(e.GapSince()) >= s.GapDeadline
}

// escalates reports whether it is time to ask for what is missing. Attempts start again when the cursor moved, and a
// delta's moves unseen while the database adds: then it lags behind what is counted.
func (e *Entity) escalates(s *events.Stream, now time.Time) bool {
	if !e.overdue(s, now) || len(e.Missing(s)) == 0 && len(e.MissingMarks(s)) == 0 {
		return false
	}
	if e.Effective() != e.Applied {
		return true
	}
	wait := e.Gap.EscalateAt.Sub(now)
	return wait <= 0 || wait > max(maxBackOff, s.GapDeadline) // the latter was set by a clock that was wrong
}
