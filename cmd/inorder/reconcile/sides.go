package reconcile

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

// reader is what comparing needs of a store.
type reader interface {
	Entities(ctx context.Context, keys []ordering.Key) ([]ordering.EntityRead, error)
}

// scanner is what finding entities that nobody has named needs.
type scanner interface {
	Entities(ctx context.Context, segment ddb.Segment, consumers []string, visit func(ddb.Page) error) error
}

// comparison compares this consumer's entities with those of another side, and collects what differs. It is safe for
// concurrent use.
type comparison struct {
	streams  *events.Config
	only     string // one stream; empty: all
	here     reader
	parallel int
	rate     float64 // read units a second of a scan; 0: as fast as it goes
	progress func(compared int)

	mu         sync.Mutex
	mismatches []Mismatch
	compared   int
	differing  int // entities with a mismatch
}

// batch is how many entities are read at once: as many as one request takes.
const batch = 100

// withTruth compares what a file says with the entities, and looks for entities that it does not have.
func (c *comparison) withTruth(ctx context.Context, t *truth, scan scanner) error {
	for keys := range slices.Chunk(t.inOrder, batch) {
		keys = slices.DeleteFunc(slices.Clone(keys), func(k ordering.Key) bool { return !c.wants(k) })
		err := c.check(ctx, keys, func([]ordering.Key) ([]read, error) {
			there := make([]read, len(keys))
			for i, key := range keys {
				there[i].side = t.of[ddb.EntityPK(key)]
			}
			return there, nil
		})
		if err != nil {
			return err
		}
	}
	if scan == nil {
		return nil
	}
	return c.scan(ctx, scan, []string{c.streams.Consumer}, func(found []ddb.Scanned) error {
		keys := keysOf(found, func(k ordering.Key) bool {
			_, known := t.of[ddb.EntityPK(k)]
			return !known && c.wants(k) && (len(t.streams) == 0 || t.streams[k.Stream])
		})
		return c.check(ctx, keys, func([]ordering.Key) ([]read, error) { return make([]read, len(keys)), nil })
	})
}

// withConsumer compares with the entities of another consumer, in the same table or in another one. An entity that one
// scan finds is read on both sides before anything is said of it, for a scan is eventually consistent.
func (c *comparison) withConsumer(ctx context.Context, other string, here, there scanner, store reader) error {
	var mu sync.Mutex
	ours := map[string]bool{}
	var theirs []ordering.Key
	take := func(found []ddb.Scanned) error {
		keys := keysOf(found, func(k ordering.Key) bool { return k.Consumer == c.streams.Consumer && c.wants(k) })
		others := keysOf(found, func(k ordering.Key) bool { return k.Consumer == other && c.wants(k) })
		mu.Lock()
		for _, key := range keys {
			ours[ddb.EntityPK(key)] = true
		}
		for _, key := range others {
			key.Consumer = c.streams.Consumer
			theirs = append(theirs, key)
		}
		mu.Unlock()
		return c.check(ctx, keys, c.readThere(ctx, store, other))
	}
	var err error
	if there == nil { // one table, one scan
		err = c.scan(ctx, here, []string{c.streams.Consumer, other}, take)
	} else if err = c.scan(ctx, here, []string{c.streams.Consumer}, take); err == nil {
		err = c.scan(ctx, there, []string{other}, take)
	}
	if err != nil {
		return err
	}
	theirs = slices.DeleteFunc(theirs, func(k ordering.Key) bool { return ours[ddb.EntityPK(k)] })
	for keys := range slices.Chunk(theirs, batch) {
		if err := c.check(ctx, keys, c.readThere(ctx, store, other)); err != nil {
			return err
		}
	}
	return nil
}

// read is one side of one entity, or why it cannot be read.
type read struct {
	side side
	err  error
}

func (c *comparison) readThere(ctx context.Context, store reader, other string) func([]ordering.Key) ([]read, error) {
	return func(keys []ordering.Key) ([]read, error) {
		renamed := slices.Clone(keys)
		for i := range renamed {
			renamed[i].Consumer = other
		}
		return c.readSides(ctx, store, renamed)
	}
}

func (c *comparison) readSides(ctx context.Context, store reader, keys []ordering.Key) ([]read, error) {
	entities, err := store.Entities(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := make([]read, len(keys))
	for i, e := range entities {
		if out[i].err = e.Err; e.Err == nil {
			out[i].side = sideOf(c.streams.Stream(keys[i].Stream), e.Entity)
		}
	}
	return out, nil
}

// wants reports whether an entity is to be compared. Of streams that streams.yaml does not have nobody knows how.
func (c *comparison) wants(key ordering.Key) bool {
	return c.streams.Stream(key.Stream) != nil && (c.only == "" || key.Stream == c.only)
}

// check compares some entities, this side read now, and consistently.
func (c *comparison) check(ctx context.Context, keys []ordering.Key, there func([]ordering.Key) ([]read, error)) error {
	if len(keys) == 0 {
		return nil
	}
	theirs, err := there(keys)
	if err != nil {
		return err
	}
	ours, err := c.readSides(ctx, c.here, keys)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, key := range keys {
		found := unreadable(key, ours[i].err, theirs[i].err)
		if found == nil {
			found = compare(key, ours[i].side, theirs[i].side)
		}
		if len(found) > 0 {
			c.differing++
		}
		c.mismatches = append(c.mismatches, found...)
	}
	c.compared += len(keys)
	c.progress(c.compared)
	return nil
}

func unreadable(key ordering.Key, errs ...error) (all []Mismatch) {
	for _, err := range errs {
		if err != nil {
			all = append(all, Mismatch{Kind: CannotRead, Stream: key.Stream, EntityID: key.ID, Source: key.Source, Error: err.Error()})
		}
	}
	return all
}

func keysOf(found []ddb.Scanned, keep func(ordering.Key) bool) (keys []ordering.Key) {
	for _, one := range found {
		if keep(one.Key) {
			keys = append(keys, one.Key)
		}
	}
	return keys
}

// scan reads a table in as many segments as may be read side by side, no faster than it may.
func (c *comparison) scan(ctx context.Context, table scanner, consumers []string, take func([]ddb.Scanned) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for n := range c.parallel {
		group.Go(func() error {
			return table.Entities(ctx, ddb.Segment{Number: n, Of: c.parallel}, consumers, func(p ddb.Page) error {
				if err := take(p.Entities); err != nil {
					return err
				}
				return c.pace(ctx, p.Units)
			})
		})
	}
	return group.Wait()
}

// pace waits as long as some read units take at the rate that each segment may use.
func (c *comparison) pace(ctx context.Context, units float64) error {
	if c.rate <= 0 || units <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(time.Duration(units / c.rate * float64(c.parallel) * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// sorted is what differs, by entity and in the order of a report.
func (c *comparison) sorted() []Mismatch {
	slices.SortStableFunc(c.mismatches, func(a, b Mismatch) int {
		return slices.CompareFunc([]string{a.Stream, a.EntityID, a.Source}, []string{b.Stream, b.EntityID, b.Source}, strings.Compare)
	})
	return c.mismatches
}
