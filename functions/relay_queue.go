package functions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/events"
)

// Why a message of the republish queue comes back, until its queue moves it to the dead-letter queue, which keeps it.
var (
	errBadMessage = errors.New("neither a republish request nor a note")
	errNoStream   = errors.New("streams.yaml has no stream")
	errTooMuch    = errors.New("more than the stream's window")
)

// HandleQueue answers republish requests and notes, each by itself, and names the messages that must come back. A request
// that was answered in part is answered again from its start: copies are harmless to the consumer.
func (r *Relay) HandleQueue(ctx context.Context, batch awsevents.SQSEvent) (awsevents.SQSEventResponse, error) {
	for i, record := range batch.Records {
		if record.MessageId == "" {
			return awsevents.SQSEventResponse{}, fmt.Errorf("record %d has no messageId: this is not an SQS batch", i)
		}
	}
	defer r.flush(ctx)
	until, end := limited(ctx, margin)
	defer end()
	errs := make([]error, len(batch.Records))
	for i := range errs {
		errs[i] = errOutOfTime
	}
	var marks []events.MarkEvent
	var noted []int // the records that the marks are of
	spread(until.work, r.parallel, len(errs), until.margin/2,
		func(i int) answered { return r.message(until.work, batch.Records[i].Body) },
		func(i int, did answered, panicked error) {
			if errs[i] = errors.Join(did.err, panicked); errs[i] == nil && did.mark != nil {
				marks, noted = append(marks, *did.mark), append(noted, i)
			}
		})
	for n, err := range r.marks(until.work, marks) {
		errs[noted[n]] = err
	}
	return r.queueAnswer(ctx, batch, errs), nil
}

// answered is what became of a message: done, but for a mark that is to be sent with those of the other messages.
type answered struct {
	mark *events.MarkEvent
	err  error
}

// message answers one message. What it is shows in its shape: a note has a type, a request has ranges.
func (r *Relay) message(ctx context.Context, body string) answered {
	var m struct {
		Type string `json:"type"`
		Seq  int64  `json:"seq"`
		events.RepublishRequest
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return answered{err: fmt.Errorf("%w: %w", errBadMessage, err)}
	}
	switch {
	case m.Type == NoteType && m.Seq >= 1:
		mark, err := r.look(ctx, relayNote{m.Type, m.Stream, m.EntityID, m.Source, m.Generation, m.Seq})
		return answered{mark, err}
	case m.Type == "" && len(m.Ranges) > 0:
		return answered{err: r.Answer(ctx, m.RepublishRequest)}
	}
	return answered{err: errBadMessage}
}

// queueAnswer names what must come back, each id once. The list is made, not nil: Lambda takes null for a batch that
// went well, too, but so it would take a misspelt one.
func (r *Relay) queueAnswer(ctx context.Context, batch awsevents.SQSEvent, errs []error) awsevents.SQSEventResponse {
	failures := []awsevents.SQSBatchItemFailure{}
	named := map[string]bool{}
	for i, record := range batch.Records {
		if errs[i] == nil {
			continue
		}
		r.tellMessage(ctx, record.MessageId, errs[i])
		if !named[record.MessageId] {
			named[record.MessageId] = true
			failures = append(failures, awsevents.SQSBatchItemFailure{ItemIdentifier: record.MessageId})
		}
	}
	return awsevents.SQSEventResponse{BatchItemFailures: failures}
}

// tellMessage logs what comes back: loudly where it is nobody's bad luck but somebody's mistake.
func (r *Relay) tellMessage(ctx context.Context, id string, err error) {
	r.count(MetricRelayFailures, nil, 1)
	level := slog.LevelWarn
	if _, panicked := errors.AsType[*panicError](err); panicked ||
		errors.Is(err, errBadMessage) || errors.Is(err, errNoStream) || errors.Is(err, errTooMuch) {
		level = slog.LevelError
	}
	r.log.LogAttrs(ctx, level, "a message of the republish queue comes back", slog.String("message_id", id), failure(err))
}
