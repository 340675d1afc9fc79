package scenario

import (
	"slices"
	"strings"

	"inorder/events"
)

// A script is one combination of a file, ready to be played.
type script struct {
	combination combination
	streams     *events.Config
	fifo        bool
	maxReceive  int
	steps       []step
}

// A step is one line of a script.
type step struct {
	number int // from 1
	line   int
	verb   string
	action action
}

// An action is what a step does to the world it is played in. What does not hold is failed in the world; an error ends
// the script.
type action interface {
	play(w *world, s step) error
}

// An unplayableError is everything that makes a file unplayable.
type unplayableError []fault

func (f unplayableError) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// A file is a whole scenario file: its name and one script per combination.
type file struct {
	name    string
	scripts []script
}

// load reads a file and checks everything that can be checked before it is played. The error is an unplayableError; the
// file then has its name at most.
func load(content []byte, projections []string) (*file, error) {
	f := &file{}
	root, faults := parseDocument(content)
	if len(faults) > 0 {
		return f, unplayableError(faults)
	}
	if name := root.get("name"); name != nil && name.kind == textKind {
		f.name = name.text
	}
	if faults := checkSchema(root); len(faults) > 0 {
		return f, unplayableError(faults)
	}
	all, faults := combinations(root.get("matrix"), root.size)
	if len(faults) > 0 {
		return f, unplayableError(faults)
	}
	for _, c := range all {
		s, found := loadScript(c, root, projections)
		faults = addNew(faults, found, c)
		f.scripts = append(f.scripts, s)
	}
	if len(faults) > 0 {
		f.scripts = nil
		slices.SortFunc(faults, byPlace)
		return f, unplayableError(faults)
	}
	return f, nil
}

// addNew adds what no combination before has shown, with the one that shows it.
func addNew(faults, found []fault, c combination) []fault {
	for _, one := range found {
		known := slices.ContainsFunc(faults, func(f fault) bool { return f.line == one.line && strings.HasPrefix(f.text, one.text) })
		if known {
			continue
		}
		if len(c.names) > 0 {
			one.text += " (" + c.String() + ")"
		}
		faults = append(faults, one)
	}
	return faults
}

func loadScript(c combination, root *value, projections []string) (script, []fault) {
	filler := filler{combination: c}
	filled := filler.fill(withoutMatrix(root))
	if len(filler.faults) > 0 {
		return script{}, filler.faults
	}
	if faults := checkSchema(filled); len(faults) > 0 {
		return script{}, faults
	}
	r := reader{script: script{combination: c, maxReceive: defaultMaxReceive}, sent: map[string]bool{}}
	r.read(filled, projections)
	return r.script, r.faults
}

// withoutMatrix leaves the matrix out, which is not filled itself.
func withoutMatrix(root *value) *value {
	next := *root
	next.keys, next.items, next.plain = nil, nil, nil
	for i, k := range root.keys {
		if k.name != "matrix" {
			next.keys, next.items = append(next.keys, k), append(next.items, root.items[i])
		}
	}
	return &next
}
