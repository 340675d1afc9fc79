package functions

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"inorder/ordering"
)

// StartSweeper reads the settings, connects, and returns the sweeper. The error lists everything that is wrong with the
// settings. Metrics and log lines go to out, which on Lambda is standard output.
func StartSweeper(ctx context.Context, getenv func(string) string, out io.Writer, now func() time.Time, projections map[string]ordering.Projector) (*Sweeper, error) {
	settings, err := ReadSweeperSettings(getenv, slices.Sorted(maps.Keys(projections)))
	if err != nil {
		return nil, err
	}
	cfg, err := loadAWS(ctx)
	if err != nil {
		return nil, err
	}
	store := settings.store(cfg)
	parts := settings.parts(store, newSQS(cfg), out, now, projections)
	logStart(ctx, parts.Log, "sweeper", settings.Streams.Consumer)
	return NewSweeper(SweeperParts{
		Parts:        parts,
		Upkeep:       store,
		RepublishURL: settings.RepublishURL,
	}), nil
}
