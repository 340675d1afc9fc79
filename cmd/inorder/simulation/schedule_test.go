package simulation

import (
	"time"
)

// begin is when every life begins.
var begin = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// maxSteps is where trouble ends whatever is going on.
const maxSteps = 6000

func (w *world) trouble() {
	for w.steps < maxSteps {
		w.reap()
		w.land()
		w.begin()
		if len(w.agenda)+len(w.threads) == 0 && !w.somethingWaits() {
			break
		}
		w.steps++
		if w.isWild() {
			w.wildStep()
		} else {
			w.orderlyStep()
		}
	}
	w.calm = true
	for _, a := range w.agenda { // trouble took too long
		a.at = 0
	}
}

// isWild reports whether anybody may be next.
func (w *world) isWild() bool { return !w.calm && w.wild[w.steps/stretch] }

// begin starts what is due.
func (w *world) begin() {
	for len(w.agenda) > 0 && !begin.Add(w.agenda[0].at).After(time.Now()) {
		a := w.agenda[0]
		if a.what == write && w.writing[a.fact.entity] {
			return // one after the other
		}
		w.agenda = w.agenda[1:]
		w.perform(a)
	}
}

func (w *world) somethingWaits() bool {
	now := time.Now()
	messages, _ := w.events.visible(now)
	requests, _ := w.requests.visible(now)
	return len(messages) > 0 || len(requests) > 0 && w.heals || len(w.records) > 0
}

// orderlyStep lets one after the other have their turn, and everybody end before another begins.
func (w *world) orderlyStep() {
	if ready := w.waiting(); len(ready) > 0 {
		w.serve(ready[0])
		time.Sleep(3 * time.Millisecond)
		return
	}
	w.idleStep()
}

func (w *world) idleStep() {
	switch {
	case len(w.threads) > 0:
		time.Sleep(200 * time.Millisecond)
	case w.consume(10), w.relayRows(), w.relayRequests():
	default:
		w.sleepOn()
	}
}

// sleepOn sleeps until something is due.
func (w *world) sleepOn() {
	next := time.Now().Add(time.Hour)
	for _, at := range []time.Time{w.events.next(), w.requests.next()} {
		if at.After(time.Now()) && at.Before(next) {
			next = at
		}
	}
	if len(w.agenda) > 0 {
		if at := begin.Add(w.agenda[0].at); at.Before(next) {
			next = at
		}
	}
	for _, l := range w.late {
		if l.at.Before(next) {
			next = l.at
		}
	}
	time.Sleep(max(time.Until(next), time.Millisecond))
}

// wildStep lets anybody be next.
func (w *world) wildStep() {
	ready := w.waiting()
	switch draw := w.rng.IntN(12); {
	case draw == 0 && w.running(consumerName) < 4 && w.consume(1+w.rng.IntN(10)):
	case draw == 1 && (w.relayRows() || w.relayRequests()):
	case draw == 2 && len(w.threads) > 0:
		time.Sleep([]time.Duration{time.Millisecond, 40 * time.Millisecond, 700 * time.Millisecond, 4 * time.Second}[w.rng.IntN(4)])
	case len(ready) > 0:
		w.serve(ready[w.rng.IntN(len(ready))])
		time.Sleep(time.Duration(1+w.rng.IntN(20)) * time.Millisecond)
	default:
		w.idleStep()
	}
}

func (w *world) running(name string) (n int) {
	for _, t := range w.threads {
		if t.what == name {
			n++
		}
	}
	return n
}

// settleDown lets everybody end, and nothing new begin but what the queues bring.
func (w *world) settleDown() {
	for step := 0; step < maxSteps; step++ {
		w.reap()
		w.land()
		w.begin()
		if len(w.threads)+len(w.late)+len(w.agenda) == 0 && !w.somethingWaits() {
			return
		}
		w.steps++
		w.orderlyStep()
	}
	w.fault("NoLostWakeup", "it never comes to rest: %d threads, %d messages", len(w.threads), len(w.events.letters))
}
