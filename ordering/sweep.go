package ordering

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"inorder/events"
)

// Keeper looks after entities that no event is brought to: it does the sweeper's duties and what operators ask for.
// Overlapping runs are harmless: each move is a compare-and-set like those of the consumers, with which they share the
// loop.
type Keeper struct {
	*Loop    // whose Store is Upkeep, and whose Cache is nil: what it acts on was just read
	Upkeep   Upkeep
	Requests Requests
}

// Requests takes republish requests to the producer.
type Requests interface {
	// Request returns nil once all of them are durable.
	Request(ctx context.Context, requests []events.RepublishRequest) error
}

// Swept is what a sweep did about one entity.
type Swept struct {
	Counts     map[Count]int
	Entity     *Entity     // as it is afterwards
	Escalation *Escalation // nil where there was none to be made now
	TooLate    bool        // the time was over before anything was begun
	Err        error       // what could not be done, and is left to the next sweep
	Passing    bool        // Err tells only that others wrote meanwhile, or that the time was over: nobody has to look
}

// maxDuties bounds what one sweep does about one entity: each duty once, and some of them again after others.
const maxDuties = 4 * int(dutyCount)

// Sweep does what is due about one entity, which was just read from a consistent copy.
func (k *Keeper) Sweep(ctx context.Context, key Key, s *events.Stream, e *Entity) Swept {
	out := &Swept{Counts: map[Count]int{}}
	run := &sweepRun{Keeper: k, stepRun: k.newStepRun(key, s, nil, &Report{Counts: out.Counts}), out: out}
	run.entity, run.fresh = e, true
	if err := e.suits(s); err != nil {
		return Swept{Entity: e, Err: fmt.Errorf("sweep %s of stream %s: %w", quoteID(key.ID), s.Name, err)}
	}
	var faults []error
	for duties := 0; ; duties++ {
		duty := dutyOf(s, run.entity, k.Now(), run.sending(), run.tried)
		if duty == NoDuty {
			break
		}
		if duties == 0 && ctx.Err() != nil {
			return Swept{Entity: e, TooLate: true}
		}
		if err := cannotGoOn(ctx, run.lost, duties); err != nil {
			faults = append(faults, fmt.Errorf("sweep %s of stream %s: %w", quoteID(key.ID), s.Name, err))
			break
		}
		lost, applied := run.lost, run.entity.Applied
		err := run.do(ctx, duty)
		if run.entity.Applied != applied && run.stream.Mode == events.Step {
			run.tried[Escalate] = true // what it now lacks may come by itself: the next sweep asks for it
		}
		if err != nil {
			run.tried[duty] = true
			faults = append(faults, err)
		} else if lost == run.lost { // who lost a race looks again whether there still is anything to do
			run.tried[duty] = duty != FinishDrain
		}
	}
	out.Entity = run.entity
	out.Err, out.Passing = errors.Join(faults...), passing(ctx, faults)
	return *out
}

// passing reports whether all faults pass by themselves. A request may also have a time of its own, which says more.
func passing(ctx context.Context, faults []error) bool {
	stays := func(err error) bool {
		late := ctx.Err() != nil && errors.Is(err, ctx.Err())
		return !late && !errors.Is(err, errBusy) && !errors.Is(err, ErrContended)
	}
	return len(faults) > 0 && !slices.ContainsFunc(faults, stays)
}

// errAnotherMode is why an entity is left alone that was written under another mode of its stream: its numbers mean
// something else now, and what it parked nobody here knows how to run.
var errAnotherMode = errors.New("it was written while its stream had another mode: give streams.yaml the old mode back, or the new one another stream's name")

// suits reports whether an entity can have been written under the stream's mode.
func (e *Entity) suits(s *events.Stream) error {
	stateful := e.Clock != "" || len(e.Clocks) > 0 || len(e.Marks) > 0
	parked, counted := len(e.Waiting) > 0 || e.Blocked != 0, len(e.Ahead) > 0
	other := map[events.Mode]bool{
		events.State: parked || counted || e.Applied > 0 || e.MaxSeen > 0,
		events.Step:  stateful || counted,
		events.Delta: stateful || parked,
	}
	if other[s.Mode] {
		return errAnotherMode
	}
	return nil
}

// cannotGoOn tells why a sweep of an entity has to leave the rest to the next one.
func cannotGoOn(ctx context.Context, lost, duties int) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case lost >= maxRounds:
		return errBusy
	case duties >= maxDuties:
		return errNoEnd
	}
	return nil
}

// sweepRun is a sweep of one entity. Of a state or delta entity it uses what it shares with those of a step.
type sweepRun struct {
	*Keeper
	*stepRun
	tried dutySet
	out   *Swept
}

func (r *sweepRun) sending() bool { return r.stream.Effects && r.EffectsMode == EffectsOn }

func (r *sweepRun) do(ctx context.Context, duty Duty) error {
	switch duty {
	case TakeBaseline:
		return r.takeBaseline(ctx)
	case FinishDrain:
		return r.drain(ctx)
	case RetryBlocked:
		return r.retryBlocked(ctx)
	case TendLog:
		return r.tendLog(ctx)
	case SendOwed:
		return r.sendOwed(ctx)
	case TidyUp:
		return r.tidyUp(ctx)
	case Escalate:
		return r.escalate(ctx)
	case NoDuty, dutyCount:
	}
	return nil
}

// takeBaseline begins a history at the lowest number that waits, and drains it.
func (r *sweepRun) takeBaseline(ctx context.Context) error {
	r.adopting = true
	defer func() { r.adopting = false }()
	adopt := func() bool { return r.adopts() || r.entity.drains() }
	return r.takeTurns(ctx, adopt, r.turn)
}

// drain finishes what an interrupted invocation began, however long it is.
func (r *sweepRun) drain(ctx context.Context) error {
	before := r.drained()
	err := r.takeTurns(ctx, func() bool { return r.entity.drains() }, r.turn)
	if r.drained() > before {
		r.report.ofStream(MetricHealed, r.stream, 1)
	}
	return err
}

func (r *sweepRun) drained() (n int) {
	for count, raised := range r.report.Counts {
		if count.Metric == MetricDrained {
			n += raised
		}
	}
	return n
}

// retryBlocked runs the blocked event again, alone: while it still fails, its row is all that is read.
func (r *sweepRun) retryBlocked(ctx context.Context) error {
	blocked := Range{First: r.entity.Blocked, Last: r.entity.Blocked}
	if err := r.readRows(ctx, r.entity.Gen, blocked); err != nil {
		return err
	}
	r.retry, r.maxRun = true, 1
	err := r.turn(ctx)
	r.retry, r.maxRun = false, 0
	if err != nil {
		return err
	}
	return r.drain(ctx)
}

func (r *sweepRun) sendOwed(ctx context.Context) error {
	settled, err := r.dispatch(ctx, r.entity, nil)
	r.learn(settled)
	return err
}

// tidyUp takes an entity out of the index where nothing is open any more, and moves a delta's cursor through what is
// counted.
func (r *sweepRun) tidyUp(ctx context.Context) error {
	next := *r.entity
	switch r.stream.Mode {
	case events.State:
		next.Marks = nil
	case events.Delta:
		next.catchUp()
	case events.Step:
		if next.Dispatched != nil && !r.sending() {
			next.Dispatched, next.Owed = &Position{Gen: next.Gen, Seq: next.Applied}, nil
		}
		next.clearPark()
	}
	next.settleGap(r.entity, r.Now())
	_, err := r.put(ctx, &next)
	return err
}

// put is a compare-and-set on the entity as it was read. Losing it is no error: what came instead is looked at anew.
func (r *sweepRun) put(ctx context.Context, next *Entity) (landed bool, err error) {
	next.Rev, next.Token = r.entity.Rev+1, r.NewToken()
	now, landed, err := r.swap(ctx, r.key, r.entity, next)
	if errors.Is(err, ErrContended) {
		return false, r.again(ctx)
	}
	if err != nil {
		return false, fmt.Errorf("look after %s of stream %s: %w", quoteID(r.key.ID), r.stream.Name, err)
	}
	r.learn(now)
	if !landed {
		return false, r.again(ctx)
	}
	return true, nil
}
