package run

import (
	"context"
	"maps"
	"strconv"
	"strings"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// An ending is what became of one event of a message.
type ending struct {
	decoded events.Decoded
	outcome ordering.Outcome
}

// queue delivers messages as SQS would: in batches, and what comes back once more, up to a number of times.
type queue struct {
	consumer *functions.Consumer
	streams  *events.Config
	batch    int
	receives int // of one message, at most
	done     func(n int)

	byDelivery map[delivery]*message
	counts     map[string]int // of receives, by message id: a dump may hold one message several times
}

// delivery names one receive of one message.
type delivery struct {
	id    string
	count int
}

// consume delivers until nothing comes back, or has been received often enough.
func (q *queue) consume(ctx context.Context, all []*message) error {
	q.byDelivery, q.counts = map[delivery]*message{}, map[string]int{}
	waiting := all
	for len(waiting) > 0 {
		if err := q.round(ctx, waiting); err != nil {
			return err
		}
		var back []*message
		for _, m := range waiting {
			if !m.acked && m.receives < q.receives {
				back = append(back, m)
			}
		}
		waiting = back
	}
	return nil
}

// round delivers each message once, but those of a FIFO group whose earlier message came back: they wait behind it.
func (q *queue) round(ctx context.Context, waiting []*message) error {
	held := map[[2]string]bool{}
	var batch []*message
	deliver := func() error {
		if err := q.deliver(ctx, batch); err != nil {
			return err
		}
		for _, m := range batch {
			if group, ok := m.group(); ok && !m.acked {
				held[group] = true
			}
		}
		batch = nil
		return nil
	}
	for _, m := range waiting {
		if group, ok := m.group(); ok && held[group] {
			continue
		}
		if batch = append(batch, m); len(batch) == q.batch {
			if err := deliver(); err != nil {
				return err
			}
		}
	}
	return deliver()
}

// group is the FIFO group that a message must keep its place in.
func (m *message) group() (group [2]string, ok bool) {
	arn := m.record.EventSourceARN
	return [2]string{arn, m.record.Attributes["MessageGroupId"]}, strings.HasSuffix(arn, ".fifo")
}

func (q *queue) deliver(ctx context.Context, batch []*message) error {
	if len(batch) == 0 {
		return nil
	}
	event := awsevents.SQSEvent{}
	for _, m := range batch {
		event.Records = append(event.Records, q.receive(m))
	}
	answer, err := q.consumer.Handle(ctx, event)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	failed := map[string]bool{}
	for _, f := range answer.BatchItemFailures {
		failed[f.ItemIdentifier] = true
	}
	for _, m := range batch {
		m.acked = !failed[m.record.MessageId]
		if m.acked {
			q.done(1)
		}
	}
	return nil
}

// receive counts the receives of one message id over all its copies: a count that stands twice would make a copy look
// like the delivery that came before.
func (q *queue) receive(m *message) awsevents.SQSMessage {
	m.receives++
	r := m.record
	q.counts[r.MessageId]++
	r.Attributes = maps.Clone(r.Attributes)
	r.Attributes["ApproximateReceiveCount"] = strconv.Itoa(q.counts[r.MessageId])
	q.byDelivery[delivery{r.MessageId, q.counts[r.MessageId]}] = m
	return r
}

// observe notes how the events of a delivery ended.
func (q *queue) observe(m events.Message, outcomes []ordering.Outcome) {
	named := delivery{m.ID, m.ReceiveCount}
	at := q.byDelivery[named]
	if at == nil {
		return
	}
	delete(q.byDelivery, named)
	decoded := q.streams.Decode(m, m.ReceivedAt)
	at.endings = make([]ending, len(outcomes))
	for i, o := range outcomes {
		at.endings[i].outcome = o
		if i < len(decoded) {
			at.endings[i].decoded = decoded[i]
		}
	}
}
