package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Table is rows of text in columns. Strangers' text in its cells is escaped when it is written.
type Table struct {
	Titles []string
	Rows   [][]string // each as long as Titles
	Notes  []string   // where there are any: one for each row, printed below it where it is not empty
	Width  int        // of the terminal; 0: nothing is shortened
	Indent string     // before each line

	// LeaveOut is the title of a column that is left out where the table would not fit.
	LeaveOut string
}

const columnGap = 2

// narrowest is what a column may be shortened to: enough to recognise an id by its beginning.
const narrowest = 8

// Write prints the table, without the columns that are empty in all rows. What does not fit is cut where it is widest.
func (t Table) Write(w io.Writer) {
	rows := t.used(t.Titles)
	widths := widthsOf(rows)
	if t.Width > 0 && t.total(widths) > t.Width && slices.Contains(t.Titles, t.LeaveOut) {
		rows = t.used(slices.DeleteFunc(slices.Clone(t.Titles), func(title string) bool { return title == t.LeaveOut }))
		widths = widthsOf(rows)
	}
	if len(widths) == 0 {
		return
	}
	if t.Width > 0 {
		t.shrink(widths)
	}
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			cell = Fit(cell, widths[i])
			line.WriteString(cell + strings.Repeat(" ", widths[i]-Columns(cell)+columnGap))
		}
		fmt.Fprintln(w, t.Indent+strings.TrimRight(line.String(), " "))
		if n > 0 && len(t.Notes) > 0 && t.Notes[n-1] != "" {
			Wrap(w, t.Indent+noteIndent, Escape(t.Notes[n-1]), t.Width)
		}
	}
}

const noteIndent = "    "

// used is the escaped cells, the titles first, of those columns that have any.
func (t Table) used(titles []string) [][]string {
	rows := make([][]string, len(t.Rows)+1)
	for i, title := range t.Titles {
		if !slices.Contains(titles, title) || !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != "" }) {
			continue
		}
		rows[0] = append(rows[0], title)
		for n, row := range t.Rows {
			rows[n+1] = append(rows[n+1], Escape(row[i]))
		}
	}
	return rows
}

func widthsOf(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], Columns(cell))
		}
	}
	return widths
}

func (t Table) total(widths []int) int {
	total := Columns(t.Indent) + columnGap*(len(widths)-1)
	for _, width := range widths {
		total += width
	}
	return total
}

// shrink takes from the widest column, again and again, until the table fits or nothing can be taken.
func (t Table) shrink(widths []int) {
	for total := t.total(widths); total > t.Width; total-- {
		widest := 0
		for i, width := range widths {
			if width > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= narrowest {
			return
		}
		widths[widest]--
	}
}
