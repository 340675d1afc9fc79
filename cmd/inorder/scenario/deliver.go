package scenario

import (
	"context"
	"maps"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/functions"
)

type deliver struct{ ids []string }

func (a deliver) play(w *world, _ step) error {
	batch, err := w.mailbox.pick(a.ids)
	if err != nil {
		return err
	}
	return w.deliver(batch)
}

// deliverAll goes on until nothing is left, or until a whole round has acked nothing.
type deliverAll struct{}

func (deliverAll) play(w *world, _ step) error {
	for {
		moved := false
		for _, batch := range batches(w.mailbox.waiting) {
			if err := w.deliver(batch); err != nil {
				return err
			}
			for _, m := range batch {
				moved = moved || m.acked
			}
		}
		if !moved {
			return nil
		}
	}
}

func batches(waiting []*message) [][]*message {
	var all [][]*message
	for at := 0; at < len(waiting); at += maxBatch {
		all = append(all, append([]*message(nil), waiting[at:min(at+maxBatch, len(waiting))]...))
	}
	return all
}

// deliver is one invocation of the warm function.
func (w *world) deliver(batch []*message) error {
	_, ctx, end := w.invocation()
	defer end()
	acked, err := w.invoke(ctx, w.consumer(), batch, w.mailbox.receive(batch, w.clock.Now()))
	if err != nil {
		return err
	}
	w.settle(batch, acked)
	return nil
}

// invoke returns which messages of the batch may leave the queue. An error of the handler brings all of them back, as
// Lambda does; only a world that has come to its end is an error here.
func (w *world) invoke(ctx context.Context, consumer *functions.Consumer, batch []*message, event awsevents.SQSEvent) (map[*message]bool, error) {
	acked := map[*message]bool{}
	answer, err := consumer.Handle(ctx, event)
	if w.ctx.Err() != nil {
		return nil, w.ctx.Err()
	}
	if err != nil {
		return acked, nil //nolint:nilerr // it is Lambda's to handle: the whole batch comes back
	}
	failed := map[string]bool{}
	for _, f := range answer.BatchItemFailures {
		failed[f.ItemIdentifier] = true
	}
	for _, m := range batch {
		acked[m] = !failed[m.sqsID]
	}
	return acked, nil
}

func (w *world) settle(batch []*message, acked map[*message]bool) {
	done := map[*message]bool{}
	for _, m := range batch {
		if !done[m] {
			w.mailbox.settle(m, acked[m])
		}
		done[m] = true
	}
}

type concurrent struct{ batches [][]string }

// play runs all invocations at once on the warm function. What any of them acks is gone.
func (a concurrent) play(w *world, s step) error {
	picked := make([][]*message, len(a.batches))
	acked := make([]map[*message]bool, len(a.batches))
	errs := make([]error, len(a.batches))
	work := make([]func(context.Context), len(a.batches))
	for n, ids := range a.batches {
		batch, err := w.mailbox.pick(ids)
		if err != nil {
			return err
		}
		consumer, event := w.consumer(), w.mailbox.receive(batch, w.clock.Now())
		picked[n] = batch
		work[n] = func(ctx context.Context) { acked[n], errs[n] = w.invoke(ctx, consumer, batch, event) }
	}
	w.atOnce(s, work)
	var batch []*message
	gone := map[*message]bool{}
	for n := range picked {
		if errs[n] != nil {
			return errs[n]
		}
		batch = append(batch, picked[n]...)
		for m, ok := range acked[n] {
			gone[m] = gone[m] || ok
		}
	}
	w.settle(batch, gone)
	return nil
}

type crash struct {
	ids   []string
	after int
}

// play lets the invocation die, and what it remembered, counted and would have answered with it.
func (a crash) play(w *world, _ step) error {
	i, ctx, end := w.invocation()
	defer end()
	i.dies, i.after = true, a.after
	if a.after == 0 {
		i.kill()
	}
	batch, err := w.mailbox.pick(a.ids)
	if err != nil {
		return err
	}
	counted, ended := w.metrics.copy(), maps.Clone(w.endings)
	if _, err := w.invoke(ctx, w.consumer(), batch, w.mailbox.receive(batch, w.clock.Now())); err != nil {
		return err
	}
	i.kill()
	w.metrics.restore(counted)
	w.endings = ended
	w.warm = w.cold()
	w.settle(batch, nil)
	return nil
}
