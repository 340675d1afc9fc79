package run

import (
	"fmt"
	"io"
	"maps"
	"strings"

	"inorder/ordering"
)

// printer shows a report to a person.
type printer struct {
	out   io.Writer
	width int // of the terminal; 0: no terminal, and nothing is left out
}

// On a terminal, a table ends after so many lines: whoever wants all of it sends it into a file, or asks for JSON.
const maxTerminalLines = 50

func (p printer) print(r *Report) {
	p.table(messageRows(r.Messages), "message", "disposition", "reason", "entity", "order key")
	p.details(r.Messages)
	p.table(entityRows(r.Entities), "entity", "applied", "waiting", "missing", "state")
	p.quarantine(r.Quarantine)
	p.deferred(r)
	p.summary(r)
}

func messageRows(all []Ending) [][]string {
	rows := make([][]string, len(all))
	for i, e := range all {
		name := e.Message
		if e.Event != nil {
			name = fmt.Sprintf("%s, event %d", name, *e.Event)
		}
		rows[i] = []string{name, e.Disposition, e.Reason, named(e.Stream, e.EntityID, ""), e.OrderKey}
	}
	return rows
}

// details say why messages came back; why others are in quarantine stands there.
func (p printer) details(all []Ending) {
	var lines []string
	for _, e := range all {
		if e.Disposition == ordering.Deferred.String() {
			lines = append(lines, fmt.Sprintf("%s: %s", e.Message, e.Detail))
		}
	}
	p.lines("came back because", lines)
}

func named(stream, id, source string) string {
	switch {
	case stream == "" && id == "":
		return ""
	case source == "":
		return strings.TrimSpace(stream + " " + id)
	}
	return strings.TrimSpace(stream+" "+id) + " of " + source
}

func entityRows(all []Entity) [][]string {
	rows := make([][]string, len(all))
	for i, e := range all {
		state := string(e.State)
		switch {
		case e.Absent:
			state = "absent"
		case e.Blocked != 0:
			state += fmt.Sprintf(", blocked at %d", e.Blocked)
		}
		rows[i] = []string{named(e.Stream, e.EntityID, e.Source), e.Applied, numbers(e.Waiting), ranges(e.Missing), state}
	}
	return rows
}

func numbers(all []int64) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = fmt.Sprint(n)
	}
	return strings.Join(texts, " ")
}

func ranges(all [][2]int64) string {
	texts := make([]string, len(all))
	for i, r := range all {
		if texts[i] = fmt.Sprint(r[0]); r[0] != r[1] {
			texts[i] = fmt.Sprintf("%d-%d", r[0], r[1])
		}
	}
	return strings.Join(texts, " ")
}

func (p printer) quarantine(all []Refused) {
	lines := make([]string, len(all))
	for i, r := range all {
		lines[i] = fmt.Sprintf("%s: %s: %s", r.Message, r.Reason, r.Detail)
	}
	p.lines("in quarantine", lines)
}

// deferred says what a queue would do with what is left.
func (p printer) deferred(r *Report) {
	p.lines("deferred to the last; a queue would now move these to its dead-letter queue", r.Deferred)
}

func (p printer) summary(r *Report) {
	var parts []string
	for _, d := range ordering.Dispositions() {
		if n := r.Dispositions[d.String()]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, d))
		}
	}
	fmt.Fprintf(p.out, "%s: %s\n", count(total(r.Dispositions), "event"), strings.Join(parts, ", "))
	fmt.Fprintf(p.out, "%s, %s in quarantine, %s sent\n",
		count(len(r.Entities), "entity"), count(len(r.Quarantine), "copy"), count(r.Effects, "effect"))
}

func total(of map[string]int) (sum int) {
	for n := range maps.Values(of) {
		sum += n
	}
	return sum
}

// count is a number with its noun.
func count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
