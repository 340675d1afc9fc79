package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"
	"golang.org/x/sync/errgroup"
)

// handler takes a batch as Lambda hands it over.
type handler func(ctx context.Context, batch awsevents.SQSEvent) (awsevents.SQSEventResponse, error)

// side is one of those that are measured against each other. prepare makes everything that a run needs, so that the run
// alone is timed; it is called for each round.
type side struct {
	name    string
	prepare func(ctx context.Context) (run func(ctx context.Context) error, err error)
}

// spread is what several rounds came to.
type spread struct{ Median, Low, High float64 }

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{math.NaN(), math.NaN(), math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return spread{(sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[0], sorted[n-1]}
}

// interleave runs all sides in every round, in turns forwards and backwards, so that whatever else the machine does meets
// all of them. The first round warms up and is not counted. It returns the seconds of each side's rounds.
func interleave(ctx context.Context, rounds int, sides ...side) ([][]float64, error) {
	seconds := make([][]float64, len(sides))
	for round := range rounds + 1 {
		for i := range sides {
			at := i
			if round%2 == 1 {
				at = len(sides) - 1 - i
			}
			took, err := timed(ctx, sides[at])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", sides[at].name, err)
			}
			if round > 0 {
				seconds[at] = append(seconds[at], took.Seconds())
			}
		}
	}
	return seconds, nil
}

func timed(ctx context.Context, s side) (time.Duration, error) {
	run, err := s.prepare(ctx)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	err = run(ctx)
	return time.Since(start), err
}

// ratios are those of each round: how often as fast as the other the first one is.
func ratios(ours, theirs []float64) []float64 {
	out := make([]float64, len(ours))
	for i := range ours {
		out[i] = theirs[i] / ours[i]
	}
	return out
}

// rates are events per second.
func rates(events int, seconds []float64) []float64 {
	out := make([]float64, len(seconds))
	for i, s := range seconds {
		out[i] = float64(events) / s
	}
	return out
}

var errCameBack = errors.New("messages came back that nothing should keep from being done")

// drive hands batches to function instances, in turns, so that the same instance gets the same entities when it is driven
// again. An instance takes its next batch when it is done. Nothing may come back.
func drive(ctx context.Context, batches []awsevents.SQSEvent, instances ...handler) error {
	errs := make([]error, len(instances))
	var all sync.WaitGroup
	for i, handle := range instances {
		all.Go(func() {
			for at := i; at < len(batches) && errs[i] == nil; at += len(instances) {
				errs[i] = handle.take(ctx, batches[at])
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (handle handler) take(ctx context.Context, batch awsevents.SQSEvent) error {
	out, err := handle(ctx, batch)
	if err == nil && len(out.BatchItemFailures) > 0 {
		err = fmt.Errorf("%w: %d of %d", errCameBack, len(out.BatchItemFailures), len(batch.Records))
	}
	return err
}

// sideBySide are function instances with batches of their own.
type sideBySide struct {
	instances []handler
	batches   [][]awsevents.SQSEvent
}

func (s *sideBySide) add(instance handler, batches []awsevents.SQSEvent) {
	s.instances, s.batches = append(s.instances, instance), append(s.batches, batches)
}

func (s *sideBySide) prepare(context.Context) (run func(ctx context.Context) error, err error) {
	return func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		for i, instance := range s.instances {
			group.Go(func() error { return drive(ctx, s.batches[i], instance) })
		}
		return group.Wait()
	}, nil
}

// several are function instances, each made anew.
func several(n int, instance func() handler) []handler {
	all := make([]handler, n)
	for i := range all {
		all[i] = instance()
	}
	return all
}

// untilDone hands over what comes back again and again, as its queue would.
func untilDone(handle handler) handler {
	return func(ctx context.Context, batch awsevents.SQSEvent) (awsevents.SQSEventResponse, error) {
		for ctx.Err() == nil {
			out, err := handle(ctx, batch)
			if err != nil || len(out.BatchItemFailures) == 0 {
				return out, err
			}
			batch = only(batch, out.BatchItemFailures)
		}
		return awsevents.SQSEventResponse{}, ctx.Err()
	}
}

func only(batch awsevents.SQSEvent, failures []awsevents.SQSBatchItemFailure) (back awsevents.SQSEvent) {
	failed := map[string]bool{}
	for _, f := range failures {
		failed[f.ItemIdentifier] = true
	}
	for _, r := range batch.Records {
		if failed[r.MessageId] {
			back.Records = append(back.Records, r)
		}
	}
	return back
}
