package run

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

func (p printer) lines(title string, all []string) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(p.out, "%s:\n", title)
	shown, left := p.some(len(all))
	for _, line := range all[:shown] {
		fmt.Fprintln(p.out, p.fit("  "+strings.Map(inCell, line)))
	}
	p.leftOut(left)
	fmt.Fprintln(p.out)
}

// table prints rows in columns. Columns that are empty in all rows are left out.
func (p printer) table(rows [][]string, titles ...string) {
	if len(rows) == 0 {
		return
	}
	used := slices.Collect(usedColumns(rows, len(titles)))
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	shown, left := p.some(len(rows))
	for _, row := range append([][]string{titles}, rows[:shown]...) {
		cells := make([]string, len(used))
		for i, column := range used {
			if cells[i] = cell(row[column], maxCell); column == len(titles)-1 {
				cells[i] = cell(row[column], maxLastCell)
			}
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush() // into memory
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(p.out, p.fit(strings.TrimRight(line, " \n")))
	}
	p.leftOut(left)
	fmt.Fprintln(p.out)
}

func usedColumns(rows [][]string, columns int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for column := range columns {
			if slices.ContainsFunc(rows, func(row []string) bool { return row[column] != "" }) && !yield(column) {
				return
			}
		}
	}
}

// The most that a table shows of one value; the last column pushes no other aside.
const (
	maxCell     = 50
	maxLastCell = 400
)

func cell(text string, most int) string {
	text = strings.Map(inCell, text)
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// inCell keeps what a message brought from breaking the table, or the terminal.
func inCell(r rune) rune {
	if r < ' ' || r == 0x7f || r == utf8.RuneError {
		return '·'
	}
	return r
}

func (p printer) some(n int) (shown, left int) {
	if p.width > 0 && n > maxTerminalLines {
		return maxTerminalLines, n - maxTerminalLines
	}
	return n, 0
}

func (p printer) leftOut(n int) {
	if n > 0 {
		fmt.Fprintf(p.out, "… and %d more (all of them with --json, or into a file)\n", n)
	}
}

// fit cuts a line at the terminal's edge.
func (p printer) fit(line string) string {
	if p.width == 0 || utf8.RuneCountInString(line) <= p.width {
		return line
	}
	return string([]rune(line)[:max(p.width-1, 1)]) + "…"
}
