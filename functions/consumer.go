package functions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/events"
	"inorder/ordering"
)

// Consumer answers SQS batches. Its fields are set before the first batch and not changed after; one Consumer may
// handle several batches at once.
type Consumer struct {
	Loop       Applier
	Streams    *events.Config
	Quarantine ordering.Quarantine
	Metrics    *Metrics
	Log        *slog.Logger
	Now        func() time.Time

	// Parallel is how many entities of a batch are worked on at once; at least 1 is taken.
	Parallel int

	// Margin is how long before Lambda's deadline the loop must end, so that copies, metrics and the answer still find
	// time; of a short timeout it takes a quarter. What cannot be started before is deferred.
	Margin time.Duration

	// Observe, where it is set, is told how each message of a batch ended, in their order, before the answer is given.
	Observe func(m events.Message, outcomes []ordering.Outcome)
}

// Applier takes one entity's part of a batch; *ordering.Loop is the real one.
type Applier interface {
	Apply(ctx context.Context, key ordering.Key, batch []ordering.Delivery) ordering.Report
}

// Why a message is deferred by the handler itself.
var (
	errOutOfTime = errors.New("out of time: not finished before the function's deadline")
	errBehind    = errors.New("not attempted: an earlier message of its group comes back first")
	errNoOutcome = errors.New("nothing was decided about it")
)

// Handle judges a batch and names the messages that must come back.
//
// It returns an error, which brings the whole batch back, only where no message can be judged or named: when the
// consumer was built without streams or loop, or when a record has no message id, so that what came is no SQS batch.
// Everything else is an outcome of its own message.
func (c *Consumer) Handle(ctx context.Context, batch awsevents.SQSEvent) (awsevents.SQSEventResponse, error) {
	if c.Streams == nil || c.Loop == nil {
		return awsevents.SQSEventResponse{}, errors.New("the consumer has no streams or no loop, so no message can be judged")
	}
	for i, r := range batch.Records {
		if r.MessageId == "" {
			return awsevents.SQSEventResponse{}, fmt.Errorf("record %d has no messageId: this is not an SQS batch", i)
		}
	}
	defer c.flush(ctx)
	until, end := c.limited(ctx)
	defer end()
	all := make([]*received, len(batch.Records))
	for i, r := range batch.Records {
		all[i] = c.open(until, receive(r, c.Now()))
	}
	c.judgeLanes(until, all)
	for _, r := range all {
		c.report(ctx, r)
	}
	return answer(all), nil
}

// limited is when the loop (limits.work) and the copies (limits.rest) have to end. Whoever left Lambda's timeout at its default is
// told. The margin is used up in quarters: the loop's stragglers, the copies, their stragglers, and the answer.
func (c *Consumer) limited(ctx context.Context) (limits, context.CancelFunc) {
	until, end := limited(ctx, c.Margin)
	if until.margin < c.Margin/2 {
		c.Log.LogAttrs(ctx, slog.LevelError, "the function's timeout is too short: make it at least four times the margin",
			slog.Float64("left_seconds", 4*until.margin.Seconds()), slog.Float64("margin_seconds", c.Margin.Seconds()))
	}
	return until, end
}

// open decodes a message. Whatever goes wrong with that is its own: all outcomes begin as deferred.
func (c *Consumer) open(until limits, m events.Message) *received {
	r := &received{message: m, decoded: []events.Decoded{{}}}
	err := c.decode(until.work, r)
	r.outcomes = make([]outcome, len(r.decoded))
	for i := range r.decoded {
		switch {
		case err != nil:
			r.outcomes[i] = deferred(err)
		default:
			r.outcomes[i] = deferred(errOutOfTime)
			r.outcomes[i].open = true
		}
	}
	return r
}

// decode reads the events of a message. One that comes back from quarantine by another hand than ours still has the mark
// there, and may be wrapped: what is judged and logged is the message that its producer sent.
func (c *Consumer) decode(ctx context.Context, r *received) (err error) {
	defer recovered(&err)
	if ctx.Err() != nil {
		return errOutOfTime
	}
	r.message = Unwrap(r.message)
	decoded := c.Streams.Decode(r.message, r.message.ReceivedAt)
	if len(decoded) == 0 {
		return errNoOutcome // acking it would lose it in silence
	}
	r.decoded = decoded
	return nil
}

// judgeLanes judges all messages of a standard queue at once, and the messages of a FIFO group one after the other: a
// round takes the next message of every lane, and a lane ends with its first failure. Several messages of a group
// cannot share a round, for within one the later might be applied and acked while the earlier comes back.
func (c *Consumer) judgeLanes(until limits, all []*received) {
	for waiting := lanes(all); len(waiting) > 0; {
		heads := make([]*received, len(waiting))
		for i, lane := range waiting {
			heads[i] = lane[0]
		}
		c.judge(until, heads)
		waiting = advance(waiting)
	}
}

// advance takes the judged heads off their lanes. A lane whose head comes back ends there.
func advance(waiting [][]*received) (next [][]*received) {
	for _, lane := range waiting {
		head, behind := lane[0], lane[1:]
		switch {
		case !head.acked():
			hold(behind)
		case len(behind) > 0:
			next = append(next, behind)
		}
	}
	return next
}

// lanes sorts messages by what must wait for what: each FIFO group is a lane, any other message one of its own.
func lanes(all []*received) [][]*received {
	var out [][]*received
	groups := map[[2]string]int{}
	for _, r := range all {
		if !isFIFO(r.message) {
			out = append(out, []*received{r})
			continue
		}
		group := [2]string{r.message.QueueARN, r.message.GroupID}
		at, known := groups[group]
		if !known {
			at = len(out)
			groups[group] = at
			out = append(out, nil)
		}
		out[at] = append(out[at], r)
	}
	return out
}

// hold leaves messages unattempted behind one that comes back.
func hold(behind []*received) {
	for _, r := range behind {
		for i := range r.outcomes {
			r.outcomes[i] = deferred(errBehind)
		}
	}
}

// answer lists what must come back. The list is made, not nil: Lambda takes null for a batch that went well, too, but
// so it would take a misspelt one.
func answer(all []*received) awsevents.SQSEventResponse {
	failures := []awsevents.SQSBatchItemFailure{}
	named := map[string]bool{}
	for _, r := range all {
		if id := r.message.ID; !r.acked() && !named[id] {
			named[id] = true
			failures = append(failures, awsevents.SQSBatchItemFailure{ItemIdentifier: id})
		}
	}
	return awsevents.SQSEventResponse{BatchItemFailures: failures}
}
