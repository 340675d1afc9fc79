package ordering

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"inorder/events"
)

// startAgain is a gap whose attempts start again.
func startAgain(gap *Gap) *Gap {
	if gap == nil {
		return nil
	}
	return &Gap{Since: gap.Since}
}

// mark remembers that the newest event of a source exists and has not come.
func (e *Entity) mark(source, clock string) {
	marks := maps.Clone(e.Marks)
	if marks == nil {
		marks = map[string]string{}
	}
	marks[source] = clock
	e.Marks = marks
}

// unmark forgets the mark of a source.
func (e *Entity) unmark(source string) {
	marks := maps.Clone(e.Marks)
	delete(marks, source)
	e.Marks = marks
}

// markedSource is under which name a control event's mark is kept; false where the stream takes nothing from its source.
func markedSource(s *events.Stream, e *events.Event) (string, bool) {
	if s.Clock != events.ClockSource {
		return "", true
	}
	_, owner := s.Owns[e.Source]
	return e.Source, owner
}

// applyMarks takes what is said about the numbers of a state entity: a mark ahead of its clock opens a gap, and a void of
// a mark's own number closes it. It needs a look, but where the cache already shows that nothing is news.
func (l *Loop) applyMarks(ctx context.Context, key Key, s *events.Stream, jobs []*job, r *Report) {
	known := l.Cache.get(key)
	for round := 0; round < maxRounds && len(open(jobs)) > 0; round++ {
		if err := ctx.Err(); err != nil {
			giveUp(jobs, err)
			return
		}
		if known == nil || round == 0 && !allOld(s, known, jobs) {
			var err error
			if known, err = l.read(ctx, key); err != nil {
				giveUp(jobs, err)
				return
			}
		}
		next, voided := l.planMarks(s, known, open(jobs))
		done := Outcome{Disposition: Applied, Stored: known.clockOf(s, "")}
		if next == nil {
			decideAll(open(jobs), done)
			return
		}
		now, landed, err := l.swap(ctx, key, known, next)
		switch {
		case landed:
			r.ofStream(MetricVoid, s, voided)
			l.Cache.put(key, withoutState(s, now))
			decideAll(open(jobs), done)
			return
		case err != nil && !errors.Is(err, ErrContended):
			giveUp(jobs, fmt.Errorf("mark %s of stream %s: %w", quoteID(key.ID), s.Name, err))
			return
		}
		known = now
		l.wait(ctx, round)
	}
	giveUp(jobs, errBusy)
}

// allOld reports whether every job is a mark that the entity, as it is known, has reached.
func allOld(s *events.Stream, known *Entity, jobs []*job) bool {
	for _, j := range jobs {
		source, _ := markedSource(s, j.Event)
		if j.Event.Kind != events.Mark || known.clockOf(s, source) < j.Event.Clock {
			return false
		}
	}
	return true
}

// planMarks is the entity with what is said about its numbers, nil where none of it is news.
func (l *Loop) planMarks(s *events.Stream, e *Entity, jobs []*job) (next *Entity, voided int) {
	after, before := *e, *e
	for source, mark := range e.Marks {
		if e.clockOf(s, source) >= mark { // reached by a merge, which does not look
			after.unmark(source)
		}
	}
	if before.Marks = after.Marks; len(after.Marks) == 0 {
		before.Gap = nil
	}
	news := false
	for _, j := range jobs {
		source, owner := markedSource(s, j.Event)
		held := after.Marks[source]
		switch {
		case !owner:
		case j.Event.Kind == events.Mark:
			if after.clockOf(s, source) < j.Event.Clock && held < j.Event.Clock {
				after.mark(source, j.Event.Clock)
				news = true
			}
		case passable(s, j.Event):
			gen, seq, marked := events.ParseSeqClock(held)
			if marked && gen == j.Event.Generation && within(j.Event.Ranges, seq) {
				after.unmark(source)
				news, voided = true, voided+1
			}
		}
	}
	if !news {
		return nil, 0
	}
	after.Exists, after.Rev, after.Token = true, e.Rev+1, l.NewToken()
	after.settleGap(&before, l.Now())
	after.Gap = startAgain(after.Gap) // another number is missing now
	return &after, voided
}
