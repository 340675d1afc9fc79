package functions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"inorder/events"
	"inorder/ordering"
)

// Sweeper is the scheduled function: it closes what no event closes. One Sweeper runs one sweep at a time; several may
// overlap, and do no harm.
type Sweeper struct {
	Keeper  *ordering.Keeper
	Streams *events.Config
	Metrics *Metrics
	Log     *slog.Logger
	Now     func() time.Time

	// Parallel is how many shards, and how many entities, are worked on at once; at least 1 is taken.
	Parallel int

	// Margin is how long before Lambda's deadline a sweep stops to begin anything; of a short timeout it takes a quarter.
	Margin time.Duration
}

// SweeperParts are what a sweeper is put together from: those of a consumer, and what it needs beside them.
type SweeperParts struct {
	Parts        // whose Store is not used
	Upkeep       ordering.Upkeep
	RepublishURL string // of a standard queue
}

// NewKeeper puts together what sweeper and operator share. Unlike a consumer it remembers no entity.
func NewKeeper(p SweeperParts) *ordering.Keeper {
	p.Parts = p.orAsOnLambda()
	return &ordering.Keeper{
		Loop: &ordering.Loop{
			Store:       p.Upkeep,
			Quarantine:  &Quarantine{SQS: p.SQS, URL: p.QuarantineURL},
			Effects:     &Effects{SQS: p.SQS, URL: p.EffectsURL},
			EffectsMode: p.EffectsMode,
			Streams:     p.Streams,
			Projections: p.Projections,
			Now:         p.Now,
			NewToken:    p.NewToken,
			RowsAtOnce:  p.RowsAtOnce,
			Wait:        p.Wait,
		},
		Upkeep:   p.Upkeep,
		Requests: &Republish{SQS: p.SQS, URL: p.RepublishURL},
	}
}

// NewSweeper puts a sweeper together.
func NewSweeper(p SweeperParts) *Sweeper {
	p.Parts = p.orAsOnLambda()
	return &Sweeper{
		Keeper:   NewKeeper(p),
		Streams:  p.Streams,
		Metrics:  NewMetrics(p.Metrics, p.Streams.Consumer, p.Now),
		Log:      p.Log,
		Now:      p.Now,
		Parallel: p.Parallel,
		Margin:   margin,
	}
}

// entitiesAtOnce is how many entities are read by one request ("BatchGetItem": 100 items).
const entitiesAtOnce = 100

// maxMarked bounds how many entities of the index one sweep lists. Their keys take some 20 MB then; what is beyond them
// is younger, and its turn comes with the next sweeps.
const maxMarked = 100_000

// Sweep does what is due about the entities in the gaps index, the oldest first, sets the gauges and writes the metrics.
// It stops in time and goes on where it stopped with the next one. What goes wrong with one entity is logged and does
// not keep the others from their turn; the error is about what could not be read at all.
func (s *Sweeper) Sweep(ctx context.Context) error {
	defer s.flush(ctx)
	limits, end := s.limits(ctx)
	defer end()
	from, err := s.Keeper.Upkeep.Bookmark(limits.act, s.Streams.Consumer)
	if err != nil {
		s.logError(ctx, "where the last sweep stopped cannot be read; this one begins with the oldest", err)
	}
	marked, err := s.marked(limits.act)
	run := &sweep{Sweeper: s, ctx: ctx, sweepLimits: limits, next: from, strangers: map[string]int{}}
	run.all(goOnAt(marked, from))
	run.open.set(s.Metrics)
	run.logStrangers()
	if run.next != from {
		if err := s.Keeper.Upkeep.MoveBookmark(limits.read, s.Streams.Consumer, from, run.next); err != nil {
			s.logError(ctx, "where this sweep stopped cannot be written; the next one begins with the oldest", err)
		}
	}
	return errors.Join(err, run.err)
}

// sweepLimits is when a sweep stops to act, and when it stops to read as well. What is left then is for the metrics.
type sweepLimits struct {
	act, read context.Context
}

// limits derives them from Lambda's deadline.
func (s *Sweeper) limits(ctx context.Context) (limits sweepLimits, end context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return sweepLimits{ctx, ctx}, func() {}
	}
	left := max(time.Until(deadline), 0) //nolint:forbidigo // the deadline is the process's own, not a time of s.Now
	margin := min(s.Margin, left/4)
	act, endAct := context.WithDeadline(ctx, deadline.Add(-margin))
	read, endRead := context.WithDeadline(ctx, deadline.Add(-margin/2))
	return sweepLimits{act, read}, func() { endAct(); endRead() }
}

// marked lists the index of all shards, the oldest first.
func (s *Sweeper) marked(ctx context.Context) ([]ordering.Marked, error) {
	type shard struct {
		list []ordering.Marked
		err  error
	}
	shards := make([]shard, s.Keeper.Upkeep.Shards())
	for i := range shards {
		shards[i].err = errOutOfTime
	}
	spread(ctx, s.Parallel, len(shards), s.Margin/4,
		func(i int) (read shard) {
			read.err = s.Keeper.Upkeep.Marked(ctx, i, func(page []ordering.Marked) bool {
				read.list = append(read.list, page...)
				return len(read.list) < maxMarked/len(shards)
			})
			return read
		},
		func(i int, read shard, panicked error) {
			read.err = errors.Join(read.err, panicked)
			shards[i] = read
		})
	var all []ordering.Marked
	var errs []error
	for i, read := range shards {
		all = append(all, read.list...)
		if read.err != nil {
			errs = append(errs, fmt.Errorf("read shard %d of the gaps index: %w", i, read.err))
		}
	}
	slices.SortFunc(all, func(a, b ordering.Marked) int { return cmp.Compare(place(a), place(b)) })
	return all, errors.Join(errs...)
}

// place is where an entity stands among the others; it sorts by age.
func place(m ordering.Marked) string { return events.FormatInstant(m.Since) + " " + m.PK }

// goOnAt begins with the first entity that the last sweep did not reach, and ends with those before it.
func goOnAt(all []ordering.Marked, from string) []ordering.Marked {
	if from == "" {
		return all
	}
	at, _ := slices.BinarySearchFunc(all, from, func(m ordering.Marked, from string) int { return cmp.Compare(place(m), from) })
	return slices.Concat(all[at:], all[:at])
}

// sweep is one run.
type sweep struct {
	*Sweeper
	ctx context.Context // of the invocation, for log lines: a sweep lives no longer
	sweepLimits
	open      openEntities
	next      string         // where the next sweep begins; empty: with the oldest
	strangers map[string]int // entities in the index by a stream that streams.yaml does not have
	err       error
}

// candidate is an entity of the index as it was read, and where it ends.
type candidate struct {
	ordering.Marked
	stream *events.Stream
	entity *ordering.Entity
	due    bool
}

// all takes the entities in batches. When the time to act is over it still reads the others, while it can: the gauges
// are about all.
func (s *sweep) all(marked []ordering.Marked) {
	s.next = ""
	for batch := range slices.Chunk(marked, entitiesAtOnce) {
		if err := s.read.Err(); err != nil {
			s.stopAt(batch[0])
			s.err = errors.Join(s.err, fmt.Errorf("not all of %d entities could be read in time: %w", len(marked), err))
			return
		}
		candidates, err := s.readAgain(batch)
		if err != nil {
			s.stopAt(batch[0])
			s.err = errors.Join(s.err, err)
			continue
		}
		s.actOn(candidates)
		for _, c := range candidates {
			s.open.add(c.stream, c.entity, s.Now())
		}
	}
}

func (s *sweep) stopAt(m ordering.Marked) {
	if s.next == "" {
		s.next = place(m)
	}
}

// readAgain reads a batch consistently: the index may be behind. What is not this consumer's is left to its own sweeper.
func (s *sweep) readAgain(batch []ordering.Marked) ([]*candidate, error) {
	var ours []*candidate
	var keys []ordering.Key
	for _, m := range batch {
		stream := s.Streams.Stream(m.Key.Stream)
		switch {
		case m.Key.Consumer != s.Streams.Consumer && m.Key != ordering.Key{}:
		case stream == nil:
			s.strangers[m.Key.Stream]++
		default:
			ours = append(ours, &candidate{Marked: m, stream: stream})
			keys = append(keys, m.Key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	read, err := s.Keeper.Upkeep.Entities(s.read, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d entities of the gaps index: %w", len(keys), err)
	}
	readable := ours[:0]
	for i, c := range ours {
		if err := read[i].Err; err != nil {
			s.logError(s.ctx, "an entity cannot be read", fmt.Errorf("%q: %w", c.PK, err))
			continue
		}
		c.entity = read[i].Entity
		sends := c.stream.Effects && s.Keeper.EffectsMode == ordering.EffectsOn
		c.due = ordering.DutyOf(c.stream, c.entity, s.Now(), sends) != ordering.NoDuty
		readable = append(readable, c)
	}
	return readable, nil
}

// actOn does what is due. What cannot be begun in time is where the next sweep begins.
func (s *sweep) actOn(candidates []*candidate) {
	due := slices.DeleteFunc(slices.Clone(candidates), func(c *candidate) bool { return !c.due })
	done := make([]bool, len(due))
	spread(s.act, s.Parallel, len(due), s.Margin/4,
		func(i int) ordering.Swept { return s.Keeper.Sweep(s.act, due[i].Key, due[i].stream, due[i].entity) },
		func(i int, swept ordering.Swept, panicked error) {
			done[i] = true
			s.settle(due[i], swept, panicked)
		})
	for i, c := range due {
		if !done[i] {
			s.stopAt(c.Marked)
		}
	}
}

// settle takes over what a sweep did about one entity. It runs in one goroutine.
func (s *sweep) settle(c *candidate, swept ordering.Swept, panicked error) {
	for count, n := range swept.Counts {
		s.Metrics.Count(count.Metric, count.EventType, int64(n))
	}
	if swept.Entity != nil {
		c.entity = swept.Entity
	}
	if swept.Escalation != nil {
		s.logGap(c, swept.Escalation)
	}
	if err := errors.Join(swept.Err, panicked); err != nil {
		s.logAt(s.ctx, slog.LevelError, "sweep failed", append(c.identity(), slog.String("error", err.Error())))
	}
}

func (s *sweep) logStrangers() {
	for _, stream := range slices.Sorted(maps.Keys(s.strangers)) {
		s.logAt(s.ctx, slog.LevelError, "the gaps index has entities of a stream that streams.yaml does not have", []slog.Attr{
			slog.String("stream", stream), slog.Int("entities", s.strangers[stream]),
		})
	}
}

func (c *candidate) identity() []slog.Attr {
	return []slog.Attr{
		slog.String("stream", c.stream.Name), slog.String("entity_id", c.Key.ID), slog.String("source", c.Key.Source),
	}
}

// maxLoggedRanges keeps the alert's line readable, and below the 256 KB of a log event. missing_numbers tells of all.
const maxLoggedRanges = 20

// logGap is the alert: what somebody greps for at night.
func (s *sweep) logGap(c *candidate, e *ordering.Escalation) {
	for _, request := range bySource(e.Requests) {
		line := []slog.Attr{
			slog.String("consumer", request.Consumer), slog.String("stream", request.Stream),
			slog.String("entity_id", request.EntityID), slog.String("source", request.Source),
			slog.Int64("generation", request.Generation),
			slog.Any("missing", request.Ranges[:min(len(request.Ranges), maxLoggedRanges)]),
			slog.Int64("missing_numbers", numbersIn(request.Ranges)),
			slog.Int("waiting", e.Waiting), slog.Float64("age_seconds", e.Age.Seconds()),
			slog.Int("attempt", e.Attempt), slog.Int("attempts", c.stream.GapAttempts), slog.Bool("requested", e.Sent),
		}
		if e.Err != nil {
			line = append(line, slog.String("error", e.Err.Error()))
		}
		s.logAt(s.ctx, slog.LevelError, "sequence gap", line)
	}
}

// bySource joins the requests that a long list of ranges was split into.
func bySource(requests []events.RepublishRequest) []events.RepublishRequest {
	var joined []events.RepublishRequest
	for _, r := range requests {
		if n := len(joined); n > 0 && joined[n-1].Source == r.Source {
			joined[n-1].Ranges = slices.Concat(joined[n-1].Ranges, r.Ranges)
			continue
		}
		joined = append(joined, r)
	}
	return joined
}

func numbersIn(ranges []events.Range) (n int64) {
	for _, r := range ranges {
		n += r.Last - r.First + 1
	}
	return n
}

// logAt writes a line at the time of s.Now, as the consumer does.
func (s *Sweeper) logAt(ctx context.Context, level slog.Level, message string, attrs []slog.Attr) {
	if !s.Log.Enabled(ctx, level) {
		return
	}
	line := slog.NewRecord(s.Now().UTC(), level, message, 0)
	line.AddAttrs(attrs...)
	_ = s.Log.Handler().Handle(ctx, line) // as slog itself does: a log line that cannot be written has no better place
}

func (s *Sweeper) logError(ctx context.Context, message string, err error) {
	s.logAt(ctx, slog.LevelError, message, []slog.Attr{slog.String("error", err.Error())})
}

func (s *Sweeper) flush(ctx context.Context) {
	if err := s.Metrics.Flush(); err != nil {
		s.logError(ctx, "metrics not written", err)
	}
}
