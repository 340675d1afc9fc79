package scenario

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// A turnstile lets one request of several invocations pass at a time, in an order that its seed decides: it opens when
// every invocation that still runs waits at it. So the interleaving is the same whenever the script is played.
type turnstile struct {
	mu      sync.Mutex
	random  *rand.Rand
	running int             // invocations that compute, or whose request is on its way
	moves   int             // how often one of them came, passed or left
	waiting map[int]waiting // by the invocation's place
}

type waiting struct{ opened chan struct{} }

// patience is how long nothing may move before the turnstile opens all the same: an invocation that waits for another,
// which waits here, would hold up everything. On a busy machine one request may take long, and must not cost the seed its say.
const patience = 5 * time.Second

func newTurnstile(invocations int, seed uint64) *turnstile {
	return &turnstile{
		random:  rand.New(rand.NewPCG(seed, uint64(invocations))),
		running: invocations,
		waiting: map[int]waiting{},
	}
}

// enter waits until it is this invocation's turn.
func (t *turnstile) enter(place int) {
	t.mu.Lock()
	for n := 0; ; n++ { // a second request of one invocation waits at a place of its own
		if _, taken := t.waiting[place]; !taken {
			break
		}
		place += 1000
	}
	w := waiting{make(chan struct{})}
	t.waiting[place] = w
	t.running--
	t.moves++
	t.open(t.running <= 0)
	seen := t.moves
	t.mu.Unlock()
	for {
		select {
		case <-w.opened:
			return
		case <-time.After(patience):
			seen = t.openAfter(seen)
		}
	}
}

// openAfter opens where nothing has moved since somebody looked last, and says how far it is now.
func (t *turnstile) openAfter(seen int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open(t.moves == seen)
	return t.moves
}

// leave says that an invocation has ended.
func (t *turnstile) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	t.moves++
	t.open(t.running <= 0)
}

// open lets one of those that wait pass.
func (t *turnstile) open(due bool) {
	if !due || len(t.waiting) == 0 {
		return
	}
	places := make([]int, 0, len(t.waiting))
	for place := range t.waiting {
		places = append(places, place)
	}
	slices.Sort(places)
	chosen := places[t.random.IntN(len(places))]
	close(t.waiting[chosen].opened)
	delete(t.waiting, chosen)
	t.running++
	t.moves++
}
