package bootstrap

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"inorder/cmd/inorder/terminal"
)

// sort puts what was refused in the order of the file.
func (r *Result) sort() {
	slices.SortFunc(r.Refused, func(a, b Refused) int { return cmp.Compare(a.Line, b.Line) })
}

// shownRefused is how many of the refused entities a terminal shows.
const shownRefused = 50

func (r *Result) print(out io.Writer, width int) {
	file := terminal.Escape(r.File)
	if r.Lines == 0 {
		fmt.Fprintf(out, "%s has no entities\n", file)
		return
	}
	if r.DryRun {
		fmt.Fprintf(out, "%s, %s: what would be written (nothing is changed without --yes)\n\n", file, terminal.Count(r.Lines, "entity"))
	} else {
		fmt.Fprintf(out, "%s, %s:\n\n", file, terminal.Count(r.Lines, "entity"))
	}
	row := func(n int, label, meaning string) { fmt.Fprintf(out, "  %-9s%-8d%s\n", label, n, meaning) }
	row(r.Written, r.is("write", "written"), "new here, older, or only parked so far")
	row(r.Kept, r.is("keep", "kept"), "there already, and as far or farther")
	if len(r.Refused) > 0 {
		row(len(r.Refused), r.is("refuse", "refused"), "left as they are, see below")
	}
	if r.Passed > 0 {
		fmt.Fprintf(out, "\n%s %s in the snapshot and %s.\n", terminal.Count(r.Passed, "parked event"), are(r.Passed), r.is("would stop waiting", "stopped waiting"))
	}
	if r.Ready > 0 {
		fmt.Fprintf(out, "\nOf %s the parked events %s next in line: the sweeper runs them within a minute.\n",
			terminal.Count(r.Ready, "entity"), r.is("would be", "are"))
	}
	r.printRefused(out, width)
	switch {
	case !r.complete:
		fmt.Fprintf(out, "\nIt ended early: %d of %d were looked at.\n", r.Written+r.Kept+len(r.Refused), r.Lines)
	case r.DryRun && r.Written > 0:
		fmt.Fprintln(out, "\nTo write them, run the same command with --yes.")
	case r.DryRun:
		fmt.Fprintln(out, "\n--yes would write nothing.")
	}
}

func (r *Result) is(would, did string) string {
	if r.DryRun {
		return would
	}
	return did
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func (r *Result) printRefused(out io.Writer, width int) {
	if len(r.Refused) == 0 {
		return
	}
	fmt.Fprintln(out)
	t := terminal.Table{Titles: []string{"line", "stream", "entity", "why"}, Width: width, Indent: "  ", Below: "why", Keep: []string{"line"}}
	for _, refused := range r.Refused[:min(len(r.Refused), shownRefused)] {
		entity := refused.EntityID
		if refused.Source != "" {
			entity += " of " + refused.Source
		}
		t.Rows = append(t.Rows, []string{strconv.Itoa(refused.Line), refused.Stream, entity, refused.Why})
	}
	t.Write(out)
	if more := len(r.Refused) - shownRefused; more > 0 {
		fmt.Fprintf(out, "  … and %d more (--json lists them)\n", more)
	}
}
