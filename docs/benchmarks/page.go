package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What is between the markers is this program's.
const (
	pageBegin = "<!-- results: what `make bench` measured; it writes this anew -->\n"
	pageEnd   = "<!-- end of results -->\n"
)

var (
	resultsFile = filepath.Join("docs", "benchmarks", "results.json")
	pageFile    = filepath.Join("docs", "benchmarks.md")
)

// update puts new results in the place of older ones and makes page and pictures of all.
func update(folder string, measured []result) error {
	all, err := readResults(folder)
	if err != nil {
		return err
	}
	all.replace(measured)
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, resultsFile), append(text, '\n'), 0o644); err != nil {
		return err
	}
	if err := rewritePage(folder, all); err != nil {
		return err
	}
	return drawAll(folder, all)
}

func readResults(folder string) (all results, err error) {
	text, err := os.ReadFile(filepath.Join(folder, resultsFile))
	if errors.Is(err, os.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	return all, err
}

// replace keeps the order of the parts.
func (all *results) replace(measured []result) {
	for _, r := range measured {
		all.Parts = slices.DeleteFunc(all.Parts, func(old result) bool { return old.Part == r.Part })
	}
	all.Parts = append(all.Parts, measured...)
	order := names()
	slices.SortStableFunc(all.Parts, func(a, b result) int { return slices.Index(order, a.Part) - slices.Index(order, b.Part) })
}

func rewritePage(folder string, all results) error {
	name := filepath.Join(folder, pageFile)
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	page, err := between(string(text), render(all))
	if err != nil {
		return fmt.Errorf("%s: %w", pageFile, err)
	}
	return os.WriteFile(name, []byte(page), 0o644)
}

// between puts text in the place of what is between the markers.
func between(page, text string) (string, error) {
	before, rest, begins := strings.Cut(page, pageBegin)
	_, after, ends := strings.Cut(rest, pageEnd)
	if !begins || !ends {
		return "", errors.New("the two lines are missing between which the results stand")
	}
	return before + pageBegin + text + pageEnd + after, nil
}

// render is all that was measured, the goals first.
func render(all results) string {
	var out strings.Builder
	if len(all.Parts) == 0 {
		return ""
	}
	common := all.Parts[0].measured()
	out.WriteString(common)
	renderGoals(&out, all)
	for _, r := range all.Parts {
		renderTables(&out, r)
		if how := r.measured(); how != common {
			out.WriteString(how)
		}
	}
	out.WriteString("\n")
	return out.String()
}

// measured says when and on what.
func (r result) measured() string {
	text := fmt.Sprintf("\nMeasured on %s on this machine: %s.", r.Date, r.On)
	for _, more := range []string{r.Size, r.Note} {
		if more != "" {
			text += " " + strings.ToUpper(more[:1]) + more[1:] + "."
		}
	}
	return text + "\n"
}

// renderGoals lists the goals, and below why some are not met, each reason once.
func renderGoals(out *strings.Builder, all results) {
	head := []string{"what", "", "goal", "measured", "rounds", ""}
	out.WriteString("\n## Goals\n\n" + row(head) + strings.Repeat("| --- ", len(head)) + "|\n")
	var reasons []string
	for _, r := range all.Parts {
		for _, g := range r.Goals {
			verdict := g.Verdict
			if g.WhyNot != "" {
				at := slices.Index(reasons, g.WhyNot)
				if at < 0 {
					at = len(reasons)
					reasons = append(reasons, g.WhyNot)
				}
				verdict += fmt.Sprintf(" (%d)", at+1)
			}
			out.WriteString(row([]string{g.What, g.Of, g.Want, g.Got, g.Spread, verdict}))
		}
	}
	if len(reasons) > 0 {
		out.WriteString("\nWhy some are not met:\n\n")
	}
	for i, reason := range reasons {
		fmt.Fprintf(out, "%d. %s.\n", i+1, reason)
	}
}

func renderTables(out *strings.Builder, r result) {
	for _, t := range r.Tables {
		fmt.Fprintf(out, "\n## %s\n\n", t.Title)
		if t.Text != "" {
			out.WriteString(t.Text + "\n\n")
		}
		out.WriteString(row(t.Head) + strings.Repeat("| --- ", len(t.Head)) + "|\n")
		for _, cells := range t.Rows {
			out.WriteString(row(cells))
		}
	}
}

// show prints a result in the terminal.
func show(out io.Writer, r result) {
	var text strings.Builder
	renderTables(&text, r)
	for _, g := range r.Goals {
		fmt.Fprintf(&text, "\n%s, %s: %s, goal %s: %s", g.What, g.Of, g.Got, g.Want, strings.Trim(g.Verdict, "*"))
	}
	fmt.Fprintf(out, "%s\n\n", strings.TrimSpace(text.String()))
}
