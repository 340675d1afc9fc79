package simulation

import (
	"fmt"
	"strings"

	"inorder/events"
)

// A meaning is where a history has to end, by what its producer said and by nothing else.
type meaning struct {
	state  map[string]any // nil: there is none
	gen    int64
	cursor int64 // of a numbered step or delta
	runs   []*fact
}

// meant folds the facts. after is the number after which a stream begins that may begin anywhere.
func meant(s *events.Stream, facts []*fact, after int64) meaning {
	switch {
	case s.Mode == events.State && s.Clock == events.ClockSource:
		return meaning{state: ofSources(facts)}
	case s.Mode == events.State && s.Clock == events.ClockAttribute:
		return meaning{state: ofAttributes(facts)}
	case s.Mode == events.State:
		return meaning{state: ofNewest(facts)}
	}
	return ofNumbers(s, facts, after)
}

func ofNewest(facts []*fact) map[string]any {
	last := facts[len(facts)-1]
	if last.kind == dropped {
		return nil
	}
	return map[string]any{"v": number(last.value())}
}

func ofAttributes(facts []*fact) (state map[string]any) {
	gen := int64(0)
	for _, f := range facts {
		if f.gen != gen {
			state, gen = nil, f.gen
		}
		if f.kind == dropped {
			state = nil
			continue
		}
		if state == nil {
			state = map[string]any{}
		}
		for _, field := range f.fields {
			if delete(state, field.name); !field.null {
				state[field.name] = number(f.value())
			}
		}
	}
	return state
}

func ofSources(facts []*fact) map[string]any {
	newest := map[string]*fact{}
	for _, f := range facts {
		newest[f.source] = f
	}
	var state map[string]any
	for _, f := range newest {
		if f.kind == dropped {
			continue
		}
		if state == nil {
			state = map[string]any{}
		}
		state[f.fields[0].name] = number(f.value())
	}
	return state
}

// ofNumbers is the last generation's sum, or the trail of what ran.
func ofNumbers(s *events.Stream, facts []*fact, after int64) meaning {
	last := facts[len(facts)-1]
	m := meaning{gen: last.gen, state: map[string]any{}}
	sum, trailed := int64(0), ""
	for _, f := range facts {
		if f.gen != last.gen || f.seq <= after {
			continue
		}
		m.cursor = f.seq
		if f.gone || f.never || f.kind == broken || f.kind == ignored {
			continue
		}
		m.runs = append(m.runs, f)
		sum += f.amount()
		trailed += fmt.Sprintf("%d,", f.seq)
		switch {
		case s.Projection.Name != "":
			m.state = map[string]any{"trail": trailed}
		case len(s.Projection.Set) > 0:
			m.state = map[string]any{"n": number(sum), "last": number(f.seq)}
		default:
			m.state = map[string]any{"n": number(sum)}
		}
	}
	return m
}

func number(n int64) events.Number { return events.Number(fmt.Sprint(n)) }

// trailing is the projection of stream go. A flaky event fails until mended says otherwise, an odd one by a panic.
func trailing(mended func() bool) func(map[string]any, *events.Event) (map[string]any, []any, error) {
	return func(state map[string]any, e *events.Event) (map[string]any, []any, error) {
		switch fails := e.Data()["flaky"] != nil && !mended(); {
		case fails && e.Seq%2 == 1:
			panic("an index out of range, say")
		case fails:
			return nil, nil, fmt.Errorf("number %d is too much for this version", e.Seq)
		}
		before, _ := state["trail"].(string)
		next := map[string]any{"trail": before + fmt.Sprint(e.Seq) + ","}
		return next, []any{"first of " + e.ID, strings.Repeat("second ", 2)}, nil
	}
}
