package simulation

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"inorder/cmd/inorder/backend"
	"inorder/events"
	"inorder/functions"
)

// checkRequest looks at what a sweeper, or an operator, asks the relay for: each gap once in its back-off, and nothing
// that was acknowledged, for that would say that it was dropped.
func (w *world) checkRequest(body string) {
	var r events.RepublishRequest
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		w.fault("OneEscalation", "a request that cannot be read: %s", body)
		return
	}
	w.checkMissing(r)
	gap := fmt.Sprint(r.EntityID, " ", r.Source, " ", r.Generation, " ", r.Ranges[0].First, " from ", w.cursorOf(r))
	if before, again := w.gaps[gap]; again && r.Attempt > 0 && before != body {
		w.checkBackOff(before, body)
	}
	if r.Attempt > 0 {
		w.gaps[gap] = body
		w.count["escalations"]++
	}
}

// cursorOf is where the entity is that a request is about: attempts start again when its cursor moves, which it may though
// the same number is the lowest that is missing, where another one blocked it.
func (w *world) cursorOf(r events.RepublishRequest) int64 {
	for _, e := range w.entities {
		if e.id == r.EntityID {
			return w.look(e.keyOf(r.Source)).Effective()
		}
	}
	return 0
}

// checkAnswer asks whether the relay has answered all of a request that it acknowledges: with the event of each number, or
// a word about why there is none.
func (w *world) checkAnswer(request string, began time.Time, sent []string) {
	var r events.RepublishRequest
	if json.Unmarshal([]byte(request), &r) != nil || len(r.Ranges) == 0 {
		return // a note
	}
	answered := map[int64]bool{}
	for _, body := range sent {
		var said events.VoidEvent
		switch f := w.byBody[body]; {
		case f != nil && f.isOf(r):
			answered[f.seq] = true
		case json.Unmarshal([]byte(body), &said) == nil && said.Type == events.VoidType && said.EntityID == r.EntityID:
			for n := range numbersOf(said.Ranges) {
				answered[n] = true
			}
		}
	}
	for n := range numbersOf(r.Ranges) {
		for f, at := range w.written {
			if f != nil && f.isOf(r) && f.seq == n && at.Before(began) && !answered[n] {
				w.fault("NoSilentLoss", "the relay answered a request of %s and said nothing of number %d", r.EntityID, n)
			}
		}
	}
}

// isOf reports whether a fact is one of the history that a request is about.
func (f *fact) isOf(r events.RepublishRequest) bool {
	s := f.entity.about
	return f.entity.id == r.EntityID && f.gen == r.Generation && (!s.PerSource || f.source == r.Source)
}

// numbersOf are the numbers of ranges, for the few that facts can have.
func numbersOf(ranges []events.Range) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, r := range ranges {
			for n := r.First; n <= r.Last && n < 1000; n++ {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// skewed is how far two clocks may be apart: the largest jump, there and back.
const skewed = 6 * time.Second

func (w *world) checkBackOff(before, now string) {
	var a, b events.RepublishRequest
	if json.Unmarshal([]byte(before), &a) != nil || json.Unmarshal([]byte(now), &b) != nil {
		return
	}
	first, _ := time.Parse(time.RFC3339Nano, a.RequestedAt)
	second, _ := time.Parse(time.RFC3339Nano, b.RequestedAt)
	pause := 5 * time.Minute << min(a.Attempt-1, 10)
	if pause > time.Hour {
		pause = time.Hour
	}
	if second.Sub(first) < pause-skewed {
		w.fault("OneEscalation", "%s number %d: attempt %d came %s after attempt %d, whose back-off is %s",
			b.EntityID, b.Ranges[0].First, b.Attempt, second.Sub(first), a.Attempt, pause)
	}
}

func (w *world) checkMissing(r events.RepublishRequest) {
	for f, at := range w.acknowledged {
		if !f.isOf(r) || f.kind == broken {
			continue
		}
		asked := slices.ContainsFunc(r.Ranges, func(n events.Range) bool { return n.First <= f.seq && f.seq <= n.Last })
		if asked && time.Since(at) > time.Minute && !w.parkExpired(f) {
			w.fault("NoSilentLoss", "%s was acknowledged %s ago, and is asked for again", f.eventID(), time.Since(at))
		}
	}
}

// parkExpired reports whether a fact waited too long, and so left the log for quarantine.
func (w *world) parkExpired(f *fact) bool {
	return slices.ContainsFunc(w.queues.Sent(backend.QuarantineURL), func(m events.Message) bool {
		mark, _ := functions.MarkOf(m)
		body := functions.Unwrap(m).Body
		return mark.Reason == events.ParkExpired && (body == f.body || body == f.rivalBody())
	}) || w.redriven[f.body]+w.redriven[f.rivalBody()] > 0
}
