package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/backend"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// invocationTimeout is the template's for every function.
const invocationTimeout = 30 * time.Second

// parts are those of every function, with one request after the other, so that a seed decides their order.
func (w *world) parts(i *instance) functions.Parts {
	return functions.Parts{
		Streams:       w.config,
		Projections:   map[string]ordering.Projector{trail: trailing(func() bool { return !time.Now().Before(begin.Add(w.fixedAt)) })},
		Store:         w.upkeep(),
		SQS:           w.sqs,
		QuarantineURL: backend.QuarantineURL,
		EffectsURL:    backend.EffectsURL,
		EffectsMode:   w.sends,
		Metrics:       &i.lines,
		Now:           i.clock.Now,
		Parallel:      1,
		RowsAtOnce:    1,
		Wait:          func(ctx context.Context, round int) { pause(ctx, time.Duration(round+1)*time.Millisecond) },
		NewToken: func() string {
			i.tokens++
			return fmt.Sprintf("t%d-%d", i.number, i.tokens)
		},
		Observe: func(_ events.Message, outcomes []ordering.Outcome) { i.outcomes = append(i.outcomes, outcomes) },
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// upkeep is the store as the functions have it.
func (w *world) upkeep() ordering.Upkeep {
	if w.site != nil {
		return w.store()
	}
	var store ordering.Upkeep = w.memory
	if w.plant != nil {
		store = w.plant(store)
	}
	return view{store, w}
}

func (w *world) sweeperParts(i *instance) functions.SweeperParts {
	return functions.SweeperParts{Parts: w.parts(i), Upkeep: w.upkeep(), RepublishURL: backend.RepublishURL}
}

func (w *world) newInstance() *instance {
	w.numbered++
	return &instance{number: w.numbered, clock: &clock{}}
}

// consume starts an invocation of a consumer with at most so many messages, and reports whether there are any.
func (w *world) consume(most int) bool {
	visible, dead := w.events.visible(time.Now())
	w.bury(dead)
	if len(visible) == 0 {
		return false
	}
	if w.isWild() {
		w.rng.Shuffle(len(visible), func(i, j int) { visible[i], visible[j] = visible[j], visible[i] })
	}
	batch := visible[:min(most, len(visible))]
	i := w.warm()
	for _, l := range batch {
		if l.held > 0 {
			w.count["overlapping receives"]++
		}
		l.held++
	}
	in := w.events.receive(batch, time.Now())
	var out awsevents.SQSEventResponse
	var err error
	var t *thread
	t = w.hire(consumerName, i.clock, invocationTimeout, func(t *thread) { out, err = i.consumer.Handle(t.ctx, in) }, func(died bool) {
		for _, l := range batch {
			l.held--
		}
		if died {
			w.traced(t, "died")
			for _, l := range batch {
				w.untold[l.fact] = true
			}
			return
		}
		w.consumed(t, i, batch, out, err)
		w.idle = append(w.idle, i)
	})
	w.traced(t, "gets", ids(batch))
	return true
}

func ids(batch []*letter) (all []string) {
	for _, l := range batch {
		all = append(all, l.ID)
	}
	return all
}

// warm is an instance that waits, or a new one.
func (w *world) warm() *instance {
	if n := len(w.idle); n > 0 && (!w.isWild() || w.rng.IntN(6) > 0) {
		at := n - 1
		if w.isWild() {
			at = w.rng.IntN(n)
		}
		i := w.idle[at]
		w.idle = slices.Delete(w.idle, at, at+1)
		return i
	}
	i := w.newInstance()
	i.consumer = functions.NewConsumer(w.parts(i))
	return i
}

// consumed takes an answer as Lambda does.
func (w *world) consumed(t *thread, i *instance, batch []*letter, out awsevents.SQSEventResponse, err error) {
	if err != nil {
		w.fault("NoSilentLoss", "the consumer refused a whole batch: %v", err)
		return
	}
	w.checkConservation(i, batch)
	if len(i.outcomes) != len(batch) {
		return // and that was told
	}
	for n, o := range i.outcomes {
		w.traced(t, batch[n].ID, "is", o[0].Disposition, o[0].Reason, o[0].Err)
	}
	w.checkFrugality(t, i, batch)
	for n, ok := range acked(batch, out.BatchItemFailures) {
		l := batch[n]
		outcomes := i.outcomes[n]
		for _, o := range outcomes {
			w.count["disposition: "+o.Disposition.String()]++
			if ok != o.Disposition.Ack() {
				w.fault("NoSilentLoss", "%s is %s, and acknowledged: %t", l.ID, o.Disposition, ok)
			}
			w.checkRepeated(l, o)
			if errors.Is(o.Err, context.DeadlineExceeded) {
				w.count["out of time"]++
			}
			w.said[l.fact] = append(w.said[l.fact], o.Disposition)
		}
		if !ok {
			continue
		}
		if outcomes[0].Disposition == ordering.Applied {
			w.checkSent(l.fact)
		}
		w.events.remove(l)
		if !slices.Contains(w.finished, l) {
			w.finished = append(w.finished, l)
		}
		if f := l.fact; f != nil && outcomes[0].Disposition != ordering.Quarantined {
			if _, before := w.acknowledged[f]; !before {
				w.acknowledged[f] = time.Now()
			}
		}
	}
	i.outcomes = nil
}

// sweep starts a sweeper. It remembers nothing from one run to the next.
func (w *world) sweep() {
	i := w.newInstance()
	var err error
	var t *thread
	t = w.hire(sweeperName, i.clock, invocationTimeout, func(t *thread) { err = functions.NewSweeper(w.sweeperParts(i)).Sweep(t.ctx) }, func(died bool) {
		w.traced(t, "swept", died, err)
		if !t.disturbed && !died && err == nil {
			w.sweptAt = t.began
		}
		if err != nil && !died && w.calm {
			w.fault("NoLostWakeup", "nothing was in its way, and a sweep failed: %v", err)
		}
	})
}
