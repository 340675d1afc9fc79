package ordering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"inorder/events"
)

// Skip is an operator's order to pass what is lost.
type Skip struct {
	Generation int64 // the entity's; another one is refused
	Through    int64
	Reason     string
	By         string // who, as far as the tool knows
	DryRun     bool   // say what would be done, and change nothing
}

// Skipped is what a skip did, or would do.
type Skipped struct {
	Counts  map[Count]int
	Applied []Range // logged, and run; also those above Through that were free then
	Lost    []Range // nobody had them
	Passed  []Range // logged, and could not be applied: a copy is in quarantine
	Entity  *Entity // as it is afterwards
}

// Why a skip is refused. Nothing is changed then.
var (
	ErrNoReason          = errors.New("a skip needs a reason")
	ErrBeyondKnown       = errors.New("nobody has heard of that number")
	ErrAnotherGeneration = errors.New("the entity is in another generation")
	ErrNothingToSkip     = errors.New("a stream that has no numbers has none to skip")
)

// Skip applies what is logged up to a number, passes over what is missing or cannot be applied, and drains what was
// waiting behind it. To skip what is skipped already changes nothing.
func (k *Keeper) Skip(ctx context.Context, key Key, s *events.Stream, order Skip) (Skipped, error) {
	done := Skipped{Counts: map[Count]int{}}
	e, err := k.read(ctx, key)
	if err != nil {
		return done, err
	}
	if done.Entity = e; order.Reason == "" {
		return done, ErrNoReason
	}
	switch s.Mode {
	case events.Step:
		err = k.skipSteps(ctx, key, s, order, &done)
	case events.Delta, events.State:
		err = k.skipWhole(ctx, key, s, order, &done)
	}
	return done, err
}

// refuse reports why an order cannot be followed.
func (o Skip) refuse(e *Entity, s *events.Stream, known int64) error {
	switch {
	case s.Order.By != events.BySeq:
		return ErrNothingToSkip
	case o.Generation != e.Gen && s.Mode != events.State:
		return fmt.Errorf("%w: %d", ErrAnotherGeneration, e.Gen)
	case o.Through > known:
		return fmt.Errorf("%w: the highest known one is %d", ErrBeyondKnown, known)
	}
	return nil
}

func (k *Keeper) skipSteps(ctx context.Context, key Key, s *events.Stream, order Skip, done *Skipped) error {
	run := k.newStepRun(key, s, nil, &Report{Counts: done.Counts})
	run.entity, run.fresh, run.through = done.Entity, true, order.Through
	if err := order.refuse(run.entity, s, run.entity.Highest()); err != nil {
		return err
	}
	run.audited = func(ctx context.Context, p stepPlan) (*Entity, bool, error) {
		now, landed, err := k.swapAudited(ctx, key, run.entity, p.next, order.audit(run.entity.Gen, p.skip, k.Now()))
		if landed {
			done.add(p.skip)
		}
		return now, landed, err
	}
	if order.DryRun {
		return run.tryOut(ctx, done)
	}
	before := run.entity.Applied
	more := func() bool { return run.entity.Applied < order.Through || run.entity.drains() }
	err := run.takeTurns(ctx, more, func(ctx context.Context) error {
		if err := order.refuse(run.entity, s, run.entity.Highest()); err != nil { // it may have moved on meanwhile
			return err
		}
		return run.turn(ctx)
	})
	done.Entity = run.entity
	if from := max(before, order.Through); run.entity.Gen == order.Generation && run.entity.Applied > from {
		done.Applied = addRange(done.Applied, Range{First: from + 1, Last: run.entity.Applied})
	}
	return err
}

// tryOut makes the plans of a skip, each on what the one before would leave, and carries none of them out.
func (r *stepRun) tryOut(ctx context.Context, done *Skipped) error {
	for range maxTurns {
		if r.entity.Applied >= r.through && !r.entity.drains() {
			done.Entity = r.entity
			return nil
		}
		p := planStep(r.input(r.entity))
		if p.read != nil {
			if err := r.readRows(ctx, r.entity.Gen, *p.read); err != nil {
				return err
			}
			continue
		}
		done.add(p.skip)
		if behind := max(r.through, r.entity.Applied); p.next.Applied > behind {
			done.Applied = addRange(done.Applied, Range{First: behind + 1, Last: p.next.Applied})
		}
		r.entity = p.next
	}
	return errNoEnd
}

func (d *Skipped) add(p skipPart) {
	for _, r := range p.applied {
		d.Applied = addRange(d.Applied, r)
	}
	for _, r := range p.lost {
		d.Lost = addRange(d.Lost, r)
	}
	for _, r := range p.passed {
		d.Passed = addRange(d.Passed, r)
	}
}

func (o Skip) audit(gen int64, p skipPart, at time.Time) Audit {
	return Audit{
		At: at, By: o.By, Reason: o.Reason, Gen: gen, Through: o.Through,
		Applied: p.applied, Lost: p.lost, Passed: p.passed,
	}
}

// skipWhole passes numbers of an entity that logs none: what a delta lacks counts as nothing, and what a mark of a state
// entity tells of is not waited for any more.
func (k *Keeper) skipWhole(ctx context.Context, key Key, s *events.Stream, order Skip, done *Skipped) error {
	for round := range maxRounds {
		e := done.Entity
		next, lost, known := e.withoutGap(s, order.Through)
		if err := order.refuse(e, s, known); err != nil {
			return err
		}
		if len(lost) == 0 {
			return nil
		}
		next.Rev, next.Token = e.Rev+1, k.NewToken()
		next.settleGap(e, k.Now())
		if order.DryRun {
			done.Lost, done.Entity = lost, next
			return nil
		}
		now, landed, err := k.swapAudited(ctx, key, e, next, order.audit(e.Gen, skipPart{lost: lost}, k.Now()))
		if err != nil && !errors.Is(err, ErrContended) {
			return fmt.Errorf("skip numbers of %s of stream %s: %w", quoteID(key.ID), s.Name, err)
		}
		if landed {
			done.Lost, done.Entity = lost, now
			return nil
		}
		if k.wait(ctx, round); now == nil {
			if now, err = k.read(ctx, key); err != nil {
				return err
			}
		}
		done.Entity = now
	}
	return errBusy
}

// withoutGap is the entity that no longer waits for anything up to a number, what it gave up, and the highest number
// that it knows of.
func (e *Entity) withoutGap(s *events.Stream, through int64) (next *Entity, lost []Range, known int64) {
	after := *e
	if s.Mode == events.State {
		after.Marks = nil
		for source, mark := range e.Marks {
			_, seq, _ := events.ParseSeqClock(mark)
			if seq <= through && e.clockOf(s, source) < mark {
				lost = addRange(lost, Range{First: seq, Last: seq})
				continue
			}
			after.mark(source, mark)
		}
		return &after, lost, e.highestKnown()
	}
	known = e.Highest()
	below := *e
	below.MaxSeen, below.Ahead = min(through, known), e.Ahead.Without(e.Ahead.Above(through)...)
	lost = below.lacking(maxNumber)
	for _, r := range lost {
		after.remember(r)
	}
	after.Applied = e.Ahead.Through(max(e.Applied, through))
	after.Ahead = e.Ahead.Above(after.Applied)
	return &after, lost, known
}

// highestKnown is the number of the newest event that a state entity knows of: that it has, or that a mark tells of.
func (e *Entity) highestKnown() int64 {
	newest := e.Newest()
	for _, mark := range e.Marks {
		newest = max(newest, mark)
	}
	_, seq, _ := events.ParseSeqClock(newest)
	return seq
}

// swapAudited is swap with an audit row.
func (k *Keeper) swapAudited(ctx context.Context, key Key, prev, next *Entity, audit Audit) (now *Entity, landed bool, err error) {
	return k.landed(ctx, key, next, k.Upkeep.SwapAudited(ctx, key, prev, next, audit))
}
