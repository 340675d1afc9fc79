package scenario

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A Failure is one expectation that does not hold.
type Failure struct {
	Line     int              `json:"line"`
	Step     int              `json:"step"`
	Matrix   *json.RawMessage `json:"matrix,omitempty"` // the combination's values, where the file has a matrix
	What     string           `json:"what"`
	Expected string           `json:"expected"`
	Actual   string           `json:"actual"`

	combination string
}

// A Result is what became of one file.
type Result struct {
	File         string    `json:"file"`
	Name         string    `json:"name"`
	OK           bool      `json:"ok"`
	Failures     []Failure `json:"failures"`
	Unplayable   string    `json:"unplayable,omitempty"` // why the file cannot be played
	Combinations int       `json:"combinations"`

	err error // what ended the play
}

// The exit codes.
const (
	exitHolds      = 0
	exitFailed     = 1
	exitUnplayable = 2
)

func (r Result) exitCode() int {
	switch {
	case r.Unplayable != "":
		return exitUnplayable
	case !r.OK:
		return exitFailed
	}
	return exitHolds
}

// report is a combination as JSON.
func (c combination) report() *json.RawMessage {
	if len(c.names) == 0 {
		return nil
	}
	object := &value{kind: mapKind}
	for _, name := range c.names {
		object.keys, object.items = append(object.keys, key{name: name}), append(object.items, c.values[name])
	}
	raw := json.RawMessage(object.json(nil))
	return &raw
}

// writeJSON prints one object on one line.
func (r Result) writeJSON(w io.Writer) error {
	if r.Failures == nil {
		r.Failures = []Failure{}
	}
	return json.NewEncoder(w).Encode(r)
}

// maxShown is how many combinations of one file a report for people shows.
const maxShown = 5

// write prints a result for people. What holds is one line.
func (r Result) write(w io.Writer) {
	switch {
	case r.Unplayable != "":
		fmt.Fprintf(w, "cannot play  %s\n", r.File)
		indent(w, "    ", r.Unplayable)
	case r.OK:
		fmt.Fprintf(w, "ok           %s%s\n", r.File, r.played())
	default:
		fmt.Fprintf(w, "FAILED       %s%s\n    %s\n", r.File, r.played(), r.Name)
		r.writeFailures(w)
	}
}

func (r Result) played() string {
	if r.Combinations < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d combinations)", r.Combinations)
}

func (r Result) writeFailures(w io.Writer) {
	var order []string
	byCombination := map[string][]Failure{}
	for _, f := range r.Failures {
		if _, known := byCombination[f.combination]; !known {
			order = append(order, f.combination)
		}
		byCombination[f.combination] = append(byCombination[f.combination], f)
	}
	for i, c := range order {
		if i == maxShown {
			fmt.Fprintf(w, "    … and %d more combinations\n", len(order)-maxShown)
			break
		}
		if c != "" {
			fmt.Fprintf(w, "    with %s\n", c)
		}
		for _, f := range byCombination[c] {
			fmt.Fprintf(w, "    line %d, step %d: %s\n", f.Line, f.Step, f.What)
			indent(w, "      expected  ", f.Expected)
			indent(w, "      found     ", f.Actual)
		}
	}
}

// indent prints a text whose later lines stand below the first.
func indent(w io.Writer, first, text string) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			first = strings.Repeat(" ", len(first))
		}
		fmt.Fprintf(w, "%s%s\n", first, line)
	}
}

// summary says how many files ended how.
func summary(all []Result) string {
	var held, failed, unplayable, combinations int
	for _, r := range all {
		combinations += r.Combinations
		switch r.exitCode() {
		case exitHolds:
			held++
		case exitFailed:
			failed++
		default:
			unplayable++
		}
	}
	text := fmt.Sprintf("%d files, %d combinations: %d hold, %d failed", len(all), combinations, held, failed)
	if unplayable > 0 {
		text += fmt.Sprintf(", %d cannot be played", unplayable)
	}
	return text
}
