package functions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/aws/smithy-go/logging"

	"inorder/events"
	"inorder/ordering"
)

// NewLogger writes JSON lines from a level on. The level is applied here: Lambda's own filter must stay at its finest,
// for it would drop the metric lines, which carry no level. Texts of any length make lines of a bounded one.
func NewLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: clipped}))
}

// CaptureLog makes JSON lines on w of what libraries write to the standard logger: aws-lambda-go's word about an error that
// a handler returned, first of all, which nobody would find among lines that are JSON.
func CaptureLog(w io.Writer) {
	slog.SetDefault(NewLogger(w, slog.LevelInfo))
	slog.SetLogLoggerLevel(slog.LevelError)
}

// sdkLog is what the AWS SDK logs: its warnings, and nothing else unless it is asked to.
func sdkLog(classification logging.Classification, format string, v ...any) {
	level := slog.LevelDebug
	if classification == logging.Warn {
		level = slog.LevelWarn
	}
	slog.Log(context.Background(), level, "AWS SDK", slog.String("message", fmt.Sprintf(format, v...)))
}

// report counts how each event of a message ended, and writes a line about it.
func (c *Consumer) report(ctx context.Context, r *received) {
	outcomes := make([]ordering.Outcome, len(r.outcomes))
	for i, o := range r.outcomes {
		outcomes[i] = o.Outcome
		eventType := r.eventType(i)
		c.Metrics.Count(MetricConsumed, eventType, 1)
		c.Metrics.Count(o.Disposition.Metric(), eventType, 1)
		c.log(ctx, r, i)
	}
	if c.Observe != nil {
		c.Observe(r.message, outcomes)
	}
}

// eventType is the pattern that took an event: it comes from streams.yaml, so that a message cannot create metrics.
func (r *received) eventType(i int) string {
	if e := r.decoded[i].Event; e != nil {
		return e.Pattern
	}
	return r.decoded[i].Pattern
}

func (c *Consumer) flush(ctx context.Context) {
	if err := c.Metrics.Flush(); err != nil {
		c.Log.LogAttrs(ctx, slog.LevelError, "metrics not written", failure(err))
	}
}

// log writes the line that support asks for. It holds no event data.
func (c *Consumer) log(ctx context.Context, r *received, i int) {
	o := r.outcomes[i].Outcome
	level := levelOf(o)
	if !c.Log.Enabled(ctx, level) {
		return
	}
	now := c.Now().UTC()
	line := slog.NewRecord(now, level, "event", 0)
	line.AddAttrs(identity(r.message, r.decoded[i])...)
	line.AddAttrs(ending(o)...)
	line.AddAttrs(slog.Time("received", r.message.ReceivedAt.UTC()))
	if o.Disposition == ordering.Applied {
		line.AddAttrs(slog.Time("applied", now))
	}
	line.AddAttrs(slog.Int("receive_count", r.message.ReceiveCount), slog.String("queue_arn", r.message.QueueARN))
	_ = c.Log.Handler().Handle(ctx, line) // as slog itself does: a log line that cannot be written has no better place
}

// levelOf makes a fault of our own loud: a request that the database calls invalid, and a panic. What else comes back is
// everyday, and what is applied is for debugging.
func levelOf(o ordering.Outcome) slog.Level {
	_, panicked := errors.AsType[*panicError](o.Err)
	switch {
	case panicked, errors.Is(o.Err, ordering.ErrInvalid):
		return slog.LevelError
	case o.Disposition == ordering.Applied:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// identity says which event it is, as far as it could be read. `created` is missing where the event does not say it.
func identity(m events.Message, d events.Decoded) []slog.Attr {
	eventID, source, entityID := d.EventID, d.Source, d.EntityID
	var stream, clock string
	var created time.Time
	if d.Stream != nil {
		stream = d.Stream.Name
	}
	if e := d.Event; e != nil {
		eventID, source, entityID, stream = e.ID, e.Source, e.EntityID, e.Stream.Name
		clock, created = e.Clock, e.PublishedAt
	}
	attrs := []slog.Attr{
		slog.String("message_id", m.ID), slog.String("event_id", eventID), slog.String("source", source),
		slog.String("stream", stream), slog.String("entity_id", entityID), slog.String("order_key", clock),
	}
	if !created.IsZero() {
		attrs = append(attrs, slog.Time("created", created.UTC()))
	}
	return attrs
}

// ending says what became of it.
func ending(o ordering.Outcome) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("stored_order_key", o.Stored), slog.String("disposition", o.Disposition.String()),
		slog.String("reason", string(o.Reason)),
	}
	if o.Err != nil {
		attrs = append(attrs, failure(o.Err))
	}
	return attrs
}
