package soak

import (
	"context"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"inorder/cmd/inorder/demo/queue"
	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// world is an engine, a queue with a clock of its own, and all who work with them.
type world struct {
	t        testing.TB
	engine   *local.Engine
	tables   ddb.Tables
	table    Table
	streams  *events.Config
	producer *Producer
	queue    *queue.Queue[*queued]
	post     *post
	relay    *functions.Relay
	lines    *Lines
	fed      atomic.Bool // nothing comes from the producer any more

	deliveries, overlaps, invocations, deaths, done atomic.Int64

	working sync.RWMutex // for reading: by whoever does

	mu       sync.Mutex
	random   *rand.Rand
	faults   Faults
	heap     Memory
	weighed  int64
	progress Progress
	number   int64 // of messages
}

// queued is a message in the queue.
type queued struct {
	id, body string
	sentAt   time.Time
}

// The clock's: how fast the producer is, and how long a number may be missing.
const (
	feedEvery   = time.Second
	feedAtOnce  = 100
	gapDeadline = 2 * time.Minute
)

var begin = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func newWorld(t testing.TB) *world {
	streams, err := events.ParseStreams(append(Streams, ChainStream...), events.Options{GapDeadline: gapDeadline, Projections: []string{"chain"}})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, engine: local.ForTest(t, local.Dynoxide), streams: streams,
		tables:   ddb.Tables{Entities: "entities", Items: "items"},
		producer: NewProducer(Plan{Seed: *seedFlag, Events: *eventsFlag, Chain: true}),
		queue:    queue.New[*queued](begin), lines: &Lines{},
		random:   rand.New(rand.NewPCG(*seedFlag, 9)),
		progress: Progress{To: os.Stderr, Every: 10 * time.Second, Total: *eventsFlag},
	}
	admin := w.engine.Client()
	if err := ddb.CreateTables(t.Context(), admin, w.tables); err != nil {
		t.Fatal(err)
	}
	if err := ddb.CreateOutbox(t.Context(), admin, "outbox"); err != nil {
		t.Fatal(err)
	}
	w.table = Table{Client: admin, Entities: w.tables.Entities, Outbox: "outbox"}
	w.post = newPost(w)
	w.relay = w.newRelay()
	return w
}

// play goes on until nothing can happen any more.
func (w *world) play() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	w.queue.Call(begin, func() { w.feed(ctx, begin) })
	w.scheduleSweep(ctx, begin.Add(time.Minute))
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, w.queue.Close)()
	for range *workersFlag {
		k := &worker{world: w}
		group.Go(func() error { return k.work(ctx) })
	}
	if err := group.Wait(); err != nil {
		w.t.Fatal(err)
	}
}

// feed sends some, and has itself called for the next.
func (w *world) feed(ctx context.Context, at time.Time) {
	messages, rows := w.producer.Next(feedAtOnce)
	if err := w.table.Keep(ctx, rows); err != nil {
		w.fault("the producer: %v", err)
		w.queue.Close()
		return
	}
	for _, m := range messages {
		w.send(at, m.Body)
	}
	if len(messages) == 0 {
		w.fed.Store(true)
		return
	}
	next := at.Add(feedEvery)
	w.queue.Call(next, func() { w.feed(ctx, next) })
}

func (w *world) send(at time.Time, body string) {
	w.queue.Send(at, &queued{id: w.newID(), body: body, sentAt: at})
}

func (w *world) newID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.number++
	return "m" + whole(w.number)
}

func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults.Add(format, args...)
}

// draw is a number from 1 to n.
func (w *world) draw(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return 1 + w.random.IntN(n)
}

func (w *world) oneIn(n int) bool { return w.draw(n) == 1 }

// store is one whose requests can be their invocation's last.
func (w *world) store() *ddb.Store {
	return &ddb.Store{Tables: w.tables, API: ddb.NewClient(w.engine.Config(), ddb.ClientOptions{
		Transport: mortal{local.Transport()}, MaxPause: time.Nanosecond, TryTimeout: time.Minute,
	})}
}

// parts are those of a function on Lambda, with its output.
func (w *world) parts(out io.Writer) functions.Parts {
	p := functions.Parts{
		Streams: w.streams, Projections: map[string]ordering.Projector{"chain": chain}, Store: w.store(),
		SQS: w.post, QuarantineURL: quarantineURL, EffectsURL: effectsURL, Now: w.queue.Now,
	}
	if out != nil {
		p.Metrics, p.Log = out, functions.NewLogger(out, -4) // debug: a line for each event
	}
	return p
}

func chain(state map[string]any, e *events.Event) (map[string]any, []any, error) {
	next := maps.Clone(state)
	if next == nil {
		next = map[string]any{}
	}
	before, _ := state["link"].(string)
	next["link"] = Link(before, e.Data()["word"].(string))
	return next, nil, nil
}

// samples is how often the heap is weighed.
const samples = 150

// finished counts messages that are done with, and shows how far it is.
func (w *world) finished(n int) {
	done := w.done.Add(int64(n))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.progress.Show(time.Now(), Now{Sent: w.producer.Sent().Events, Applied: int(done), More: w.heap.Last() + " of heap"})
}

// weigh weighs the heap now and then, while no function works: what is with one that does would be weighed, too.
func (w *world) weigh() {
	done := w.done.Load()
	w.mu.Lock()
	due := done-w.weighed >= int64(max(1, *eventsFlag/samples)) && !w.fed.Load()
	if due {
		w.weighed = done
	}
	w.mu.Unlock()
	if !due {
		return
	}
	w.working.Lock()
	defer w.working.Unlock()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	w.heap.Add(float64(m.HeapAlloc))
}
