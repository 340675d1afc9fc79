package ordering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"inorder/events"
)

// catchUpLag is how many counted numbers above the cursor make somebody move it. Less would cost a write too often;
// more would make the set, and so each read of the item, dear.
const catchUpLag = 64

// deltaRun is one invocation's work on one numbered delta entity.
type deltaRun struct {
	numbered

	letAdd  bool // others write this entity too
	careful bool // the database refused to add
	alone   bool // together the events are too large
}

// applyDelta counts each number once, in any order. Where the batch is next in line and nobody else writes, one
// compare-and-set adds and moves the cursor; otherwise the database adds, which nobody can be in the way of.
func (l *Loop) applyDelta(ctx context.Context, key Key, s *events.Stream, jobs []*job, r *Report) {
	run := &deltaRun{
		numbered: numbered{Loop: l, key: key, stream: s, jobs: jobs, report: r},
		letAdd:   l.Cache.contended(key),
	}
	if err := run.takeTurns(ctx, func() bool { return false }, run.turn); err != nil {
		giveUp(jobs, err)
	}
}

func (r *deltaRun) turn(ctx context.Context) error {
	base := r.entity
	if generation := firstOpen(r.jobs).Event.Generation; generation > base.Gen {
		base = &Entity{Exists: true, Rev: r.entity.Rev, Cursor: Cursor{Gen: generation}}
	}
	in := deltaInput{
		stream: r.stream, prev: r.entity, base: base, jobs: open(r.jobs),
		now: r.Now(), token: r.NewToken(), letAdd: r.letAdd, careful: r.careful, alone: r.alone,
	}
	p := planDelta(in)
	if p.fresh && !r.fresh {
		return r.readAgain(ctx)
	}
	r.decide(p.final)
	switch {
	case len(p.adds) > 0:
		return r.add(ctx, in, p)
	case p.next != nil:
		return r.move(ctx, p)
	default:
		r.decide(p.landed)
		return nil
	}
}

func (r *deltaRun) decide(v verdicts) {
	for j, o := range v {
		if o.Disposition == Duplicate && j.Event.Seq < r.entity.Applied && restarted(j.Event, r.entity.Last) {
			r.report.count(MetricRestartSuspected, j.Event, 1)
		}
		j.decide(o)
	}
}

// move is the compare-and-set.
func (r *deltaRun) move(ctx context.Context, p deltaPlan) error {
	now, landed, err := r.swap(ctx, r.key, r.entity, p.next)
	if errors.Is(err, ErrContended) {
		return r.again(ctx)
	}
	if errors.Is(err, ErrTooLarge) {
		return r.separate(p, err)
	}
	if err != nil {
		return fmt.Errorf("count in %s of stream %s: %w", quoteID(r.key.ID), r.stream.Name, err)
	}
	r.learn(now)
	if !landed {
		r.contended()
		return nil
	}
	r.note(p)
	r.decide(p.landed)
	return nil
}

// separate tries each event by itself where they are too large together, and refuses the one that is too large alone.
func (r *deltaRun) separate(p deltaPlan, tooLarge error) error {
	if !r.alone {
		r.alone = true
		return nil
	}
	for j, o := range p.landed {
		if o.Disposition == Applied && j.Event.Kind == events.Fact {
			j.decide(quarantined(&events.Refusal{Reason: events.TooLarge, Detail: "the entity would be larger than an item of the table may be (400 KB)"}))
			return nil
		}
	}
	return tooLarge
}

func (r *deltaRun) contended() {
	r.lost++
	r.letAdd = true
	r.Cache.markContended(r.key)
}

func (r *deltaRun) note(p deltaPlan) {
	r.report.ofStream(MetricVoid, r.stream, len(p.voided))
	for _, j := range p.early {
		r.report.Distances = append(r.report.Distances, Distance{j.Event.Pattern, j.Event.Seq - r.entity.Effective()})
	}
}

// add lets the database add, one chunk after the other; what lost is judged again on what the failure returned.
func (r *deltaRun) add(ctx context.Context, in deltaInput, p deltaPlan) error {
	chunk := p.adds[0] // the others follow in the next rounds, on the entity that this one returns
	a, err := p.addition(in, chunk)
	var now *Entity
	if err == nil {
		now, err = r.Store.Add(ctx, r.key, a)
	}
	lost := (*LostError)(nil)
	switch {
	case errors.As(err, &lost) && lost.Now != nil && lost.Now.Token == a.Token:
		now, err = lost.Now, nil // the answer was lost, not the addition
	case errors.As(err, &lost) && lost.Now != nil:
		r.learn(lost.Now)
		r.lost++
		return nil
	case errors.Is(err, ErrContended):
		return r.again(ctx)
	case errors.Is(err, ErrTooLarge):
		return r.separate(p, err)
	case errors.Is(err, ErrNumberRange):
		r.careful, r.lost = true, r.lost+1
		return r.readAgain(ctx)
	case err != nil && !nothingWritten(err):
		if there, readErr := r.Store.Entity(ctx, r.key); readErr == nil && there.Token == a.Token {
			now, err = there, nil
		}
	}
	if err != nil {
		return fmt.Errorf("add to %s of stream %s: %w", quoteID(r.key.ID), r.stream.Name, err)
	}
	r.learn(now)
	r.noteAdded(chunk, now)
	landed := verdicts{}
	for j, o := range p.landed {
		if slices.Contains(chunk, j) || o.Disposition != Applied && len(p.adds) == 1 {
			landed[j] = o
		}
	}
	r.decide(landed)
	r.tidy(ctx, now, len(chunk))
	return nil
}

func (r *deltaRun) noteAdded(chunk []*job, now *Entity) {
	effective := now.Effective()
	for _, j := range chunk {
		if j.Event.Seq > effective {
			r.report.Distances = append(r.report.Distances, Distance{j.Event.Pattern, j.Event.Seq - effective})
		}
	}
}

// tidy moves the cursor through what is counted once it lags far behind, and takes the entity out of the sweeper's
// index where nothing is missing any more. Of several invocations that see the lag only the one whose addition crossed
// the mark acts. Nothing is lost where it fails: a lag alone is no gap, and whoever crosses the next mark, or writes in
// order, moves the cursor all the way.
func (r *deltaRun) tidy(ctx context.Context, now *Entity, added int) {
	lag := int(now.Effective() - now.Applied)
	switch {
	case now.Gap != nil && !now.openGap():
		next := *now
		next.Rev, next.Token = now.Rev+1, r.NewToken()
		next.catchUp()
		next.settleGap(now, r.Now())
		if there, _, err := r.swap(ctx, r.key, now, &next); err == nil {
			r.learn(there)
		}
	case lag/catchUpLag > max(0, lag-added)/catchUpLag:
		if there, err := r.Store.CatchUp(ctx, r.key, now, now.Effective(), r.gapSince(now), r.NewToken()); err == nil {
			r.learn(there)
		}
	}
}

// gapSince is how old the gap is that a catching up leaves, zero where there is none.
func (r *deltaRun) gapSince(now *Entity) (since time.Time) {
	if now.Gap == nil {
		return since
	}
	if shown := now.shownAt(); !shown.IsZero() {
		return shown
	}
	return r.Now()
}
