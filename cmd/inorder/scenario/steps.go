package scenario

import (
	"context"
	"maps"
	"sync"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/backend"
	"inorder/events"
	"inorder/functions"
)

// maxBatch is how many messages `deliver: all` puts into one invocation.
const maxBatch = 10

// maxInvocationTime ends an invocation that hangs; no honest one comes near.
const maxInvocationTime = time.Minute

type send struct {
	id, body, group string
	attributes      map[string]events.Attribute
}

func (a send) play(w *world, _ step) error {
	w.mailbox.send(message{id: a.id, body: a.body, attributes: a.attributes, group: a.group}, w.clock.Now())
	return nil
}

type deliver struct{ ids []string }

func (a deliver) play(w *world, _ step) error {
	return w.deliver(w.mailbox.pick(a.ids))
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
	acked, err := w.invoke(ctx, batch, w.mailbox.receive(batch, w.clock.Now()))
	if err != nil {
		return err
	}
	w.settle(batch, acked)
	return nil
}

// invocation begins one, with what the script has in store for the next.
func (w *world) invocation() (*invocation, context.Context, context.CancelFunc) {
	ctx, end := context.WithTimeout(w.ctx, maxInvocationTime)
	i := &invocation{rules: w.rules, end: end}
	w.rules = nil
	return i, onBehalfOf(ctx, i), end
}

// invoke returns which messages of the batch may leave the queue. An error of the handler brings all of them back, as
// Lambda does; only a world that has come to its end is an error here.
func (w *world) invoke(ctx context.Context, batch []*message, event awsevents.SQSEvent) (map[*message]bool, error) {
	acked := map[*message]bool{}
	answer, err := w.warm.Handle(ctx, event)
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

// play runs all invocations at once on the warm function; the turnstile decides whose request is next. What any of
// them acks is gone.
func (a concurrent) play(w *world, s step) error {
	turns := newTurnstile(len(a.batches), w.seed+uint64(s.number))
	var wait sync.WaitGroup
	picked := make([][]*message, len(a.batches))
	acked := make([]map[*message]bool, len(a.batches))
	errs := make([]error, len(a.batches))
	for n, ids := range a.batches {
		i, ctx, end := w.invocation()
		i.place, i.turns = n, turns
		picked[n] = w.mailbox.pick(ids)
		event := w.mailbox.receive(picked[n], w.clock.Now())
		wait.Go(func() {
			defer end()
			defer turns.leave()
			acked[n], errs[n] = w.invoke(ctx, picked[n], event)
		})
	}
	wait.Wait()
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
	batch := w.mailbox.pick(a.ids)
	counted, ended := w.metrics.copy(), maps.Clone(w.endings)
	if _, err := w.invoke(ctx, batch, w.mailbox.receive(batch, w.clock.Now())); err != nil {
		return err
	}
	i.kill()
	w.metrics.restore(counted)
	w.endings = ended
	w.warm = w.cold()
	w.settle(batch, nil)
	return nil
}

type setFault struct{ rule rule }

func (a setFault) play(w *world, _ step) error {
	r := a.rule
	w.rules = append(w.rules, &r)
	return nil
}

type setClock struct{ at time.Time }

func (a setClock) play(w *world, _ step) error {
	w.clock.set(a.at)
	return nil
}

type advance struct{ by time.Duration }

func (a advance) play(w *world, _ step) error {
	w.clock.set(w.clock.Now().Add(a.by))
	return nil
}

type expire struct{}

func (expire) play(w *world, _ step) error {
	return w.backend.Expire(w.ctx, w.tables, w.clock.Now().Unix())
}

type redrive struct{ from string }

func (a redrive) play(w *world, _ step) error {
	if a.from == "dlq" {
		w.mailbox.redrive(w.clock.Now())
		return nil
	}
	for _, copied := range w.queues.Empty(backend.QuarantineURL) {
		id := w.origin(copied)
		original := functions.Unwrap(copied)
		w.mailbox.send(message{
			id: id, body: original.Body, attributes: original.Attributes, group: w.groupOf(id),
		}, w.clock.Now())
	}
	return nil
}

// origin is the file's id of the message that a copy was made of.
func (w *world) origin(copied events.Message) string {
	mark, ok := functions.MarkOf(copied)
	if !ok {
		return "?"
	}
	if id, known := w.mailbox.byID[mark.MessageID]; known {
		return id
	}
	return "? " + mark.MessageID
}

func (w *world) groupOf(id string) string {
	if m := w.mailbox.latest[id]; m != nil {
		return m.group
	}
	return ""
}

type reset struct{}

func (reset) play(w *world, _ step) error {
	w.metrics.reset()
	w.wire.reset()
	return nil
}
