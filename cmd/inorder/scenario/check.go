package scenario

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"inorder/cmd/inorder/backend"
	"inorder/ordering"
)

// play compares everything that the expectation names. What does not hold is noted, and the play goes on.
func (e *expectation) play(w *world, s step) error {
	e.checkMessages(w, s)
	e.checkNumbers(w, s)
	e.checkEffects(w, s)
	e.checkRequests(w, s)
	return e.checkEntities(w, s)
}

func (e *expectation) checkMessages(w *world, s step) {
	for _, want := range e.dispositions {
		if got := w.endings[want.id]; !slices.Equal(want.want, got.dispositions) {
			w.fail(s, "dispositions."+want.id, strings.Join(want.want, ", "), got.String())
		}
	}
	var back []string
	for _, id := range e.acked {
		if m := w.mailbox.latest[id]; m == nil || !m.acked {
			back = append(back, id)
		}
	}
	if len(back) > 0 {
		w.fail(s, "acked", bracketed(e.acked), "the last delivery was not acked of "+bracketed(back))
	}
	e.checkIDs(w, s, "queue", e.queue, w.mailbox.waiting)
	e.checkIDs(w, s, "dlq", e.dlq, w.mailbox.dead)
	if e.quarantine != nil {
		compareLists(w, s, "quarantine", *e.quarantine, w.quarantined())
	}
}

func (e *expectation) checkIDs(w *world, s step, what string, want *[]string, got []*message) {
	if want != nil {
		compareLists(w, s, what, *want, idsOf(got))
	}
}

// compareLists compares what may stand in any order.
func compareLists[T comparable](w *world, s step, what string, want, got []T) {
	texts := func(all []T) []string {
		out := make([]string, len(all))
		for i, one := range all {
			out[i] = fmt.Sprint(one)
		}
		slices.Sort(out)
		return out
	}
	if a, b := texts(want), texts(got); !slices.Equal(a, b) {
		w.fail(s, what, bracketed(a), bracketed(b))
	}
}

func bracketed(all []string) string { return "[" + strings.Join(all, ", ") + "]" }

// String is how a report shows a message in quarantine.
func (r refused) String() string { return r.id + ": " + r.reason }

func (w *world) quarantined() []refused {
	var all []refused
	for _, m := range w.queues.Sent(backend.QuarantineURL) {
		all = append(all, refused{w.origin(m), reasonOf(m)})
	}
	return all
}

func (e *expectation) checkNumbers(w *world, s step) {
	for _, want := range e.metrics {
		if got := w.metrics.value(want.name); !want.holds(got) {
			w.fail(s, "metrics."+want.name, want.String(), got.Text('f'))
		}
	}
	writes, reads := w.wire.costs()
	counted := map[string]int64{"writes": writes, "reads": reads}
	for _, want := range e.requests {
		got := decimal(strconv.FormatInt(counted[want.name], 10))
		if !want.holds(got) {
			w.fail(s, "requests."+want.name, want.String(), got.Text('f'))
		}
	}
}

// String is how an entity is named in a report.
func (n entityName) String() string {
	if n.source == "" {
		return n.stream + " " + n.id
	}
	return n.stream + " " + n.id + " of " + n.source
}

// checkEffects compares the numbers per entity, in the order in which a receiver gets them.
func (e *expectation) checkEffects(w *world, s step) {
	if e.effects == nil {
		return
	}
	got, err := w.effects()
	if err != nil {
		w.fail(s, "effects", "messages that can be parsed", err.Error())
		return
	}
	want := map[entityName][]int64{}
	for _, one := range *e.effects {
		want[one.name] = append(want[one.name], one.seqs...)
	}
	for _, name := range union(want, got) {
		if !slices.Equal(want[name], got[name]) {
			w.fail(s, "effects of "+name.String(), fmt.Sprint(want[name]), fmt.Sprint(got[name]))
		}
	}
}

func union(a, b map[entityName][]int64) []entityName {
	all := append(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b))...)
	slices.SortFunc(all, func(a, b entityName) int { return cmp.Compare(a.String(), b.String()) })
	return slices.Compact(all)
}

// effects is what a receiver of the FIFO queue got so far.
func (w *world) effects() (map[entityName][]int64, error) {
	all := map[entityName][]int64{}
	for _, m := range w.queues.Sent(backend.EffectsURL) {
		var effect ordering.Effect
		if err := json.Unmarshal([]byte(m.Body), &effect); err != nil {
			return nil, err
		}
		name := entityName{stream: effect.Stream, id: effect.EntityID}
		if stream := w.script.streams.Stream(effect.Stream); stream != nil && stream.PerSource {
			name.source = effect.Source
		}
		all[name] = append(all[name], effect.Seq)
	}
	return all, nil
}
