package ordering_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"inorder/events"
	"inorder/ordering"
	"inorder/ordering/memory"
)

var (
	seed  = flag.Uint64("seed", 0, "run this one seed of the simulation")
	seeds = flag.Uint64("seeds", 200, "how many seeds of the simulation to run")
	trace = flag.Bool("trace", false, "print what happens")
)

// simulate delivers a shuffled, duplicated history to concurrent invocations whose requests interleave, fail before and
// after they took effect, and die anywhere, and then asks whether a property holds. What a lossy history lost is healed
// by overlapping sweepers, by relays and operators, in the same way. One seed fixes the history, the interleaving, the
// faults and the crashes.
func simulate(t *testing.T, histories []func(*rand.Rand) history, holds func(*world) []string) {
	t.Helper()
	from, to := uint64(1), *seeds
	if *seed != 0 {
		from, to = *seed, *seed
	}
	for s := from; s <= to && !t.Failed(); s++ {
		rng := rand.New(rand.NewPCG(s, 0))
		h := histories[rng.IntN(len(histories))](rng)
		w := &world{rng: rng, history: h, faults: 1 + rng.IntN(10)}
		w.run()
		for _, fault := range holds(w) {
			t.Errorf("seed %d, %s: %s\nreplay: go test ./ordering -run '^%s$' -args -seed %d -trace", s, h.name, fault, t.Name(), s)
		}
	}
	if !t.Failed() {
		t.Logf("proof: %d seeds of one entity's life: %s", to-from+1, t.Name())
	}
}

// world is one simulated life of one entity's queue.
type world struct {
	rng     *rand.Rand
	history history
	faults  int // one request in so many fails, roughly; calm ends that
	calm    bool

	store      memory.Store
	now        time.Time
	queue      []*events.Message
	sent       int // messages that came into the queue
	acked      []*events.Message
	outcomes   map[ordering.Disposition]int
	consumed   int
	quarantine []ordering.Copy
	received   []ordering.Effect // what a receiver of the FIFO queue gets: each deduplication id once
	effects    map[string]bool
	tokens     int
	unseen     string // a write that kept an open entity out of the sweeper's index
	baseline   int64  // of a stream that may begin anywhere: where _dispatched began
	backwards  string // a write that moved a cursor or _dispatched back
	workers    []*worker
	caches     []*ordering.Cache // of idle instances

	requests []events.RepublishRequest // not yet answered
	asked    map[string]time.Time      // when the same was asked for last
	twice    string                    // a gap that was asked for again within its back-off
}

// worker is an invocation of the consumer, or, without a batch, of another function.
type worker struct {
	next    func() (struct{}, bool)
	stop    func()
	batch   []*events.Message
	outcome *[]ordering.Outcome // nil until it has answered
	cache   *ordering.Cache
}

type killed struct{}

func (w *world) run() {
	w.outcomes, w.effects, w.asked, w.now = map[ordering.Disposition]int{}, map[string]bool{}, map[string]time.Time{}, begin
	for _, m := range w.history.messages {
		if w.rng.IntN(3) > 0 || !w.history.mayBeLost(m) {
			w.send(m)
		}
	}
	w.rng.Shuffle(len(w.queue), func(i, j int) { w.queue[i], w.queue[j] = w.queue[j], w.queue[i] })
	w.drain()
	if w.history.lossy {
		w.heal()
	}
	if w.history.anywhere {
		w.history.beginAfter(w.baseline)
	}
}

func (w *world) send(m *events.Message) {
	w.queue = append(w.queue, m)
	w.sent++
}

// drain delivers until the queue is empty and every worker has ended. Faults stop in the end, or nothing could be waited
// for.
func (w *world) drain() {
	for turn := 0; len(w.queue)+len(w.workers) > 0 && turn < 20000; turn++ {
		w.calm = w.calm || turn > 600
		if len(w.queue) > 0 && (len(w.workers) == 0 || len(w.workers) < 4 && w.rng.IntN(3) == 0) {
			w.start()
		}
		i := w.rng.IntN(len(w.workers))
		crash := !w.calm && w.rng.IntN(60) == 0
		if !crash {
			if _, running := w.workers[i].next(); running {
				continue
			}
		}
		w.finish(i)
	}
}

func (w *world) start() {
	n := min(len(w.queue), 1+w.rng.IntN(5))
	k := &worker{batch: w.queue[:n:n], outcome: new([]ordering.Outcome), cache: ordering.NewCache(10)}
	w.queue = w.queue[n:]
	if len(w.caches) > 0 && w.rng.IntN(4) > 0 {
		k.cache, w.caches = w.caches[0], w.caches[1:]
	}
	for _, m := range k.batch {
		m.ReceiveCount++
		m.ReceivedAt = w.now
	}
	w.hire(k, func(v view) {
		loop := w.loop(v, k.cache)
		*k.outcome = loop.Apply(context.Background(), w.history.key, w.deliveries(k.batch)).Outcomes
	})
}

// hire starts a worker, which does nothing before its first turn.
func (w *world) hire(k *worker, work func(v view)) {
	k.next, k.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if p := recover(); p != nil && p != (killed{}) {
				panic(fmt.Sprintf("%v\n%s", p, debug.Stack()))
			}
		}()
		work(view{w, yield})
	})
	w.workers = append(w.workers, k)
}

func (w *world) loop(v view, cache *ordering.Cache) *ordering.Loop {
	return &ordering.Loop{
		Store: v, Quarantine: v, Effects: v, Streams: w.history.config, Cache: cache,
		Projections: map[string]ordering.Projector{"nested": nested},
		Now:         func() time.Time { return w.now },
		NewToken: func() string {
			w.tokens++
			return fmt.Sprint("t", w.tokens)
		},
	}
}

func (w *world) deliveries(messages []*events.Message) []ordering.Delivery {
	batch := make([]ordering.Delivery, len(messages))
	for i, m := range messages {
		received := *m
		decoded := w.history.config.Decode(received, begin)
		if decoded[0].Event == nil {
			panic(fmt.Sprintf("%s: %+v", m.Body, decoded[0].Refusal))
		}
		batch[i] = ordering.Delivery{Event: decoded[0].Event, Message: &received}
	}
	return batch
}

// finish ends a worker that has answered, or kills one that has not: then nothing of its batch is acked.
func (w *world) finish(i int) {
	k := w.workers[i]
	k.stop()
	w.workers = slices.Delete(w.workers, i, i+1)
	if k.batch == nil {
		return
	}
	if *k.outcome == nil {
		w.log("crash", k.batch)
		w.queue = append(w.queue, k.batch...)
		return
	}
	w.caches = append(w.caches, k.cache)
	w.consumed += len(k.batch)
	for n, o := range *k.outcome {
		w.log(o.Disposition, k.batch[n].ID, o.Reason, o.Err)
		w.outcomes[o.Disposition]++
		m := k.batch[n]
		if o.Disposition.Copied() {
			w.quarantine = append(w.quarantine, ordering.Copy{Delivery: ordering.Delivery{Message: m}, Outcome: o})
		}
		switch {
		case o.Disposition.Ack():
			w.acked = append(w.acked, m)
		case m.ReceiveCount >= 8 && w.rng.IntN(2) == 0 && w.history.mayBeLost(m):
			w.sent-- // to the dead-letter queue, from where nobody brings it back: as good as lost
			m.ReceiveCount = 0
		default:
			w.queue = append(w.queue, m)
		}
	}
}

func (w *world) log(what ...any) {
	if *trace {
		fmt.Println(what...)
	}
}

// view is one invocation's way to the store and the queues. It yields before every call, so that the scheduler chooses
// every interleaving, and it fails: before the call took effect, after it, or after it with the SDK trying again.
type view struct {
	*world
	yield func(struct{}) bool
}

var errLost = errors.New("connection lost")

func call[T any](v view, name string, do func() (T, error)) (T, error) {
	var none T
	if !v.yield(struct{}{}) {
		panic(killed{})
	}
	if v.calm || v.rng.IntN(v.faults) > 0 {
		answer, err := do()
		v.log(name, err)
		return answer, err
	}
	switch v.rng.IntN(5) {
	case 0:
		v.log(name, "throttled")
		return none, ordering.ErrThrottled
	case 4:
		v.log(name, "contended")
		return none, ordering.ErrContended
	case 1:
		v.log(name, "lost before")
		return none, errLost
	case 2:
		_, err := do()
		v.log(name, "lost after", err)
		return none, errLost
	default:
		_, first := do()
		answer, err := do()
		v.log(name, "tried again", first, err)
		return answer, err
	}
}

func (v view) do(name string, do func() error) error {
	_, err := call(v, name, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (v view) Entity(ctx context.Context, key ordering.Key) (*ordering.Entity, error) {
	return call(v, "read", func() (*ordering.Entity, error) { return v.store.Entity(ctx, key) })
}

func (v view) Swap(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, markers []ordering.Marker) error {
	v.check(prev, next)
	return v.do(fmt.Sprint("swap ", next.Rev, " cursor ", next.Applied, " waiting ", next.Waiting), func() error {
		err := v.store.Swap(ctx, key, prev, next, markers)
		if err == nil && prev.Applied == 0 && next.Applied > 0 && next.Dispatched != nil {
			v.baseline = next.Dispatched.Seq
		}
		return err
	})
}

// check looks at what a compare-and-set would leave.
func (v view) check(prev, next *ordering.Entity) {
	owed := next.Dispatched != nil && next.Dispatched.Seq < next.Applied
	missing := max(next.MaxSeen, next.Waiting.Max(), next.Ahead.Max()) > next.Effective()
	if next.Gap == nil && (owed || missing || len(next.Marks) > 0) {
		v.unseen = fmt.Sprintf("at revision %d something is open and the sweeper would not see it", next.Rev)
	}
	if next.Gen < prev.Gen || next.Gen == prev.Gen && next.Applied < prev.Applied {
		v.backwards = fmt.Sprintf("the cursor goes from %d.%d to %d.%d", prev.Gen, prev.Applied, next.Gen, next.Applied)
	}
	if was, is := prev.Dispatched, next.Dispatched; was != nil && (is == nil || is.Gen < was.Gen || is.Gen == was.Gen && is.Seq < was.Seq) {
		v.backwards = fmt.Sprintf("_dispatched goes from %v to %v", was, is)
	}
}

func (v view) PutNewer(ctx context.Context, key ordering.Key, next *ordering.Entity, markers []ordering.Marker) error {
	return v.do("put newer "+next.Clock, func() error { return v.store.PutNewer(ctx, key, next, markers) })
}

func (v view) Merge(ctx context.Context, key ordering.Key, merge ordering.Merge, markers []ordering.Marker) error {
	return v.do("merge", func() error { return v.store.Merge(ctx, key, merge, markers) })
}

func (v view) Add(ctx context.Context, key ordering.Key, a ordering.Addition) (*ordering.Entity, error) {
	return call(v, fmt.Sprint("add ", a.Numbers), func() (*ordering.Entity, error) { return v.store.Add(ctx, key, a) })
}

func (v view) CatchUp(ctx context.Context, key ordering.Key, at *ordering.Entity, through int64, gapSince time.Time, token string) (*ordering.Entity, error) {
	return call(v, fmt.Sprint("catch up ", through), func() (*ordering.Entity, error) { return v.store.CatchUp(ctx, key, at, through, gapSince, token) })
}

func (v view) AddMarked(ctx context.Context, key ordering.Key, amounts map[string]events.Number, last ordering.Last, markers []ordering.Marker) error {
	return v.do("add marked", func() error { return v.store.AddMarked(ctx, key, amounts, last, markers) })
}

func (v view) PutMarker(ctx context.Context, m ordering.Marker) error {
	return v.do("put marker", func() error { return v.store.PutMarker(ctx, m) })
}

func (v view) PutRow(ctx context.Context, key ordering.Key, row ordering.Row) error {
	return v.do(fmt.Sprint("put row ", row.Gen, ".", row.Seq), func() error { return v.store.PutRow(ctx, key, row) })
}

func (v view) ExtendRow(ctx context.Context, key ordering.Key, row ordering.Row, until time.Time) error {
	return v.do("extend row", func() error { return v.store.ExtendRow(ctx, key, row, until) })
}

func (v view) Rows(ctx context.Context, key ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	return call(v, fmt.Sprint("rows ", first, "-", last), func() ([]ordering.Row, error) { return v.store.Rows(ctx, key, gen, first, last) })
}

func (v view) Copy(_ context.Context, c ordering.Copy) error {
	return v.do("quarantine", func() error {
		v.quarantine = append(v.quarantine, c)
		return nil
	})
}

func (v view) Send(_ context.Context, _ ordering.Key, effects []ordering.Effect) (int, error) {
	for i, e := range effects {
		err := v.do(fmt.Sprint("effect ", e.Generation, ".", e.Seq), func() error {
			id := fmt.Sprint(e.Generation, e.Seq, e.Index)
			if !v.effects[id] {
				v.effects[id] = true
				v.received = append(v.received, e)
			}
			return nil
		})
		if err != nil {
			return i, err
		}
	}
	return len(effects), nil
}

func (v view) Sendable(ordering.Effect) error { return nil }
