package ordering

import (
	"fmt"
	"runtime"
	"slices"

	"inorder/events"
)

// project lets a projection in Go fold one event into a state. It returns a new state and leaves the old one as it is.
func project(s *events.Stream, projections map[string]Projector, state map[string]any, e *events.Event) (next map[string]any, effects []any, err error) {
	defer func() {
		if p := recover(); p != nil {
			next, effects, err = nil, nil, fmt.Errorf("projection %s panicked: %s", s.Projection.Name, panicText(p))
		}
	}()
	projector, registered := projections[s.Projection.Name]
	if !registered {
		return nil, nil, fmt.Errorf("projection %s is not registered", s.Projection.Name)
	}
	own, _ := ownValue(state).(map[string]any) // whatever it changes, the state that was read stays as it is
	next, effects, err = projector(own, e)
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

// builtIn is `sum` and `set` over some events, one after the other. What an event does not say stays as it is.
type builtIn struct {
	tally
	set, trySet []events.Member
	amounts     []amount
}

// try works out what an event changes, or says why it cannot. It counts once it is taken.
func (b *builtIn) try(p events.Projection, e *events.Event) error {
	var err error
	if b.amounts, err = appendAmounts(b.amounts[:0], p, e); err != nil {
		return err
	}
	b.trySet = b.trySet[:0]
	for _, f := range p.Set {
		m := events.Member{Name: f.Attribute, Value: e.Find(f.From)}
		if !m.Value.Exists() {
			continue
		}
		if r := refuseMember(&m); r != nil {
			return fmt.Errorf("%s: %s", r.Reason, r.Detail)
		}
		b.trySet = append(b.trySet, m)
	}
	return b.tally.try(b.amounts)
}

func (b *builtIn) take() {
	b.tally.take()
	for _, m := range b.trySet {
		if i := slices.IndexFunc(b.set, func(other events.Member) bool { return other.Name == m.Name }); i >= 0 {
			b.set[i] = m
		} else {
			b.set = append(b.set, m)
		}
	}
}

// next is the state with all that was taken.
func (b *builtIn) next() map[string]any {
	next := b.tally.next()
	for _, m := range b.set {
		next[m.Name] = ownValue(m.Value.Any())
	}
	return next
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
