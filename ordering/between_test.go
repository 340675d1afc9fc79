package ordering_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

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

func (s *between) SwapAudited(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, audit ordering.Audit) error {
	if s.swaps--; s.swaps == 0 {
		s.do()
	}
	return s.Store.SwapAudited(ctx, key, prev, next, audit)
}

func (s *between) DropRows(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, rows []ordering.Row) error {
	if s.swaps--; s.swaps == 0 {
		s.do()
	}
	return s.Store.DropRows(ctx, key, prev, next, rows)
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
			m := &events.Message{ID: fmt.Sprint("m", n), Body: fmt.Sprintf(`{"event_id":"%d.%d","type":"T","entity_id":"x","generation":%d,"seq":%d,"data":{"n":%d}}`, n[0], n[1], n[0], n[1], n[1]), ReceivedAt: p.now}
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

// TestOldGenerationIsOld: while an invocation sends what the old life owes, another one begins the new life and parks
// something in it; that is no leftover of the old one, and quarantine gets no copy.
func TestOldGenerationIsOld(t *testing.T) {
	p := &transcript{now: begin}
	p.stream("{name: s, types: [T], mode: step, effects: true, projection: {sum: {n: data.n}}}")
	queue := &receiver{down: true}
	p.invocation(p.store, queue)([2]int64{0, 1}) // its effect is owed
	queue.down = false
	other := p.invocation(p.store, queue)
	slow := p.invocation(&between{p.store, 1, func() { other([2]int64{1, 2}) }}, queue)
	slow([2]int64{1, 1})
	if len(p.copies) > 0 {
		t.Errorf("quarantine got %v", p.copies)
	}
	if e := p.store.All()[p.key]; e.Gen != 1 || e.Applied != 2 {
		t.Errorf("it is at %d.%d, and both events of the new life are there", e.Gen, e.Applied)
	}
}

// TestCopyIsOfTheEntityAsItIs: what leaves the log goes to quarantine first. Where that copy is redriven at once, and
// acknowledged because the row is there still, the row must not leave without another one.
func TestCopyIsOfTheEntityAsItIs(t *testing.T) {
	for _, tt := range []struct {
		name   string
		writes int // the write before which the copy comes back
		leaves func(p *transcript, store ordering.Upkeep)
	}{
		{"it waited too long", 2, func(p *transcript, store ordering.Upkeep) {
			for _, hours := range []time.Duration{13 * 24, 22 * 24, 28*24 + 12} { // the last time its row has half of its time left
				upkeep := ordering.Upkeep(p.store)
				if p.now = begin.Add(hours * time.Hour); hours > 28*24 {
					upkeep = store
				}
				e, _ := p.store.Entity(context.Background(), p.key)
				p.keeperOf(upkeep).Sweep(context.Background(), p.key, p.config.Streams[0], e)
			}
		}},
		{"an operator passes what cannot be applied", 1, func(p *transcript, store ordering.Upkeep) {
			if _, err := p.keeperOf(store).Skip(context.Background(), p.key, p.config.Streams[0], ordering.Skip{Through: 2, Reason: "lost"}); err != nil {
				t.Error(err)
			}
		}},
	} {
		p := &transcript{now: begin}
		p.stream("{name: s, types: [T], mode: step, projection: tally}")
		p.loop.Projections = map[string]ordering.Projector{"tally": func(map[string]any, *events.Event) (map[string]any, []any, error) {
			return nil, nil, errors.New("it cannot be applied")
		}}
		p.invocation(p.store, p)([2]int64{0, 2})
		redriven := func() {
			if got := p.invocation(p.store, p)([2]int64{0, 2}); len(p.copies) != 1 || got[0] != ordering.Duplicate {
				t.Errorf("%s: the redriven copy is %v, quarantine got %v", tt.name, got, p.copies)
			}
		}
		tt.leaves(p, &between{p.store, tt.writes, redriven})
		if e := p.store.All()[p.key]; len(e.Waiting) > 0 || len(p.copies) != 2 {
			t.Errorf("%s: waiting are %v, quarantine got %v", tt.name, e.Waiting, p.copies)
		}
	}
}

// TestALeftoverIsCopiedForTheWriteThatLands: what an old life left waiting goes to quarantine before the new life's first write. Where
// that write is lost, whoever came between may have acknowledged the copy, redriven, because its row was there: so it goes there
// again.
func TestALeftoverIsCopiedForTheWriteThatLands(t *testing.T) {
	p := &transcript{now: begin}
	p.stream("{name: s, types: [T], mode: step, projection: {sum: {n: data.n}}}")
	other := p.invocation(p.store, p)
	other([2]int64{0, 2})
	redriven := func() {
		if got := other([2]int64{0, 2}, [2]int64{0, 4}); len(p.copies) != 1 || got[0] != ordering.Duplicate {
			t.Errorf("the redriven copy is %v, quarantine got %v", got, p.copies)
		}
	}
	p.invocation(&between{p.store, 1, redriven}, p)([2]int64{1, 1})
	if e := p.store.All()[p.key]; e.Gen != 1 || e.Applied != 1 || len(p.copies) != 3 {
		t.Errorf("it is at %d.%d, quarantine got %v", e.Gen, e.Applied, p.copies)
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

// A skip that loses its write to a new generation passes nothing of that one: the operator never saw it.
func TestASkipOfAnotherLifeIsRefused(t *testing.T) {
	var p transcript
	p.stream("{name: s, types: [T], mode: step, projection: {sum: {n: data.n}}}")
	deliver := p.invocation(p.store, &receiver{})
	deliver([2]int64{0, 1}, [2]int64{0, 7})
	store := &between{Store: p.store, swaps: 1, do: func() { deliver([2]int64{5, 1}) }}
	done, err := p.keeperOf(store).Skip(t.Context(), p.key, p.config.Streams[0], ordering.Skip{Through: 7, Reason: "lost"})
	e := p.store.All()[p.key]
	if !errors.Is(err, ordering.ErrAnotherGeneration) || len(done.Lost) > 0 || e.Gen != 5 || e.Applied != 1 || len(e.Skipped) > 0 {
		t.Errorf("%v, %+v, and the entity is at %d.%d, skipped %v", err, done, e.Gen, e.Applied, e.Skipped)
	}
}

// A sweep that loses its write to a new generation takes no baseline of that one, which is a moment old.
func TestABaselineOfAnotherLifeIsNotTaken(t *testing.T) {
	p := transcript{now: begin}
	p.stream("{name: s, types: [T], mode: step, start: any, gap_deadline: 5m, projection: {sum: {n: data.n}}}")
	deliver := p.invocation(p.store, &receiver{})
	deliver([2]int64{0, 7})
	p.now = p.now.Add(5 * time.Minute)
	store := &between{Store: p.store, swaps: 1, do: func() { deliver([2]int64{5, 9}) }}
	swept := p.keeperOf(store).Sweep(t.Context(), p.key, p.config.Streams[0], p.store.All()[p.key])
	if e := p.store.All()[p.key]; swept.Err != nil || e.Gen != 5 || e.Applied != 0 || len(e.Waiting) != 1 {
		t.Errorf("%v, and the entity is at %d.%d, waiting %v", swept.Err, e.Gen, e.Applied, e.Waiting)
	}
}

// A dry run tells of everything that a skip would pass, also of more ranges than an entity remembers.
func TestASkipOfManyRangesTellsOfAll(t *testing.T) {
	var p transcript
	p.stream("{name: s, types: [T], mode: step, window: 100000, projection: {sum: {n: data.n}}}")
	deliver := p.invocation(p.store, &receiver{})
	var numbers [][2]int64
	for n := int64(2); n <= 3000; n += 2 {
		numbers = append(numbers, [2]int64{0, n})
	}
	deliver(numbers...)
	done, err := p.keeper().Skip(t.Context(), p.key, p.config.Streams[0], ordering.Skip{Through: 3000, Reason: "lost", DryRun: true})
	if err != nil || len(done.Lost) != 1500 || len(done.Applied) != 1500 {
		t.Errorf("%v: %d lost, %d applied", err, len(done.Lost), len(done.Applied))
	}
	if _, err = p.keeper().Skip(t.Context(), p.key, p.config.Streams[0], ordering.Skip{Through: 3000, Reason: "lost"}); err != nil {
		t.Error(err)
	}
	if e := p.store.All()[p.key]; e.Applied != 3000 || len(e.Skipped) != 1000 {
		t.Errorf("at %d, %d ranges are remembered", e.Applied, len(e.Skipped))
	}
}

// A panic in one of several pieces of work is that piece's error.
func TestAPanicSideBySideIsAnError(t *testing.T) {
	p := transcript{now: begin}
	p.stream("{name: s, types: [T], mode: step, park_ttl: 2d, projection: {sum: {n: data.n}}}")
	p.invocation(p.store, &receiver{})([2]int64{0, 2}, [2]int64{0, 3})
	p.now = p.now.Add(25 * time.Hour)
	keeper := p.keeperOf(panics{p.store})
	keeper.RowsAtOnce = 4
	swept := keeper.Sweep(t.Context(), p.key, p.config.Streams[0], p.store.All()[p.key])
	if swept.Err == nil || !strings.Contains(swept.Err.Error(), "panic") {
		t.Error(swept.Err)
	}
}

type panics struct{ *memory.Store }

func (panics) ExtendRow(context.Context, ordering.Key, ordering.Row, time.Time) error { panic("no") }
