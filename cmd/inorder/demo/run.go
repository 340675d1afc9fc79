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

// plants put faults into a run, so that tests see the verdict notice them. The zero value puts none.
type plants struct {
	engine func(http.RoundTripper) http.RoundTripper // between the network and the engine
	letter func(body string) (copies int)            // of a request or note on its way to the relay
	idle   bool                                      // the sweeper is not scheduled
}

// run is one day being consumed.
type run struct {
	day     *producer.Day
	backend *backend.Backend
	tables  ddb.Tables
	outbox  string // the producer's table
	wire    *wire
	queues  *backend.Queues
	queue   *queue.Queue[*producer.Message]
	parts   functions.Parts // of each worker: what a function on Lambda has
	history history
	bar     progress
	seconds float64
	shop    *shop
	sweeps  *sweeps
	plants  plants

	mu     sync.Mutex
	rng    *rand.Rand
	sent   map[*producer.Message]int // how often a message was put into the queue
	acks   map[*producer.Message]int
	failed error
	judge  *ddb.Store // reads around the wire
}

// newRun creates empty tables and everybody who works with them.
func newRun(ctx context.Context, day *producer.Day, b *backend.Backend, p plants) (*run, error) {
	streams, err := events.ParseStreams(producer.Streams, events.Options{})
	if err != nil {
		return nil, fmt.Errorf("the demo's own streams.yaml: %w", err)
	}
	name := fmt.Sprintf("inorder-demo-%d", time.Now().UnixNano())
	tables, err := b.CreateTables(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := b.CreateOutbox(ctx, name+"-outbox"); err != nil {
		return nil, err
	}
	engine := local.Transport()
	if p.engine != nil {
		engine = p.engine(engine)
	}
	r := &run{
		day: day, backend: b, tables: tables, outbox: name + "-outbox", wire: &wire{next: engine}, judge: b.Store(tables, nil),
		queue: queue.New[*producer.Message](day.Events[0].At), plants: p,
		rng: rand.New(rand.NewPCG(day.Seed, 4)), sent: map[*producer.Message]int{}, acks: map[*producer.Message]int{},
	}
	r.queues = &backend.Queues{Now: r.queue.Now}
	sqs := r.queues.Client(mortal{r.queues})
	r.parts = b.Parts(streams, tables, r.wire, sqs, r.queue.Now)
	r.shop = newShop(r, r.outbox, streams, &wire{next: engine})
	r.sweeps = newSweeps(r, &wire{next: engine}, post{sqs, r.shop.deliver})
	return r, nil
}

// play lets the day begin and the workers go until nothing can happen any more. A message that is received too often is
// dead, and the sweepers' patience ends, so the end comes.
func (r *run) play(ctx context.Context, workers int) error {
	start := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, r.queue.Close)() // nobody waits for messages of a worker that gave up
	r.shop.open(ctx)
	if !r.plants.idle {
		r.sweeps.begin(ctx)
	}
	for range workers {
		w := &worker{run: r}
		group.Go(func() error { return w.work(ctx) })
	}
	err := group.Wait()
	r.seconds = time.Since(start).Seconds()
	r.bar.end()
	if err == nil {
		err = r.failed
	}
	return err
}

// fail ends the run: somebody beside the workers could not do what they had to.
func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = err
	}
	r.queue.Close()
}

// send puts a message into the queue, visible at a time.
func (r *run) send(at time.Time, m *producer.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent[m]++
	r.queue.Send(at, m)
}

func (r *run) acked(m *producer.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acks[m]++
}

// draw says how large the next batch is and after how many requests its invocation dies.
func (r *run) draw() (size, requests int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return 1 + r.rng.IntN(queue.BatchSize), doom(r.rng)
}

func (r *run) drawDoom() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return doom(r.rng)
}

func (r *run) drawOneIn(n int) bool { return r.drawUpTo(n) == 1 }

// drawUpTo draws from 1 to n.
func (r *run) drawUpTo(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return 1 + r.rng.IntN(n)
}

// drawDelay is how long a message of the relay is on its way: mostly a moment, sometimes most of a minute.
func (r *run) drawDelay() time.Duration {
	limit := 1500
	if r.drawOneIn(10) {
		limit = 45_000
	}
	return time.Duration(r.drawUpTo(limit)) * time.Millisecond
}

func (r *run) more(n int) { r.bar.more(n) }

// entityName names an entity in the demo's own lists.
func entityName(stream, entity string) string { return stream + "/" + entity }
