package simulation

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"inorder/cmd/inorder/backend"
	"inorder/ddb"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
	"inorder/ordering/memory"
)

// A world is one life while it plays. The scheduler, who runs it, is alone whenever it acts: everybody else waits, for a
// turn or for a time.
type world struct {
	*life
	*ground
	*site // nil: the store in memory
	rng   *rand.Rand
	ferry *ferry

	memory      *memory.Store // nil on an engine
	tables      ddb.Tables
	outboxTable string
	queues      *backend.Queues
	sqs         *sqs.Client
	told        outbox // the producer's, of a life in memory

	events   *mailbox
	requests *mailbox // of the relay
	records  []awsevents.DynamoDBEventRecord
	streamed map[string]bool
	reading  bool                // a shard of a table's stream has one reader
	byBody   map[string]*fact    // what the relay sends
	sent     []string            // to the events queue, whatever became of it
	written  map[*fact]time.Time // since when the producer has them, or had
	agenda   []act
	writing  map[*entity]bool

	mu    sync.Mutex
	turns []*turn

	threads    []*thread
	numbered   int
	idle       []*instance
	late       []late
	asked      []int          // requests by lane
	lastWriter map[int]*clock // by lane: on which machine
	steps      int
	calm       bool
	repeats    bool      // everything that was acknowledged comes again
	file       string    // streams.yaml, for commands
	sweptAt    time.Time // when a sweep ended last that nothing disturbed

	acknowledged map[*fact]time.Time
	finished     []*letter                        // acknowledged at least once
	said         map[*fact][]ordering.Disposition // how its deliveries ended
	untold       map[*fact]bool                   // of which an invocation died
	redriven     map[string]int
	copied       map[string]events.Reason // everything that was ever in quarantine, by the copy's id
	count        tally
	judging      sync.Mutex
	faults       []string
	wrong        map[string]bool
	gaps         map[string]string // the last request for each
}

// An instance is a warm function on a machine of its own. It runs one invocation at a time.
type instance struct {
	number   int
	clock    *clock
	lines    bytes.Buffer
	tokens   int
	consumer *functions.Consumer
	outcomes [][]ordering.Outcome // of the batch at hand, in its order
}

func newWorld(l *life, g *ground, f *ferry) *world {
	w := &world{
		life: l, ground: g, site: g.sites[l.engine], ferry: f, rng: rand.New(rand.NewPCG(l.seed, 2)),
		streamed: map[string]bool{}, byBody: map[string]*fact{}, written: map[*fact]time.Time{}, writing: map[*entity]bool{},
		acknowledged: map[*fact]time.Time{}, said: map[*fact][]ordering.Disposition{}, untold: map[*fact]bool{}, redriven: map[string]int{}, copied: map[string]events.Reason{}, wrong: map[string]bool{}, gaps: map[string]string{}, lastWriter: map[int]*clock{},
		count: tally{},
	}
	w.asked = make([]int, lanes)
	w.events = &mailbox{url: backend.SourceURL, hiddenFor: l.visibility, maxReceives: l.maxReceives}
	w.requests = &mailbox{url: backend.RepublishURL, hiddenFor: l.visibility, maxReceives: 1000}
	w.told = outbox{world: w, rows: map[ddb.OutboxKey]map[ordering.Position]string{}, heads: map[ddb.OutboxKey]ordering.Position{}}
	w.queues = &backend.Queues{Now: func() time.Time { return time.Now().UTC() }}
	for _, e := range l.entities {
		for _, f := range e.facts {
			w.byBody[f.body] = f
		}
	}
	w.agenda = slices.Clone(l.acts)
	slices.SortStableFunc(w.agenda, func(a, b act) int { return int(a.at - b.at) })
	return w
}

func (w *world) lane(key ordering.Key) int { return w.laneOf([]byte(key.ID)) }

func (w *world) laneName(lane int) string {
	for _, e := range w.entities {
		if e.lane == lane {
			return e.id
		}
	}
	return "-"
}

// fault notes that a property does not hold, each kind of it once.
func (w *world) fault(property, format string, args ...any) {
	w.judging.Lock()
	defer w.judging.Unlock()
	if !w.wrong[property] {
		w.wrong[property] = true
		w.faults = append(w.faults, property+": "+fmt.Sprintf(format, args...))
	}
}

func (w *world) traced(t *thread, what ...any) {
	if w.trace == nil {
		return
	}
	who := ""
	if t != nil {
		who = t.name
	}
	_, _ = fmt.Fprintf(w.trace, "%4d %12s  %-14s %s", w.steps, time.Since(begin).Round(time.Millisecond), who, fmt.Sprintln(what...))
}

// hire starts a thread, which comes as far as its first request.
func (w *world) hire(name string, clock *clock, limit time.Duration, work func(t *thread), finish func(died bool)) *thread {
	w.numbered++
	t := &thread{world: w, what: name, name: fmt.Sprint(name, " ", w.numbered), number: w.numbered, clock: clock, began: time.Now(), cost: map[int]cost{}, stale: map[int]bool{}, finish: finish}
	ctx, end := context.WithTimeout(context.Background(), limit)
	t.ctx, t.end = context.WithValue(ctx, threadKey{}, t), end
	if len(w.threads) > 0 {
		t.disturbed = true
		for _, other := range w.threads {
			other.disturbed = true
		}
	}
	w.threads = append(w.threads, t)
	go func() {
		work(t)
		w.mu.Lock()
		defer w.mu.Unlock()
		t.over = true
	}()
	synctest.Wait() // or it would be chance whether its first request is there for the next turn
	return t
}

// reap takes note of those that have ended, and ends those whose time is over, as Lambda does.
func (w *world) reap() {
	synctest.Wait()
	for _, t := range slices.Clone(w.threads) {
		w.mu.Lock()
		over, died := t.over, t.dead
		w.mu.Unlock()
		late := t.ctx.Err() != nil && !died
		switch {
		case over:
			w.threads = slices.DeleteFunc(w.threads, func(other *thread) bool { return other == t })
			t.end()
			w.count[t.what]++
			if died {
				w.count[t.what+" died"]++
			}
			t.finish(died || late)
		case late:
			w.kill(t)
		}
	}
}

// play is the life from its beginning to its end.
func (w *world) play() {
	time.Sleep(time.Until(begin))
	o := w.queues.Client(w).Options()
	o.HTTPClient = &http.Client{Transport: w, Timeout: 2 * time.Second} // as on Lambda
	w.sqs = sqs.New(o)
	if w.site == nil {
		w.memory = &memory.Store{}
	}
	w.trouble()
	w.heal()
	w.check()
	w.again()
}
