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

func clockTime(t time.Time) string { return t.UTC().Format("15:04:05") }

// Span is the time that the parked events are shown over.
func (r *Report) Span() [2]string {
	if len(r.Parked) == 0 {
		return [2]string{}
	}
	return [2]string{r.Parked[0].At.UTC().Format("15:04"), r.Parked[len(r.Parked)-1].At.UTC().Format("15:04")}
}

// Most is the highest number of events that were parked at once.
func (r *Report) Most() int {
	most := 0
	for _, l := range r.Parked {
		most = max(most, l.N)
	}
	return most
}

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
