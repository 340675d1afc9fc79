// Package naive consumes the demo's day in three ways that people write first, to see what they leave behind and what
// they cost. It runs in memory, on the same messages in the same order, with as many workers and as many crashes; a
// seed decides who is next, so that a day always ends the same way. It imports nothing of the code that it is compared
// with.
//
// Every request to the database is a point at which another worker may come in between and at which the worker may
// die. Requests and capacity are counted as they happen. All items are smaller than 1 KB, so that a write is one write
// unit and a consistent read is one read unit; a write whose condition fails is billed like one that succeeds.
// Notices to the owners of wallets go out after the write that they belong to, and a receiver is assumed that drops
// what it has had already.
package naive

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"

	"inorder/cmd/inorder/demo/producer"
	"inorder/cmd/inorder/demo/queue"
)

// Result is how one way ended.
type Result struct {
	Name, How              string
	Requests               int
	WriteUnits, ReadUnits  int
	WrongEntities          int
	WrongNotices           int // wallets whose notices are missing or out of order
	Example                string
	Deliveries, DeadLetter int
}

// way is one way to consume an event. It yields before each of its requests.
type way struct {
	name, how string
	consume   func(db *database, e *producer.Event, request func() bool) bool
}

var ways = []way{
	{
		name: "last write wins",
		how: "One write for each message, unconditional: a state replaces what is there, a webhook's attributes replace " +
			"theirs, a sum is added to. Run in memory, its requests counted.",
		consume: lastWriteWins,
	},
	{
		name: "read, compare, write",
		how: "A consistent read for each message and, where its number (or time) is above the stored one, an " +
			"unconditional write of the new state; anything else is dropped as old. Run in memory, its requests counted.",
		consume: readCompareWrite,
	},
	{
		name: "idempotency keys",
		how: "A conditional put of a key for the event (in progress), the write as with “last write wins”, an update of " +
			"the key (completed); a completed key stops a copy, one in progress makes it come back, and that of a dead " +
			"worker runs out. This is the pattern that the idempotency utility of Powertools for AWS Lambda documents, " +
			"two writes for the key included. Run in memory, its requests counted.",
		consume: idempotencyKeys,
	},
}

// Plan is what happens to a way besides its messages.
type Plan struct {
	Workers int
	Doom    func(rng *rand.Rand) int // after how many requests an invocation dies; 0: it lives
}

// Run plays the day in all ways.
func Run(day *producer.Day, p Plan) []Result {
	out := make([]Result, len(ways))
	for i, w := range ways {
		out[i] = play(day, p, w)
	}
	return out
}

func play(day *producer.Day, p Plan, w way) Result {
	g := &game{
		rng: rand.New(rand.NewPCG(day.Seed, 3)), plan: p, way: w,
		queue: queue.New[*producer.Message](day.Arrivals[0].At),
	}
	g.db.queue = g.queue
	for _, a := range day.Arrivals {
		g.queue.Send(a.At, a.Message)
	}
	g.run()
	r := g.db.judge(day)
	r.Name, r.How, r.Deliveries, r.DeadLetter = w.name, w.how, g.deliveries, len(g.queue.Dead())
	return r
}

// game interleaves the workers: each step of it is one request of one of them.
type game struct {
	rng        *rand.Rand
	plan       Plan
	way        way
	queue      *queue.Queue[*producer.Message]
	db         database
	deliveries int
}

// worker is one that is at work.
type worker struct {
	next func() (struct{}, bool)
	stop func()
	left int // requests until it dies; 0 or below: it lives
}

func (g *game) run() {
	var busy []*worker
	for {
		for len(busy) < g.plan.Workers {
			w := g.hire()
			if w == nil {
				break
			}
			busy = append(busy, w)
		}
		if len(busy) == 0 {
			return
		}
		i := g.rng.IntN(len(busy))
		if g.step(busy[i]) {
			busy = slices.Delete(busy, i, i+1)
		}
	}
}

// hire starts a worker on the next batch and lets it come to its first request; nil while there is no batch that needs
// one.
func (g *game) hire() *worker {
	for {
		batch := g.queue.TryReceive(1 + g.rng.IntN(queue.BatchSize))
		if batch == nil {
			return nil
		}
		g.deliveries += len(batch)
		w := &worker{left: g.plan.Doom(g.rng)}
		if queue.LastTry(batch) {
			w.left = 0
		}
		w.next, w.stop = iter.Pull(g.invoke(batch))
		if _, asks := w.next(); asks {
			return w
		}
	}
}

// step lets a worker make one request; true when it has ended, by itself or by dying.
func (g *game) step(w *worker) (ended bool) {
	_, asks := w.next()
	if w.left--; w.left == 0 && asks {
		w.stop()
		return true
	}
	return !asks
}

// invoke handles a batch message by message. What it could not finish comes back; where it dies, everything does, for
// nobody answers SQS.
func (g *game) invoke(batch []*queue.Received[*producer.Message]) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		alive := true
		request := func() bool {
			alive = alive && yield(struct{}{})
			return alive
		}
		done := make([]bool, len(batch))
		for i, r := range batch {
			// Poison is told by its envelope, before any request: a consumer without care can do that much.
			done[i] = r.Message.Event == nil || g.way.consume(&g.db, r.Message.Event, request)
		}
		for i, r := range batch {
			if alive && done[i] {
				g.queue.Delete(r)
			} else {
				g.queue.Return(r)
			}
		}
	}
}

// judge compares what is there with what the producer meant.
func (db *database) judge(day *producer.Day) Result {
	r := Result{Requests: db.reads + db.writes, WriteUnits: db.writes, ReadUnits: db.reads}
	for _, m := range day.Meant {
		key := m.Stream + "/" + m.Entity
		if got := db.items[key].state; !reflect.DeepEqual(got, m.State) {
			r.WrongEntities++
			if r.Example == "" {
				r.Example = difference(m, got)
			}
		}
		if !slices.Equal(db.notices[key], m.Effects) {
			r.WrongNotices++
		}
	}
	return r
}

func difference(m *producer.Meant, got map[string]any) string {
	name := m.Stream + " " + m.Entity
	switch {
	case got == nil:
		return name + " is not there"
	case m.State == nil:
		return name + " is there and should not be"
	}
	for _, attribute := range slices.Backward(slices.Sorted(maps.Keys(m.State))) { // plan comes before changed_by
		if want := m.State[attribute]; want != got[attribute] {
			return fmt.Sprintf("%s ends with %s %v instead of %v", name, attribute, got[attribute], want)
		}
	}
	return name + " has attributes that it should not have"
}
