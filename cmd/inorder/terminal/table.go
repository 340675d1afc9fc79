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
	Width  int        // of the terminal; 0: nothing is shortened
	Indent string     // before each line
}

const columnGap = 2

// narrowest is what a column may be shortened to: enough to recognise an id by its beginning.
const narrowest = 8

// Write prints the table, without the columns that are empty in all rows. What does not fit is cut where it is widest.
func (t Table) Write(w io.Writer) {
	rows := t.used()
	if len(rows[0]) == 0 {
		return
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], Columns(cell))
		}
	}
	if t.Width > 0 {
		t.shrink(widths)
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			cell = Fit(cell, widths[i])
			line.WriteString(cell + strings.Repeat(" ", widths[i]-Columns(cell)+columnGap))
		}
		fmt.Fprintln(w, t.Indent+strings.TrimRight(line.String(), " "))
	}
}

// used is the escaped cells, the titles first, of the columns that have any.
func (t Table) used() [][]string {
	rows := make([][]string, len(t.Rows)+1)
	for i, title := range t.Titles {
		if !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != "" }) {
			continue
		}
		rows[0] = append(rows[0], title)
		for n, row := range t.Rows {
			rows[n+1] = append(rows[n+1], Escape(row[i]))
		}
	}
	return rows
}

// shrink takes from the widest column, again and again, until the table fits or nothing can be taken.
func (t Table) shrink(widths []int) {
	total := Columns(t.Indent) + columnGap*(len(widths)-1)
	for _, width := range widths {
		total += width
	}
	for ; total > t.Width; total-- {
		widest := 0
		for i, width := range widths {
			if width > widths[widest] {
				widest = i
			}
		}
		if len(widths) == 0 || widths[widest] <= narrowest {
			return
		}
		widths[widest]--
	}
}
