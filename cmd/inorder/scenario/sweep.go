package scenario

import (
	"context"
	"errors"

	"inorder/cmd/inorder/backend"
	"inorder/functions"
	"inorder/ordering"
)

type sweep struct {
	times  int
	atOnce bool
}

// play runs the schedule some times, one run after the other without any time between, or all at once.
func (a sweep) play(w *world, s step) error {
	if a.atOnce {
		return w.sweepAtOnce(s, a.times)
	}
	for range a.times {
		i, ctx, end := w.invocation()
		err := w.theSweeper().Sweep(ctx)
		end()
		if err := w.swept(s, i, err); err != nil {
			return err
		}
	}
	return nil
}

// sweepAtOnce runs each on a function of its own, as Lambda would; only one of them can be the warm one.
func (w *world) sweepAtOnce(s step, times int) error {
	sweeper, errs := w.theSweeper(), make([]error, times)
	work := make([]func(context.Context), times)
	for n := range work {
		work[n] = func(ctx context.Context) { errs[n] = sweeper.Sweep(ctx) }
		if n > 0 {
			work[n] = func(ctx context.Context) { errs[n] = w.coldSweeper().Sweep(ctx) }
		}
	}
	for n, i := range w.atOnce(s, work) {
		if err := w.swept(s, i, errs[n]); err != nil {
			return err
		}
	}
	return nil
}

// swept judges how a run ended: by an error only where the script made a request fail.
func (w *world) swept(s step, i *invocation, err error) error {
	if w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	if err != nil && !i.struck() {
		w.fail(s, "sweep", "no error, for nothing was made to fail", err.Error())
	}
	return nil
}

func (w *world) theSweeper() *functions.Sweeper {
	if w.sweeper == nil || w.alwaysCold {
		w.sweeper = w.coldSweeper()
	}
	return w.sweeper
}

func (w *world) coldSweeper() *functions.Sweeper {
	return functions.NewSweeper(backend.SweeperParts(w.parts()))
}

type skip struct {
	name    entityName
	through int64
	reason  string
}

// refusals are why a skip changes nothing, which ends its step and not the script.
var refusals = []error{ordering.ErrNoReason, ordering.ErrBeyondKnown, ordering.ErrAnotherGeneration, ordering.ErrNothingToSkip}

// play gives the operator's order, about the generation that the entity is in.
func (a skip) play(w *world, _ step) error {
	key, stream := w.key(a.name), w.script.streams.Stream(a.name.stream)
	entity, err := w.look.Entity(w.ctx, key)
	if err != nil {
		return err
	}
	ctx, end := w.errand()
	defer end()
	order := ordering.Skip{Generation: entity.Gen, Through: a.through, Reason: a.reason, By: "scenario"}
	_, err = functions.NewKeeper(backend.SweeperParts(w.parts())).Skip(ctx, key, stream, order)
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return nil
		}
	}
	return err
}
