package demo

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"inorder/cmd/inorder/demo/producer"
	"inorder/cmd/inorder/demo/report"
	"inorder/ordering"
)

// answered is one delivery that SQS heard of.
type answered struct {
	at      time.Time // when it was received, by the queue's clock
	acked   time.Time // when the answer was given, by the same
	message *producer.Message
	outcome ordering.Outcome
	batch   int // the invocation: what it answers, it answers at once
}

// history is what happened, in the order of the answers. It is safe for concurrent use.
type history struct {
	mu          sync.Mutex
	answers     []answered
	distances   []int64
	drained     int
	invocations int
	crashes     int
	lost        int // deliveries whose invocation died
}

// record takes over what one invocation did. Of a dead one nothing is known but that it was.
func (h *history) record(batch int, answers []answered, w *watched) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.invocations++
	if answers == nil {
		h.crashes++
		h.lost += batch
		return
	}
	for _, a := range answers {
		a.batch = h.invocations
		h.answers = append(h.answers, a)
	}
	h.distances = append(h.distances, w.distances...)
	h.drained += w.drained
}

func (h *history) deliveries() int { return len(h.answers) + h.lost }

// meanings say in a few words what docs say at length.
var meanings = map[ordering.Disposition]string{
	ordering.Applied:     "it changed its entity",
	ordering.Coalesced:   "a newer one came in the same batch",
	ordering.Stale:       "its entity already had newer",
	ordering.Duplicate:   "the same event again",
	ordering.Parked:      "logged durably, waiting for its predecessors",
	ordering.Conflict:    "another event holds its position; a copy is in quarantine",
	ordering.Quarantined: "it can never succeed; a copy is in quarantine",
	ordering.Deferred:    "not now: it came back",
}

// dispositions counts the endings, the usual ones first.
func (h *history) dispositions() []report.Count {
	counts := map[ordering.Disposition]int{}
	for _, a := range h.answers {
		counts[a.outcome.Disposition]++
	}
	all := ordering.Dispositions()
	all = append(all[1:], all[0]) // deferred, the zero value, stands last
	out := make([]report.Count, 0, len(all))
	for _, d := range all {
		out = append(out, report.Count{Name: d.String(), Means: meanings[d], N: counts[d]})
	}
	return out
}

// buckets are the upper bounds of the reorder distances in reports.
var buckets = []struct {
	name string
	upTo int64
}{{"1", 1}, {"2", 2}, {"3", 3}, {"≤ 5", 5}, {"≤ 10", 10}, {"≤ 25", 25}, {"≤ 100", 100}, {"> 100", 1<<63 - 1}}

func (h *history) histogram() []report.Count {
	out := make([]report.Count, len(buckets))
	for i, b := range buckets {
		out[i].Name = b.name
	}
	for _, d := range h.distances {
		i := slices.IndexFunc(buckets, func(b struct {
			name string
			upTo int64
		},
		) bool {
			return d <= b.upTo
		})
		out[i].N++
	}
	return out
}

// waiting follows one step entity: which numbers were answered, and up to where they leave no gap.
type waiting struct {
	known  map[int64]bool
	cursor int64
}

// answer takes a number in, and returns how many parked events wait after it.
func (w *waiting) answer(n int64) int {
	if n > w.cursor {
		w.known[n] = true
	}
	for w.known[w.cursor+1] {
		w.cursor++
		delete(w.known, w.cursor)
	}
	return len(w.known)
}

// parkedLevels is how many events were parked at which time: those that were answered while some of their predecessors
// had not been. Of each slice of the day the highest level is kept.
func (h *history) parkedLevels() []report.Level {
	entities, current := map[string]*waiting{}, 0
	inTime := slices.SortedStableFunc(slices.Values(h.answers), func(a, b answered) int { return a.at.Compare(b.at) })
	var levels []report.Level
	for i, a := range inTime {
		if e := a.message.Event; steps(e) && knows(a.outcome.Disposition) {
			key := e.Stream + "/" + e.Entity
			if entities[key] == nil {
				entities[key] = &waiting{known: map[int64]bool{}}
			}
			current -= len(entities[key].known)
			current += entities[key].answer(e.Seq)
		}
		if i+1 == len(inTime) || inTime[i+1].batch != a.batch {
			levels = append(levels, report.Level{At: a.at, N: current})
		}
	}
	return thin(levels)
}

// knows tells whether the entity has an event after this answer. A duplicate's first answer may have died.
func knows(d ordering.Disposition) bool {
	return d == ordering.Applied || d == ordering.Parked || d == ordering.Duplicate
}

// steps tells events whose order is kept by parking.
func steps(e *producer.Event) bool {
	return e != nil && (e.Stream == producer.Ledger || e.Stream == producer.Wallet)
}

const slicesOfDay = 120

// thin keeps the highest level of each slice of the time, and the last of all.
func thin(levels []report.Level) []report.Level {
	if len(levels) <= slicesOfDay {
		return levels
	}
	first, last := levels[0].At, levels[len(levels)-1]
	width := max(last.At.Sub(first)/slicesOfDay, time.Millisecond)
	highest := map[int]report.Level{}
	for _, l := range levels {
		i := int(l.At.Sub(first) / width)
		if old, there := highest[i]; !there || l.N > old.N {
			highest[i] = report.Level{At: first.Add(time.Duration(i) * width), N: l.N}
		}
	}
	out := slices.SortedFunc(maps.Values(highest), func(a, b report.Level) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
	return append(out, last)
}
