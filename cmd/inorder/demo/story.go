package demo

import (
	"fmt"
	"slices"
	"strings"

	"inorder/cmd/inorder/demo/producer"
	"inorder/cmd/inorder/demo/report"
	"inorder/ordering"
)

// longestStory is how many arrivals a timeline shows before one cannot tell them apart.
const longestStory = 60

// tales are told of the one entity of a stream whose events overtook each other most.
var tales = map[string]string{
	producer.Ledger: "the account whose events waited most for each other: each takes effect when its predecessors have",
	producer.Wallet: "the wallet whose events waited most; its owner got one notice for each number, in order",
	producer.Seats:  "a counter: increments commute, so that none waits, and each is counted once",
}

// lineMeans is what the line of a timeline is.
var lineMeans = map[string]string{
	producer.Subscription: "newest number stored",
	producer.Webhook:      "newest change stored",
	producer.Ledger:       "applied up to",
	producer.Wallet:       "applied up to",
	producer.Seats:        "counted without a gap up to",
}

// timelines shows the entities that the producer tells a story about, and one of each stream with a tale.
func (r *run) timelines() []report.Timeline {
	answers := r.history.perEntity()
	best, most := map[string]*producer.Meant{}, map[string]int{}
	all := map[*producer.Meant]report.Timeline{}
	for _, m := range r.day.Meant {
		t, early := timeline(m, answers[m.Stream+"/"+m.Entity])
		all[m] = t
		if n := len(t.Arrivals); n <= longestStory && early > most[m.Stream] {
			best[m.Stream], most[m.Stream] = m, early
		}
	}
	var out []report.Timeline
	for _, m := range r.day.Meant {
		t := all[m]
		if t.Story == "" && best[m.Stream] == m {
			t.Story = tales[m.Stream]
		}
		if t.Story != "" && len(t.Arrivals) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// perEntity sorts the answers by entity, and by the time of arrival. Poison has none.
func (h *history) perEntity() map[string][]answered {
	out := map[string][]answered{}
	for _, a := range h.answers {
		if e := a.message.Event; e != nil {
			key := e.Stream + "/" + e.Entity
			out[key] = append(out[key], a)
		}
	}
	for _, answers := range out {
		slices.SortStableFunc(answers, func(a, b answered) int { return a.at.Compare(b.at) })
	}
	return out
}

// timeline lays one entity's answers out, and counts those that came before a predecessor.
func timeline(m *producer.Meant, answers []answered) (t report.Timeline, early int) {
	t = report.Timeline{Stream: m.Stream, Entity: m.Entity, Story: m.Story, Line: lineMeans[m.Stream]}
	p := position{numbered: waiting{known: map[int64]bool{}}, sequenced: m.Last > 0 && m.Stream != producer.Subscription}
	for _, a := range answers {
		name, label := what(a.message.Event)
		t.Arrivals = append(t.Arrivals, report.Arrival{
			At: a.at, Number: a.message.Event.Rank, What: name, Label: label, Disposition: a.outcome.Disposition.String(),
		})
	}
	for first, end := 0, 0; first < len(answers); first = end { // what one invocation answers, it answers at once
		for ; end < len(answers) && answers[end].batch == answers[first].batch; end++ {
			p.take(answers[end])
		}
		for i := range t.Arrivals[first:end] {
			a := &t.Arrivals[first+i]
			if a.Reached = p.reached; p.sequenced && a.Number > p.reached {
				early++
			}
		}
		settleParked(t.Arrivals[:end], first+1, p.reached)
	}
	return t, early
}

// position is where an entity stands.
type position struct {
	sequenced bool // nothing is left out; otherwise the newest counts
	numbered  waiting
	reached   int
}

func (p *position) take(a answered) {
	e, d := a.message.Event, a.outcome.Disposition
	switch {
	case !p.sequenced && (d == ordering.Applied || d == ordering.Duplicate):
		p.reached = max(p.reached, e.Rank)
	case p.sequenced && knows(d):
		p.numbered.answer(e.Seq)
		p.reached = int(p.numbered.cursor)
	}
}

// settleParked notes, of those that were parked, that with arrival now the entity has come to them.
func settleParked(arrivals []report.Arrival, now, reached int) {
	for i := range arrivals {
		if a := &arrivals[i]; a.Disposition == ordering.Parked.String() && a.Drained == 0 && a.Number <= reached {
			a.Drained = now
		}
	}
}

// what names an event and says the little that tells it from its neighbours.
func what(e *producer.Event) (name, label string) {
	for _, attribute := range []string{"plan", "amount", "delta", "status"} {
		if v, there := e.Data[attribute]; there {
			label = fmt.Sprint(v)
			return strings.TrimSuffix(e.Type, "."+label) + ": " + attribute + " " + label, label
		}
	}
	return e.Type, strings.ToLower(strings.TrimPrefix(e.Type, "Subscription"))
}
