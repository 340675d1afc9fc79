package simulation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"inorder/events"
	"inorder/ordering"
)

// A view is a thread's way to a store in memory, with the same turns and mishaps as over the wire.
type view struct {
	ordering.Upkeep
	w *world
}

var errLost = errors.New("connection lost")

func ask[T any](ctx context.Context, v view, op string, lane int, c cost, do func() (T, error)) (T, error) {
	var none, answer T
	var err error
	u := turn{op: op, lane: lane, cost: c, effect: func() { answer, err = do() }}
	fate := threadOf(ctx).pass(ctx, u)
	switch happens := mishaps[fate]; {
	case happens.error == "throttle":
		return none, ordering.ErrThrottled
	case happens.error == "busy":
		return none, ordering.ErrContended
	case happens.deadly:
		return none, errDead
	case ctx.Err() != nil:
		return none, ctx.Err()
	case happens.silent, happens.error != "":
		return none, fmt.Errorf("%w: %s", errLost, fate)
	}
	return answer, err
}

func (v view) write(ctx context.Context, op string, key ordering.Key, items int64, do func() error) error {
	_, err := ask(ctx, v, op, v.w.lane(key), cost{writes: items}, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (v view) Entity(ctx context.Context, key ordering.Key) (*ordering.Entity, error) {
	return ask(ctx, v, "read", v.w.lane(key), cost{reads: 1}, func() (*ordering.Entity, error) { return v.Upkeep.Entity(ctx, key) })
}

func (v view) Swap(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, markers []ordering.Marker) error {
	op := fmt.Sprintf("swap to %d: cursor %d.%d waiting %v ahead %v blocked %d", next.Rev, next.Gen, next.Applied, next.Waiting, next.Ahead, next.Blocked)
	v.w.checkSeen(key, next)
	return v.write(ctx, op, key, 1+int64(len(markers)), func() error { return v.Upkeep.Swap(ctx, key, prev, next, markers) })
}

func (v view) PutNewer(ctx context.Context, key ordering.Key, next *ordering.Entity, markers []ordering.Marker) error {
	return v.write(ctx, "put newer "+next.Clock, key, 1+int64(len(markers)), func() error { return v.Upkeep.PutNewer(ctx, key, next, markers) })
}

func (v view) Merge(ctx context.Context, key ordering.Key, merge ordering.Merge, markers []ordering.Marker) error {
	return v.write(ctx, "merge", key, 1+int64(len(markers)), func() error { return v.Upkeep.Merge(ctx, key, merge, markers) })
}

func (v view) Add(ctx context.Context, key ordering.Key, a ordering.Addition) (*ordering.Entity, error) {
	return ask(ctx, v, fmt.Sprint("add ", a.Numbers), v.w.lane(key), cost{writes: 1}, func() (*ordering.Entity, error) { return v.Upkeep.Add(ctx, key, a) })
}

func (v view) CatchUp(ctx context.Context, key ordering.Key, at *ordering.Entity, through int64, gapSince time.Time, token string) (*ordering.Entity, error) {
	return ask(ctx, v, fmt.Sprint("catch up to ", through), v.w.lane(key), cost{writes: 1}, func() (*ordering.Entity, error) {
		return v.Upkeep.CatchUp(ctx, key, at, through, gapSince, token)
	})
}

func (v view) AddMarked(ctx context.Context, key ordering.Key, amounts map[string]events.Number, last ordering.Last, markers []ordering.Marker) error {
	return v.write(ctx, "add marked", key, 1+int64(len(markers)), func() error { return v.Upkeep.AddMarked(ctx, key, amounts, last, markers) })
}

func (v view) PutMarker(ctx context.Context, m ordering.Marker) error {
	_, err := ask(ctx, v, "put marker", v.w.laneOf([]byte(m.EventID)), cost{writes: 1}, func() (struct{}, error) { return struct{}{}, v.Upkeep.PutMarker(ctx, m) })
	return err
}

func (v view) PutRow(ctx context.Context, key ordering.Key, row ordering.Row) error {
	return v.write(ctx, fmt.Sprintf("put row %d.%d", row.Gen, row.Seq), key, 1, func() error { return v.Upkeep.PutRow(ctx, key, row) })
}

func (v view) ExtendRow(ctx context.Context, key ordering.Key, row ordering.Row, until time.Time) error {
	return v.write(ctx, fmt.Sprintf("extend row %d.%d", row.Gen, row.Seq), key, 1, func() error { return v.Upkeep.ExtendRow(ctx, key, row, until) })
}

func (v view) Rows(ctx context.Context, key ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	return ask(ctx, v, fmt.Sprintf("rows %d-%d", first, last), v.w.lane(key), cost{reads: 1}, func() ([]ordering.Row, error) {
		return v.Upkeep.Rows(ctx, key, gen, first, last)
	})
}

func (v view) Marked(ctx context.Context, shard int, from time.Time, visit func([]ordering.Marked) bool) error {
	var pages [][]ordering.Marked
	_, err := ask(ctx, v, fmt.Sprint("index ", shard), commonLane, cost{}, func() (struct{}, error) {
		return struct{}{}, v.Upkeep.Marked(ctx, shard, from, func(page []ordering.Marked) bool {
			pages = append(pages, page)
			return true
		})
	})
	for _, page := range pages {
		if err != nil || !visit(page) {
			break
		}
	}
	return err
}

func (v view) Entities(ctx context.Context, keys []ordering.Key) ([]ordering.EntityRead, error) {
	return ask(ctx, v, fmt.Sprint("read ", len(keys)), commonLane, cost{}, func() ([]ordering.EntityRead, error) { return v.Upkeep.Entities(ctx, keys) })
}

func (v view) RowHeads(ctx context.Context, key ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	return ask(ctx, v, fmt.Sprintf("heads %d-%d", first, last), v.w.lane(key), cost{reads: 1}, func() ([]ordering.Row, error) {
		return v.Upkeep.RowHeads(ctx, key, gen, first, last)
	})
}

func (v view) DropRows(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, rows []ordering.Row) error {
	v.w.checkSeen(key, next)
	return v.write(ctx, fmt.Sprint("drop rows ", len(rows)), key, 1+int64(len(rows)), func() error { return v.Upkeep.DropRows(ctx, key, prev, next, rows) })
}

func (v view) SwapAudited(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, audit ordering.Audit) error {
	v.w.checkSeen(key, next)
	return v.write(ctx, fmt.Sprintf("skip to %d.%d", next.Gen, next.Applied), key, 2, func() error { return v.Upkeep.SwapAudited(ctx, key, prev, next, audit) })
}

func (v view) Bookmark(ctx context.Context, consumer string) (string, error) {
	return ask(ctx, v, "bookmark", commonLane, cost{}, func() (string, error) { return v.Upkeep.Bookmark(ctx, consumer) })
}

func (v view) MoveBookmark(ctx context.Context, consumer, from, to string) error {
	_, err := ask(ctx, v, "move bookmark", commonLane, cost{}, func() (struct{}, error) { return struct{}{}, v.Upkeep.MoveBookmark(ctx, consumer, from, to) })
	return err
}
