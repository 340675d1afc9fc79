package ordering_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"inorder/events"
	"inorder/ordering"
)

// heal lets time pass and sweepers, relays and operators work beside the consumers, until nothing can be open any more.
func (w *world) heal() {
	for round := range 40 {
		if e := w.entity(); round > 12 && len(w.requests) == 0 && len(e.Missing(w.history.config.Streams[0])) == 0 && len(e.Marks) == 0 {
			return
		}
		w.log("round", round)
		w.calm = round > 8
		w.now = w.now.Add([]time.Duration{time.Minute, 6 * time.Minute, 61 * time.Minute}[min(2, w.rng.IntN(2)+round/3)])
		for range 1 + w.rng.IntN(3) {
			w.hire(&worker{}, w.sweep)
		}
		w.relay()
		if w.history.operator && round > 4 && w.rng.IntN(2) == 0 {
			w.hire(&worker{}, w.skip)
		}
		w.drain()
	}
}

// sweep is one run of a sweeper: the index first, then the entities, consistently.
func (w *world) sweep(v view) {
	var keys []ordering.Key
	for shard := range v.Shards() {
		_ = v.Marked(context.Background(), shard, time.Time{}, func(page []ordering.Marked) bool { // the next run sees what this one cannot
			for _, m := range page {
				keys = append(keys, m.Key)
			}
			return true
		})
	}
	read, err := v.Entities(context.Background(), keys)
	if err != nil {
		return
	}
	for i, key := range keys {
		swept := w.keeper(v).Sweep(context.Background(), key, w.history.config.Stream(key.Stream), read[i].Entity)
		w.log("swept", swept.Counts, swept.Err)
	}
}

func (w *world) keeper(v view) *ordering.Keeper {
	return &ordering.Keeper{Loop: w.loop(v, nil), Upkeep: v, Requests: v}
}

// skip is an operator who gives up what the producer said to be gone.
func (w *world) skip(v view) {
	e := w.entity()
	missing := e.Missing(w.history.config.Streams[0])
	if len(missing) == 0 || missing[0].First != e.Applied+1 { // or it would pass what is blocked, too
		return
	}
	through := missing[0].First - 1
	for n := missing[0].First; n <= missing[0].Last && w.history.expired[ordering.Position{Gen: e.Gen, Seq: n}]; n++ {
		through = n
	}
	done, err := w.keeper(v).Skip(context.Background(), w.history.key, w.history.config.Streams[0], ordering.Skip{
		Generation: e.Gen, Through: through, Reason: "the producer no longer has it", By: "nobody",
	})
	w.log("skipped", done.Lost, done.Applied, err)
}

// relay answers what was asked for, and now and then says what exists.
func (w *world) relay() {
	h := w.history
	say := func(what any) {
		body, err := json.Marshal(what)
		if err != nil {
			panic(err)
		}
		w.send(&events.Message{ID: fmt.Sprint("c", w.sent, "-", len(w.acked)), Body: string(body)})
	}
	if w.rng.IntN(2) == 0 || w.calm {
		for _, source := range slices.Sorted(maps.Keys(h.heads)) {
			head := h.heads[source]
			say(events.MarkEvent{Type: events.MarkType, Stream: h.key.Stream, EntityID: h.key.ID, Source: source, Generation: head.Gen, Seq: head.Seq})
		}
	}
	for _, r := range w.requests {
		for _, numbers := range r.Ranges {
			for n := numbers.First; n <= numbers.Last; n++ {
				at := ordering.Position{Gen: r.Generation, Seq: n}
				void := events.VoidEvent{Type: events.VoidType, Stream: r.Stream, EntityID: r.EntityID, Generation: r.Generation, Ranges: []events.Range{{First: n, Last: n}}}
				switch body, has := h.bodies[number{r.Source, at}]; {
				case has:
					w.send(&events.Message{ID: fmt.Sprint("r", w.sent, "-", len(w.acked)), Body: body})
				case h.expired[at]:
					void.Reason = events.Expired
					say(void)
				case n <= h.heads[r.Source].Seq || r.Generation < h.heads[r.Source].Gen:
					void.Reason = events.NeverExisted
					say(void)
				}
			}
		}
	}
	w.requests = nil
}

// Request takes requests to the relay, and notes where the same was asked for within its back-off. Whatever is asked for
// begins with the lowest missing number, and attempts start again when the cursor moves past it.
func (v view) Request(_ context.Context, requests []events.RepublishRequest) error {
	again := false
	return v.do(fmt.Sprint("request ", requests), func() error {
		for _, r := range requests {
			if again { // by the SDK, whose first answer was lost
				break
			}
			gap := fmt.Sprint(r.Source, " ", r.Generation, " ", r.Ranges[0].First)
			pause := ordering.BackOff(v.history.config.Streams[0], max(1, r.Attempt-1))
			if before, asked := v.asked[gap]; asked && v.now.Sub(before) < pause {
				v.twice = fmt.Sprintf("attempt %d at %s came %s after the one before", r.Attempt, gap, v.now.Sub(before))
			}
			v.asked[gap] = v.now
		}
		again = true
		v.requests = append(v.requests, requests...)
		return nil
	})
}

func (v view) Shards() int { return v.store.Shards() }

func (v view) Marked(ctx context.Context, shard int, from time.Time, visit func([]ordering.Marked) bool) error {
	return v.do("marked", func() error { return v.store.Marked(ctx, shard, from, visit) })
}

func (v view) Entities(ctx context.Context, keys []ordering.Key) ([]ordering.EntityRead, error) {
	return call(v, "read many", func() ([]ordering.EntityRead, error) { return v.store.Entities(ctx, keys) })
}

func (v view) RowHeads(ctx context.Context, key ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	return call(v, "heads", func() ([]ordering.Row, error) { return v.store.RowHeads(ctx, key, gen, first, last) })
}

func (v view) DropRows(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, rows []ordering.Row) error {
	v.check(prev, next)
	return v.do("drop rows", func() error { return v.store.DropRows(ctx, key, prev, next, rows) })
}

func (v view) SwapAudited(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, audit ordering.Audit) error {
	v.check(prev, next)
	return v.do(fmt.Sprint("skip to ", next.Applied), func() error { return v.store.SwapAudited(ctx, key, prev, next, audit) })
}

func (v view) Audits(ctx context.Context, key ordering.Key) ([]ordering.Audit, error) {
	return v.store.Audits(ctx, key)
}

func (v view) Bookmark(ctx context.Context, consumer string) (string, error) {
	return v.store.Bookmark(ctx, consumer)
}

func (v view) MoveBookmark(ctx context.Context, consumer, from, to string) error {
	return v.store.MoveBookmark(ctx, consumer, from, to)
}
