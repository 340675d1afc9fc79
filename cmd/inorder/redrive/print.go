package redrive

import (
	"fmt"
	"io"
	"strconv"

	"inorder/cmd/inorder/terminal"
)

// names of the queues in a sentence.
var names = map[string]string{"quarantine": "quarantine", "dlq": "the dead-letter queue"}

func (r *Result) print(out io.Writer, width int) {
	name := names[r.From]
	switch {
	case r.Looked == 0 && !r.Interrupted:
		fmt.Fprintf(out, "%s shows no messages (SQS says about %d)\n", name, r.About)
	case r.DryRun:
		verb := "match"
		if r.Matching == 1 {
			verb = "matches"
		}
		fmt.Fprintf(out, "%s: %d of %s %s (nothing is moved without --yes; SQS says about %d)\n",
			name, r.Matching, terminal.Count(r.Looked, "message"), verb, r.About)
	default:
		fmt.Fprintf(out, "%s → events queue: %d of %s moved\n", name, r.Moved, terminal.Count(r.Looked, "message"))
	}
	r.printGroups(out, width)
	r.printExamples(out, width)
	r.printRefused(out, width)
	for i, h := range r.Hints {
		if i == 0 {
			fmt.Fprintln(out)
		}
		terminal.Wrap(out, "  - ", h.Text, width)
	}
	r.next(out)
}

func (r *Result) printGroups(out io.Writer, width int) {
	if len(r.Groups) == 0 {
		return
	}
	fmt.Fprintln(out)
	t := terminal.Table{Titles: []string{"reason", "stream", "messages", "moved"}, Width: width, Indent: "  "}
	for _, g := range r.Groups {
		row := []string{string(g.Reason), g.Stream, strconv.Itoa(g.Messages), strconv.Itoa(g.Moved)}
		if row[0] == "" && r.From == "quarantine" {
			row[0] = "(no mark)"
		}
		if row[1] == "" {
			row[1] = "(none)"
		}
		if r.DryRun {
			row[3] = ""
		}
		t.Rows = append(t.Rows, row)
	}
	t.Write(out)
}

// printExamples says of each group what is wrong with one of its messages: who decides about them wants to know.
func (r *Result) printExamples(out io.Writer, width int) {
	first := true
	for _, g := range r.Groups {
		if !r.DryRun || g.Reason == "" || g.Example == "" {
			continue
		}
		if first {
			fmt.Fprintln(out, "\none of each:")
			first = false
		}
		after := ": "
		if g.named {
			after = ", "
		}
		terminal.Wrap(out, "  - ", terminal.Escape(string(g.Reason)+after+g.Example), width)
	}
}

// shownRefused is how many of the refused messages a terminal shows.
const shownRefused = 10

func (r *Result) printRefused(out io.Writer, width int) {
	if len(r.Refused) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s refused by SQS, and stay where they are:\n", terminal.Count(len(r.Refused), "message"))
	for _, refused := range r.Refused[:min(len(r.Refused), shownRefused)] {
		terminal.Wrap(out, "  - ", terminal.Escape(refused.Error), width)
	}
	if more := len(r.Refused) - shownRefused; more > 0 {
		fmt.Fprintf(out, "  … and %d more (--json lists them)\n", more)
	}
}

// next says what to do now.
func (r *Result) next(out io.Writer) {
	if r.Again > 0 {
		fmt.Fprintf(out, "\nLeft: %s of what was moved. The consumer refused it again meanwhile, or it lay there twice.\n",
			terminal.Count(r.Again, "copy"))
	}
	switch {
	case r.Interrupted:
		fmt.Fprintln(out, "\nInterrupted. Nothing is lost: the same command goes on with the rest.")
	case r.StoppedAt > 0:
		fmt.Fprintf(out, "\nStopped after %d messages, the most that one run looks at. The same command goes on.\n", r.StoppedAt)
	case r.DryRun && r.Matching > 0 && r.Limit > 0 && r.Limit < r.Matching:
		fmt.Fprintf(out, "\nTo move %d of them, run the same command with --yes.\n", r.Limit)
	case r.DryRun && r.Matching > 0:
		fmt.Fprintln(out, "\nTo move them, run the same command with --yes.")
	case r.DryRun && r.Looked > 0:
		fmt.Fprintln(out, "\nNone matches, so --yes would move nothing.")
	case r.Looked > 0 && r.Matching == 0:
		fmt.Fprintln(out, "\nNone matches.")
	case !r.DryRun && r.Limit > 0 && r.Moved >= r.Limit:
		fmt.Fprintf(out, "\nThe limit of %d is reached. The same command goes on with the rest.\n", r.Limit)
	}
}
