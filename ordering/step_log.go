package ordering

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"inorder/events"
)

func (r *stepRun) readRows(ctx context.Context, gen int64, of Range) error {
	rows, err := r.Store.Rows(ctx, r.key, gen, of.First, of.Last)
	if err != nil {
		return fmt.Errorf("read the log of %s of stream %s: %w", quoteID(r.key.ID), r.stream.Name, err)
	}
	for _, row := range rows {
		r.rows = withRow(r.rows, row)
	}
	r.readFrom, r.readTo = of.First, of.Last
	return nil
}

// decodeRow reads a logged message as it would be read if it came now.
func (r *stepRun) decodeRow(row Row) (*events.Event, error) {
	decoded := r.Streams.Decode(row.Message, r.Now())
	if row.Record >= len(decoded) || decoded[row.Record].Event == nil {
		reason := events.Refusal{Reason: events.NotAnEvent}
		if row.Record < len(decoded) {
			reason = decoded[row.Record].Refusal
		}
		return nil, fmt.Errorf("%s: %s", reason.Reason, reason.Detail)
	}
	e := decoded[row.Record].Event
	if e.Stream.Name != r.stream.Name {
		return nil, fmt.Errorf("stream %s takes it now", e.Stream.Name)
	}
	return e, nil
}

// putRows logs events where their numbers are free. A crash here leaves rows that the entity does not name; the
// messages come back and find them.
func (r *stepRun) putRows(ctx context.Context, puts []entry) error {
	var mu sync.Mutex
	return sideBySide(r.RowsAtOnce, puts, func(e entry) error {
		return r.logRow(ctx, e, func(note func()) {
			mu.Lock()
			defer mu.Unlock()
			note()
		})
	})
}

// logRow logs one event and remembers, within guard, what its number holds then.
func (r *stepRun) logRow(ctx context.Context, e entry, guard func(note func())) error {
	row, own, err := r.putRow(ctx, r.rowOf(e))
	switch {
	case errors.Is(err, ErrTooLarge):
		guard(func() {
			e.decide(quarantined(&events.Refusal{Reason: events.TooLarge, Detail: "it would have to wait in the log, whose items hold 400 KB, and is larger even when compressed"}))
		})
	case err != nil:
		return fmt.Errorf("log number %d of %s of stream %s: %w", e.n, quoteID(r.key.ID), r.stream.Name, err)
	case own:
		guard(func() { r.own = withRow(r.own, row) })
	default:
		guard(func() { r.rows = withRow(r.rows, row) })
	}
	return nil
}

// withRow adds a row to rows, which may be nil.
func withRow(rows map[int64]Row, row Row) map[int64]Row {
	if rows == nil {
		rows = map[int64]Row{}
	}
	rows[row.Seq] = row
	return rows
}

// putRow puts a row, or returns the one that holds its number already, for long enough if it is the same event.
func (r *stepRun) putRow(ctx context.Context, row Row) (there Row, own bool, err error) {
	for range 3 { // put, or extend what is there, or put again where that has just left
		err = r.Store.PutRow(ctx, r.key, row)
		taken := (*TakenError)(nil)
		if !errors.As(err, &taken) {
			return row, err == nil, err
		}
		there = taken.Row
		sameEvent := there.Void == row.Void && there.EventID == row.EventID && there.Source == row.Source && there.Fingerprint == row.Fingerprint
		if !sameEvent || there.ExpiresAt.Sub(r.Now()) >= r.stream.ParkTTL/2 {
			return there, false, nil
		}
		err = r.Store.ExtendRow(ctx, r.key, there, row.ExpiresAt)
		if !errors.As(err, &taken) {
			return there, false, err
		}
		if taken.Row.Seq != 0 { // somebody else extended it
			return taken.Row, false, nil
		}
	}
	return there, false, errBusy
}

func (r *stepRun) rowOf(en entry) Row {
	e := en.Event
	row := Row{
		Gen: e.Generation, Seq: en.n, Source: e.Source, Type: e.Type, ReceivedAt: en.Message.ReceivedAt,
		ExpiresAt: r.Now().Add(r.stream.ParkTTL).Truncate(time.Second),
	}
	if e.Kind == events.Void {
		row.Void = e.VoidReason
		return row
	}
	row.EventID, row.Fingerprint, row.Message, row.Record = e.ID, e.Fingerprint(), *en.Message, en.Record
	return row
}
