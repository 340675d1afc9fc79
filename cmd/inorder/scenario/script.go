package scenario

import (
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

// load reads a file and checks everything that can be checked before it is played. The error is unplayableError.
func load(content []byte, projections []string) (*file, error) {
	root, faults := parseDocument(content)
	if len(faults) > 0 {
		return nil, unplayableError(faults)
	}
	if faults := checkSchema(root); len(faults) > 0 {
		return nil, unplayableError(faults)
	}
	all, faults := combinations(root.get("matrix"))
	if len(faults) > 0 {
		return nil, unplayableError(faults)
	}
	f := &file{name: root.get("name").text}
	for _, c := range all {
		s, faults := loadScript(c, root, projections)
		if len(faults) > 0 {
			return nil, unplayableError(inCombination(c, faults))
		}
		f.scripts = append(f.scripts, s)
	}
	return f, nil
}

func inCombination(c combination, faults []fault) []fault {
	if len(c.names) == 0 {
		return faults
	}
	for i := range faults {
		faults[i].text += " (" + c.String() + ")"
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
