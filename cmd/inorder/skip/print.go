package skip

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"inorder/cmd/inorder/terminal"
	"inorder/events"
)

type printer struct {
	out   io.Writer
	width int
	*Result
}

func (r *Result) print(out io.Writer, width int) { printer{out, width, r}.print() }

func (p printer) print() {
	name := fmt.Sprintf("%s of stream %s", terminal.Escape(p.EntityID), terminal.Escape(p.Stream))
	if p.Source != "" {
		name += " of source " + terminal.Escape(p.Source)
	}
	if p.NothingToDo {
		fmt.Fprintf(p.out, "nothing to skip: %s is at %d, and nothing up to %d is missing or blocked\n", name, p.After.Applied, p.Through)
		return
	}
	if p.DryRun {
		fmt.Fprintf(p.out, "%s, numbers through %d: what a skip would do (nothing is changed without --yes)\n\n", name, p.Through)
	} else {
		how := "skipped"
		if p.overtaken() {
			how = "skipped in part"
		}
		fmt.Fprintf(p.out, "%s, numbers through %d: %s\n\n", name, p.Through, how)
	}
	p.numbers()
	p.entity()
	p.next()
}

// numbers says what becomes of each.
func (p printer) numbers() {
	is := func(would, did string) string {
		if p.DryRun {
			return would
		}
		return did
	}
	p.ranges("lost", p.Lost, "nowhere to be found, given up for good")
	p.ranges("applied", p.Applied, is("logged, would run", "logged, ran"))
	p.ranges("passed", p.Passed, is("logged, would fail and be left out, with a copy in quarantine",
		"logged, failed and left out, with a copy in quarantine"))
	p.ranges("drained", p.Drained, is("parked behind, would run", "was parked behind, ran"))
	if text := p.effects(is); text != "" {
		p.line("effects", text)
	}
	fmt.Fprintln(p.out)
}

func (p printer) ranges(label string, ranges []events.Range, meaning string) {
	if len(ranges) == 0 {
		return
	}
	p.line(label, fmt.Sprintf("%-11s %s: %s", terminal.Count(terminal.Numbers(ranges), "number"), meaning, terminal.Ranges(ranges, p.width > 0)))
}

func (p printer) effects(is func(would, did string) string) string {
	runs := slices.Concat(p.Applied, p.Drained)
	switch {
	case p.Effects == NoEffects:
		return ""
	case p.Effects == EffectsOwed:
		return "owed: not all could be sent, the sweeper sends the rest"
	case len(runs) == 0:
		return "nothing runs, so none go out"
	case p.Effects == EffectsSent:
		return fmt.Sprintf("those of %s %s", terminal.Ranges(runs, p.width > 0), is("would go out", "went out"))
	}
	return fmt.Sprintf("EFFECTS is %s: none %s", p.Effects, is("would go out", "went out"))
}

func (p printer) entity() {
	if p.overtaken() {
		p.line("now", fmt.Sprintf("in generation %d, which began meanwhile", p.After.Generation))
		return
	}
	p.line("cursor", change(p.Before.cursor(), p.After.cursor()))
	p.line("missing", change(p.missing(p.Before), p.missing(p.After)))
	before, after := terminal.Escape(string(p.Before.State)), terminal.Escape(string(p.After.State))
	if before == after {
		p.line("state", "stays "+after)
		return
	}
	p.line("state", "from "+before)
	p.line("", "to   "+after)
}

func change(before, after string) string {
	if before == after {
		return "stays " + after
	}
	return before + " → " + after
}

func (s Side) cursor() string {
	if s.Blocked != 0 {
		return fmt.Sprintf("%d, blocked at %d", s.Applied, s.Blocked)
	}
	return fmt.Sprint(s.Applied)
}

func (p printer) missing(s Side) string {
	if len(s.Missing) == 0 {
		return "nothing"
	}
	return terminal.Ranges(s.Missing, p.width > 0)
}

func (p printer) line(label, text string) {
	fmt.Fprintln(p.out, terminal.Fit(fmt.Sprintf("  %-9s%s", label, text), p.width))
}

func (p printer) next() {
	switch {
	case p.DryRun:
		fmt.Fprintln(p.out, "\nIt cannot be undone. To do it, run the same command with --yes.")
	default:
		fmt.Fprintf(p.out, "\nAn audit row says that %s did it, and why: %s\n", terminal.Escape(p.By), terminal.Escape(strings.TrimSpace(p.Reason)))
		if len(p.Lost)+len(p.Passed) > 0 && p.mode != events.State && !p.overtaken() {
			fmt.Fprintln(p.out, "Should one of the lost turn up after all, it goes to quarantine (skipped).")
		}
	}
}
