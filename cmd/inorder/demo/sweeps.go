package demo

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/demo/queue"
	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/functions"
	"inorder/ordering"
)

const (
	sweepEvery = time.Minute // the schedule, in the demo's time

	// sweptTwiceIn: of so many times one the schedule calls two sweepers at once, which EventBridge may do ("at least
	// once").
	sweptTwiceIn = 10

	// One sweeper in sweeperDoomedIn dies, after one to sweeperDoomedRequests requests: most of them are spent on reading
	// the index, so they are more than a consumer's.
	sweeperDoomedIn       = 15
	sweeperDoomedRequests = 40

	// patience is how long sweepers go on when nothing else happens any more and something is still open: longer than the
	// longest back-off, an hour, after which a request would make something happen.
	patience = 90 * time.Minute
)

// sweeps is the schedule of the sweeper. It ends when nothing can happen any more and nothing is open.
type sweeps struct {
	*run
	parts functions.SweeperParts
	wire  *wire // the sweepers' requests

	// instead stands in for minidyn's index, which forgets an item when an update brings another one in.
	instead func(ctx context.Context) ([]string, error)

	mu        sync.Mutex
	n         int
	crashes   int
	begun     int       // sweeps, those included that are not over
	others    int       // how much else was ever handed out
	idleSince time.Time // when that was last more than before
}

func newSweeps(r *run, w *wire, send functions.Sender) *sweeps {
	parts := r.parts
	parts.Store = r.backend.Store(r.tables, w)
	parts.SQS = send
	s := &sweeps{run: r, wire: w, parts: backend.SweeperParts(parts)}
	if r.backend.Name() == local.Minidyn {
		s.instead = func(ctx context.Context) ([]string, error) { return r.backend.MarkedKeys(ctx, r.tables) }
	}
	return s
}

// begin sets the schedule going.
func (s *sweeps) begin(ctx context.Context) { s.schedule(ctx, s.queue.Now()) }

// schedule sweeps at the first full minute after a time, and has the next one follow. While one sweep lasts no other is
// due; those that overlap are drawn.
func (s *sweeps) schedule(ctx context.Context, after time.Time) {
	at := after.Truncate(sweepEvery).Add(sweepEvery)
	if s.drawOneIn(sweptTwiceIn) {
		s.queue.Call(at, func() { s.sweep(ctx) })
	}
	s.queue.Call(at, func() {
		before := s.queue.Calm()
		listed := s.sweep(ctx)
		if next, more := s.next(before, listed); more && ctx.Err() == nil {
			s.schedule(ctx, next)
		}
	})
}

// next is when the schedule goes on, if it does. Where a sweep found nothing at all and nothing else happened meanwhile,
// those that would find the same are left out, which saves the demo's time and changes nothing.
func (s *sweeps) next(before queue.Calm, listed int) (after time.Time, more bool) {
	now, calm := s.queue.Now(), s.queue.Calm()
	s.mu.Lock()
	defer s.mu.Unlock()
	if others := calm.Handed - s.begun; others != s.others {
		s.others, s.idleSince = others, now
	}
	if !before.Alone || calm != before {
		return now, true
	}
	switch {
	case listed == 0 && calm.Next.After(now):
		return calm.Next, true
	case calm.Next.IsZero():
		return now, listed > 0 && now.Sub(s.idleSince) < patience
	}
	return now, true
}

// listing is a sweeper's upkeep that counts what it finds in the index.
type listing struct {
	ordering.Upkeep
	entities atomic.Int64

	// instead lists them where the engine's index is not to be trusted.
	instead func(ctx context.Context) ([]string, error)
}

// Marked hands on and counts.
func (l *listing) Marked(ctx context.Context, shard int, from time.Time, visit func([]ordering.Marked) bool) error {
	count := func(page []ordering.Marked) bool {
		l.entities.Add(int64(len(page)))
		return visit(page)
	}
	if l.instead == nil {
		return l.Upkeep.Marked(ctx, shard, from, count)
	}
	if shard > 0 {
		return nil
	}
	keys, err := l.instead(ctx)
	if err != nil || len(keys) == 0 {
		return err
	}
	page := make([]ordering.Marked, len(keys))
	for i, pk := range keys {
		page[i].PK = pk
		if page[i].Key, err = ddb.ParseEntityPK(pk); err != nil {
			return err
		}
	}
	count(page)
	return nil
}

// sweep is one invocation. It returns how many entities were in the index; at least one where that is not known.
func (s *sweeps) sweep(ctx context.Context) (listed int) {
	s.mu.Lock()
	s.begun++
	s.mu.Unlock()
	requests := 0
	if s.drawOneIn(sweeperDoomedIn) {
		requests = s.drawUpTo(sweeperDoomedRequests)
	}
	ctx, l := withLife(ctx, requests)
	defer l.end()
	limited, cancel := context.WithTimeout(ctx, invocationTimeout)
	defer cancel()
	parts, found := s.parts, &listing{Upkeep: s.parts.Upkeep, instead: s.instead}
	parts.Upkeep = found
	err := functions.NewSweeper(parts).Sweep(limited)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	switch {
	case !l.answers():
		s.crashes++
		return 1
	case err != nil:
		s.fail(fmt.Errorf("a sweep: %w", err))
	}
	return int(found.entities.Load())
}
