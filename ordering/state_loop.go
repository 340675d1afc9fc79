package ordering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"inorder/events"
)

// applyState decides, writes, and decides again on what the lost write tells, until every job has its outcome.
func (l *Loop) applyState(ctx context.Context, key Key, s *events.Stream, jobs []*job, r *Report) {
	for _, j := range jobs {
		if refusal := refuseState(s, j.Event); refusal != nil {
			j.decide(quarantined(refusal))
		}
	}
	known := l.Cache.get(key)
	for round := 0; round < maxRounds && firstOpen(jobs) != nil; round++ {
		if ctx.Err() != nil {
			giveUp(jobs, ctx.Err())
			return
		}
		plan := planState(s, known, open(jobs), l.Now())
		for j, o := range plan.final {
			r.suspectRestart(known, j, o)
			j.decide(o)
		}
		for _, j := range inOrder(jobs, plan.lone) {
			r.suspectRestart(known, j, plan.lone[j])
			l.writeLoneMarker(ctx, key, j, plan.lone[j])
		}
		if plan.write != nil {
			known = l.writeState(ctx, key, s, known, plan, jobs, r)
			if round > 0 {
				l.wait(ctx, round)
			}
		}
	}
	giveUp(jobs, errBusy)
}

// writeState carries out a plan's write and decides what follows from it. It returns what is known of the entity then.
func (l *Loop) writeState(ctx context.Context, key Key, s *events.Stream, known *Entity, p statePlan, jobs []*job, r *Report) *Entity {
	carried, later := markersOf(s, inOrder(jobs, p.landed), p.landed)
	token := l.NewToken()
	p.write = stamped(p.write, token)
	err := l.carryOut(ctx, key, p.write, l.markers(key, carried, token))
	lost := (*LostError)(nil)
	if errors.As(err, &lost) && isOwn(lost, token) {
		err = nil // the answer was lost on its way, not the write
	}
	switch {
	case err == nil:
		for j, o := range p.landed {
			if !slices.Contains(later, j) {
				j.decide(o)
			}
		}
		for _, j := range later { // a crash before this one leaves the event to come back as stale, with its marker
			l.writeLoneMarker(ctx, key, j, p.landed[j])
		}
		known = afterWrite(known, p.write)
		l.Cache.put(key, withoutState(s, known))
	case lost != nil:
		for i, marker := range lost.Seen {
			carried[i].decide(atMarker(carried[i].Event, marker))
		}
		if lost.Now != nil {
			known = lost.Now
			l.Cache.put(key, withoutState(s, known))
		}
	case errors.Is(err, ErrTooLarge):
		l.tooLarge(ctx, key, s, p, jobs, r)
	case errors.Is(err, ErrTooComplex):
		p.write = swapInstead(known, p.write.(mergeParts).Merge)
		return l.writeState(ctx, key, s, known, p, jobs, r)
	case errors.Is(err, ErrContended):
	default:
		giveUp(jobs, fmt.Errorf("write %s of stream %s: %w", quoteID(key.ID), s.Name, err))
	}
	return known
}

// tooLarge refuses the one event whose write would be too large. Where several are in one write, each is tried alone,
// the older first: what fits alone is not refused for the others' sake.
func (l *Loop) tooLarge(ctx context.Context, key Key, s *events.Stream, p statePlan, jobs []*job, r *Report) {
	var writers []*job
	for j, o := range p.landed {
		if o.Disposition == Applied {
			writers = append(writers, j)
		}
	}
	if len(writers) == 1 {
		writers[0].decide(quarantined(&events.Refusal{Reason: events.TooLarge, Detail: "the entity would be larger than an item of the table may be (400 KB)"}))
		return
	}
	alone := open(jobs)
	slices.SortStableFunc(alone, func(a, b *job) int { return strings.Compare(a.Event.Clock, b.Event.Clock) })
	for _, j := range alone {
		l.applyState(ctx, key, s, []*job{j}, r)
	}
}

func (l *Loop) carryOut(ctx context.Context, key Key, write stateWrite, markers []Marker) error {
	switch w := write.(type) {
	case putNewer:
		return l.Store.PutNewer(ctx, key, w.next, markers)
	case mergeParts:
		return l.Store.Merge(ctx, key, w.Merge, markers)
	case swapWhole:
		return l.Store.Swap(ctx, key, w.prev, w.next, markers)
	default:
		return fmt.Errorf("unknown write %T", write)
	}
}

// stamped puts a token on a write, by which it is recognised.
func stamped(write stateWrite, token string) stateWrite {
	switch w := write.(type) {
	case putNewer:
		w.next.Token = token
		return w
	case mergeParts:
		w.Token = token
		return w
	case swapWhole:
		w.next.Token = token
		return w
	default:
		return write
	}
}

// isOwn reports whether a condition failed because this very write had landed before, and only its answer was lost.
// A write is atomic, so one trace of it tells for all of it. Only a token that no other write has is such a trace: a
// copy of the same message, with the same receive count, may be in another invocation's batch among other events.
func isOwn(lost *LostError, token string) bool {
	for _, marker := range lost.Seen {
		if marker.Token == token {
			return true
		}
	}
	return lost.Now != nil && lost.Now.Token == token
}

// afterWrite is what is known of the entity once the write has landed. After a merge on an entity that was not known
// these are lower bounds without a revision: enough to tell what is stale, and a swap on them loses and learns.
func afterWrite(known *Entity, write stateWrite) *Entity {
	switch w := write.(type) {
	case putNewer:
		return w.next
	case swapWhole:
		return w.next
	case mergeParts:
		if known == nil {
			known = &Entity{Exists: true}
		}
		next := folded{}.whole(known, w.Merge)
		if known.Rev == 0 && known.Exists {
			next.Rev = 0
		}
		return next
	default:
		return nil
	}
}

// swapInstead writes as a whole what no single update can say.
func swapInstead(known *Entity, merge Merge) stateWrite {
	if known == nil {
		known = &Entity{}
	}
	return swapWhole{known, folded{}.whole(known, merge)}
}

// withoutState drops what no later decision needs. Parts keep theirs: a swap writes the whole entity again.
func withoutState(s *events.Stream, e *Entity) *Entity {
	if s.Clock != events.ClockEntity || e == nil {
		return e
	}
	light := *e
	light.State = nil
	return &light
}

// inOrder returns the jobs that have a verdict, in their order of arrival.
func inOrder(jobs []*job, v verdicts) []*job {
	in, _ := splitBy(jobs, func(j *job) bool { _, has := v[j]; return has })
	return in
}

func (r *Report) suspectRestart(known *Entity, j *job, o Outcome) {
	if o.Disposition == Stale && known != nil && sameGeneration(o.Stored, j.Event) && restarted(j.Event, known.Last) {
		r.count(MetricRestartSuspected, j.Event, 1)
	}
}

func sameGeneration(clock string, e *events.Event) bool {
	generation, _, ok := events.ParseSeqClock(clock)
	return ok && generation == e.Generation
}
