package scenario

import (
	"cmp"
	_ "embed"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The schema is the contract of the language; it is embedded so that what it refuses is refused here too, and nothing
// else is.
//
//go:embed schema.json
var schemaText string

const schemaURL = "https://inorder.invalid/scenario.schema.json"

var compiled = sync.OnceValue(func() *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schemaText))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaURL, doc); err != nil {
		panic(err)
	}
	return c.MustCompile(schemaURL)
})

// checkSchema lists where a document departs from the schema.
func checkSchema(root *value) []fault {
	err := compiled().Validate(root.any())
	if err == nil {
		return nil
	}
	refused := (*jsonschema.ValidationError)(nil)
	if !errors.As(err, &refused) {
		return []fault{{root.line, err.Error()}}
	}
	return faultsAt(root, said(refused))
}

// faultsAt gives what the schema says its lines, each once, from the top down.
func faultsAt(root *value, all []complaint) []fault {
	var faults []fault
	for _, s := range all {
		f := fault{root.lineAt(s.at), s.text}
		if where := place(s.at); where != "" {
			f.text = where + ": " + s.text
		}
		if !slices.Contains(faults, f) {
			faults = append(faults, f)
		}
	}
	slices.SortFunc(faults, byPlace)
	return faults
}

// byPlace sorts by line and, as the validator has no order of its own, by text.
func byPlace(a, b fault) int {
	return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.text, b.text))
}

// place names what is meant; which of the steps it is, the line says.
func place(at []string) string {
	if len(at) < 2 || at[0] != "steps" {
		return strings.Join(at, ".")
	}
	if at = at[2:]; len(at) == 0 {
		return "step"
	}
	return strings.Join(at, ".")
}

// lineAt is the line of what lies under a path, or of what comes closest to it.
func (v *value) lineAt(path []string) int {
	line := v.line
	for _, step := range path {
		switch v.kind {
		case listKind:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v.items) {
				return line
			}
			v = v.items[i]
			line = v.line
		case mapKind:
			i := slices.IndexFunc(v.keys, func(k key) bool { return k.name == step })
			if i < 0 {
				return line
			}
			line, v = v.keys[i].line, v.items[i]
		case nullKind, boolKind, numberKind, textKind:
			return line
		}
	}
	return line
}
