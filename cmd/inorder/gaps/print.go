package gaps

import (
	"fmt"
	"io"
	"strings"
	"time"

	"inorder/cmd/inorder/terminal"
)

func (r *Result) print(out io.Writer, width int) {
	if r.Open == 0 {
		fmt.Fprintf(out, "no open gaps of %s at %s\n", terminal.Escape(r.Consumer), stamp(r.At))
		r.printAside(out)
		return
	}
	fmt.Fprintf(out, "%s, oldest first:\n\n", r.headline())
	t := terminal.Table{
		Titles: []string{"stream", "entity", "gen", "missing", "since", "age", "asked", "parked", "ahead", "next", "why"},
		Width:  width, LeaveOut: "since", Below: "why", Keep: []string{"age", "next", "asked"},
	}
	for _, g := range r.Gaps {
		t.Rows = append(t.Rows, g.row(r.At, width > 0))
	}
	t.Write(out)
	if left := r.Open - len(r.Gaps); left > 0 {
		fmt.Fprintf(out, "… and %d more (--limit 0 shows all)\n", left)
	}
	r.printAside(out)
	r.printHints(out, width)
}

// headline calls no entity a gap that lacks no number. Those that were not read count as gaps, which most are.
func (r *Result) headline() string {
	where := fmt.Sprintf("of %s at %s", terminal.Escape(r.Consumer), stamp(r.At))
	others := r.Open - r.lacking
	switch {
	case others == 0:
		return fmt.Sprintf("%s %s", terminal.Count(r.Open, "open gap"), where)
	case r.lacking == 0:
		return fmt.Sprintf("no gap %s, but %s", where, openOtherwise(others))
	default:
		return fmt.Sprintf("%s %s, and %s", terminal.Count(r.lacking, "open gap"), where, openOtherwise(others))
	}
}

func openOtherwise(n int) string {
	return terminal.Count(n, "entity") + " open for another reason"
}

// stamp leaves the parts of a second out: nobody reads a list of gaps for them.
func stamp(t time.Time) string { return terminal.Instant(t.Truncate(time.Second)) }

func (g Gap) row(now time.Time, short bool) []string {
	entity := g.EntityID
	if g.Source != "" {
		entity += " of " + g.Source
	}
	var reasons []string
	for _, w := range g.Why {
		if reason := g.Reason(w); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	return []string{
		g.Stream, entity, number(g.Generation), terminal.Ranges(g.Missing, short), stamp(g.Since), terminal.ShortAge(time.Duration(g.AgeSeconds) * time.Second),
		g.asked(), number(int64(g.Parked)), number(int64(g.Ahead)), g.next(now), strings.Join(reasons, "; "),
	}
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func (g Gap) asked() string {
	if len(g.Missing) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", g.Attempts, g.MaxAttempts)
}

func (g Gap) next(now time.Time) string {
	switch {
	case g.NextAttempt == nil:
		return "next sweep"
	case !g.NextAttempt.After(now):
		return "due"
	}
	return "in " + terminal.ShortAge(g.NextAttempt.Sub(now))
}

// Reason says why it stands in the index, where it is no mere gap.
func (g Gap) Reason(w Why) string {
	switch w {
	case IsMissing:
		if g.Attempts >= g.MaxAttempts {
			return "out of attempts, only alarms"
		}
	case IsBlocked:
		return fmt.Sprintf("blocked at %d: its projection fails", g.Blocked)
	case NoBaseline:
		return "baseline not taken yet"
	case OwesEffects:
		return "effects owed: " + g.owed()
	case NotDrained:
		return fmt.Sprintf("drain not finished: %d is next and here", g.Applied+1)
	case NotTidied:
		return "nothing open any more"
	case NoStream:
		return "streams.yaml has no such stream"
	case Unreadable:
		return g.Error
	}
	return ""
}

func (g Gap) owed() string {
	switch {
	case g.Dispatched == nil:
		return ""
	case g.Dispatched.Generation != g.Generation:
		return fmt.Sprintf("sent to %d of generation %d", g.Dispatched.Seq, g.Dispatched.Generation)
	}
	return fmt.Sprintf("sent to %d of %d", g.Dispatched.Seq, g.Applied)
}

func (r *Result) printAside(out io.Writer) {
	if r.NotRead > 0 {
		fmt.Fprintf(out, "%s of the index newer than these not read, so what is said here is of the oldest %d only\n",
			terminal.Count(r.NotRead, "entity"), maxEntities)
	}
	if r.OtherConsumers > 0 {
		fmt.Fprintf(out, "(%s of other consumers in the same table: --streams FILE names their streams.yaml)\n",
			terminal.Count(r.OtherConsumers, "more entity"))
	}
	if r.NoKeys > 0 {
		fmt.Fprintf(out, "%s of the index with a key that is no entity's: somebody else wrote into the table\n", terminal.Count(r.NoKeys, "entry"))
	}
}

func (r *Result) printHints(out io.Writer, width int) {
	if len(r.Hints) == 0 {
		return
	}
	fmt.Fprintln(out, "\ndiagnosis:")
	for _, h := range r.Hints {
		terminal.Wrap(out, "  - ", h.Text, width)
	}
}
