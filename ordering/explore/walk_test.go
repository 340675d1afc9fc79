package explore

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"inorder/ordering"
	"inorder/ordering/memory"
)

var walks = flag.Int("walks", 5, "how many random walks through each situation to compare with one store that lives on")

// TestWalks guards what states leave out, and what is remembered instead of done: along random walks everything is as it is
// with one store, whose revisions and tokens are as they come, and with invocations that live from their first request to
// their last.
func TestWalks(t *testing.T) {
	for _, s := range situations {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			m := newModel(s)
			for seed := range *walks {
				w := newWalk(t, m, uint64(seed)) //nolint:gosec // a count
				for w.goOn() {
				}
				w.stop()
				if t.Failed() {
					t.Fatalf("walk %d:\n%s", seed, strings.Join(w.trace, "\n"))
				}
			}
		})
	}
}

// walk is a random way through a situation, twice: by states, and in a world of its own.
type walk struct {
	*testing.T
	*model
	rng    *rand.Rand
	state  state
	store  *memory.Store
	actors [maxSlots]*actor
	trace  []string
}

// actor is one who works, or an instance that waits for work.
type actor struct {
	name  string
	next  func() (string, bool)
	stop  func()
	how   kind // its next request ends
	cache *ordering.Cache
}

func newWalk(t *testing.T, m *model, seed uint64) *walk {
	w := &walk{T: t, model: m, rng: rand.New(rand.NewPCG(seed, 0)), state: m.begin(), store: m.atFirst()}
	for i := range w.actors {
		w.actors[i] = &actor{}
	}
	for _, batch := range m.Before {
		begins := start{role: consumer}
		for _, m := range batch {
			begins.batch.add(once(m))
		}
		w.alone(begins)
	}
	for _, clock := range m.Swept {
		w.alone(start{role: sweeper, clock: uint8(clock)}) //nolint:gosec // few
	}
	return w
}

// alone is somebody's work from its beginning to its end.
func (w *walk) alone(begins start) {
	a := &actor{name: fmt.Sprint("before ", begins), how: working}
	w.hire(a, begins)
	for running := true; running; {
		_, running = a.next()
	}
}

// maxSteps ends a walk on which a message is sent back again and again: once nobody sweeps any more, it may be for good.
const maxSteps = 300

// goOn makes one choice in both worlds, and compares them.
func (w *walk) goOn() bool {
	choices := w.choices(&w.state)
	if len(choices) == 0 || len(w.trace) == maxSteps || w.Failed() {
		return false
	}
	c := choices[w.rng.IntN(len(choices))]
	if c.kind == deleting {
		return false
	}
	before := w.state
	if fault := w.happen(&w.state, c); fault != "" {
		w.Errorf("%s", fault)
	}
	w.trace = append(w.trace, fmt.Sprintf("%2d %+v; the store: %s", len(w.trace), c, w.shown(w.state.content)))
	w.live(c, &before)
	w.compare(c)
	moved, actors := w.state.sort(w.Consumers, w.Sweepers), w.actors
	for to, from := range moved {
		w.actors[to] = actors[from]
	}
	return true
}

// live makes the choice in the world that lives on.
func (w *walk) live(c choice, before *state) {
	a := w.actors[c.slot]
	switch c.kind {
	case taking, takingNew, sweeping, skipping:
		if c.kind == takingNew || a.cache == nil {
			a.cache = ordering.NewCache(1)
		}
		a.name = fmt.Sprint("actor ", len(w.trace))
		begins := w.model.known[w.state.slots[c.slot].history].start
		if w.state.slots[c.slot].idle() { // it had nothing to ask
			begins = w.startOf(c, before)
		}
		w.hire(a, begins)
		a.next()
	case working, answerLost, failing, throttling, contending, retrying:
		a.how = c.kind
		a.next()
	case dying:
		a.stop()
		w.actors[c.slot] = &actor{}
	case comingAgain, republishing, arriving, redriving, passing, deleting:
	}
}

// startOf is how an invocation began that has ended already.
func (w *walk) startOf(c choice, s *state) start {
	if c.kind != taking && c.kind != takingNew {
		return start{role: [...]role{sweeping: sweeper, skipping: operator}[c.kind], clock: s.clock, skip: w.Skips[c.of]}
	}
	return start{role: consumer, clock: s.clock, batch: w.batchOf(s, c)}
}

// compare tells where the two worlds differ.
func (w *walk) compare(c choice) {
	e, _ := w.store.Entity(context.Background(), w.key)
	k := &w.all[w.state.content]
	if got, want := text(canonical(e)), text(k.now); got != want {
		w.Errorf("the entity is\n%s\nand in the state\n%s", got, want)
	}
	var rows []ordering.Row
	for gen := range int64(3) {
		some, _ := w.store.Rows(context.Background(), w.key, gen, 0, 1<<40)
		rows = append(rows, some...)
	}
	if got, want := text(rows), text(k.rows); got != want {
		w.Errorf("the rows are\n%s\nand in the state\n%s", got, want)
	}
	for i, a := range w.actors {
		if idle := w.state.slots[i].idle(); idle == (a.next != nil) {
			w.Errorf("after %+v actor %d works: %t; and in the state: %t", c, i, a.next != nil, !idle)
		}
	}
}

func (w *walk) stop() {
	for _, a := range w.actors {
		if a.next != nil {
			a.stop()
		}
	}
}

// hire lets an actor begin, up to its first request.
func (w *walk) hire(a *actor, begins start) {
	next, stop := iter.Pull(func(yield func(string) bool) {
		defer func() {
			if p := recover(); p != nil && p != (stopped{}) {
				panic(p)
			}
		}()
		w.carry(&body{walk: w, actor: a, yield: yield}, begins)
	})
	a.stop = stop
	a.next = func() (string, bool) {
		what, running := next()
		if !running {
			a.next = nil
		}
		return what, running
	}
}

func (w *walk) carry(b *body, begins start) {
	tokens := 0
	loop := &ordering.Loop{
		Store: b, Quarantine: b, Effects: b, Streams: w.config, Cache: b.cache,
		Projections: map[string]ordering.Projector{"record": w.record(int(begins.clock))},
		Now:         func() time.Time { return w.instant[begins.clock] },
		NewToken: func() string {
			tokens++
			return fmt.Sprint(b.name, " token ", tokens)
		},
	}
	if begins.role == consumer {
		batch, _ := w.deliveries(begins)
		loop.Apply(context.Background(), w.key, batch)
		return
	}
	loop.Cache = nil
	keeper := &ordering.Keeper{Loop: loop, Upkeep: b, Requests: b}
	if begins.role == operator {
		_, _ = keeper.Skip(context.Background(), w.key, w.stream, ordering.Skip{Through: begins.skip, Reason: "lost for good", By: "somebody"})
		return
	}
	if e, err := b.Entity(context.Background(), w.key); err == nil {
		keeper.Sweep(context.Background(), w.key, w.stream, e)
	}
}
