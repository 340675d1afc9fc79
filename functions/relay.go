package functions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"strings"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

// The metrics of the relay. They count under their stream's first type, as control events do.
const (
	MetricRowsRelayed     = "outbox_rows_relayed_total"    // new rows that reached the events queue
	MetricRequests        = "republish_requests_total"     // answered
	MetricRowsRepublished = "republish_rows_sent_total"    // sent again
	MetricNumbersExpired  = "republish_rows_expired_total" // numbers answered as expired
	MetricMarksSent       = "marks_sent_total"
	MetricRelayFailures   = "relay_failures_total" // rows and notes that cannot be sent, and records and messages that come back
)

// OutboxReader is where a producer's rows are; *ddb.Outbox is one.
type OutboxReader interface {
	// Head is the newest position of a history. Whatever lies above it is not written yet; not found says that of all.
	// The read is strongly consistent.
	Head(ctx context.Context, key ddb.OutboxKey) (at ordering.Position, found bool, err error)
	// Rows are the rows of a range of numbers, ascending, strongly consistent. It ends with its first error.
	Rows(ctx context.Context, key ddb.OutboxKey, gen, first, last int64) iter.Seq2[ddb.OutboxRow, error]
}

// Prover is an OutboxReader that can prove of numbers that no event ever had them, nor will: of a rolled back SQL
// sequence, say. That it has no row proves nothing.
type Prover interface {
	// NeverExisted returns the part of missing, numbers up to the head without a row, of which that is proved.
	NeverExisted(ctx context.Context, key ddb.OutboxKey, gen int64, missing []events.Range) ([]events.Range, error)
}

// RelayParts are what a relay is put together from.
type RelayParts struct {
	Streams      *events.Config
	Outbox       OutboxReader
	SQS          BatchSender
	EventsURL    string        // a standard or a FIFO queue
	RepublishURL string        // of a standard queue, which is also the relay's trigger: notes go there
	MarkDelay    time.Duration // 0: no notes, so no marks of its own; at most 15 minutes
	Metrics      io.Writer
	Log          *slog.Logger // nil: no log lines
	Now          func() time.Time

	// Parallel is how many messages of a batch are answered at once; 0: as a function on Lambda does.
	Parallel int
}

// Relay sends a producer's new events, sends them again when asked to, and marks what might be a lost last one. Its
// fields are set before the first batch and not changed after; it may handle several batches at once.
type Relay struct {
	streams   *events.Config
	outbox    OutboxReader
	events    batches
	notes     batches
	markDelay time.Duration
	metrics   *Metrics
	log       *slog.Logger
	parallel  int
}

// NewRelay puts a relay together.
func NewRelay(p RelayParts) *Relay {
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	if p.Parallel == 0 {
		p.Parallel = atOnce
	}
	return &Relay{
		streams:   p.Streams,
		outbox:    p.Outbox,
		events:    batches{sqs: p.SQS, url: p.EventsURL, fifo: strings.HasSuffix(p.EventsURL, ".fifo")},
		notes:     batches{sqs: p.SQS, url: p.RepublishURL},
		markDelay: min(p.MarkDelay, maxMarkDelay),
		metrics:   NewMetrics(p.Metrics, p.Streams.Consumer, p.Now),
		log:       p.Log,
		parallel:  p.Parallel,
	}
}

// The two triggers, as Lambda names them in every record.
const (
	fromStream = "aws:dynamodb"
	fromQueue  = "aws:sqs"
)

// Handle takes what Lambda sends, of either trigger, and returns what Lambda expects of it. A batch is of one trigger;
// anything else is an error, and nothing was done.
func (r *Relay) Handle(ctx context.Context, in json.RawMessage) (any, error) {
	var shape struct {
		Records []struct {
			EventSource string `json:"eventSource"`
		}
	}
	if err := json.Unmarshal(in, &shape); err != nil {
		return nil, fmt.Errorf("neither a batch of a queue nor of a stream: %w", err)
	}
	if len(shape.Records) == 0 {
		return nil, errors.New("neither a batch of a queue nor of a stream: it has no Records")
	}
	source := shape.Records[0].EventSource
	for _, record := range shape.Records {
		if record.EventSource != source {
			return nil, fmt.Errorf("a batch of two triggers, %q and %q", source, record.EventSource)
		}
	}
	switch source {
	case fromStream:
		return handleAs(ctx, in, r.HandleStream)
	case fromQueue:
		return handleAs(ctx, in, r.HandleQueue)
	}
	return nil, fmt.Errorf("records of %q: the relay is triggered by %s and %s", source, fromStream, fromQueue)
}

// handleAs hands on a batch of one trigger.
func handleAs[Batch awsevents.DynamoDBEvent | awsevents.SQSEvent, Answer any](ctx context.Context, in json.RawMessage, f func(context.Context, Batch) (Answer, error)) (any, error) {
	var batch Batch
	if err := json.Unmarshal(in, &batch); err != nil {
		return nil, fmt.Errorf("read the batch: %w", err)
	}
	return f(ctx, batch)
}

func (r *Relay) flush(ctx context.Context) {
	if err := r.metrics.Flush(); err != nil {
		r.log.LogAttrs(ctx, slog.LevelError, "metrics not written", failure(err))
	}
}

// count counts under a stream's first type; of no stream under none.
func (r *Relay) count(metric string, s *events.Stream, n int) {
	eventType := ""
	if s != nil {
		eventType = s.Types[0]
	}
	r.metrics.Count(metric, eventType, int64(n))
}

// outboxKey is where a stream's history is in the outbox: only with per_source each source has one.
func outboxKey(s *events.Stream, entityID, source string) ddb.OutboxKey {
	return ddb.OutboxKey{Stream: s.Name, EntityID: entityID, Source: source, PerSource: s.PerSource}
}

// whose names a history in a log line.
func whose(key ddb.OutboxKey, gen int64) []slog.Attr {
	return []slog.Attr{
		slog.String("stream", key.Stream), slog.String("entity_id", key.EntityID), slog.String("source", key.Source),
		slog.Int64("generation", gen),
	}
}
