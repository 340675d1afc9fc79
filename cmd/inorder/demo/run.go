package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/demo/producer"
	"inorder/cmd/inorder/demo/queue"
	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/events"
	"inorder/functions"
)

// One invocation in doomedOneIn dies, after one to doomedRequests requests.
const (
	doomedOneIn    = 25
	doomedRequests = 8
)

// doom draws after how many requests an invocation dies; 0: it does not.
func doom(rng *rand.Rand) int {
	if rng.IntN(doomedOneIn) > 0 {
		return 0
	}
	return 1 + rng.IntN(doomedRequests)
}

// run is one day being consumed.
type run struct {
	day     *producer.Day
	backend *backend.Backend
	tables  ddb.Tables
	wire    *wire
	queues  *backend.Queues
	queue   *queue.Queue[*producer.Message]
	parts   functions.Parts // of each worker: what a function on Lambda has
	history history
	bar     progress
	seconds float64

	mu    sync.Mutex
	rng   *rand.Rand
	acks  map[*producer.Message]int
	judge *ddb.Store // reads around the wire
}

// newRun fills a queue with the day and creates empty tables. What plant returns is put between the wire and the
// engine: tests plant faults there.
func newRun(ctx context.Context, day *producer.Day, b *backend.Backend, plant func(http.RoundTripper) http.RoundTripper) (*run, error) {
	streams, err := events.ParseStreams(producer.Streams, events.Options{})
	if err != nil {
		return nil, fmt.Errorf("the demo's own streams.yaml: %w", err)
	}
	tables, err := b.CreateTables(ctx, fmt.Sprintf("inorder-demo-%d", time.Now().UnixNano()))
	if err != nil {
		return nil, err
	}
	engine := local.Transport()
	if plant != nil {
		engine = plant(engine)
	}
	r := &run{
		day: day, backend: b, tables: tables, wire: &wire{next: engine}, judge: b.Store(tables, nil),
		queue: queue.New[*producer.Message](day.Arrivals[0].At),
		rng:   rand.New(rand.NewPCG(day.Seed, 4)), acks: map[*producer.Message]int{},
	}
	for _, a := range day.Arrivals {
		r.queue.Send(a.At, a.Message)
	}
	r.queues = &backend.Queues{Now: r.queue.Now}
	r.parts = b.Parts(streams, tables, r.wire, r.queues.Client(mortal{r.queues}), r.queue.Now)
	return r, nil
}

// play lets the workers go until the queue is empty. A message that is received too often is dead, so the end comes.
func (r *run) play(ctx context.Context, workers int) error {
	start := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, r.queue.Close)() // nobody waits for messages of a worker that gave up
	for range workers {
		w := &worker{run: r}
		group.Go(func() error { return w.work(ctx) })
	}
	err := group.Wait()
	r.seconds = time.Since(start).Seconds()
	r.bar.end()
	return err
}

// draw says how large the next batch is and after how many requests its invocation dies.
func (r *run) draw() (size, requests int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return 1 + r.rng.IntN(queue.BatchSize), doom(r.rng)
}

func (r *run) acked(m *producer.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acks[m]++
}
