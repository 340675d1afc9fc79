package demo

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/demo/queue"
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

	// patience is how long sweepers go on when nothing else happens any more and something is still open. All attempts
	// of a gap take five and a half hours.
	patience = 6 * time.Hour
)

// sweeps is the schedule of the sweeper. It ends when nothing can happen any more and nothing is open.
type sweeps struct {
	*run
	parts functions.SweeperParts
	wire  *wire // the sweepers' requests

	mu        sync.Mutex
	n         int
	crashes   int
	idleSince time.Time
}

func newSweeps(r *run, w *wire, send functions.Sender) *sweeps {
	parts := r.parts
	parts.Store = r.backend.Store(r.tables, w)
	parts.SQS = send
	return &sweeps{run: r, wire: w, parts: backend.SweeperParts(parts)}
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
	if !before.Alone || calm != before {
		s.idleSince = time.Time{}
		return now, true
	}
	if s.idleSince.IsZero() {
		s.idleSince = now
	}
	switch {
	case listed == 0 && calm.Next.After(now):
		return calm.Next, true
	case calm.Next.IsZero():
		return now, listed > 0 && now.Sub(s.idleSince) < patience
	}
	return now, true
}

// listing counts the entities that a sweeper finds in the index.
type listing struct {
	ordering.Upkeep
	entities atomic.Int64
}

// Marked hands on and counts.
func (l *listing) Marked(ctx context.Context, shard int, visit func([]ordering.Marked) bool) error {
	return l.Upkeep.Marked(ctx, shard, func(page []ordering.Marked) bool {
		l.entities.Add(int64(len(page)))
		return visit(page)
	})
}

// sweep is one invocation. It returns how many entities were in the index; at least one where that is not known.
func (s *sweeps) sweep(ctx context.Context) (listed int) {
	requests := 0
	if s.drawOneIn(sweeperDoomedIn) {
		requests = s.drawUpTo(sweeperDoomedRequests)
	}
	ctx, l := withLife(ctx, requests)
	defer l.end()
	limited, cancel := context.WithTimeout(ctx, invocationTimeout)
	defer cancel()
	parts, found := s.parts, &listing{Upkeep: s.parts.Upkeep}
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
