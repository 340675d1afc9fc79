package functions

import (
	"errors"
	"log/slog"
	"strings"
	"time"

	"inorder/events"
)

const (
	defaultMarkDelay = 5 * time.Minute  // MARK_DELAY
	maxMarkDelay     = 15 * time.Minute // "Amazon SQS message timers": the maximum of a message's delay
)

// RelaySettings are what the relay takes from the environment, checked.
type RelaySettings struct {
	OutboxTable  string        // OUTBOX_TABLE
	EventsURL    string        // EVENTS_QUEUE_URL: a standard or a FIFO queue
	RepublishURL string        // REPUBLISH_QUEUE_URL: a standard queue
	MarkDelay    time.Duration // MARK_DELAY; 0: off
	LogLevel     slog.Level
	Streams      *events.Config
}

// ReadRelaySettings reads and checks everything before any message is answered. The error lists every fault, one a line.
// Projections are the names of the registered Go projections, which streams.yaml may name.
//
//	OUTBOX_TABLE          name of the producer's outbox table
//	EVENTS_QUEUE_URL      URL of the events queue, standard or FIFO
//	REPUBLISH_QUEUE_URL   URL of a standard queue, which triggers the relay: a FIFO queue cannot delay a message
//	MARK_DELAY            default 5m, at most 15m; 0 turns marks off
//	STREAMS_FILE          default streams.yaml beside the binary
//	CONSUMER              must be the streams' consumer; empty compares nothing
//	LOG_LEVEL             debug, info (default), warn or error
func ReadRelaySettings(getenv func(string) string, projections []string) (*RelaySettings, error) {
	r := settingsReader{getenv: getenv}
	s := &RelaySettings{
		OutboxTable:  r.required("OUTBOX_TABLE"),
		EventsURL:    r.queue("EVENTS_QUEUE_URL", strings.HasSuffix(r.required("EVENTS_QUEUE_URL"), ".fifo")),
		RepublishURL: r.requiredQueue("REPUBLISH_QUEUE_URL", false),
		MarkDelay:    r.markDelay(),
		LogLevel:     oneOf(&r, "LOG_LEVEL", "info", logLevels),
		Streams:      r.streams(events.Options{Projections: projections}),
	}
	if s.EventsURL != "" && s.EventsURL == s.RepublishURL {
		r.fault("EVENTS_QUEUE_URL and REPUBLISH_QUEUE_URL are the same queue")
	}
	return s, errors.Join(r.faults...)
}

func (r *settingsReader) markDelay() time.Duration {
	value := r.text("MARK_DELAY")
	switch value {
	case "":
		return defaultMarkDelay
	case "0":
		return 0
	}
	d, err := events.ParseDuration(value)
	switch {
	case err != nil:
		r.fault("MARK_DELAY: %w", err)
	case d > maxMarkDelay:
		r.fault("MARK_DELAY must be at most 15m, for SQS delays no message longer: %q", value)
	}
	return d
}
