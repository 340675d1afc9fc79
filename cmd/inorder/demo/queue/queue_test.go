package queue

import (
	"slices"
	"sync"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func messages(batch []*Received[string]) (out []string) {
	for _, r := range batch {
		out = append(out, r.Message)
	}
	return out
}

// receive expects messages, not a call.
func receive[M comparable](q *Queue[M], limit int) []*Received[M] {
	batch, call := q.Receive(limit)
	if call != nil {
		panic("a call")
	}
	return batch
}

// Messages come in the order in which they become visible, and the clock goes with them.
func TestOrderOfVisibility(t *testing.T) {
	q := New[string](noon)
	q.Send(after(3), "c")
	q.Send(after(1), "a")
	q.Send(after(1), "b")
	if got := messages(receive(q, 2)); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("received %v", got)
	}
	if q.Now() != after(1) {
		t.Errorf("the clock stands at %v", q.Now())
	}
	if got := messages(receive(q, 10)); !slices.Equal(got, []string{"c"}) {
		t.Errorf("received %v", got)
	}
}

// What is returned comes back later than what becomes visible meanwhile, counted, and is dead after too many receives.
func TestReturnedMessagesComeBack(t *testing.T) {
	q := New[string](noon)
	q.Send(after(0), "a")
	q.Send(after(29), "b")
	q.Send(after(31), "c")
	q.Return(receive(q, 1)[0])
	second := receive(q, 3)
	if got := messages(second); !slices.Equal(got, []string{"b", "a", "c"}) || second[1].Count != 2 {
		t.Errorf("received %v, a %d times", got, second[1].Count)
	}
	q.Delete(second[0])
	q.Delete(second[2])
	for r := second[1]; ; r = receive(q, 1)[0] {
		q.Return(r)
		if r.Count == MaxReceives {
			break
		}
	}
	if got := q.Dead(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("dead letters: %v", got)
	}
	if got := receive(q, 1); got != nil {
		t.Errorf("an empty queue hands out %v", messages(got))
	}
}

// A message that SQS hands out twice of its own accord: its count is approximate, so both copies may be the first, and
// neither dies of the other's receives.
func TestCopies(t *testing.T) {
	q := New[string](noon)
	q.Send(after(0), "a")
	q.Send(after(1), "a")
	batch := receive(q, 2)
	if batch[0].Count != 1 || batch[1].Count != 1 {
		t.Errorf("counted %d and %d", batch[0].Count, batch[1].Count)
	}
	q.Delete(batch[0])
	for range MaxReceives - 2 {
		q.Return(batch[1])
		batch[1] = receive(q, 1)[0]
	}
	if LastTry(batch[1:]) {
		t.Error("its last try already")
	}
	q.Return(batch[1])
	if !LastTry(receive(q, 1)) {
		t.Error("one more return would not be its end")
	}
}

// A worker that finds nothing waits for what others may still give back, and ends when nothing can come any more.
func TestWorkersEndTogether(t *testing.T) {
	q := New[int](noon)
	for i := range 200 {
		q.Send(after(i%7), i)
	}
	var mu sync.Mutex
	deleted := 0
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for batch := receive(q, BatchSize); batch != nil; batch = receive(q, BatchSize) {
				for i, r := range batch {
					if r.Count < 3 && i%2 == 0 {
						q.Return(r)
						continue
					}
					q.Delete(r)
					mu.Lock()
					deleted++
					mu.Unlock()
				}
			}
		})
	}
	wait.Wait()
	if deleted != 200 || q.Flying() != 0 {
		t.Errorf("%d of 200 messages deleted, %d still out", deleted, q.Flying())
	}
}

// Closing wakes whoever waits for what others hold.
func TestCloseEndsTheWait(t *testing.T) {
	q := New[string](noon)
	q.Send(after(0), "a")
	receive(q, 1)
	got := make(chan []*Received[string])
	go func() { got <- receive(q, 1) }()
	q.Close()
	if batch := <-got; batch != nil {
		t.Errorf("received %v", messages(batch))
	}
}

// A call is made in its place, when nobody could still get company by it: what it sends is in the batch of its time.
func TestCallsComeInTheirPlace(t *testing.T) {
	q := New[string](noon)
	q.Send(after(0), "a")
	q.Send(after(200), "later")
	q.Call(after(30), func() { q.Send(after(40), "b") })
	q.Call(after(100), func() { q.Send(after(150), "c") })
	var got []string
	for {
		batch, call := q.Receive(BatchSize)
		if batch == nil && call == nil {
			break
		}
		if call != nil {
			got = append(got, "call at "+q.Now().Format("4:05"))
			call()
			continue
		}
		got = append(got, messages(batch)...)
		for _, r := range batch {
			q.Delete(r)
		}
		got = append(got, "|")
	}
	if want := []string{"call at 0:30", "a", "b", "|", "call at 1:40", "c", "later", "|"}; !slices.Equal(got, want) {
		t.Errorf("it went %q, want %q", got, want)
	}
}

// A call can tell that nothing else happens, and when something will; and whoever waits for what it might send is let go.
func TestACallKnowsHowCalmItIs(t *testing.T) {
	q := New[string](noon)
	calms := make(chan Calm, 2)
	q.Call(after(1), func() {
		q.Call(after(2), func() { calms <- q.Calm() })
		calms <- q.Calm()
	})
	_, first := q.Receive(1)
	ended := make(chan struct{})
	go func() {
		for _, call := q.Receive(1); call != nil; _, call = q.Receive(1) {
			call()
		}
		close(ended)
	}()
	first()
	<-ended
	if c := <-calms; c.Handed != 1 || c.Next != after(2) {
		t.Errorf("with another to come: %+v", c)
	}
	if c := <-calms; c.Handed != 2 || !c.Next.IsZero() {
		t.Errorf("at the end: %+v", c)
	}
}

// The clock does not run away from a call that takes its time.
func TestTheClockIsOnALeash(t *testing.T) {
	q := New[string](noon)
	q.Call(after(0), func() {})
	q.Send(after(50), "near")
	q.Send(after(61), "far")
	_, call := q.Receive(1)
	near := receive(q, 1)
	got := make(chan []*Received[string])
	go func() { got <- receive(q, 1) }()
	call()
	if a, b := messages(near), messages(<-got); !slices.Equal(a, []string{"near"}) || !slices.Equal(b, []string{"far"}) || q.Now() != after(61) {
		t.Errorf("%v and %v at %v", a, b, q.Now())
	}
	q.Call(after(70), func() {})
	q.Send(after(131), "too far")
	_, call = q.Receive(1)
	go func() { got <- receive(q, 1) }()
	if q.Close(); <-got != nil {
		t.Error("it was handed out while a call was not over that is due a minute before")
	}
	call()
}
