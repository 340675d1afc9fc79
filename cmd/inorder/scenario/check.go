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
	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

// play compares everything that the expectation names. What does not hold is noted, and the play goes on.
func (e *expectation) play(w *world, s step) error {
	e.checkMessages(w, s)
	e.checkNumbers(w, s)
	e.checkEffects(w, s)
	if e.republish != nil && len(e.republish.items) > 0 {
		// The consumer never asks for a resend; only a sweep does, and this release has none.
		w.fail(s, "republish", string(e.republish.json(nil)), "[]")
	}
	return e.checkEntities(w, s)
}

func (e *expectation) checkMessages(w *world, s step) {
	for _, want := range e.dispositions {
		got := w.endings[want.id]
		if !slices.Equal(want.want, got) {
			w.fail(s, "dispositions."+want.id, strings.Join(want.want, ", "), orNothing(strings.Join(got, ", ")))
		}
	}
	for _, id := range e.acked {
		if m := w.mailbox.latest[id]; !m.acked {
			w.fail(s, "acked", id, "its last delivery was not acked")
		}
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

func orNothing(text string) string { return cmp.Or(text, "nothing") }

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

func (e *expectation) checkEntities(w *world, s step) error {
	if e.entity != nil {
		if err := e.entity.check(w, s); err != nil {
			return err
		}
	}
	if e.parked != nil {
		if err := e.parked.check(w, s); err != nil {
			return err
		}
	}
	if e.entities == nil {
		return nil
	}
	present, err := w.present()
	if err == nil && len(present) != *e.entities {
		w.fail(s, "entities", strconv.Itoa(*e.entities), fmt.Sprintf("%d: %s", len(present), bracketed(present)))
	}
	return err
}

func (w *world) key(n entityName) ordering.Key {
	stream := w.script.streams.Stream(n.stream)
	return ordering.Key{
		Consumer: w.script.streams.Consumer, Stream: n.stream, ID: n.id, Source: n.source, PerSource: stream.PerSource,
	}
}

// present lists the entities that are not absent, by their keys.
func (w *world) present() ([]string, error) {
	keys, err := w.backend.EntityKeys(w.ctx, w.tables)
	if err != nil {
		return nil, err
	}
	slices.Sort(keys)
	var there []string
	for _, pk := range keys {
		key, err := ddb.ParseEntityPK(pk)
		if err != nil {
			return nil, err
		}
		entity, err := w.look.Entity(w.ctx, key)
		if err != nil {
			return nil, err
		}
		if !entity.Absent() {
			there = append(there, pk)
		}
	}
	return there, nil
}

func (e *entityExpectation) check(w *world, s step) error {
	stream := w.script.streams.Stream(e.name.stream)
	entity, err := w.look.Entity(w.ctx, w.key(e.name))
	if err != nil {
		return err
	}
	what := "entity " + e.name.String()
	if e.absent && !entity.Absent() {
		w.fail(s, what, "absent", "state "+stateText(entity.State))
	}
	if e.state != nil && !same(e.state, anyState(entity.State)) {
		w.fail(s, what+": state", string(e.state.json(nil)), stateText(entity.State))
	}
	if e.applied != nil {
		if got, ok := position(stream, entity); !ok || compare(e.applied, decimal(strconv.FormatInt(got, 10))) != 0 {
			w.fail(s, what+": applied", e.applied.Text('f'), positionText(got, ok))
		}
	}
	return nil
}

func positionText(n int64, ok bool) string {
	if !ok {
		return "a clock without a number"
	}
	return strconv.FormatInt(n, 10)
}

func anyState(state map[string]any) any {
	if state == nil {
		return map[string]any{}
	}
	return state
}

// check compares what is logged and known to wait: a number whose row was deleted waits no longer, whatever the
// entity still says, and a row that the entity does not know belongs to a message that was not acked.
func (p *parkedExpectation) check(w *world, s step) error {
	key := w.key(p.name)
	entity, err := w.look.Entity(w.ctx, key)
	if err != nil {
		return err
	}
	got := []int64{}
	if waiting := entity.Waiting.Above(entity.Applied); len(waiting) > 0 {
		rows, err := w.look.Rows(w.ctx, key, entity.Gen, entity.Applied+1, waiting.Max())
		if err != nil {
			return err
		}
		for _, row := range rows {
			if waiting.Has(row.Seq) && row.Void == "" {
				got = append(got, row.Seq)
			}
		}
	}
	want := slices.Sorted(slices.Values(p.seqs))
	if !slices.Equal(want, got) {
		w.fail(s, "parked of "+p.name.String(), fmt.Sprint(want), fmt.Sprint(got))
	}
	return nil
}

// stateText is a state as JSON, keys in order.
func stateText(state map[string]any) string {
	return string(appendState(nil, anyState(state)))
}

func appendState(out []byte, v any) []byte {
	switch v := v.(type) {
	case events.Number:
		return append(out, v...)
	case string:
		return text(v, 0).json(out)
	case []any:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendState(out, item)
		}
		return append(out, ']')
	case map[string]any:
		out = append(out, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(text(name, 0).json(out), ':')
			out = appendState(out, v[name])
		}
		return append(out, '}')
	}
	scalar, err := json.Marshal(v)
	if err != nil {
		return fmt.Append(out, v)
	}
	return append(out, scalar...)
}
