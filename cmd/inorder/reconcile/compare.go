package reconcile

import (
	"maps"
	"slices"

	"github.com/cockroachdb/apd/v3"
	"github.com/go-json-experiment/json/jsontext"

	"inorder/cmd/inorder/backend"
	"inorder/events"
	"inorder/ordering"
)

// Mismatch is one thing in which the two sides differ, and its JSON form.
type Mismatch struct {
	Kind      Kind           `json:"kind"`
	Stream    string         `json:"stream"`
	EntityID  string         `json:"entity_id"`
	Source    string         `json:"source,omitempty"`
	Attribute string         `json:"attribute,omitempty"`
	Here      jsontext.Value `json:"here,omitempty"`  // absent where there is nothing here
	There     jsontext.Value `json:"there,omitempty"` // the same
	Error     string         `json:"error,omitempty"`
}

// Kind is how the two sides differ.
type Kind string

// How the two sides differ.
const (
	MissingHere    Kind = "missing_here"  // the other side has a state
	MissingThere   Kind = "missing_there" // this side has a state
	OtherAttribute Kind = "attribute"     // one attribute of the state
	OtherPosition  Kind = "applied"       // the cursor, or the newest number
	CannotRead     Kind = "unreadable"    // what is stored cannot be understood
)

// Kinds lists them in the order of a report.
func Kinds() []Kind {
	return []Kind{MissingHere, MissingThere, OtherAttribute, OtherPosition, CannotRead}
}

// side is what one of the two says of an entity. The zero side says that there is none.
type side struct {
	exists   bool
	anyState bool // it does not say what the state is
	state    map[string]any
	applied  *int64 // nil: it does not say
}

// sideOf is an entity as it is stored. One that was deleted, or of which nothing is applied yet, is none.
func sideOf(s *events.Stream, e *ordering.Entity) side {
	if e.Absent() {
		return side{}
	}
	return side{exists: true, state: e.State, applied: applied(s, e)}
}

// applied is the effective cursor, or the newest number of a state entity, or nil where positions are no numbers.
func applied(s *events.Stream, e *ordering.Entity) *int64 {
	switch {
	case s.Order.By != events.BySeq:
		return nil
	case s.Mode != events.State:
		n := e.Effective()
		return &n
	}
	if _, seq, ok := events.ParseSeqClock(e.Newest()); ok {
		return &seq
	}
	return nil
}

// compare lists in what two sides differ.
func compare(key ordering.Key, here, there side) []Mismatch {
	base := Mismatch{Stream: key.Stream, EntityID: key.ID, Source: key.Source}
	switch {
	case !here.exists && !there.exists:
		return nil
	case !here.exists:
		base.Kind, base.There = MissingHere, there.json()
		return []Mismatch{base}
	case !there.exists:
		base.Kind, base.Here = MissingThere, here.json()
		return []Mismatch{base}
	}
	var all []Mismatch
	if !there.anyState {
		all = attributes(base, here.state, there.state)
	}
	if here.applied != nil && there.applied != nil && *here.applied != *there.applied {
		base.Kind, base.Here, base.There = OtherPosition, valueJSON(*here.applied), valueJSON(*there.applied)
		all = append(all, base)
	}
	return all
}

func attributes(base Mismatch, here, there map[string]any) (all []Mismatch) {
	names := map[string]bool{}
	for name := range here {
		names[name] = true
	}
	for name := range there {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, isHere := here[name]
		b, isThere := there[name]
		if isHere && isThere && same(a, b) {
			continue
		}
		m := base
		m.Kind, m.Attribute = OtherAttribute, name
		if isHere {
			m.Here = valueJSON(a)
		}
		if isThere {
			m.There = valueJSON(b)
		}
		all = append(all, m)
	}
	return all
}

// same compares values of a state, numbers exactly and by value: 1.0 is 1, and 0.1 is nothing near it.
func same(a, b any) bool {
	switch a := a.(type) {
	case events.Number:
		b, ok := b.(events.Number)
		return ok && sameNumber(string(a), string(b))
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	}
	return a == b // nil, bool and string
}

func sameNumber(a, b string) bool {
	x, _, err := apd.NewFromString(a)
	if err != nil {
		return a == b // beyond what a decimal can be
	}
	y, _, err := apd.NewFromString(b)
	return err == nil && x.Cmp(y) == 0
}

func (s side) json() jsontext.Value {
	if s.anyState {
		return nil
	}
	return backend.StateJSON(s.state)
}

// valueJSON writes any value of a state, every digit of its numbers.
func valueJSON(v any) jsontext.Value {
	state := backend.StateJSON(map[string]any{"": v})
	return jsontext.Value(state[len(`{"":`) : len(state)-len(`}`)])
}
