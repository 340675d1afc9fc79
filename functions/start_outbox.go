package functions

import (
	"cmp"
	"context"
	"errors"
	"time"

	"inorder/ddb"
)

// StartOutbox connects a producer to its outbox, by the variables of which the template has an output each. The error
// lists everything that is wrong with them.
//
//	OUTBOX_TABLE   name of the outbox table
//	OUTBOX_TTL     how long a row is kept, such as 28d, which is the default
func StartOutbox(ctx context.Context, getenv func(string) string, now func() time.Time) (*ddb.Outbox, error) {
	r := settingsReader{getenv: getenv}
	table, ttl := r.required("OUTBOX_TABLE"), cmp.Or(r.duration("OUTBOX_TTL"), ddb.OutboxTTL)
	if err := errors.Join(r.faults...); err != nil {
		return nil, err
	}
	cfg, err := loadAWS(ctx)
	if err != nil {
		return nil, err
	}
	return &ddb.Outbox{API: ddb.NewClient(cfg, ddb.ClientOptions{}), Table: table, Now: now, TTL: ttl}, nil
}
