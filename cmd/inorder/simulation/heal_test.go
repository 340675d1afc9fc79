package simulation

import (
	"maps"
	"slices"
	"strings"
	"time"

	"inorder/cmd/inorder/backend"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// maxRounds is how often everybody has their turn until all must be well: of a small window each round closes one at least.
const maxRounds = 40

// heal lets everybody do their work with nothing in the way, until nothing is open any more.
func (w *world) heal() {
	w.settleDown()
	for round := range maxRounds {
		if round > 1 && w.isWell() {
			return
		}
		w.traced(nil, "round", round)
		w.rest(70 * time.Minute)
		w.sweep()
		w.settleDown()
		w.checkTried()
		w.expire()
		if w.heals {
			w.marks()
			w.settleDown()
			for _, e := range w.entities {
				w.skip(e)
			}
			w.settleDown()
		}
		if len(w.queues.Sent(dlqURL)) > 0 {
			w.redrive("dlq", nil)
			w.settleDown()
		}
		if w.worthARedrive() {
			w.redrive("quarantine", curable)
			w.settleDown()
		}
	}
	w.fault("NoLostWakeup", "after %d rounds of everything something is open: %s", maxRounds, strings.Join(w.open(), "; "))
}

const dlqURL = backend.SourceURL + "-dlq"

// checkTried asks whether a sweep, which nothing was in the way of, has tried again what blocked before it was mended.
func (w *world) checkTried() {
	for _, e := range w.entities {
		for _, f := range e.facts {
			if now := w.look(e.keyOf(f.source)); f.kind == flaky && now.Blocked == f.seq && !time.Now().Before(begin.Add(w.fixedAt)) {
				w.fault("NoLostWakeup", "%s is blocked by what would run by now", f.eventID())
			}
		}
	}
}

// rest lets time pass. Whatever is hidden comes back meanwhile.
func (w *world) rest(d time.Duration) {
	for until := time.Now().Add(d); time.Now().Before(until); {
		at := w.events.next()
		if next := w.requests.next(); !next.IsZero() && (at.IsZero() || next.Before(at)) {
			at = next
		}
		if at.IsZero() || at.After(until) {
			at = until
		}
		time.Sleep(max(time.Until(at), time.Millisecond))
		w.settleDown()
		if w.heals || len(w.events.letters) > 0 {
			continue
		}
		time.Sleep(max(0, time.Until(until)))
	}
}

func (w *world) isWell() bool {
	return len(w.events.letters) == 0 && len(w.queues.Sent(dlqURL)) == 0 && len(w.open()) == 0 && !w.worthARedrive()
}

// open are the entities about which the sweeper still has something to do.
func (w *world) open() (all []string) {
	for _, e := range w.entities {
		for _, key := range e.keys() {
			if w.look(key).Gap != nil {
				all = append(all, e.id)
			}
		}
	}
	return all
}

// curable are the reasons of what may succeed by now.
var curable = []string{string(events.ProjectionError), string(events.ParkExpired), string(events.OldGeneration)}

// worthARedrive reports whether something lies in quarantine that was not brought back yet since all is calm. What goes
// there again is brought back no more, unless it waited too long again.
func (w *world) worthARedrive() (worth bool) {
	for _, m := range w.queues.Sent(backend.QuarantineURL) {
		mark, _ := functions.MarkOf(m)
		switch {
		case !slices.Contains(curable, string(mark.Reason)):
		case mark.Reason == events.ParkExpired || w.redriven[m.Body] == 0:
			worth = true
		}
	}
	if worth {
		for _, m := range w.queues.Sent(backend.QuarantineURL) {
			w.redriven[m.Body]++
		}
	}
	return worth
}

func (e *entity) keys() []ordering.Key {
	return slices.SortedFunc(maps.Keys(e.histories()), func(a, b ordering.Key) int { return strings.Compare(a.Source, b.Source) })
}

// again delivers everything once more that was acknowledged.
func (w *world) again() {
	before, effects := map[ordering.Key]ordering.Entity{}, len(w.queues.Sent(backend.EffectsURL))
	for _, e := range w.entities {
		for _, key := range e.keys() {
			before[key] = still(w.look(key))
		}
	}
	w.idle, w.repeats = nil, true
	for _, l := range w.finished {
		again := *l
		again.at, again.tries = time.Now(), 0
		w.events.put(&again)
	}
	w.settleDown()
	w.checkStill(before, effects)
}
