package reconcile

import (
	"fmt"
	"io"
	"strings"
	"time"

	"inorder/cmd/inorder/terminal"
)

// shownValue is how much of a value a line shows, on anything that is no terminal too: --json has all of it.
const shownValue = 60

func (r *Result) print(out io.Writer, width int) {
	fmt.Fprintf(out, "%s compared with %s at %s: %s, %s\n", terminal.Escape(r.Consumer), terminal.Escape(r.With),
		terminal.Instant(r.At.Truncate(time.Second)), terminal.Count(r.Compared, "entity"), r.verdict())
	if r.Count == 0 {
		return
	}
	fmt.Fprintln(out)
	t := terminal.Table{
		Titles: []string{"stream", "entity", "differs in", "here", "there", "why"}, Width: width, Below: "why", Keep: []string{"differs in"},
	}
	for _, m := range r.Mismatches {
		t.Rows = append(t.Rows, m.row())
	}
	t.Write(out)
	if left := r.Count - len(r.Mismatches); left > 0 {
		fmt.Fprintf(out, "… and %d more (--limit 0 lists all)\n", left)
	}
	fmt.Fprintln(out)
	for _, kind := range Kinds() {
		if n := r.Counts[kind]; n > 0 {
			fmt.Fprintf(out, "%6d  %s\n", n, words[kind])
		}
	}
}

func (r *Result) verdict() string {
	if r.Count == 0 {
		return "no mismatch"
	}
	return fmt.Sprintf("%s in %s", terminal.Count(r.Count, "mismatch"), terminal.Count(r.Differing, "entity"))
}

var words = map[Kind]string{
	MissingHere:    "missing here, and there on the other side",
	MissingThere:   "missing on the other side, and there here",
	OtherAttribute: "different in an attribute",
	OtherPosition:  "different in how far they have come",
	CannotRead:     "not to be read",
}

func (m Mismatch) row() []string {
	entity := m.EntityID
	if m.Source != "" {
		entity += " of " + m.Source
	}
	differs := m.Attribute
	switch m.Kind {
	case MissingHere:
		differs = "(missing here)"
	case MissingThere:
		differs = "(missing there)"
	case OtherPosition:
		differs = "(applied)"
	case CannotRead:
		differs = "(not to be read)"
	case OtherAttribute:
	}
	there := value(m.There)
	if m.Kind == MissingHere && len(m.There) == 0 {
		there = "(whatever state)"
	}
	return []string{m.Stream, entity, differs, value(m.Here), there, m.Error}
}

func value(json []byte) string {
	if len(json) == 0 {
		return "-"
	}
	return terminal.Fit(strings.TrimSpace(string(json)), shownValue)
}
