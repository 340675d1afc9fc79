package ordering_test

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"inorder/events"
	"inorder/ordering"
	"inorder/ordering/memory"
)

var states = flag.Int("states", 1000, "how many states of each situation to explore")

// TestExploration visits every state that a few messages, one of them twice, can reach in the hands of two invocations
// at once, with caches that may be old, a crash at any request and an answer lost after any write, each once. It runs
// the real loop: a path is replayed from its beginning for each choice. Every end must be what the producer meant, and
// in no state may the entity name a row that is not there, or its cursor go back.
func TestExploration(t *testing.T) {
	for _, tt := range []struct {
		name, stream string
		messages     []string // "generation.seq"
		cursor       int64
		sum          string
		effects      string
	}{
		{"step", "mode: step", []string{"0.1", "0.2", "0.3", "0.2"}, 3, "6", ""},
		{"step with effects", "mode: step, effects: true", []string{"0.2", "0.1", "0.1"}, 2, "3", "[0.1 0.2]"},
		{"step, a new life", "mode: step", []string{"0.2", "0.1", "1.1", "1.1"}, 1, "1", ""},
		{"delta", "mode: delta", []string{"0.1", "0.2", "0.3", "0.2"}, 3, "6", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHistory(tt.name, "{name: s, types: [T], "+tt.stream+", projection: {sum: {n: data.n}}}")
			for i, number := range tt.messages {
				generation, seq, _ := strings.Cut(number, ".")
				h.messages = append(h.messages, &events.Message{ID: fmt.Sprint("m", i), Body: fmt.Sprintf(
					`{"event_id":"%s","type":"T","entity_id":"x","generation":%s,"seq":%s,"data":{"n":%s}}`, number, generation, seq, seq)})
			}
			x := &explorer{history: h, seen: map[[32]byte]bool{}, order: rand.New(rand.NewPCG(1, 1))}
			for _, m := range h.messages {
				x.decoded = append(x.decoded, h.config.Decode(*m, begin)[0].Event)
			}
			x.end = func(g *game) string {
				e := g.store.All()[h.key]
				if e == nil || e.Effective() != tt.cursor || e.State["n"] != events.Number(tt.sum) {
					return fmt.Sprintf("ended at %+v", e)
				}
				if tt.effects != "" && fmt.Sprint(g.sent) != tt.effects {
					return fmt.Sprintf("effects %v", g.sent)
				}
				return ""
			}
			x.visit(nil)
			if x.fault != "" {
				t.Fatalf("after %d states: %s\n%s", len(x.seen), x.fault, strings.Join(x.trace, "\n"))
			}
			if len(x.seen) < 500 || x.ends == 0 {
				t.Fatalf("%d states and %d ends are too few to show anything", len(x.seen), x.ends)
			}
			t.Logf("%d states, %d of them ends; all of them: %t", len(x.seen), x.ends, len(x.seen) < *states)
		})
	}
}

// explorer walks through all states, depth first.
type explorer struct {
	history history
	end     func(*game) string
	decoded []*events.Event
	order   *rand.Rand // of the choices, so that a part of the states is not all of one kind
	seen    map[[32]byte]bool
	ends    int
	fault   string
	trace   []string
}

// choice is one thing that may happen next.
type choice struct {
	what string // start, step, crash, lose
	of   int    // the message of a start, -1 for all that wait; the worker of the others
}

func (x *explorer) visit(path []choice) {
	if x.fault != "" || len(x.seen) >= *states {
		return
	}
	g := newGame(x.history, x.decoded)
	for _, c := range path {
		g.play(c)
	}
	open := g.choices()
	key := g.fingerprint()
	if fault := g.broken(); fault != "" {
		x.found(fault, path, g)
	} else if len(open) == 0 {
		if fault := x.end(g); fault != "" {
			x.found(fault, path, g)
		} else if !x.seen[key] {
			x.ends++
		}
	}
	g.stop()
	if x.seen[key] {
		return
	}
	x.seen[key] = true
	x.order.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	for _, c := range open {
		x.visit(append(slices.Clip(path), c))
	}
}

func (x *explorer) found(fault string, path []choice, g *game) {
	x.fault = fault
	for _, c := range path {
		x.trace = append(x.trace, fmt.Sprint("  ", c.what, " ", c.of))
	}
	x.trace = append(x.trace, g.log...)
}

// game is one life: a store, a queue, two instances of the function, and what may still go wrong.
type game struct {
	history
	decoded map[string]*events.Event
	store   *memory.Store
	queue   []*events.Message
	acked   []string
	sent    []string
	players [2]*player
	crashes int
	losses  int
	cursor  ordering.Position
	back    bool
	log     []string
}

// player is one instance of the function, warm or cold, idle or at work.
type player struct {
	game   *game
	name   int
	cache  *ordering.Cache
	heard  [32]byte // all answers since it was cold, hashed: its whole state
	lose   bool     // the answer to its next write
	batch  []*events.Message
	next   func() (struct{}, bool)
	stop   func()
	ended  []ordering.Outcome
	tokens int
}

func newGame(h history, decoded []*events.Event) *game {
	g := &game{history: h, decoded: map[string]*events.Event{}, store: &memory.Store{}, crashes: 1, losses: 1}
	for i, m := range h.messages {
		own := *m
		g.decoded[m.ID] = decoded[i]
		g.queue = append(g.queue, &own)
	}
	for i := range g.players {
		g.players[i] = &player{game: g, name: i, cache: ordering.NewCache(4)}
	}
	return g
}

func (g *game) choices() (all []choice) {
	idle := slices.IndexFunc(g.players[:], func(p *player) bool { return p.next == nil })
	if idle >= 0 {
		for i := range g.queue {
			all = append(all, choice{"start", i})
		}
		if len(g.queue) > 1 {
			all = append(all, choice{"start", -1})
		}
	}
	for i, p := range g.players {
		if p.next == nil {
			continue
		}
		all = append(all, choice{"step", i})
		if g.crashes > 0 {
			all = append(all, choice{"crash", i})
		}
		if g.losses > 0 {
			all = append(all, choice{"lose", i})
		}
	}
	return all
}

func (g *game) play(c choice) {
	switch c.what {
	case "start":
		p := g.players[slices.IndexFunc(g.players[:], func(p *player) bool { return p.next == nil })]
		p.batch = g.queue
		if c.of >= 0 {
			p.batch = []*events.Message{g.queue[c.of]}
		}
		g.queue = slices.DeleteFunc(slices.Clone(g.queue), func(m *events.Message) bool { return slices.Contains(p.batch, m) })
		p.start()
		p.advance()
	case "step", "lose":
		p := g.players[c.of]
		if p.lose = c.what == "lose"; p.lose {
			g.losses--
		}
		p.advance()
	case "crash":
		p := g.players[c.of]
		g.crashes--
		p.stop()
		g.queue = append(g.queue, p.batch...)
		*p = player{game: g, name: p.name, cache: ordering.NewCache(4), tokens: p.tokens}
	}
	if e := g.store.All()[g.key]; e != nil {
		at := ordering.Position{Gen: e.Gen, Seq: e.Effective()}
		g.back = g.back || at.Gen < g.cursor.Gen || at.Gen == g.cursor.Gen && at.Seq < g.cursor.Seq
		g.cursor = at
	}
}

// broken says what must not be so in any state.
func (g *game) broken() string {
	e := g.store.All()[g.key]
	switch {
	case e == nil:
		return ""
	case g.back:
		return fmt.Sprintf("the cursor went back, to %v", g.cursor)
	case e.Gap == nil && e.Dispatched != nil && (e.Dispatched.Gen < e.Gen || e.Dispatched.Seq < e.Applied):
		return "effects are owed, and the sweeper would not see it"
	case e.Gap == nil && max(e.MaxSeen, e.Waiting.Max(), e.Ahead.Max()) > e.Effective():
		return "something is open, and the sweeper would not see it"
	}
	for _, n := range e.Waiting {
		if rows, _ := g.store.Rows(context.Background(), g.key, e.Gen, n, n); len(rows) == 0 {
			return fmt.Sprintf("number %d waits without a row", n)
		}
	}
	return ""
}

// fingerprint tells states apart: what is stored, what is queued, and what each instance has heard, from which alone
// it acts.
func (g *game) fingerprint() [32]byte {
	var all strings.Builder
	e := g.store.All()[g.key]
	if e != nil {
		plain := *e
		plain.Gap, plain.Dispatched = nil, nil
		fmt.Fprintf(&all, "%+v %v %v", plain, e.Gap != nil, e.Dispatched)
		rows, _ := g.store.Rows(context.Background(), g.key, e.Gen, 0, 99)
		for _, r := range rows {
			fmt.Fprint(&all, r.Seq, r.EventID, " ")
		}
	}
	waiting := make([]string, len(g.queue))
	for i, m := range g.queue {
		waiting[i] = m.ID
	}
	slices.Sort(waiting)
	fmt.Fprint(&all, waiting, g.sent, g.crashes, g.losses)
	for _, p := range g.players {
		fmt.Fprint(&all, "|", p.heard, len(p.batch), p.next != nil)
	}
	return sha256.Sum256([]byte(all.String()))
}

func (g *game) stop() {
	for _, p := range g.players {
		if p.next != nil {
			p.stop()
		}
	}
}

func (p *player) start() {
	for _, m := range p.batch {
		p.hear("takes " + m.ID)
	}
	p.ended = nil
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if r := recover(); r != nil && r != (killed{}) {
				panic(r)
			}
		}()
		var batch []ordering.Delivery
		for _, m := range p.batch {
			batch = append(batch, ordering.Delivery{Event: p.game.decoded[m.ID], Message: m})
		}
		hand := hand{p, yield}
		loop := &ordering.Loop{
			Store: hand, Quarantine: hand, Effects: hand, Streams: p.game.config, Cache: p.cache,
			Now: func() time.Time { return begin },
			NewToken: func() string {
				p.tokens++
				return fmt.Sprint("p", p.name, "t", p.tokens)
			},
		}
		p.ended = loop.Apply(context.Background(), p.game.key, batch).Outcomes
	})
}

// advance lets one request through, and takes the answer where it was the last.
func (p *player) advance() {
	if _, running := p.next(); running {
		return
	}
	p.stop()
	for i, o := range p.ended {
		p.game.log = append(p.game.log, fmt.Sprint("  player ", p.name, ": ", p.batch[i].ID, " ", o.Disposition, " ", o.Err))
		if o.Disposition.Ack() {
			p.game.acked = append(p.game.acked, p.batch[i].ID)
		} else {
			p.game.queue = append(p.game.queue, p.batch[i])
		}
	}
	p.hear("ends")
	p.batch, p.next = nil, nil
}

func (p *player) hear(what string) { p.heard = sha256.Sum256(append(p.heard[:], what...)) }

// hand is a player's way to the store. It stops before every request, and notes every answer.
type hand struct {
	*player
	yield func(struct{}) bool
}

func asked[T any](h hand, what string, do func() (T, error)) (T, error) {
	if !h.yield(struct{}{}) {
		panic(killed{})
	}
	answer, err := do()
	if h.lose {
		h.lose = false
		var none T
		answer, err = none, errLost
	}
	h.hear(fmt.Sprint(what, said(answer), err))
	h.game.log = append(h.game.log, fmt.Sprint("  player ", h.name, ": ", what, " ", err))
	return answer, err
}

// said is an answer by its content.
func said(answer any) string {
	if e, ok := answer.(*ordering.Entity); ok && e != nil {
		return fmt.Sprint(e.Rev, e.Token)
	}
	if rows, ok := answer.([]ordering.Row); ok {
		return fmt.Sprint(len(rows))
	}
	return ""
}

func (h hand) Entity(ctx context.Context, key ordering.Key) (*ordering.Entity, error) {
	return asked(h, "read", func() (*ordering.Entity, error) { return h.game.store.Entity(ctx, key) })
}

func (h hand) Swap(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, markers []ordering.Marker) error {
	_, err := asked(h, fmt.Sprint("swap to ", next.Gen, ".", next.Applied, " ", next.Waiting), func() (struct{}, error) {
		return struct{}{}, h.game.store.Swap(ctx, key, prev, next, markers)
	})
	return err
}

func (h hand) PutRow(ctx context.Context, key ordering.Key, row ordering.Row) error {
	_, err := asked(h, fmt.Sprint("log ", row.Gen, ".", row.Seq), func() (struct{}, error) {
		return struct{}{}, h.game.store.PutRow(ctx, key, row)
	})
	return err
}

func (h hand) Rows(ctx context.Context, key ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	return asked(h, fmt.Sprint("rows ", gen, ".", first, "-", last), func() ([]ordering.Row, error) {
		return h.game.store.Rows(ctx, key, gen, first, last)
	})
}

func (h hand) Add(ctx context.Context, key ordering.Key, a ordering.Addition) (*ordering.Entity, error) {
	return asked(h, fmt.Sprint("add ", a.Numbers), func() (*ordering.Entity, error) { return h.game.store.Add(ctx, key, a) })
}

func (h hand) CatchUp(ctx context.Context, key ordering.Key, at *ordering.Entity, through int64, gapSince time.Time, token string) (*ordering.Entity, error) {
	return asked(h, fmt.Sprint("catch up ", through), func() (*ordering.Entity, error) {
		return h.game.store.CatchUp(ctx, key, at, through, gapSince, token)
	})
}

func (h hand) ExtendRow(ctx context.Context, key ordering.Key, row ordering.Row, until time.Time) error {
	return h.game.store.ExtendRow(ctx, key, row, until)
}

func (h hand) Copy(context.Context, ordering.Copy) error {
	_, err := asked(h, "quarantine", func() (struct{}, error) { return struct{}{}, nil })
	return err
}

func (h hand) Send(_ context.Context, _ ordering.Key, effects []ordering.Effect) (int, error) {
	return asked(h, fmt.Sprint("send ", len(effects)), func() (int, error) {
		for _, e := range effects {
			if at := fmt.Sprintf("%d.%d", e.Generation, e.Seq); !slices.Contains(h.game.sent, at) {
				h.game.sent = append(h.game.sent, at)
			}
		}
		return len(effects), nil
	})
}

func (h hand) Sendable(ordering.Effect) error { return nil }

// A state stream's writes: none of the situations has one.
func (h hand) PutNewer(context.Context, ordering.Key, *ordering.Entity, []ordering.Marker) error {
	panic("not explored")
}

func (h hand) Merge(context.Context, ordering.Key, ordering.Merge, []ordering.Marker) error {
	panic("not explored")
}

func (h hand) AddMarked(context.Context, ordering.Key, map[string]events.Number, ordering.Last, []ordering.Marker) error {
	panic("not explored")
}

func (h hand) PutMarker(context.Context, ordering.Marker) error { panic("not explored") }
