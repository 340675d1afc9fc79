package gaps

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"inorder/events"
	"inorder/ordering"
)

// Open is all that is open.
type Open struct {
	Gaps   []Gap // oldest first
	Unread int   // entities of the index that were not read, for there are more than maxEntities
	Others int   // entities of other consumers in the same table
	NoKeys int   // entries of the index whose key is no entity's
}

// maxEntities bounds what one look reads: the oldest so many, a hundred requests. More than that is no list for a person.
const maxEntities = 10_000

// shardsAtOnce is how many shards of the index are read side by side.
const shardsAtOnce = 16

// Read lists what is open of a consumer, of one stream only where one is named: the index tells which entities to look
// at, and the entities, read again since it lags behind, tell what is open.
func Read(ctx context.Context, store ordering.Upkeep, streams *events.Config, stream string, now time.Time) (*Open, error) {
	marked, open, err := marked(ctx, store, streams.Consumer, stream)
	if err != nil {
		return nil, err
	}
	if open.Unread = len(marked) - maxEntities; open.Unread > 0 {
		marked = marked[:maxEntities]
	} else {
		open.Unread = 0
	}
	keys := make([]ordering.Key, len(marked))
	for i, m := range marked {
		keys[i] = m.Key
	}
	reads, err := store.Entities(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, read := range reads {
		if read.Err != nil {
			open.Gaps = append(open.Gaps, unreadable(marked[i], read.Err, now))
			continue
		}
		if g, is := Of(streams.Stream(keys[i].Stream), keys[i], read.Entity, now); is {
			open.Gaps = append(open.Gaps, g)
		}
	}
	slices.SortStableFunc(open.Gaps, func(a, b Gap) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.EntityID, b.EntityID), cmp.Compare(a.Source, b.Source))
	})
	return open, nil
}

func unreadable(m ordering.Marked, err error, now time.Time) Gap {
	return Gap{
		Stream: m.Key.Stream, EntityID: m.Key.ID, Source: m.Key.Source, Missing: []events.Range{},
		Since: m.Since.UTC(), AgeSeconds: int64(max(now.Sub(m.Since), 0) / time.Second),
		Why: []Why{Unreadable}, Error: err.Error(),
	}
}

// marked reads the whole index, keys only, oldest first.
func marked(ctx context.Context, store ordering.Upkeep, consumer, stream string) ([]ordering.Marked, *Open, error) {
	var mu sync.Mutex
	var all []ordering.Marked
	open := &Open{}
	take := func(page []ordering.Marked) (more bool) {
		mu.Lock()
		defer mu.Unlock()
		for _, m := range page {
			switch {
			case m.Key == ordering.Key{}:
				open.NoKeys++
			case m.Key.Consumer != consumer:
				open.Others++
			case stream == "" || m.Key.Stream == stream:
				all = append(all, m)
			}
		}
		return ctx.Err() == nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(shardsAtOnce)
	for shard := range store.Shards() {
		group.Go(func() error {
			if err := store.Marked(ctx, shard, time.Time{}, take); err != nil {
				return fmt.Errorf("read the gaps index: %w", err)
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(all, func(a, b ordering.Marked) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.PK, b.PK)) })
	return all, open, nil
}
