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

// Messages come in the order in which they become visible, and the clock goes with them.
func TestOrderOfVisibility(t *testing.T) {
	q := New[string](noon)
	q.Send(after(3), "c")
	q.Send(after(1), "a")
	q.Send(after(1), "b")
	if got := messages(q.Receive(2)); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("received %v", got)
	}
	if q.Now() != after(1) {
		t.Errorf("the clock stands at %v", q.Now())
	}
	if got := messages(q.Receive(10)); !slices.Equal(got, []string{"c"}) {
		t.Errorf("received %v", got)
	}
}

// What is returned comes back later than what becomes visible meanwhile, counted, and is dead after too many receives.
func TestReturnedMessagesComeBack(t *testing.T) {
	q := New[string](noon)
	q.Send(after(0), "a")
	q.Send(after(29), "b")
	q.Send(after(31), "c")
	q.Return(q.Receive(1)[0])
	second := q.Receive(3)
	if got := messages(second); !slices.Equal(got, []string{"b", "a", "c"}) || second[1].Count != 2 {
		t.Errorf("received %v, a %d times", got, second[1].Count)
	}
	q.Delete(second[0])
	q.Delete(second[2])
	for r := second[1]; ; r = q.Receive(1)[0] {
		q.Return(r)
		if r.Count == MaxReceives {
			break
		}
	}
	if got := q.Dead(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("dead letters: %v", got)
	}
	if got := q.Receive(1); got != nil {
		t.Errorf("an empty queue hands out %v", messages(got))
	}
}

// A message that SQS hands out twice of its own accord: its count is approximate, so both copies may be the first, and
// neither dies of the other's receives.
func TestCopies(t *testing.T) {
	q := New[string](noon)
	q.Send(after(0), "a")
	q.Send(after(1), "a")
	batch := q.Receive(2)
	if batch[0].Count != 1 || batch[1].Count != 1 {
		t.Errorf("counted %d and %d", batch[0].Count, batch[1].Count)
	}
	q.Delete(batch[0])
	for range MaxReceives - 2 {
		q.Return(batch[1])
		batch[1] = q.Receive(1)[0]
	}
	if LastTry(batch[1:]) {
		t.Error("its last try already")
	}
	q.Return(batch[1])
	if !LastTry(q.Receive(1)) {
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
			for batch := q.Receive(BatchSize); batch != nil; batch = q.Receive(BatchSize) {
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
	q.Receive(1)
	got := make(chan []*Received[string])
	go func() { got <- q.Receive(1) }()
	q.Close()
	if batch := <-got; batch != nil {
		t.Errorf("received %v", messages(batch))
	}
}
