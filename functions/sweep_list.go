package functions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"inorder/events"
	"inorder/ordering"
)

// maxMarked bounds how many entities of the index one sweep lists. Their keys take some 20 MB then. What is beyond them
// has its turn with the next sweeps, which begin there.
const maxMarked = 100_000

// listed is what a sweep knows of the index.
type listed struct {
	marked  []ordering.Marked // in the order of their turns, without those of other consumers
	stopped string            // the place that the listing reached; empty: it is complete
}

// list lists the index of all shards, from a place on, round to it again.
func (s *Sweeper) list(until limits, from string) (listed, error) {
	shards := make([]listing, s.Keeper.Upkeep.Shards())
	for i := range shards {
		shards[i].err = errOutOfTime
	}
	since := instantOf(from)
	spread(until.work, s.Parallel, len(shards), until.margin/4,
		func(i int) listing { return s.listShard(until.work, i, since, s.maxMarked/len(shards)) },
		func(i int, read listing, panicked error) {
			read.err = errors.Join(read.err, panicked)
			shards[i] = read
		})
	var all listed
	var errs []error
	for i, read := range shards {
		all.marked = append(all.marked, read.marked...)
		all.stopped = sooner(from, all.stopped, read.stopped)
		if read.err != nil {
			errs = append(errs, fmt.Errorf("read shard %d of the gaps index: %w", i, read.err))
		}
	}
	slices.SortFunc(all.marked, byPlace)
	first, _ := slices.BinarySearchFunc(all.marked, from, func(m ordering.Marked, from string) int { return cmp.Compare(place(m), from) })
	all.marked = slices.Concat(all.marked[first:], all.marked[:first])
	return all, errors.Join(errs...)
}

// listing is what was read of one shard.
type listing struct {
	listed
	err error
}

// listShard lists one shard. Where it holds more than most it stops, but not before it has seen the instant change: the
// next listing begins with that instant, and must get ahead.
func (s *Sweeper) listShard(ctx context.Context, shard int, since time.Time, most int) (read listing) {
	var first, last time.Time
	read.err = s.Keeper.Upkeep.Marked(ctx, shard, since, func(page []ordering.Marked) (more bool) {
		if first.IsZero() {
			first = page[0].Since
		}
		for _, m := range page {
			if m.Key.Consumer == s.Streams.Consumer || m.Key == (ordering.Key{}) {
				read.marked = append(read.marked, m)
			}
			if !m.Since.IsZero() {
				last = m.Since
			}
		}
		if len(read.marked) < most || last.Equal(first) {
			return true
		}
		read.stopped = events.FormatInstant(last)
		return false
	})
	return read
}

// tellStopped says that not all that is open could be listed, so that no gauge tells of it.
func (s *Sweeper) tellStopped(ctx context.Context, list listed) {
	if list.stopped != "" {
		s.logAt(ctx, slog.LevelError, "more entities are open than one sweep can list: no gauges; the next one goes on behind them",
			[]slog.Attr{slog.Int("listed", len(list.marked)), slog.String("next", list.stopped)})
	}
}

// place is where an entity stands among the others; it sorts by age.
func place(m ordering.Marked) string { return events.FormatInstant(m.Since) + " " + m.PK }

func byPlace(a, b ordering.Marked) int {
	return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.PK, b.PK))
}

// instantOf is the instant of a place; zero where it has none, which is the oldest.
func instantOf(place string) time.Time {
	text, _, _ := strings.Cut(place, " ")
	instant, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return instant
}

// sooner is which of two places, empty for none, has its turn first where turns begin at from and go round.
func sooner(from, a, b string) string {
	switch aAgain, bAgain := a < from, b < from; {
	case a == "" || b == "":
		return a + b
	case aAgain == bAgain:
		return min(a, b)
	case aAgain:
		return b
	}
	return a
}
