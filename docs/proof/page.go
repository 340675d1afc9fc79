package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

const page = "docs/proof.md"

// table is what there is to see at the end: for a terminal, or as Markdown with the commands.
func table(results []result, markdown bool) string {
	var b strings.Builder
	if markdown {
		b.WriteString("| proof | what holds | what was done | time |\n| --- | --- | --- | --- |\n")
	}
	for _, r := range results {
		word := ""
		if !r.Held {
			word = "FAILED: "
		}
		if markdown {
			figures := strings.ReplaceAll(strings.Join(r.Figures, "<br>"), "|", `\|`) // or it would be another column
			fmt.Fprintf(&b, "| %s | %s%s | %s | %s |\n", r.Name, word, r.Holds, figures, lasted(r.Seconds))
			continue
		}
		mark := "held  "
		if !r.Held {
			mark = "FAILED"
		}
		fmt.Fprintf(&b, "%s  %-28s %8s  %s\n", mark, r.Name, lasted(r.Seconds), strings.Join(r.Figures, "\n"+strings.Repeat(" ", 48)))
	}
	return b.String()
}

// held reports whether all that was to be run was, and held.
func held(results []result, wanted int) bool {
	for _, r := range results {
		if !r.Held {
			return false
		}
	}
	return len(results) == wanted
}

// writePage writes docs/proof.md, of a run that failed, too: it tells what is there.
func writePage(commit string, results []result) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# Proof

What people who trust this with money can run themselves. `+"`make prove`"+` writes this page and exits with 1 when a line of it
fails; `+"`make test`"+` has a short form of each. This run: commit %s, %s, %d cores, %s, ended on %s.

`, commit, runtime.GOOS+"/"+runtime.GOARCH, runtime.NumCPU(), runtime.Version(), time.Now().UTC().Format(time.DateOnly))
	b.WriteString(table(results, true))
	b.WriteString("\n## The commands\n\n`make prove` also names the engines and the local cloud to them, by variables; without those some tests are skipped.\n\n```sh\n")
	for _, r := range results {
		fmt.Fprintf(&b, "%s # %s\n", r.Command, r.Name)
	}
	b.WriteString("```\n")
	return os.WriteFile(page, []byte(b.String()), 0o644)
}
