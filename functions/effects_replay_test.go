package functions

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
	"inorder/ordering/memory"
)

var (
	effectsSeed  = flag.Uint64("effects-seed", 0, "run this one seed of TestEffectsThroughPhases")
	effectsSeeds = flag.Uint64("effects-seeds", 4, "how many seeds of TestEffectsThroughPhases to run")
)

// phase is a time in which all functions are deployed with the same setting of effects.
type phase struct {
	mode   string // on, off, hold; none: the stream has no effects
	replay bool   // all that was said so far comes again, as new messages, and nothing else
	empty  bool   // the tables are new
	later  time.Duration
}

// The lives of a stream, by what they prove. In each, exactly what the cursor passes while effects are on is sent.
var phases = []struct {
	name string
	list []phase
}{
	{"the whole history again into the same tables sends none", []phase{{mode: "on"}, {mode: "on"}, {mode: "on"}, {mode: "on", replay: true, later: 60 * 24 * time.Hour}}},
	{"into empty tables with hold sends none, then live again without a gap", []phase{{mode: "on"}, {mode: "on"}, {mode: "hold", replay: true, empty: true, later: 24 * time.Hour}, {mode: "on"}}},
	{"held from the beginning, then live", []phase{{mode: "hold"}, {mode: "on"}, {mode: "on"}}},
	{"switched on for entities that have a history", []phase{{mode: "none"}, {mode: "on"}, {mode: "on"}}},
	{"off from the beginning, then on", []phase{{mode: "off"}, {mode: "on"}}},
	{"off in between", []phase{{mode: "on"}, {mode: "off"}, {mode: "on"}}},
	{"hold in between", []phase{{mode: "on"}, {mode: "hold"}, {mode: "on"}}},
	{"the option taken away and put back", []phase{{mode: "on"}, {mode: "none"}, {mode: "on"}}},
}

// projectionsOfEffects: the effect is the event, or what a Go projection returns: none, or several, kept until sent.
var projectionsOfEffects = []string{"projection: {sum: {n: data.n}}", "projection: telling"}

// EffectOrder, through the handler and the sweeper: a history of several entities and generations, with voids, ignored
// and blocked events, shuffled and with copies, over failures and deaths of functions at any request. A receiver that
// remembers the highest position of each entity gets each effect that is due once, in order, and nothing is ever sent
// that is not due.
func TestEffectsThroughPhases(t *testing.T) {
	from, to := uint64(1), *effectsSeeds
	if *effectsSeed != 0 {
		from, to = *effectsSeed, *effectsSeed
	}
	for _, tt := range phases {
		for _, projection := range projectionsOfEffects {
			t.Run(tt.name+"/"+projection, func(t *testing.T) {
				for seed := from; seed <= to && !t.Failed(); seed++ {
					newTold(t, projection, seed, func(int) ordering.Upkeep { return &memory.Store{} }).play(t, tt.list)
					if t.Failed() {
						t.Errorf("replay: go test ./functions -run '^TestEffectsThroughPhases$' -args -effects-seed %d", seed)
					}
				}
			})
		}
	}
}

// The same on a database.
func TestEffectsThroughPhasesOnTheEngine(t *testing.T) {
	engine := startEngine(t)
	client := ddb.NewClient(engine.Config(), ddb.ClientOptions{Endpoint: engine.Endpoint, TryTimeout: patience})
	for i, tt := range phases {
		for j, projection := range projectionsOfEffects {
			t.Run(tt.name+"/"+projection, func(t *testing.T) {
				newTold(t, projection, uint64(1+i), func(n int) ordering.Upkeep {
					tables := ddb.Tables{Entities: fmt.Sprintf("effects-%d-%d-%d-entities", i, j, n), Items: fmt.Sprintf("effects-%d-%d-%d-items", i, j, n)}
					if err := ddb.CreateTables(t.Context(), client, tables); err != nil {
						t.Fatal(err)
					}
					return &ddb.Store{API: client, Tables: tables}
				}).play(t, tt.list)
			})
		}
	}
}

// told is what producers said so far, and what is due to be sent of it.
type told struct {
	*effectsWorld
	rng      *rand.Rand
	builtIn  bool
	tables   func(n int) ordering.Upkeep
	made     int
	phase    int
	isLast   bool
	entities []*teller
	said     []awsevents.SQSMessage // all of it, in the order in which it was first delivered
	messages int
}

// teller is one entity's producer.
type teller struct {
	id          string
	gen, seq    int64
	effects     map[[2]int64]int // of each number of each generation
	heldBack    []awsevents.SQSMessage
	due         []string
	gone, start int64 // the cursor at the start of the phase, and in which generation
}

func newTold(t *testing.T, projection string, seed uint64, tables func(n int) ordering.Upkeep) *told {
	t.Helper()
	w := &told{
		effectsWorld: newEffectsWorld(streamL(t, projection)), rng: rand.New(rand.NewPCG(seed, 7)), tables: tables,
		builtIn: !strings.Contains(projection, "telling"),
	}
	w.projections = map[string]ordering.Projector{"telling": w.telling}
	w.newTables()
	for _, id := range []string{"a", "b", "c"} {
		w.entities = append(w.entities, &teller{id: id, effects: map[[2]int64]int{}})
	}
	return w
}

func (w *told) newTables() {
	w.store = w.tables(w.made)
	w.made++
}

// telling returns as many effects as its event says. A bad event is refused, or returns what can never be sent, until
// the next deployment.
func (w *told) telling(state map[string]any, e *events.Event) (map[string]any, []any, error) {
	number := func(path string) (n int) {
		if value, ok := e.Data()[path].(events.Number); ok {
			_, _ = fmt.Sscan(string(value), &n)
		}
		return n
	}
	next := map[string]any{"last": events.Number(fmt.Sprint(e.Seq))}
	if w.phase < number("good_from") {
		if e.Seq%2 == 0 {
			return nil, nil, errBroken
		}
		return next, []any{"fine", func() {}}, nil
	}
	effects := make([]any, number("effects"))
	for i := range effects {
		effects[i] = map[string]any{"part": events.Number(fmt.Sprint(i)), "was": state["last"]}
	}
	return next, effects, nil
}

func (w *told) play(t *testing.T, list []phase) {
	t.Helper()
	for i, p := range list {
		w.phase = i
		w.isLast = !slices.ContainsFunc(list[i+1:], func(p phase) bool { return !p.replay })
		w.now = w.now.Add(time.Hour + p.later)
		if memory, ok := w.store.(*memory.Store); ok && p.later > 0 {
			memory.Expire(w.now)
		}
		if p.empty {
			w.newTables()
		}
		w.playPhase(t, p)
		if t.Failed() {
			t.Logf("in phase %d, %+v", i, p)
			return
		}
	}
	for _, e := range w.entities {
		if got := w.remembered(e.id); !slices.Equal(got, e.due) {
			t.Errorf("a receiver got of %s %v\nand due are %v", e.id, got, e.due)
		}
	}
}

func (w *told) playPhase(t *testing.T, p phase) {
	t.Helper()
	before, sends := len(w.received), w.sends
	kept := map[string]*ordering.Entity{}
	for _, e := range w.entities {
		kept[e.id] = w.entity(t, e.id)
		e.gone, e.start = kept[e.id].Gen, kept[e.id].Applied
	}
	queue := w.replayed()
	if !p.replay {
		queue = append(w.tell(t), w.someOf(queue)...)
	}
	w.drain(t, p.mode, queue)
	for _, e := range w.entities {
		w.account(t, p, e)
	}
	if sent := w.received[before:]; p.mode != "on" && w.sends != sends {
		t.Errorf("%v were sent", sent)
	}
	if !p.replay || p.empty {
		return
	}
	if w.sends != sends {
		t.Errorf("a replay sent %v", w.received[before:])
	}
	for _, e := range w.entities {
		now, was := w.entity(t, e.id), kept[e.id]
		if now.Applied != was.Applied || !reflect.DeepEqual(now.State, was.State) || !reflect.DeepEqual(now.Dispatched, was.Dispatched) || now.Gap != nil {
			t.Errorf("a replay changed %s from %+v to %+v", e.id, was, now)
		}
	}
}

// account adds what is due of a phase: while effects are on, what the cursor passed. It checks that nothing is owed.
func (w *told) account(t *testing.T, p phase, e *teller) {
	t.Helper()
	now := w.entity(t, e.id)
	from := e.start
	if now.Gen != e.gone {
		from = 0
	}
	for n := from + 1; p.mode == "on" && n <= now.Applied; n++ {
		for i := range e.effects[[2]int64{now.Gen, n}] {
			e.due = append(e.due, fmt.Sprintf("%d.%d.%d", now.Gen, n, i))
		}
	}
	at := ordering.Position{Gen: now.Gen, Seq: now.Applied}
	if d := now.Dispatched; len(now.Owed) > 0 || d != nil && *d != at || d == nil && p.mode != "off" && p.mode != "none" && now.Applied > from {
		t.Errorf("%s is at %v, dispatched %v, and owes %v", e.id, at, d, now.Owed)
	}
	if last := w.isLast && !p.empty; last && (now.Applied != e.seq || now.Gen != e.gen || now.Gap != nil) {
		t.Errorf("%s ends at %v with a gap %v; its producer at %d.%d", e.id, at, now.Gap, e.gen, e.seq)
	}
}

// tell is what the producers say in one phase: some numbers each, of which a few are held back until the next. A new
// generation does not race with what the deployment has just unblocked, or nobody could say what is due of the old one.
func (w *told) tell(t *testing.T) (queue []awsevents.SQSMessage) {
	t.Helper()
	for _, e := range w.entities {
		if w.phase > 0 && w.rng.IntN(4) == 0 && w.entity(t, e.id).Blocked == 0 {
			e.gen, e.seq, e.heldBack = e.gen+1+int64(w.rng.IntN(2)), 0, nil
		}
		queue = append(queue, e.heldBack...)
		w.said = append(w.said, e.heldBack...)
		e.heldBack = nil
		for range 3 + w.rng.IntN(6) {
			e.seq++
			m := w.next(e)
			if !w.isLast && w.rng.IntN(5) == 0 {
				e.heldBack = append(e.heldBack, m)
				continue
			}
			w.said = append(w.said, m)
			queue = append(queue, m)
		}
	}
	return queue
}

func (w *told) id() string {
	w.messages++
	return fmt.Sprint("m", w.messages)
}

// next is the next number of an entity: mostly an event, at times one that is ignored, blocked, or void.
func (w *told) next(e *teller) awsevents.SQSMessage {
	at := [2]int64{e.gen, e.seq}
	switch w.rng.IntN(12) {
	case 0:
		return numberedRecord(w.id(), "Viewed", e.id, e.gen, e.seq, `{"n":1}`)
	case 1:
		return voided(w.id(), e.id, e.gen, e.seq, events.NeverExisted)
	case 2:
		return voided(w.id(), e.id, e.gen, e.seq, events.Expired)
	case 3:
		if w.builtIn {
			return posted(w.id(), e.id, e.gen, e.seq, `{"n":"no number"}`)
		}
		if !w.isLast {
			e.effects[at] = 2
			return posted(w.id(), e.id, e.gen, e.seq, fmt.Sprintf(`{"effects":2,"good_from":%d}`, w.phase+1))
		}
	}
	e.effects[at] = 1
	if !w.builtIn {
		e.effects[at] = w.rng.IntN(4)
	}
	return posted(w.id(), e.id, e.gen, e.seq, fmt.Sprintf(`{"n":1,"effects":%d}`, e.effects[at]))
}

// replayed is all that was said so far, as new messages.
func (w *told) replayed() []awsevents.SQSMessage {
	again := slices.Clone(w.said)
	for i := range again {
		again[i].MessageId = w.id()
	}
	return again
}

func (w *told) someOf(all []awsevents.SQSMessage) []awsevents.SQSMessage {
	return slices.DeleteFunc(all, func(awsevents.SQSMessage) bool { return w.rng.IntN(3) > 0 })
}

// drain delivers a queue in any order, to cold and warm instances, which fail and die, and sweeps in between, until
// nothing is left that anybody but an operator could do; and then the operator does it.
func (w *told) drain(t *testing.T, mode string, queue []awsevents.SQSMessage) {
	t.Helper()
	w.rng.Shuffle(len(queue), func(i, j int) { queue[i], queue[j] = queue[j], queue[i] })
	warm := [2]*Consumer{w.consumer(mode), w.consumer(mode)}
	for turn := 0; len(queue) > 0; turn++ {
		if turn > 500 {
			t.Fatalf("%d messages come back again and again", len(queue))
		}
		i := w.rng.IntN(2)
		if turn < 200 {
			w.fault = someFault(w.rng)
		}
		n := min(len(queue), 1+w.rng.IntN(10))
		back := w.deliver(t, warm[i], queue[:n]...)
		queue = append(queue[n:], back...)
		if w.rng.IntN(4) == 0 || w.fault != nil && w.fault.kills {
			warm[i] = w.consumer(mode)
		}
		w.fault = nil
		w.now = w.now.Add([]time.Duration{time.Second, 30 * time.Second, 6 * time.Minute}[w.rng.IntN(3)])
		if w.rng.IntN(4) == 0 {
			w.fault = someFault(w.rng)
			w.sweep(t, mode)
			w.fault = nil
		}
	}
	for range 3 {
		w.sweep(t, mode)
		w.skipBlocked(t, mode)
	}
}

// skipBlocked passes what a built-in projection will never take.
func (w *told) skipBlocked(t *testing.T, mode string) {
	t.Helper()
	parts := w.parts(mode)
	for _, e := range w.entities {
		for now := w.entity(t, e.id); w.builtIn && now.Blocked != 0; now = w.entity(t, e.id) {
			order := ordering.Skip{Generation: now.Gen, Through: now.Blocked, Reason: "never a number"}
			key := ordering.Key{Consumer: "c", Stream: "l", ID: e.id}
			if _, err := NewKeeper(parts).Skip(t.Context(), key, parts.Streams.Streams[0], order); err != nil {
				t.Fatal(err)
			}
		}
	}
}
