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

	// What happens where the table would not fit, by the titles of columns: first one is left out, then one is printed
	// below each row, and then all are cut where they are widest, but for those to keep.
	LeaveOut string
	Below    string
	Keep     []string
}

const columnGap = 2

// narrowest is what a column may be shortened to: enough to recognise an id by its beginning.
const narrowest = 8

// Write prints the table, without the columns that are empty in all rows.
func (t Table) Write(w io.Writer) {
	titles := slices.DeleteFunc(slices.Clone(t.Titles), t.isEmpty)
	rows := t.only(titles)
	var below [][]string
	for _, column := range []string{t.LeaveOut, t.Below} {
		at := slices.Index(titles, column)
		if t.Width == 0 || total(t.Indent, widthsOf(rows)) <= t.Width || at < 0 {
			continue
		}
		if column == t.Below {
			below = t.only(titles[at : at+1])
		}
		titles = slices.Delete(slices.Clone(titles), at, at+1)
		rows = t.only(titles)
	}
	if len(titles) == 0 {
		return
	}
	widths := widthsOf(rows)
	t.shrink(titles, widths)
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			cell = Fit(cell, widths[i])
			line.WriteString(cell + strings.Repeat(" ", widths[i]-Columns(cell)+columnGap))
		}
		fmt.Fprintln(w, t.Indent+strings.TrimRight(line.String(), " "))
		if n > 0 && below != nil && below[n][0] != "" {
			Wrap(w, t.Indent+noteIndent, below[n][0], t.Width)
		}
	}
}

const noteIndent = "    "

func (t Table) isEmpty(title string) bool {
	i := slices.Index(t.Titles, title)
	return !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != "" })
}

// only is the escaped cells, the titles first, of some columns.
func (t Table) only(titles []string) [][]string {
	rows := make([][]string, len(t.Rows)+1)
	for _, title := range titles {
		i := slices.Index(t.Titles, title)
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

func total(indent string, widths []int) int {
	sum := Columns(indent) + columnGap*(len(widths)-1)
	for _, width := range widths {
		sum += width
	}
	return sum
}

// shrink takes from the widest column, again and again, until the table fits or nothing can be taken; from those to keep
// only when nothing is left to be taken from the others.
func (t Table) shrink(titles []string, widths []int) {
	if t.Width == 0 {
		return
	}
	kept := func(i int) bool { return slices.Contains(t.Keep, titles[i]) }
	for over := total(t.Indent, widths) - t.Width; over > 0; over-- {
		i := widest(widths, func(i int) bool { return !kept(i) })
		if i < 0 {
			i = widest(widths, kept)
		}
		if i < 0 {
			return
		}
		widths[i]--
	}
}

// widest is the widest of some columns that can be cut, -1 where none can.
func widest(widths []int, among func(int) bool) int {
	found := -1
	for i, width := range widths {
		if width > narrowest && among(i) && (found < 0 || width > widths[found]) {
			found = i
		}
	}
	return found
}
