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
	work, patience, end := timed(ctx)
	defer end()
	errs := make([]error, len(batch.Records))
	for i := range errs {
		errs[i] = errOutOfTime
	}
	spread(work, r.parallel, len(errs), patience,
		func(i int) error { return r.message(work, batch.Records[i].Body) },
		func(i int, err, panicked error) { errs[i] = errors.Join(err, panicked) })
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
	return awsevents.SQSEventResponse{BatchItemFailures: failures}, nil
}

// message answers one message. What it is shows in its shape: a note has a type, a request has ranges.
func (r *Relay) message(ctx context.Context, body string) error {
	var m struct {
		Type string `json:"type"`
		Seq  int64  `json:"seq"`
		events.RepublishRequest
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return fmt.Errorf("%w: %w", errBadMessage, err)
	}
	switch {
	case m.Type == NoteType:
		return r.look(ctx, note{m.Type, m.Stream, m.EntityID, m.Source, m.Generation, m.Seq})
	case m.Type == "" && len(m.Ranges) > 0:
		return r.Answer(ctx, m.RepublishRequest)
	}
	return errBadMessage
}

// tellMessage logs what comes back: loudly where it is nobody's bad luck but somebody's mistake.
func (r *Relay) tellMessage(ctx context.Context, id string, err error) {
	r.count(MetricRelayFailures, nil, 1)
	level := slog.LevelWarn
	if _, panicked := errors.AsType[*panicError](err); panicked ||
		errors.Is(err, errBadMessage) || errors.Is(err, errNoStream) || errors.Is(err, errTooMuch) {
		level = slog.LevelError
	}
	r.log.LogAttrs(ctx, level, "a message of the republish queue comes back", slog.String("message_id", id), slog.String("error", err.Error()))
}
