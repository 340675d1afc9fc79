package functions

import (
	"context"
	"errors"
	"log/slog"
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

	maxMarked int // how many entities of the index one sweep lists, but for those of one instant
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

		maxMarked: maxMarked,
	}
}

// Sweep does what is due about the entities in the gaps index, the oldest first, sets the gauges and writes the metrics.
// It stops in time and goes on where it stopped with the next one. What goes wrong with one entity is logged and does
// not keep the others from their turn; the error is about what could not be read at all.
func (s *Sweeper) Sweep(ctx context.Context) error {
	defer s.flush(ctx)
	until, end := limited(ctx, s.Margin)
	defer end()
	from, err := s.Keeper.Upkeep.Bookmark(until.work, s.Streams.Consumer)
	if err != nil {
		s.logError(ctx, "where the last sweep stopped cannot be read; this one begins with the oldest", err)
	}
	list, err := s.list(until, from)
	run := &sweep{Sweeper: s, ctx: ctx, limits: until, strangers: map[string]int{}}
	run.all(list.marked)
	err = errors.Join(err, run.err)
	if err == nil && list.stopped == "" { // of a part they would be too low, and an alarm would clear
		run.open.set(s.Metrics)
	}
	run.logStrangers()
	s.tellStopped(ctx, list)
	if next := sooner(from, run.next, list.stopped); next != from {
		s.keepPlace(ctx, until, from, next)
	}
	return quiet(err)
}

// keepPlace writes where the next sweep begins. It is written when the time for all else may be over, and then matters
// most: so it has a time of its own, half of what is left before the deadline.
func (s *Sweeper) keepPlace(ctx context.Context, until limits, from, next string) {
	ctx, end := context.WithTimeout(ctx, until.margin/4)
	defer end()
	if err := s.Keeper.Upkeep.MoveBookmark(ctx, s.Streams.Consumer, from, next); err != nil {
		s.logError(ctx, "where this sweep stopped cannot be written; the next one begins where this one did", err)
	}
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
	s.logAt(ctx, slog.LevelError, message, []slog.Attr{failure(err)})
}

func (s *Sweeper) flush(ctx context.Context) {
	if err := s.Metrics.Flush(); err != nil {
		s.logError(ctx, "metrics not written", err)
	}
}
