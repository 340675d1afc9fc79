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

// Lookup finds what stands at p in the decoded event. Its top level has the event's own names (event_id, type, entity_id,
// seq, generation, source, published_at, data) whatever they are called in its envelope, and every name the envelope has
// besides.
func (e *Event) Lookup(p Path) (any, bool) { return e.rec.lookup(p) }

// within follows the rest of a path into a value: names of objects, numbers of array elements.
func (p Path) within(v any) (any, bool) {
	for _, name := range p {
		var ok bool
		switch holder := v.(type) {
		case map[string]any:
			v, ok = holder[name]
		case []any:
			v, ok = element(holder, name)
		}
		if !ok {
			return nil, false
		}
	}
	return v, true
}

func element(array []any, name string) (any, bool) {
	i, err := strconv.ParseUint(name, 10, 31)
	if err != nil || i >= uint64(len(array)) {
		return nil, false
	}
	return array[i], true
}
