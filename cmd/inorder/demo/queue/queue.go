// Package queue is an SQS standard queue in memory, as far as a consumer can tell: messages become visible at their
// time, a receive hides them, what is not deleted comes back and is counted, and after too many receives it goes to a
// dead-letter queue.
//
// Its clock runs with the messages: it stands at the latest time at which one of them became visible. A whole day is
// over as soon as its messages are.
package queue

import (
	"container/heap"
	"slices"
	"sync"
	"time"
)

// Visibility is how long a received message stays hidden where nothing else is said about it.
const Visibility = 30 * time.Second

// MaxReceives is the redrive policy: a message that comes back after so many receives is dead.
const MaxReceives = 5

// BatchSize is the most messages that one receive hands out to a Lambda function by default.
const BatchSize = 10

// Queue holds messages of type M. It is safe for concurrent use.
type Queue[M comparable] struct {
	mu      sync.Mutex
	change  *sync.Cond
	now     time.Time
	waiting visible[M]
	flying  int
	sent    int
	dead    []M
	closed  bool
}

// Received is one receive of one message. It ends with Delete or with Return.
type Received[M comparable] struct {
	Message M
	Count   int // how often this copy was received, this time included: of two copies each may be the first
	order   int
}

// New returns a queue whose clock begins at start.
func New[M comparable](start time.Time) *Queue[M] {
	q := &Queue[M]{now: start}
	q.change = sync.NewCond(&q.mu)
	return q
}

// Send puts a message into the queue that becomes visible at a time. One that is sent twice is a copy that SQS makes by
// itself, "at least once".
func (q *Queue[M]) Send(at time.Time, m M) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent++
	q.push(at, &Received[M]{Message: m, order: q.sent})
}

// Now is the queue's clock.
func (q *Queue[M]) Now() time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.now
}

// Receive hands out up to limit messages, those first that became visible first, and moves the clock to them. It waits
// while there are none and some are still with others, for these may come back. None at all: the queue is empty.
func (q *Queue[M]) Receive(limit int) []*Received[M] {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 && q.flying > 0 && !q.closed {
		q.change.Wait()
	}
	if q.closed {
		return nil
	}
	return q.take(limit)
}

// Close makes every Receive return at once, those that wait now included, with nothing.
func (q *Queue[M]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Broadcast()
}

// TryReceive is Receive without the wait. The queue is empty when it returns nothing and Flying is 0.
func (q *Queue[M]) TryReceive(limit int) []*Received[M] {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.take(limit)
}

// LastTry tells of a batch whether one of its messages is dead if it is returned once more.
func LastTry[M comparable](batch []*Received[M]) bool {
	return slices.ContainsFunc(batch, func(r *Received[M]) bool { return r.Count >= MaxReceives })
}

// Flying is how many messages are with somebody.
func (q *Queue[M]) Flying() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.flying
}

func (q *Queue[M]) take(limit int) []*Received[M] {
	var batch []*Received[M]
	for len(batch) < limit && len(q.waiting) > 0 {
		next := heap.Pop(&q.waiting).(entry[M])
		if next.at.After(q.now) {
			q.now = next.at
		}
		next.Count++
		batch = append(batch, next.Received)
	}
	q.flying += len(batch)
	return batch
}

// Delete ends a message: it was handled.
func (q *Queue[M]) Delete(*Received[M]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.land()
}

// Return lets a message come back when its visibility timeout is over, or lets it go where it was received too often.
func (q *Queue[M]) Return(r *Received[M]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.Count >= MaxReceives {
		q.dead = append(q.dead, r.Message)
	} else {
		q.push(q.now.Add(Visibility), r)
	}
	q.land()
}

// Dead is the dead-letter queue.
func (q *Queue[M]) Dead() []M {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]M(nil), q.dead...)
}

func (q *Queue[M]) push(at time.Time, r *Received[M]) {
	heap.Push(&q.waiting, entry[M]{at: at, Received: r})
	q.change.Signal()
}

// land takes one message out of the air. Whoever waits for it to come back waits in vain once it was the last.
func (q *Queue[M]) land() {
	if q.flying--; q.flying == 0 {
		q.change.Broadcast()
	}
}

type entry[M comparable] struct {
	*Received[M]
	at time.Time
}

// visible is a heap by time, then by the order of sending.
type visible[M comparable] []entry[M]

func (v visible[M]) Len() int { return len(v) }
func (v visible[M]) Less(i, j int) bool {
	if c := v[i].at.Compare(v[j].at); c != 0 {
		return c < 0
	}
	return v[i].order < v[j].order
}
func (v visible[M]) Swap(i, j int) { v[i], v[j] = v[j], v[i] }
func (v *visible[M]) Push(x any)   { *v = append(*v, x.(entry[M])) }
func (v *visible[M]) Pop() any {
	old := *v
	last := old[len(old)-1]
	*v = old[:len(old)-1]
	return last
}
