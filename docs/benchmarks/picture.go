package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-analyze/charts"
)

// A panel's size, and how many stand side by side.
const (
	panelWidth  = 460
	panelHeight = 280
	panelsInRow = 2
)

// themes are the two pictures: the page shows the one that the reader's browser prefers.
var themes = map[string]string{"light": charts.ThemeLight, "dark": charts.ThemeDark}

// drawAll writes the pictures, one panel for each chart.
func drawAll(folder string, all results) error {
	for name, theme := range themes {
		svg, err := draw(all, charts.GetTheme(theme))
		if err != nil {
			return fmt.Errorf("draw the picture: %w", err)
		}
		if err := os.WriteFile(filepath.Join(folder, "docs", "benchmarks", name+".svg"), svg, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func draw(all results, theme charts.ColorPalette) ([]byte, error) {
	var panels []chart
	for _, r := range all.Parts {
		panels = append(panels, r.Charts...)
	}
	rows := (len(panels) + panelsInRow - 1) / panelsInRow
	whole := charts.NewPainter(charts.PainterOptions{
		OutputFormat: charts.ChartOutputSVG, Width: panelsInRow * panelWidth, Height: max(rows, 1) * panelHeight, Theme: theme,
	})
	whole.FilledRect(0, 0, whole.Width(), whole.Height(), theme.GetBackgroundColor(), theme.GetBackgroundColor(), 0)
	for i, c := range panels {
		left, top := i%panelsInRow*panelWidth, i/panelsInRow*panelHeight
		box := charts.NewBox(left, top, left+panelWidth, top+panelHeight)
		if err := c.draw(whole.Child(charts.PainterBoxOption(box)), theme); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return whole.Bytes()
}

func (c chart) draw(p *charts.Painter, theme charts.ColorPalette) error {
	var values [][]float64
	var names []string
	for _, s := range c.Series {
		values, names = append(values, s.Values), append(names, s.Name)
	}
	title := charts.TitleOption{Text: c.Name, FontStyle: charts.FontStyle{FontSize: 12}}
	legend := charts.LegendOption{SeriesNames: names, Offset: charts.OffsetStr{Top: "24"}, FontStyle: charts.FontStyle{FontSize: 9}}
	if len(c.Series) == 1 {
		return p.BarChart(c.bars(title, theme))
	}
	lines := charts.NewLineChartOptionWithData(values)
	lines.Theme, lines.Title, lines.Legend, lines.ValueFormatter = theme, title, legend, short
	lines.XAxis.Labels = c.X
	lines.YAxis[0].Min = charts.Ptr(0.0)
	return p.LineChart(lines)
}

// bars are of one series, with their values beside them. The library draws the last one on top.
func (c chart) bars(title charts.TitleOption, theme charts.ColorPalette) charts.BarChartOption {
	values, labels := slices.Clone(c.Series[0].Values), slices.Clone(c.X)
	slices.Reverse(values)
	slices.Reverse(labels)
	bars := charts.NewBarChartOptionWithData([][]float64{values})
	bars.Horizontal, bars.Theme, bars.Title, bars.ValueFormatter = true, theme, title, short
	bars.Legend.Show = charts.Ptr(false)
	bars.CategoryAxis.Labels = labels
	bars.CategoryAxis.LabelFontStyle.FontSize = 8
	bars.ValueAxis[0].Min, bars.ValueAxis[0].Show = charts.Ptr(0.0), charts.Ptr(false)
	for i := range bars.SeriesList {
		bars.SeriesList[i].Label = charts.SeriesLabel{Show: charts.Ptr(true), ValueFormatter: short}
	}
	return bars
}
