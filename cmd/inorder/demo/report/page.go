package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// page is compiled once; a template that does not parse is found by the first test.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"thousands": Thousands,
	"clock":     clockTime,
	"minutes":   minutes,
	"moment":    moment,
	"style":     func() template.CSS { return template.CSS(pageStyle) },
	"plain":     func(s string) string { return strings.ReplaceAll(s, "_", " ") },
}).Parse(pageText))

// HTML writes the report as one page: style and charts are inside, nothing is fetched, nothing runs.
func (r *Report) HTML(w io.Writer) error {
	if err := page.Execute(w, r); err != nil {
		return fmt.Errorf("write the report page: %w", err)
	}
	return nil
}

// moment is a time of day, or a dash where there is none.
func moment(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return clockTime(t)
}

func clockTime(t time.Time) string { return t.UTC().Format("15:04:05") }

// Early is how many events arrived ahead of their entity.
func (r *Report) Early() int {
	n := 0
	for _, c := range r.Distances {
		n += c.N
	}
	return n
}

// PerEvent writes a cost spread over the events of the day.
func (r *Report) PerEvent(n int) string { return fmt.Sprintf("%.2f", r.perEvent(float64(n))) }

// UnitsPerEvent is PerEvent for capacity units.
func (r *Report) UnitsPerEvent(u Units) string { return r.units(u) }
