package demo

import (
	"cmp"
	"slices"
	"time"

	"inorder/cmd/inorder/demo/producer"
	"inorder/cmd/inorder/demo/queue"
	"inorder/cmd/inorder/demo/report"
	"inorder/ordering"
)

// sightings are what the consumer was shown of one entity, in the order of arrival.
type sightings []answered

// perEntityWithMarks sorts the answers by entity and time, marks included.
func (h *history) perEntityWithMarks() map[string]sightings {
	out := map[string]sightings{}
	for _, a := range h.answers {
		if stream, entity, _ := about(a.message); entity != "" {
			key := entityName(stream, entity)
			out[key] = append(out[key], a)
		}
	}
	for _, s := range out {
		slices.SortStableFunc(s, func(a, b answered) int { return a.at.Compare(b.at) })
	}
	return out
}

// about tells which number of which entity a message speaks of. Poison speaks of none.
func about(m *producer.Message) (stream, entity string, seq int64) {
	switch {
	case m.Event != nil:
		return m.Event.Stream, m.Event.Entity, m.Event.Seq
	case m.Mark != nil:
		return m.Mark.Stream, m.Mark.Entity, m.Mark.Seq
	}
	return "", "", 0
}

// losses follow each lost event from its loss until it is there, or needed no longer.
func (r *run) losses() []report.Loss {
	shown := r.history.perEntityWithMarks()
	asked := r.shop.letters.asked()
	var out []report.Loss
	for _, e := range r.day.Events {
		if e.Lost > 0 {
			key := entityName(e.Stream, e.Entity)
			out = append(out, shown[key].follow(e, asked[key]))
		}
	}
	return out
}

// follow tells what became of a lost event.
func (s sightings) follow(e *producer.Event, requests []request) report.Loss {
	l := report.Loss{Stream: e.Stream, Entity: e.Entity, Number: e.Rank, Times: e.Lost, LostAt: e.At}
	for _, a := range s {
		_, _, seq := about(a.message)
		switch d := a.outcome.Disposition; {
		case a.message.Event == e && (knows(d) || d == ordering.Coalesced || d == ordering.Stale):
			l.HealedAt, l.Healed = a.at, report.SentAgain
		case !knows(d):
			continue
		case a.message.Mark == nil && e.Stream == producer.Subscription && seq > e.Seq:
			l.HealedAt, l.Healed = a.at, report.Outdated
		case l.SeenAt.IsZero() && (seq > e.Seq || a.message.Mark != nil && seq == e.Seq):
			l.SeenAt, l.ByMark = a.at, a.message.Mark != nil
		}
		if !l.HealedAt.IsZero() {
			break
		}
	}
	for _, q := range requests {
		if q.names(e.Seq) && (l.HealedAt.IsZero() || !q.at.After(l.HealedAt)) {
			if l.Asked++; l.Asked == 1 {
				l.AskedAt = q.at
			}
		}
	}
	return l
}

// recorded is when the sweeper recorded the attempt, before it sent the request.
func (q request) recorded() time.Time {
	at, err := time.Parse(time.RFC3339Nano, q.RequestedAt)
	if err != nil {
		return q.at
	}
	return at
}

func (q request) names(seq int64) bool {
	for _, r := range q.Ranges {
		if r.First <= seq && seq <= r.Last {
			return true
		}
	}
	return false
}

// asked sorts the republish requests by entity, in the order of their sending.
func (q *letterbox) asked() map[string][]request {
	out := map[string][]request{}
	for _, q := range q.requests {
		key := entityName(q.Stream, q.EntityID)
		out[key] = append(out[key], q)
	}
	for _, requests := range out {
		slices.SortStableFunc(requests, func(a, b request) int {
			return cmp.Or(cmp.Compare(a.RequestedAt, b.RequestedAt), cmp.Compare(a.Attempt, b.Attempt))
		})
	}
	return out
}

// healing sums up what was lost and how it came back.
func (r *run) healing() report.Healing {
	h := report.Healing{
		Losses: r.losses(), StayWrong: r.day.StayWrong(), Requests: len(r.shop.letters.requests), Late: r.shop.onlyLate(r.day),
		Marks: r.shop.marks, Sweeps: r.sweeps.n, SweepCrashes: r.sweeps.crashes, RelayCrashes: r.shop.stream.crashes + r.shop.letters.crashes,
		SweepRequests: r.sweeps.wire.traffic().requests, RelayRequests: r.shop.wire.traffic().requests,
		GapDeadlineSeconds: int(r.gapDeadline().Seconds()), MarkDelaySeconds: int(markDelay.Seconds()),
		Unhealed: r.unhealedLevels(),
	}
	return h
}

// onlyLate counts the events that were asked for though they were not lost: their message came later than the deadline.
func (s *shop) onlyLate(day *producer.Day) int {
	late, asked := 0, s.letters.asked()
	for _, e := range day.Events {
		if e.Lost == 0 && slices.ContainsFunc(asked[entityName(e.Stream, e.Entity)], func(q request) bool { return q.names(e.Seq) }) {
			late++
		}
	}
	return late
}

func (r *run) gapDeadline() time.Duration { return r.parts.Streams.Stream(producer.Ledger).GapDeadline }

// unhealedLevels is how many events would be parked at which time if nobody asked for the missing: the same arrivals, each
// handled at once.
func (r *run) unhealedLevels() []report.Level {
	var h history
	for i, a := range r.day.Arrivals {
		h.answers = append(h.answers, answered{
			at: a.At, message: a.Message, outcome: ordering.Outcome{Disposition: ordering.Applied}, batch: i + 1,
		})
	}
	return h.parkedLevels()
}

// maxBackOff is the longest that sweepers leave a gap alone between two requests.
const maxBackOff = time.Hour

// checkHealing asks whether every lost event came back, and everything else that should have been answered was.
func (r *run) checkHealing(h *report.Healing) report.Check {
	var f faults
	for _, l := range h.Losses {
		if l.Healed == "" {
			f.add("%s %s: number %d was lost and is not there; it was asked for %d times", l.Stream, l.Entity, l.Number, l.Asked)
		}
	}
	for _, body := range r.shop.letters.dead {
		f.add("the relay could not answer %s", body)
	}
	f.wrong, f.more = append(f.wrong, r.shop.odd.wrong...), f.more+r.shop.odd.more
	return f.check("%s of %s lost events are made good: %s sent again, %s outdated by newer state",
		report.Thousands(h.Count(report.SentAgain)+h.Count(report.Outdated)), report.Thousands(len(h.Losses)),
		report.Thousands(h.Count(report.SentAgain)), report.Thousands(h.Count(report.Outdated)))
}

// checkRequests asks whether each gap was asked for once in each of its back-off periods, however many sweepers overlap or
// die, and whether nothing was asked for that the consumer had acknowledged: that it was needed again would say that it
// had been dropped.
func (r *run) checkRequests() report.Check {
	var f faults
	acked := r.history.perEntityWithMarks()
	for key, requests := range r.shop.letters.asked() {
		last := map[int64]request{} // by the lowest missing number, which is the gap
		for _, q := range requests {
			gap := q.Ranges[0].First
			if before, again := last[gap]; again {
				f.checkBackOff(before, q, r.gapDeadline())
			}
			last[gap] = q
			f.checkMissing(q, acked[key])
		}
	}
	return f.check("%s requests for what was missing, each gap once in its back-off",
		report.Thousands(len(r.shop.letters.requests)))
}

// checkBackOff compares two requests for one gap.
func (f *faults) checkBackOff(before, q request, gapDeadline time.Duration) {
	backOff := min(gapDeadline<<min(before.Attempt-1, 10), maxBackOff)
	if waited := q.recorded().Sub(before.recorded()); q.Attempt <= before.Attempt || waited < backOff {
		f.add("%s %s: number %d was asked for again (attempt %d) %v after attempt %d, and %v is the back-off",
			q.Stream, q.EntityID, q.Ranges[0].First, q.Attempt, waited, before.Attempt, backOff)
	}
}

// checkMissing looks for numbers that were acknowledged before the sweep that asks for them began.
func (f *faults) checkMissing(q request, answers sightings) {
	for _, a := range answers {
		e := a.message.Event
		if e != nil && knows(a.outcome.Disposition) && q.names(e.Seq) && a.acked.Add(queue.Leash).Before(q.recorded()) {
			f.add("%s %s: number %d was asked for at %s, and had been acknowledged as %s", q.Stream, q.EntityID, e.Seq,
				q.recorded().Format(time.TimeOnly), a.outcome.Disposition)
		}
	}
}
