package ordering_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"inorder/events"
	"inorder/ordering"
	"inorder/ordering/memory"
)

// between lets something happen right before a swap: what another invocation does while this one is at work.
type between struct {
	*memory.Store
	swaps int // the swap before which it happens, from 1
	do    func()
}

func (s *between) Swap(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, markers []ordering.Marker) error {
	if s.swaps--; s.swaps == 0 {
		s.do()
	}
	return s.Store.Swap(ctx, key, prev, next, markers)
}

// receiver takes effects until it is down.
type receiver struct {
	down bool
	got  []string
}

func (r *receiver) Send(_ context.Context, _ ordering.Key, effects []ordering.Effect) (int, error) {
	if r.down {
		return 0, errors.New("the effects queue is down")
	}
	for _, e := range effects {
		r.got = append(r.got, fmt.Sprintf("%d.%d", e.Generation, e.Seq))
	}
	return len(effects), nil
}

func (r *receiver) Sendable(ordering.Effect) error { return nil }

// invocation returns an instance of its own on the transcript's store, and a way to deliver numbers "generation.seq".
func (p *transcript) invocation(store ordering.Store, effects ordering.EffectSender) func(numbers ...[2]int64) []ordering.Disposition {
	loop := *p.loop
	loop.Store, loop.Effects, loop.Cache = store, effects, ordering.NewCache(10)
	return func(numbers ...[2]int64) (ended []ordering.Disposition) {
		var batch []ordering.Delivery
		for _, n := range numbers {
			m := &events.Message{ID: fmt.Sprint("m", n), Body: fmt.Sprintf(`{"event_id":"%d.%d","type":"T","entity_id":"x","generation":%d,"seq":%d,"data":{"n":%d}}`, n[0], n[1], n[0], n[1], n[1])}
			batch = append(batch, ordering.Delivery{Event: p.config.Decode(*m, begin)[0].Event, Message: m})
		}
		for _, o := range loop.Apply(context.Background(), p.key, batch).Outcomes {
			ended = append(ended, o.Disposition)
		}
		return ended
	}
}

// TestNewLifeBeginsOnce: while an invocation sends what the old life owes, another one begins the new life and gets on
// with it; the first must not begin it again.
func TestNewLifeBeginsOnce(t *testing.T) {
	p := &transcript{now: begin}
	p.stream("{name: s, types: [T], mode: step, effects: true, window: 4, projection: {sum: {n: data.n}}}")
	queue := &receiver{down: true}
	p.invocation(p.store, queue)([2]int64{0, 1}) // its effect is owed
	queue.down = false
	other := p.invocation(p.store, queue)
	slow := p.invocation(&between{p.store, 1, func() { other([2]int64{1, 1}, [2]int64{1, 2}, [2]int64{1, 3}) }}, queue)
	slow([2]int64{1, 6})
	e := p.store.All()[p.key]
	if e.Gen != 1 || e.Applied != 3 || e.State["n"] != events.Number("6") {
		t.Errorf("generation %d is at %d with %v, and three of its steps ran", e.Gen, e.Applied, e.State)
	}
}

// TestEffectsBelongToTheirGeneration: an invocation that still sends for the old life, while another one begins the
// new one and cannot send, must not take its own events for the new life's.
func TestEffectsBelongToTheirGeneration(t *testing.T) {
	p := &transcript{now: begin}
	p.stream("{name: s, types: [T], mode: step, effects: true, projection: {sum: {n: data.n}}}")
	queue := &receiver{}
	failing := &receiver{}
	other := p.invocation(p.store, failing)
	begins := func() {
		other([2]int64{0, 1}) // settles the old life
		failing.down = true
		other([2]int64{1, 1}) // begins the new one, and its effect stays owed
	}
	p.invocation(&between{p.store, 2, begins}, queue)([2]int64{0, 1}) // the first swap runs it, the second moves _dispatched
	p.invocation(p.store, queue)([2]int64{1, 1})                      // the owed one's message comes back
	if want := "[0.1 1.1]"; fmt.Sprint(queue.got) != want {
		t.Errorf("received %v, want %s", queue.got, want)
	}
}

// TestDebtsBlockNobody: while the effects queue is down, what is owed fills the item; the event for which there is no
// room any more is not at fault, and once the queue is up everything goes on.
func TestDebtsBlockNobody(t *testing.T) {
	p := &transcript{now: begin}
	p.stream("{name: s, types: [T], mode: step, effects: true, projection: tally}")
	p.store.MaxItem = 3000
	queue := &receiver{down: true}
	deliver := p.invocation(p.store, queue)
	for n := int64(1); n <= 40; n++ {
		deliver([2]int64{0, n})
	}
	queue.down = false
	for n := int64(1); n <= 40; n++ {
		deliver([2]int64{0, n})
	}
	e := p.store.All()[p.key]
	if e.Applied != 40 || e.Blocked != 0 || len(p.copies) > 0 || len(queue.got) != 40 {
		t.Errorf("at %d, blocked at %d, %d copies in quarantine, %d effects received", e.Applied, e.Blocked, len(p.copies), len(queue.got))
	}
}
