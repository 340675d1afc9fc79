package events

import (
	"fmt"
	"strconv"
	"strings"
)

// ParsePath reads a dotted path such as data.items.0.sku. A name that holds a dot cannot be reached.
func ParsePath(text string) (Path, error) {
	if text == "" {
		return nil, fmt.Errorf("an empty path")
	}
	p := Path(strings.Split(text, "."))
	for _, name := range p {
		if name == "" {
			return nil, fmt.Errorf("path %q has an empty name in it", text)
		}
	}
	return p, nil
}

func (p Path) String() string { return strings.Join(p, ".") }

// Data is what the event says: nil, bool, string, Number, []any and map[string]any. It is made anew by each call, for most
// events are judged without it.
func (e *Event) Data() map[string]any { return e.Content.Map() }

// Lookup finds what stands at p in the decoded event. Its top level has the event's own names (event_id, type, entity_id,
// seq, generation, source, published_at, data) whatever they are called in its envelope, and every name the envelope has
// besides.
func (e *Event) Lookup(p Path) (any, bool) {
	v := e.rec.lookup(p)
	return v.Any(), v.Exists()
}

// Find is Lookup for the value as it was read; the zero Value says that nothing stands there.
func (e *Event) Find(p Path) Value { return e.rec.lookup(p) }

// within follows the rest of a path into a value: names of objects, numbers of array elements.
func (p Path) within(v Value) Value {
	for _, name := range p {
		switch v.form {
		case formObject:
			v = Object(v.inner).Find(name)
		case formArray:
			v = element(v.inner, name)
		case formNone, formNull, formTrue, formFalse, formText, formNumber:
			return Value{}
		}
	}
	return v
}

func element(elements []Member, name string) Value {
	i, err := strconv.ParseUint(name, 10, 31)
	if err != nil || i >= uint64(len(elements)) {
		return Value{}
	}
	return elements[i].Value
}
