package functions

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"inorder/ddb"
	"inorder/ordering"
)

// StartRelay reads the settings, connects, and returns the relay. The error lists everything that is wrong with the
// settings. Metrics and log lines go to out, which on Lambda is standard output.
func StartRelay(ctx context.Context, getenv func(string) string, out io.Writer, now func() time.Time, projections map[string]ordering.Projector) (*Relay, error) {
	settings, err := ReadRelaySettings(getenv, slices.Sorted(maps.Keys(projections)))
	if err != nil {
		return nil, err
	}
	cfg, err := loadAWS(ctx)
	if err != nil {
		return nil, err
	}
	log := NewLogger(out, settings.LogLevel)
	logStart(ctx, log, "relay", settings.Streams.Consumer)
	return NewRelay(RelayParts{
		Streams:      settings.Streams,
		Outbox:       &ddb.Outbox{API: ddb.NewClient(cfg, ddb.ClientOptions{}), Table: settings.OutboxTable, Now: now},
		SQS:          newSQS(cfg),
		EventsURL:    settings.EventsURL,
		RepublishURL: settings.RepublishURL,
		MarkDelay:    settings.MarkDelay,
		Metrics:      out,
		Log:          log,
		Now:          now,
	}), nil
}
