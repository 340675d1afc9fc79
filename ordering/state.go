package ordering

import (
	"slices"
	"strings"
	"time"

	"inorder/events"
)

// statePlan is what a state stream's decision comes to: verdicts that hold as they are, and one write with the
// verdicts that hold once it has landed.
type statePlan struct {
	final  verdicts
	lone   verdicts // hold once the marker of their event is written alone; only in streams with markers
	landed verdicts
	write  stateWrite // nil: nothing to write
}

type verdicts map[*job]Outcome

// stateWrite is one of the writes that a state entity knows.
type stateWrite interface{ isStateWrite() }

type (
	// putNewer replaces the whole entity where its clock is lower: `clock: entity`.
	putNewer struct{ next *Entity }
	// mergeParts changes some parts: `clock: attribute` and `clock: source`, without a look.
	mergeParts struct{ Merge }
	// swapWhole replaces the whole entity where nobody came between: for what no expression can say.
	swapWhole struct{ prev, next *Entity }
)

func (putNewer) isStateWrite()   {}
func (mergeParts) isStateWrite() {}
func (swapWhole) isStateWrite()  {}

// planState decides on the open jobs of one entity. known is nil where nothing is known: no state event needs a read.
func planState(s *events.Stream, known *Entity, jobs []*job, now time.Time) statePlan {
	p := statePlan{final: verdicts{}, lone: verdicts{}, landed: make(verdicts, len(jobs))}
	if s.Clock == events.ClockEntity {
		p.planWhole(known, jobs, now)
	} else {
		p.planParts(s, known, jobs, now)
	}
	if !s.Marker { // no marker to write: what is behind the times is done with
		for j, o := range p.lone {
			p.final[j] = o
		}
		p.lone = verdicts{}
	}
	return p
}

// planWhole is `clock: entity`: the newest of the batch is the state, everything older is coalesced, whether the
// entity has it or not.
func (p *statePlan) planWhole(known *Entity, jobs []*job, now time.Time) {
	for len(jobs) > 0 {
		newest := slices.MaxFunc(jobs, func(a, b *job) int { return strings.Compare(a.Event.Clock, b.Event.Clock) })
		rivals, older := splitBy(jobs, func(j *job) bool { return j.Event.Clock == newest.Event.Clock })
		if known == nil || known.Clock < newest.Event.Clock {
			p.write = whole(known, wholeState(newest, now), now)
			p.landed[newest] = Outcome{Disposition: Applied}
			for _, j := range rivals {
				if j != newest {
					p.landed[j] = atTie(j.Event, lastOf(newest.Delivery, now))
				}
			}
			for _, j := range older {
				p.landed[j] = Outcome{Disposition: Coalesced}
			}
			return
		}
		if p.judgeAgainst(known, rivals) {
			for _, j := range older {
				p.lone[j] = Outcome{Disposition: Coalesced, Stored: known.Clock}
			}
			return
		}
		jobs = older // all of the newest are refused, as if they had never come
	}
}

// judgeAgainst judges events that are not newer than the entity, and reports whether any of them is not refused.
func (p *statePlan) judgeAgainst(known *Entity, jobs []*job) (accepted bool) {
	for _, j := range jobs {
		if j.Event.Clock < known.Clock {
			p.lone[j] = Outcome{Disposition: Stale, Stored: known.Clock}
			accepted = true
			continue
		}
		o := atTie(j.Event, known.Last)
		o.Stored = known.Clock
		p.final[j] = o
		accepted = accepted || o.Disposition == Duplicate
	}
	return accepted
}

// whole is the write of a whole state: without a look, unless a higher mark is known, which it must not forget.
func whole(known, next *Entity, now time.Time) stateWrite {
	if known == nil || known.Marks[""] <= next.Clock {
		return putNewer{next}
	}
	next.Rev, next.Marks = known.Rev+1, known.Marks
	next.settleGap(known, now)
	return swapWhole{known, next}
}

func wholeState(j *job, now time.Time) *Entity {
	e := &Entity{Exists: true, Last: lastOf(j.Delivery, now), StateMarks: StateMarks{Clock: j.Event.Clock}}
	if j.Event.Tombstone {
		e.Tombs = []string{""}
	} else {
		e.State = j.Event.Data()
	}
	return e
}

func splitBy[T any](all []T, belongs func(T) bool) (in, out []T) {
	for _, x := range all {
		if belongs(x) {
			in = append(in, x)
		} else {
			out = append(out, x)
		}
	}
	return in, out
}
