package scenario

import (
	"fmt"
	"slices"
	"strconv"

	"inorder/cmd/inorder/backend"
	"inorder/ddb"
	"inorder/ordering"
)

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
		w.fail(s, what, "absent", "state "+string(backend.StateJSON(entity.State)))
	}
	if e.state != nil && !same(e.state, anyState(entity.State)) {
		w.fail(s, what+": state", string(e.state.json(nil)), string(backend.StateJSON(entity.State)))
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
