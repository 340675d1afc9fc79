package events

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// docs/streams.md has a row for each option of a stream, with the modes that may have it and the default that the schema has.
func TestEachOptionIsDocumented(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z, ]+) \\| (?:`([^`]*)`)? ?\\|").FindAllStringSubmatch(readFile(t, "../docs/streams.md"), -1)
	seen := map[string]bool{}
	for _, row := range rows {
		name := row[1]
		o, known := options[name]
		if !known {
			t.Errorf("there is no option %s", name)
		}
		seen[name] = true
		modes := strings.ReplaceAll(join(o.modes), " and ", ", ")
		if len(o.modes) == 0 {
			modes = "all"
		}
		if row[2] != modes {
			t.Errorf("%s is for %s, and documented for %s", name, modes, row[2])
		}
		if want := schemaDefault(t, name); row[3] != want {
			t.Errorf("%s is %q by default, and documented as %q", name, want, row[3])
		}
	}
	for _, name := range optionNames {
		if !seen[name] {
			t.Errorf("option %s is not documented", name)
		}
	}
}

// schemaDefault is what the editor's schema, which its own test compares with the parser, says of an option that is left out.
func schemaDefault(t *testing.T, option string) string {
	t.Helper()
	schema, refusal := readJSON(readFile(t, "streams.schema.json"))
	if refusal != nil {
		t.Fatal(refusal)
	}
	for _, of := range []string{"common", "state", "step", "delta"} {
		property := Path{"$defs", of, "properties", option}
		if standard := append(property, "default").within(schema); standard.Exists() {
			return fmt.Sprint(standard.Any())
		}
		if by := append(property, "properties", "by", "default").within(schema); by.Exists() {
			return fmt.Sprintf("{by: %v}", by.Any())
		}
	}
	return ""
}
