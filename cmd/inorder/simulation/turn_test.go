package simulation

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// A thread is one run of a function, of the producer, or of an operator's command. It may die; nothing that it still does
// counts then.
type thread struct {
	*world
	what   string // one of the names below
	name   string
	number int
	ctx    context.Context
	end    context.CancelFunc
	began  time.Time
	clock  *clock

	dead      bool // written and read with world.mu
	over      bool
	disturbed bool            // something befell it, or somebody else was there
	cost      map[int]cost    // by lane
	stale     map[int]bool    // lanes that another machine has written since this one did
	finish    func(died bool) // called by the scheduler once it is over
}

// What threads are runs of.
const (
	consumerName = "consumer"
	sweeperName  = "sweeper"
	relayName    = "relay"
	producerName = "producer"
	operatorName = "operator"
)

// A lane is what a request is about: one of the entities, or none that it names. An operator's of the latter kind are counted
// apart, or they would drown among the many with which a sweeper reads its index.
const (
	commonLane = mostEntities + iota
	operatorLane
	lanes
)

type cost struct{ writes, reads int64 }

// clock is what one machine takes for the time.
type clock struct{ off time.Duration }

func (c *clock) Now() time.Time { return time.Now().Add(c.off).UTC() }

type threadKey struct{}

// threadOf is whose context it is: the SDK hands it on to its requests.
func threadOf(ctx context.Context) *thread { return ctx.Value(threadKey{}).(*thread) }

// A turn is a request that waits for the scheduler. Its effect is the scheduler's to let happen: now, later, or never.
type turn struct {
	by       *thread
	op, text string
	lane     int
	cost     cost
	effect   func()
	fate     chan mishapKind
	slowed   bool
	ready    time.Time
}

var errDead = errors.New("the function is gone")

// pass waits for the request's turn, and tells what became of it. Its effect has happened by then, or never will while
// anybody waits for it.
func (t *thread) pass(ctx context.Context, u turn) mishapKind {
	u.by, u.fate = t, make(chan mishapKind, 1)
	if u.lane == commonLane && t.what == operatorName {
		u.lane = operatorLane
	}
	t.mu.Lock()
	if t.dead {
		t.mu.Unlock()
		return diesBefore
	}
	t.turns = append(t.turns, &u)
	t.mu.Unlock()
	select {
	case fate := <-u.fate:
		return fate
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		t.turns = slices.DeleteFunc(t.turns, func(other *turn) bool { return other == &u })
		return unheard
	}
}

// kill ends a thread as its machine would: at once, and nothing that it still asks for is heard.
func (w *world) kill(t *thread) {
	w.mu.Lock()
	t.dead = true
	for _, u := range w.turns {
		if u.by == t {
			u.fate <- diesBefore // whatever its context says
		}
	}
	w.turns = slices.DeleteFunc(w.turns, func(u *turn) bool { return u.by == t })
	w.mu.Unlock()
	t.end()
}

// waiting are the turns that may be next, in an order of their own.
func (w *world) waiting() []*turn {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortFunc(w.turns, func(a, b *turn) int {
		return cmp.Or(cmp.Compare(a.by.number, b.by.number), cmp.Compare(a.op, b.op), cmp.Compare(a.text, b.text))
	})
	var ready []*turn
	for _, u := range w.turns {
		if !u.ready.After(time.Now()) && !u.by.dead {
			ready = append(ready, u)
		}
	}
	return ready
}

// A late effect is that of a request for whose answer nobody waits any more.
type late struct {
	at   time.Time
	what string
	do   func()
}

// serve lets one request have its turn.
func (w *world) serve(u *turn) {
	m := w.mishapOf(u)
	if m.kind == slow {
		u.ready, u.by.disturbed = time.Now().Add(m.by), true
		return
	}
	w.mu.Lock()
	w.turns = slices.DeleteFunc(w.turns, func(other *turn) bool { return other == u })
	w.mu.Unlock()
	w.count[requests]++
	w.traced(u.by, u.op, w.laneName(u.lane), m.kind)
	if m.kind != noMishap {
		u.by.disturbed = true
	}
	if writer := w.lastWriter[u.lane]; writer != nil && writer != u.by.clock {
		u.by.stale[u.lane] = true
	}
	switch {
	case m.kind != noMishap:
		w.lastWriter[u.lane] = &clock{} // nobody's: what a machine remembers then may be as it likes
	case u.cost.writes > 0:
		w.lastWriter[u.lane] = u.by.clock
	}
	spent := u.by.cost[u.lane]
	u.by.cost[u.lane] = cost{spent.writes + u.cost.writes, spent.reads + u.cost.reads}
	switch happens := mishaps[m.kind]; {
	case happens.late:
		w.late = append(w.late, late{time.Now().Add(m.by), u.op, u.effect})
	case happens.done:
		u.effect()
	}
	if m.kind == jump {
		u.by.clock.off += m.by
	}
	if mishaps[m.kind].deadly {
		w.count[crashes]++
		w.kill(u.by)
	}
	w.collect()
	u.fate <- m.kind
}

// mishapOf counts a request about an entity, and tells what befalls it.
func (w *world) mishapOf(u *turn) mishap {
	if w.calm || u.slowed {
		return mishap{}
	}
	w.asked[u.lane]++
	for _, m := range w.mishaps {
		if m.lane != u.lane || m.nth != w.asked[u.lane] || m.kind == noMishap {
			continue
		}
		u.slowed = m.kind == slow
		w.count["mishap: "+m.kind.String()]++
		return m
	}
	return mishap{}
}

// land lets late effects happen whose time has come.
func (w *world) land() {
	for len(w.late) > 0 {
		i := slices.IndexFunc(w.late, func(l late) bool { return !l.at.After(time.Now()) })
		if i < 0 {
			return
		}
		l := w.late[i]
		w.late = slices.Delete(w.late, i, i+1)
		w.traced(nil, "lands late:", l.what)
		l.do()
		w.collect()
	}
}
