package ordering

import (
	"fmt"
	"maps"
	"runtime"

	"inorder/events"
)

// projectStep folds one event into the state of a step entity. It returns a new state and leaves the old one as it is.
func projectStep(s *events.Stream, projections map[string]Projector, state map[string]any, e *events.Event) (next map[string]any, effects []any, err error) {
	if e.Ignored {
		return state, nil, nil
	}
	if s.Projection.Name == "" {
		next, err = projectBuiltIn(s.Projection, state, e)
		return next, nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			next, effects, err = nil, nil, fmt.Errorf("projection %s panicked: %s", s.Projection.Name, panicText(p))
		}
	}()
	project, registered := projections[s.Projection.Name]
	if !registered {
		return nil, nil, fmt.Errorf("projection %s is not registered", s.Projection.Name)
	}
	own, _ := ownValue(state).(map[string]any) // whatever it changes, the state that was read stays as it is
	next, effects, err = project(own, e)
	if err != nil {
		return nil, nil, fmt.Errorf("projection %s: %w", s.Projection.Name, err)
	}
	result, _ := ownValue(next).(map[string]any)
	return result, effects, checkAttributes(result)
}

// panicText is what may be said of a panic: Go's own words, but of anything else only its type, since it may hold data.
func panicText(p any) string {
	if own, ok := p.(runtime.Error); ok {
		return own.Error()
	}
	return fmt.Sprintf("a %T", p)
}

// projectBuiltIn is `sum` and `set`. What an event does not say stays as it is.
func projectBuiltIn(p events.Projection, state map[string]any, e *events.Event) (map[string]any, error) {
	next := maps.Clone(state)
	if next == nil {
		next = map[string]any{}
	}
	amounts, err := amountsOf(p, e)
	if err != nil {
		return nil, err
	}
	for name, amount := range amounts {
		if held, has := next[name]; has {
			before, err := parseAmount(held)
			if err != nil {
				return nil, fmt.Errorf("what attribute %s holds %w", name, err)
			}
			if amount, err = add(before, amount); err != nil {
				return nil, fmt.Errorf("the sum in attribute %s %w", name, err)
			}
		}
		next[name] = numberOf(amount)
	}
	for name, path := range p.Set {
		if value, found := e.Lookup(path); found {
			next[name] = ownValue(value)
		}
	}
	return next, checkAttributes(next)
}

// checkAttributes reports what the table could not hold.
func checkAttributes(state map[string]any) error {
	for name, value := range state {
		if r := refuseAttribute(name, value); r != nil {
			return fmt.Errorf("%s: %s", r.Reason, r.Detail)
		}
	}
	return nil
}
