// Package queue is an SQS standard queue in memory, as far as a consumer can tell: messages become visible at their
// time, a receive hides them, what is not deleted comes back and is counted, and after too many receives it goes to a
// dead-letter queue.
//
// Its clock runs with the messages: it stands at the latest time at which one of them became visible. A whole day is
// over as soon as its messages are. Whatever else happens at a time of that clock, a schedule say, is a call: whoever
// receives next makes it, in its place among the messages.
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

// BatchingWindow is how long a message waits for others to be in its batch where calls are still to come, the maximum
// batching window of an event source ("Configuring scaling behavior for SQS event source mappings"; it may be five
// minutes). Where none are, everything that will ever come is there.
const BatchingWindow = time.Minute

// Leash is how far the clock may get ahead of a call that is not over. Without it whatever takes long to compute would
// seem to take hours.
const Leash = time.Minute

// Queue holds messages of type M. It is safe for concurrent use.
type Queue[M comparable] struct {
	mu      sync.Mutex
	change  *sync.Cond
	now     time.Time
	waiting byTime[*Received[M]]
	calls   byTime[func()]
	handed  int
	flying  int         // messages, and calls, that are with somebody
	made    []time.Time // when the calls among them were due
	sent    int
	dead    []M
	closed  bool
}

// Received is one receive of one message. It ends with Delete or with Return.
type Received[M comparable] struct {
	Message M
	Count   int // how often this copy was received, this time included: of two copies each may be the first
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
	q.push(at, &Received[M]{Message: m})
}

// Call has something done at a time. It may send, and have more called.
func (q *Queue[M]) Call(at time.Time, do func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent++
	heap.Push(&q.calls, entry[func()]{at: at, order: q.sent, is: do})
	q.change.Signal()
}

// Now is the queue's clock.
func (q *Queue[M]) Now() time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.now
}

// Receive hands out up to limit messages, those first that became visible first, and moves the clock to them; or a call
// that is due before they are, which the caller makes. It waits while there are none and some are still with others, for
// these may come back. Neither: the queue is empty.
func (q *Queue[M]) Receive(limit int) (batch []*Received[M], call func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.flying > 0 && !q.closed && !q.ready() {
		q.change.Wait()
	}
	if q.closed {
		return nil, nil
	}
	if q.callIsNext() {
		return nil, q.takeCall()
	}
	return q.take(limit), nil
}

// Calm is what a call may know of everything else.
type Calm struct {
	Alone  bool      // nothing else is with anybody
	Handed int       // how much was ever handed out; what is equal before and after says that nothing began meanwhile
	Next   time.Time // when the next thing is due; zero: nothing is
}

// Calm tells a call how calm it is.
func (q *Queue[M]) Calm() Calm {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := Calm{Alone: q.flying == 1, Handed: q.handed}
	if len(q.waiting)+len(q.calls) > 0 {
		c.Next = q.nextAt()
	}
	return c
}

// Close makes every Receive return at once, those that wait now included, with nothing.
func (q *Queue[M]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Broadcast()
}

// TryReceive is Receive without the wait and without calls. The queue is empty when it returns nothing and Flying is 0.
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

// ready tells whether something may be handed out before anything that is with somebody comes to its end.
func (q *Queue[M]) ready() bool {
	if len(q.waiting) == 0 && len(q.calls) == 0 {
		return false
	}
	if len(q.made) == 0 {
		return true
	}
	next := q.nextAt()
	return !next.After(slices.MinFunc(q.made, time.Time.Compare).Add(Leash))
}

func (q *Queue[M]) nextAt() time.Time {
	if q.callIsNext() {
		return q.calls[0].at
	}
	return q.waiting[0].at
}

// callIsNext lets a call pass messages that may still wait for company: what it sends can be in their batch.
func (q *Queue[M]) callIsNext() bool {
	return len(q.calls) > 0 && (len(q.waiting) == 0 || !q.calls[0].at.After(q.waiting[0].at.Add(BatchingWindow)))
}

func (q *Queue[M]) takeCall() func() {
	next := heap.Pop(&q.calls).(entry[func()])
	q.moveTo(next.at)
	q.handed++
	q.flying++
	q.made = append(q.made, next.at)
	return func() {
		defer func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			at := slices.Index(q.made, next.at)
			q.made = slices.Delete(q.made, at, at+1)
			q.land()
			q.change.Broadcast() // the clock's leash may be longer now
		}()
		next.is()
	}
}

func (q *Queue[M]) take(limit int) []*Received[M] {
	var batch []*Received[M]
	for len(batch) < limit && len(q.waiting) > 0 {
		if len(q.calls) > 0 && q.waiting[0].at.After(q.calls[0].at) {
			break
		}
		next := heap.Pop(&q.waiting).(entry[*Received[M]])
		q.moveTo(next.at)
		next.is.Count++
		batch = append(batch, next.is)
	}
	q.handed += len(batch)
	q.flying += len(batch)
	return batch
}

// moveTo never moves the clock back.
func (q *Queue[M]) moveTo(at time.Time) {
	if at.After(q.now) {
		q.now = at
	}
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
	q.sent++
	heap.Push(&q.waiting, entry[*Received[M]]{at: at, order: q.sent, is: r})
	q.change.Signal()
}

// land takes one message, or call, out of the air. Whoever waits for it to come back waits in vain once it was the last.
func (q *Queue[M]) land() {
	if q.flying--; q.flying == 0 {
		q.change.Broadcast()
	}
}

type entry[T any] struct {
	at    time.Time
	order int
	is    T
}

// byTime is a heap by time, then by the order of sending.
type byTime[T any] []entry[T]

func (v byTime[T]) Len() int { return len(v) }

func (v byTime[T]) Less(i, j int) bool {
	if c := v[i].at.Compare(v[j].at); c != 0 {
		return c < 0
	}
	return v[i].order < v[j].order
}

func (v byTime[T]) Swap(i, j int) { v[i], v[j] = v[j], v[i] }

func (v *byTime[T]) Push(x any) { *v = append(*v, x.(entry[T])) }

func (v *byTime[T]) Pop() any {
	old := *v
	last := old[len(old)-1]
	*v = old[:len(old)-1]
	return last
}
