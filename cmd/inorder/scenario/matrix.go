package scenario

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	placeholder = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	alone       = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)
)

// A combination is one value for each name of the matrix.
type combination struct {
	names  []string
	values map[string]*value
}

// What one file may ask for: so many combinations, and so many values with all of them written out.
const (
	maxCombinations = 20_000
	maxWrittenOut   = 1_000_000
)

// combinations lists the product of the matrix, the last name turning fastest. Without a matrix there is one, empty. The
// size is that of the document that it stands in.
func combinations(matrix *value, size int) ([]combination, []fault) {
	all := []combination{{values: map[string]*value{}}}
	if matrix == nil {
		return all, nil
	}
	for i, k := range matrix.keys {
		if len(all)*len(matrix.items[i].items) > maxCombinations {
			return nil, []fault{{matrix.line, fmt.Sprintf("the matrix has more than %d combinations", maxCombinations)}}
		}
		if len(all)*len(matrix.items[i].items)*size > maxWrittenOut {
			return nil, []fault{{matrix.line, fmt.Sprintf("with all combinations of the matrix more than %d values", maxWrittenOut)}}
		}
		var longer []combination
		for _, c := range all {
			for _, v := range matrix.items[i].items {
				longer = append(longer, c.with(k.name, v))
			}
		}
		all = longer
	}
	return all, nil
}

func (c combination) with(name string, v *value) combination {
	next := combination{append(append([]string{}, c.names...), name), map[string]*value{name: v}}
	for n, v := range c.values {
		next.values[n] = v
	}
	return next
}

// maxLabel is how much of one value a report shows.
const maxLabel = 40

// String is how reports name the combination.
func (c combination) String() string {
	parts := make([]string, len(c.names))
	for i, name := range c.names {
		shown := c.values[name].inText()
		if runes := []rune(shown); len(runes) > maxLabel {
			shown = string(runes[:maxLabel]) + "…"
		}
		parts[i] = name + "=" + shown
	}
	return strings.Join(parts, ", ")
}

// inText is a value inside a longer string.
func (v *value) inText() string {
	if v.kind == listKind || v.kind == mapKind {
		return string(v.json(nil))
	}
	return v.source
}

// A filler puts one combination's values in, and notes what cannot be filled.
type filler struct {
	combination
	faults []fault
}

// fill leaves what has no placeholder as the value that it is.
func (f *filler) fill(v *value) *value {
	switch {
	case !v.holds:
		return v
	case v.kind == textKind:
		return f.fillText(v)
	}
	next := *v
	next.plain, next.holds = nil, false
	next.items = make([]*value, len(v.items))
	for i, item := range v.items {
		next.items[i] = f.fill(item)
	}
	next.keys = f.fillKeys(v.keys)
	return &next
}

func (f *filler) fillKeys(keys []key) []key {
	filled, seen := make([]key, len(keys)), map[string]bool{}
	for i, k := range keys {
		name := f.inside(k.name)
		if seen[name] {
			f.faults = append(f.faults, fault{k.line, fmt.Sprintf("key %q stands twice with the matrix filled in", name)})
		}
		filled[i], seen[name] = key{name, k.line}, true
	}
	return filled
}

// fillText gives a string that is exactly one placeholder the value with its type, on the placeholder's line.
func (f *filler) fillText(v *value) *value {
	if !alone.MatchString(v.text) {
		filled := text(f.inside(v.text), v.line)
		filled.holds = false
		return filled
	}
	found, ok := f.values[v.text[2:len(v.text)-1]]
	if !ok {
		f.faults = append(f.faults, fault{v.line, v.text + " is not in the matrix"})
		return v
	}
	here := *found
	here.line = v.line
	return &here
}

// inside replaces the placeholders in a longer string by their values' texts; a name that the matrix does not have
// stays as it is, for it may be meant.
func (c combination) inside(s string) string {
	return placeholder.ReplaceAllStringFunc(s, func(m string) string {
		if v, ok := c.values[m[2:len(m)-1]]; ok {
			return v.inText()
		}
		return m
	})
}
