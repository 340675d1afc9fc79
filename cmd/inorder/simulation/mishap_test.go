package simulation

import (
	"math/rand/v2"
	"time"
)

// A mishap befalls the nth request about an entity.
type mishap struct {
	lane, nth int
	kind      mishapKind
	by        time.Duration // how late, slow, or far
}

// mishapKind is what goes wrong with a request. The list is closed.
type mishapKind int

const (
	noMishap     mishapKind = iota
	throttled               // refused, and nothing was done
	internal                // an error of the service, and nothing was done
	internalDone            // an error of the service, and it was done
	unheard                 // it never arrived; nobody answers
	unanswered              // it was done; nobody answers
	lateDone                // nobody answers, and it is done when nobody waits for it any more
	contended               // another transaction holds the item
	denied                  // by a policy that somebody just changed
	slow                    // others overtake it
	jump                    // the clock of whoever asks jumps
	diesBefore              // whoever asks dies, and it never arrived
	diesAfter               // whoever asks dies, and it was done
	diesLate                // whoever asks dies, and it is done a while later
	mishapKinds
)

// mishaps say what each comes to: whether the request takes effect, and what whoever asks hears of it.
var mishaps = [mishapKinds]struct {
	name   string
	done   bool   // it takes effect
	late   bool   // but only a while later
	error  string // the answer, as backend.Fail has it
	silent bool   // there is none
	deadly bool   // nobody is there to hear it
}{
	noMishap:     {name: "none", done: true},
	throttled:    {name: "throttled", error: "throttle"},
	internal:     {name: "internal error", error: "internal"},
	internalDone: {name: "internal error after", done: true, error: "internal"},
	unheard:      {name: "request lost", silent: true},
	unanswered:   {name: "answer lost", done: true, silent: true},
	lateDone:     {name: "answer lost and late", done: true, late: true, silent: true},
	contended:    {name: "contended", error: "busy"},
	denied:       {name: "denied", error: "denied"},
	slow:         {name: "slow", done: true},
	jump:         {name: "clock jumps", done: true},
	diesBefore:   {name: "dies before", deadly: true},
	diesAfter:    {name: "dies after", done: true, deadly: true},
	diesLate:     {name: "dies, effect late", done: true, late: true, deadly: true},
}

func (k mishapKind) String() string { return mishaps[k].name }

// spoils reports whether whoever asks gets no answer to what it asked.
func (k mishapKind) spoils() bool {
	m := mishaps[k]
	return m.silent || m.deadly || m.error != ""
}

// mostMishaps is how many a life may draw. Those that would befall a request that is never made do not happen.
const mostMishaps = 24

func (l *life) drawMishaps(rng *rand.Rand) {
	for range rng.IntN(mostMishaps) {
		m := mishap{
			lane: l.drawLane(rng), nth: 1 + rng.IntN(30)/(1+rng.IntN(4)), kind: throttled + mishapKind(rng.IntN(int(mishapKinds-throttled))),
		}
		switch {
		case m.kind == jump:
			m.by = time.Duration(rng.IntN(6001)-3000) * time.Millisecond
		case m.kind == slow && rng.IntN(3) == 0: // longer than a function has
			m.by = 35 * time.Second
		case m.kind == slow:
			m.by = time.Duration(1+rng.IntN(1800)) * time.Millisecond
		case mishaps[m.kind].late:
			m.by = time.Duration(1+rng.IntN(20000)) * time.Millisecond
		}
		l.mishaps = append(l.mishaps, m)
	}
}

func (l *life) drawLane(rng *rand.Rand) int {
	if lane := rng.IntN(len(l.entities) + 2); lane < len(l.entities) {
		return lane
	}
	return commonLane + rng.IntN(lanes-commonLane)
}
