package ordering

import (
	"fmt"
	"slices"
	"strings"

	"inorder/events"
)

// maxDepth is how deep a value may be nested in the table, the innermost scalar included (Amazon DynamoDB Developer Guide, "Quotas in Amazon
// DynamoDB", nested attribute depth).
const maxDepth = 32

// refuseState says why a state event can never be written, nil where it can. What a tombstone carries is not written.
func refuseState(s *events.Stream, e *events.Event) *events.Refusal {
	if s.Clock == events.ClockSource {
		if r := refuseOwner(s, e); r != nil {
			return r
		}
	}
	if e.Tombstone {
		return nil
	}
	for i := range e.Content {
		if r := refuseMember(&e.Content[i]); r != nil {
			return r
		}
	}
	return nil
}

// refuseMember checks what would become an attribute as it stands in an event.
func refuseMember(m *events.Member) *events.Refusal {
	if r := refuseName(m.Name); r != nil {
		return r
	}
	return refuseWritten(m.Name, m.Value, 1)
}

func refuseWritten(name string, v events.Value, depth int) *events.Refusal {
	if depth > maxDepth {
		return tooDeep(name)
	}
	if n, ok := v.Number(); ok && !holds(n) {
		return outOfRange(name)
	}
	for _, inner := range v.Inside() {
		if r := refuseWritten(name, inner.Value, depth+1); r != nil {
			return r
		}
	}
	return nil
}

// maxNameBytes is how long an attribute's name may be (Amazon DynamoDB Developer Guide, "Supported data types and naming
// rules in Amazon DynamoDB", Naming rules).
const maxNameBytes = 64<<10 - 1

// refuseAttribute checks what would stand at top level, under its own name.
func refuseAttribute(name string, value any) *events.Refusal {
	if r := refuseName(name); r != nil {
		return r
	}
	return refuseValue(name, value, 1)
}

func refuseName(name string) *events.Refusal {
	switch {
	case name == "" || strings.HasPrefix(name, "_"):
		return &events.Refusal{Reason: events.ReservedAttribute, Detail: fmt.Sprintf("attribute %.40q: names that are empty or start with _ are the consumer's", name)}
	case len(name)+len("_clock.") > maxNameBytes:
		return &events.Refusal{Reason: events.TooLarge, Detail: fmt.Sprintf("the name of attribute %.40q… is longer than the table takes (64 KB)", name)}
	}
	return nil
}

func refuseOwner(s *events.Stream, e *events.Event) *events.Refusal {
	owned, known := s.Owns[e.Source]
	if !known {
		return &events.Refusal{Reason: events.NotOwner, Detail: fmt.Sprintf("source %.80q owns nothing in stream %s", e.Source, s.Name)}
	}
	if e.Tombstone {
		return nil
	}
	for _, m := range e.Content {
		if !slices.Contains(owned, m.Name) && !strings.HasPrefix(m.Name, "_") {
			return &events.Refusal{Reason: events.NotOwner, Detail: fmt.Sprintf("source %.80q does not own attribute %.80q in stream %s", e.Source, m.Name, s.Name)}
		}
	}
	return nil
}

// refuseValue checks a value that would become an attribute, or a part of one.
func refuseValue(name string, value any, depth int) *events.Refusal {
	if depth > maxDepth {
		return tooDeep(name)
	}
	switch v := value.(type) {
	case nil, bool, string:
	case events.Number:
		if !holds(v) {
			return outOfRange(name)
		}
	case []any:
		for _, element := range v {
			if r := refuseValue(name, element, depth+1); r != nil {
				return r
			}
		}
	case map[string]any:
		for _, element := range v {
			if r := refuseValue(name, element, depth+1); r != nil {
				return r
			}
		}
	default: // only a projection in Go can say such a thing
		return &events.Refusal{Reason: events.ProjectionError, Detail: fmt.Sprintf("attribute %.80q is a %T: numbers are events.Number, everything else what JSON has", name, value)}
	}
	return nil
}

func tooDeep(name string) *events.Refusal {
	return &events.Refusal{Reason: events.TooDeep, Detail: fmt.Sprintf("attribute %.80q is nested deeper than %d levels", name, maxDepth)}
}

func outOfRange(name string) *events.Refusal {
	return &events.Refusal{Reason: events.NumberRange, Detail: fmt.Sprintf("a number in attribute %.80q does not fit into the table: 38 digits, exponent -130 to 125", name)}
}

func quarantined(r *events.Refusal) Outcome {
	return Outcome{Disposition: Quarantined, Reason: r.Reason, Detail: r.Detail}
}
