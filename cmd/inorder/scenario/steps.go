package scenario

import (
	"time"

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
