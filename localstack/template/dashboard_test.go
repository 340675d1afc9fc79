package template

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// board is a dashboard's body: "Dashboard Body Structure and Syntax", Amazon CloudWatch API Reference.
type board struct {
	Start          string   `json:"start"`
	PeriodOverride string   `json:"periodOverride"`
	Widgets        []widget `json:"widgets"`
}

type widget struct {
	Type       string `json:"type"`
	X          int    `json:"x"`
	Y          int    `json:"y"`
	Width      int    `json:"width"`
	Height     int    `json:"height"`
	Properties graph  `json:"properties"`
}

type graph struct {
	Title       string          `json:"title"`
	Region      string          `json:"region"`
	View        string          `json:"view"`
	Stacked     bool            `json:"stacked"`
	Period      int             `json:"period"`
	Stat        string          `json:"stat"`
	YAxis       map[string]axis `json:"yAxis"`
	Annotations struct {
		Horizontal []struct {
			Label string  `json:"label"`
			Value float64 `json:"value"`
		} `json:"horizontal"`
	} `json:"annotations"`
	Metrics [][]json.RawMessage `json:"metrics"`
}

type axis struct {
	Min *float64 `json:"min"`
	Max *float64 `json:"max"`
}

// line is what stands behind a metric's names in a graph, or alone: then it is an expression.
type line struct {
	Expression string `json:"expression"`
	Label      string `json:"label"`
	ID         string `json:"id"`
	Stat       string `json:"stat"`
	YAxis      string `json:"yAxis"`
	Visible    *bool  `json:"visible"`
}

// plotted is a line of a graph with the metric that it shows; an expression shows none.
type plotted struct {
	line
	series
}

// boards are the bodies of a stack's dashboards. Names that the page does not have are refused.
func boards(s *Stack) (all []board, err error) {
	for _, r := range s.Types("AWS::CloudWatch::Dashboard") {
		var b board
		if err := strict(text(r.Properties["DashboardBody"]), &b); err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		all = append(all, b)
	}
	return all, nil
}

func strict(body string, into any) error {
	d := json.NewDecoder(strings.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func (w *watching) eachGraph(look func(s *Stack, g graph, lines []plotted, f *faults)) []string {
	return w.each(func(s *Stack, f *faults) {
		all, err := boards(s)
		if err != nil {
			f.add("%v", err)
		}
		for _, b := range all {
			for _, widget := range b.Widgets {
				lines, err := widget.Properties.lines()
				if err != nil {
					f.add("%q: %v", widget.Properties.Title, err)
				}
				look(s, widget.Properties, lines, f)
			}
		}
	})
}

// lines takes apart [namespace, metric, dimension, value, ..., {how}] and [{expression}].
func (g graph) lines() (all []plotted, err error) {
	for _, parts := range g.Metrics {
		var p plotted
		last := len(parts) - 1
		if err := strict(string(parts[last]), &p.line); err != nil {
			return nil, err
		}
		names := make([]string, last)
		for i := range names {
			if err := json.Unmarshal(parts[i], &names[i]); err != nil {
				return nil, err
			}
		}
		if (last == 0) != (p.Expression != "") || last%2 != 0 {
			return nil, fmt.Errorf("%v is neither a metric nor an expression", names)
		}
		if last > 0 {
			p.series = series{names[0], names[1], p.Stat, map[string]string{}}
			if p.stat == "" {
				p.stat = g.Stat
			}
			for i := 2; i < last; i += 2 {
				p.dimensions[names[i]] = names[i+1]
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// A dashboard is there unless it was not wanted, lies within its 24 columns without one widget on another, and each of its
// widgets is a titled graph of this region.
func checkDashboard(w *watching) []string {
	return w.each(func(s *Stack, f *faults) {
		all, err := boards(s)
		if err != nil {
			f.add("%v", err)
			return
		}
		wanted := s.Parameters["Dashboard"] == "yes"
		f.want("a dashboard", len(all) == 1, wanted)
		f.want("the output DashboardUrl", s.Outputs["DashboardUrl"] != nil, wanted)
		for _, b := range all {
			f.layout(b)
		}
	})
}

func (f *faults) layout(b board) {
	taken, titles := map[[2]int]string{}, map[string]bool{}
	for _, w := range b.Widgets {
		g := w.Properties
		if w.Type != "metric" || g.Title == "" || titles[g.Title] || g.Region != Region || g.View != "timeSeries" || g.Period%60 != 0 {
			f.add("%q: want a graph of its own title, of this region, over whole minutes", g.Title)
		}
		titles[g.Title] = true
		if w.Width < 1 || w.Height < 1 || w.X < 0 || w.X+w.Width > 24 {
			f.add("%q stands out of the 24 columns", g.Title)
		}
		for x := w.X; x < w.X+w.Width; x++ {
			for y := w.Y; y < w.Y+w.Height; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					f.add("%q lies on %q", g.Title, other)
				}
				taken[[2]int{x, y}] = g.Title
			}
		}
	}
}

// Each line of a graph is labelled, unless its metric's name says it, and shows a metric that there is; an expression names
// lines of its graph. A deployment without an outbox has graphs without lines, so all of this is asked of the full one.
func checkGraphs(w *watching) []string {
	return w.eachGraph(func(s *Stack, g graph, lines []plotted, f *faults) {
		ids := map[string]bool{}
		for _, p := range lines {
			ids[p.ID] = true
		}
		for _, p := range lines {
			f.wrongExpression(g.Title, p.Expression, ids)
			if p.Label == "" && p.namespace != w.code.namespace || p.Expression == "" && p.ID == "" && p.Visible != nil {
				f.add("%q: %s has no label, or is hidden and of no use", g.Title, p.series)
			}
			if err := w.wrongWith(s, p.series); p.Expression == "" && s.Parameters["Outbox"] == "own" && s.Parameters["EventsQueueArn"] == "" && err != nil {
				f.add("%q: %v", g.Title, err)
			}
		}
	})
}

// Every metric that the code writes is on the dashboard, and what becomes of the events is stacked, all of it.
func checkAllShown(w *watching) []string {
	shown := map[string]bool{}
	wrong := faults(w.eachGraph(func(_ *Stack, _ graph, lines []plotted, _ *faults) {
		for _, p := range lines {
			if p.namespace == w.code.namespace {
				shown[p.metric] = true
			}
		}
	}))
	for metric := range w.code.stats {
		if !shown[metric] {
			wrong.add("%s is not on the dashboard", metric)
		}
	}
	slices.Sort(wrong)
	return wrong
}
