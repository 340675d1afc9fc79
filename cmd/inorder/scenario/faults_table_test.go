package scenario

import (
	"fmt"
	"strings"
)

// A tally is how many plays there were, and how many ended as they must.
type tally struct{ tried, equal int }

func (c tally) String() string {
	switch {
	case c.tried == 0:
		return "·"
	case c.equal < c.tried:
		return fmt.Sprintf("%d/%d !", c.equal, c.tried)
	}
	return fmt.Sprint(c.tried)
}

// all is the name of what is added up: a column, or a row.
const all = "all"

// tableOf shows situations against mishaps. Where all plays of a cell ended equal it says how many there were.
func tableOf(situations []*situation, plantings []*planting) string {
	cells := map[[2]string]tally{}
	for _, p := range plantings {
		for _, place := range [][2]string{{p.of.name, p.mishap.column()}, {p.of.name, all}, {all, p.mishap.column()}, {all, all}} {
			c := cells[place]
			if c.tried++; p.wrong == "" {
				c.equal++
			}
			cells[place] = c
		}
	}
	columns := columnNames()
	rows := [][]string{header(columns, 0), header(columns, 1)}
	requests := 0
	for _, s := range situations {
		requests += len(s.undisturbed.requests)
		rows = append(rows, row(cells, s.name, len(s.undisturbed.requests), columns))
	}
	return aligned(append(rows, row(cells, all, requests, columns)))
}

// columnNames are the mishaps', in their order.
func columnNames() (names []string) {
	for _, m := range mishaps {
		if n := len(names); n == 0 || names[n-1] != m.column() {
			names = append(names, m.column())
		}
	}
	return append(names, all)
}

// header is one of two lines: what goes wrong, and below it whether before or after the request took effect.
func header(columns []string, line int) []string {
	texts := []string{[]string{"", "situation"}[line], []string{"", "requests"}[line]}
	for _, name := range columns {
		kind, when, twice := strings.Cut(name, "-")
		if !twice {
			kind, when = "", kind
		}
		texts = append(texts, []string{kind, when}[line])
	}
	return texts
}

func row(cells map[[2]string]tally, name string, requests int, columns []string) []string {
	texts := []string{name, fmt.Sprint(requests)}
	for _, column := range columns {
		texts = append(texts, cells[[2]string{name, column}].String())
	}
	return texts
}

// aligned puts what stands in the first column to the left, and everything else to the right.
func aligned(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	var text strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&text, "%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			fmt.Fprintf(&text, "  %*s", widths[i+1], cell)
		}
		text.WriteString("\n")
	}
	return text.String()
}
