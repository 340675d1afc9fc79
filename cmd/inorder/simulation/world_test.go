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
	"inorder/functions"
	"inorder/ordering"
	"inorder/ordering/memory"
)

// begin is when every life begins.
var begin = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

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
	ended    map[*fact]bool // written by the producer
	writing  map[*entity]bool

	mu    sync.Mutex
	turns []*turn

	threads    []*thread
	numbered   int
	idle       []*instance
	late       []late
	asked      []int          // requests by lane
	lastWriter map[int]*clock // by lane: on which machine
	commonLane int
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
	count        tally
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
		life: l, ground: g, site: g.sites[l.engine], ferry: f, rng: rand.New(rand.NewPCG(l.seed, 2)), commonLane: 6,
		streamed: map[string]bool{}, byBody: map[string]*fact{}, written: map[*fact]time.Time{}, ended: map[*fact]bool{}, writing: map[*entity]bool{},
		acknowledged: map[*fact]time.Time{}, said: map[*fact][]ordering.Disposition{}, untold: map[*fact]bool{}, redriven: map[string]int{}, wrong: map[string]bool{}, gaps: map[string]string{}, lastWriter: map[int]*clock{},
		count: tally{},
	}
	w.asked = make([]int, w.commonLane+1)
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
	if !w.wrong[property] {
		w.wrong[property] = true
		w.faults = append(w.faults, property+": "+fmt.Sprintf(format, args...))
	}
}

func (w *world) traced(t *thread, what ...any) {
	if !w.trace {
		return
	}
	who := ""
	if t != nil {
		who = t.name
	}
	fmt.Printf("%4d %12s  %-14s %s", w.steps, time.Since(begin).Round(time.Millisecond), who, fmt.Sprintln(what...))
}

// hire starts a thread, which does nothing before its first turn.
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
			w.count["timeouts"]++
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

// maxSteps is where trouble ends whatever is going on.
const maxSteps = 6000

func (w *world) trouble() {
	for w.steps < maxSteps {
		w.reap()
		w.land()
		w.begin()
		if len(w.agenda)+len(w.threads) == 0 && !w.somethingWaits() {
			break
		}
		w.steps++
		if w.isWild() {
			w.wildStep()
		} else {
			w.orderlyStep()
		}
	}
	w.calm = true
	for _, a := range w.agenda { // trouble took too long
		a.at = 0
	}
}

// isWild reports whether anybody may be next.
func (w *world) isWild() bool { return !w.calm && w.wild[w.steps/stretch] }

// begin starts what is due.
func (w *world) begin() {
	for len(w.agenda) > 0 && !begin.Add(w.agenda[0].at).After(time.Now()) {
		a := w.agenda[0]
		if a.what == write && w.writing[a.fact.entity] {
			return // one after the other
		}
		w.agenda = w.agenda[1:]
		w.perform(a)
	}
}

func (w *world) somethingWaits() bool {
	now := time.Now()
	messages, _ := w.events.visible(now)
	requests, _ := w.requests.visible(now)
	return len(messages) > 0 || len(requests) > 0 && w.heals || len(w.records) > 0
}

// orderlyStep lets one after the other have their turn, and everybody end before another begins.
func (w *world) orderlyStep() {
	if ready := w.waiting(); len(ready) > 0 {
		w.serve(ready[0])
		time.Sleep(3 * time.Millisecond)
		return
	}
	w.idleStep()
}

func (w *world) idleStep() {
	switch {
	case len(w.threads) > 0:
		time.Sleep(200 * time.Millisecond)
	case w.consume(10), w.relayRows(), w.relayRequests():
	default:
		w.sleepOn()
	}
}

// sleepOn sleeps until something is due.
func (w *world) sleepOn() {
	next := time.Now().Add(time.Hour)
	for _, at := range []time.Time{w.events.next(), w.requests.next()} {
		if at.After(time.Now()) && at.Before(next) {
			next = at
		}
	}
	if len(w.agenda) > 0 {
		if at := begin.Add(w.agenda[0].at); at.Before(next) {
			next = at
		}
	}
	for _, l := range w.late {
		if l.at.Before(next) {
			next = l.at
		}
	}
	time.Sleep(max(time.Until(next), time.Millisecond))
}

// wildStep lets anybody be next.
func (w *world) wildStep() {
	ready := w.waiting()
	switch draw := w.rng.IntN(12); {
	case draw == 0 && w.running(consumerName) < 4 && w.consume(1+w.rng.IntN(10)):
	case draw == 1 && (w.relayRows() || w.relayRequests()):
	case draw == 2 && len(w.threads) > 0:
		time.Sleep([]time.Duration{time.Millisecond, 40 * time.Millisecond, 700 * time.Millisecond, 4 * time.Second}[w.rng.IntN(4)])
	case len(ready) > 0:
		w.serve(ready[w.rng.IntN(len(ready))])
		time.Sleep(time.Duration(1+w.rng.IntN(20)) * time.Millisecond)
	default:
		w.idleStep()
	}
}

func (w *world) running(name string) (n int) {
	for _, t := range w.threads {
		if t.what == name {
			n++
		}
	}
	return n
}

// settleDown lets everybody end, and nothing new begin but what the queues bring.
func (w *world) settleDown() {
	for step := 0; step < maxSteps; step++ {
		w.reap()
		w.land()
		w.begin()
		if len(w.threads)+len(w.late)+len(w.agenda) == 0 && !w.somethingWaits() {
			return
		}
		w.steps++
		w.orderlyStep()
	}
	w.fault("NoLostWakeup", "it never comes to rest: %d threads, %d messages", len(w.threads), len(w.events.letters))
}
