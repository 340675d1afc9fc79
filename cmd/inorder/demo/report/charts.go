package report

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// The charts stretch with the page and their texts do not: what is horizontal is in percent of the plot, what is
// vertical in pixels. So they are as readable on a phone as on a desk.

// Bar is one bar of a chart: where it begins, how long it is, and what it says.
type Bar struct {
	Label, Value, Title, Class string
	At, Length                 string // percent of the plot
	Y                          int    // pixels
	Inside                     bool   // the value stands inside the bar, because it would leave the plot
}

// Bars is a chart of bars with its height.
type Bars struct {
	Bars   []Bar
	Height int
}

const (
	barStep  = 28 // pixels from one horizontal bar to the next
	textRoom = 80 // percent of the plot beyond which a value does not fit behind its bar
)

// DispositionBars are what became of the deliveries.
func (r *Report) DispositionBars() Bars {
	most := 1
	for _, c := range r.Dispositions {
		most = max(most, c.N)
	}
	var out Bars
	for _, c := range r.Dispositions {
		out.add(Bar{
			Label: c.Name, Value: Thousands(c.N), Class: "d-" + c.Name,
			Title: fmt.Sprintf("%s: %s deliveries (%s)", c.Name, Thousands(c.N), c.Means),
		}, float64(c.N)/float64(most))
	}
	return out
}

// WriteBars are the write units per event of each way.
func (r *Report) WriteBars() Bars {
	return r.costBars(func(c Cost) float64 { return r.perEvent(float64(max(c.WriteUnits, 0))) },
		func(c Cost) string { return r.units(c.WriteUnits) }, "write units per event")
}

// WrongBars are the entities that each way leaves in a wrong state.
func (r *Report) WrongBars() Bars {
	return r.costBars(func(c Cost) float64 { return float64(c.WrongEntities) },
		func(c Cost) string { return Thousands(c.WrongEntities) }, "entities in a wrong state")
}

func (r *Report) costBars(value func(Cost) float64, text func(Cost) string, unit string) Bars {
	most := math.SmallestNonzeroFloat64
	for _, c := range r.Costs {
		most = max(most, value(c))
	}
	var out Bars
	for _, c := range r.Costs {
		class := "theirs"
		if c.Ours {
			class = "ours"
		}
		out.add(Bar{
			Label: c.Name, Value: text(c), Class: class, Title: fmt.Sprintf("%s: %s %s", c.Name, text(c), unit),
		}, value(c)/most)
	}
	return out
}

func (b *Bars) add(bar Bar, part float64) {
	length := part * 100
	if length > 0 {
		length = max(length, 0.4) // what is there at all is seen
	}
	bar.At, bar.Length, bar.Y = percent(length), percent(length), b.Height
	bar.Inside = length > textRoom
	b.Bars = append(b.Bars, bar)
	b.Height += barStep
}

// columnHeight is the height of the plots with a vertical scale.
const columnHeight = 160

// Columns is the histogram of the reorder distances.
func (r *Report) Columns() []Column {
	most := 1
	for _, c := range r.Distances {
		most = max(most, c.N)
	}
	var out []Column
	width := 100 / float64(max(len(r.Distances), 1))
	for i, c := range r.Distances {
		height := c.N * columnHeight / most
		if c.N > 0 {
			height = max(height, 2)
		}
		out = append(out, Column{
			Label: c.Name, Value: Thousands(c.N), Title: fmt.Sprintf("distance %s: %s events", c.Name, Thousands(c.N)),
			X: percent((float64(i) + 0.12) * width), Middle: percent((float64(i) + 0.5) * width),
			Width: percent(0.76 * width), Y: columnHeight - height, Height: height,
		})
	}
	return out
}

// Column is one column of a histogram.
type Column struct {
	Label, Value, Title string
	X, Middle, Width    string // percent
	Y, Height           int    // pixels
}

// ParkedArea is the outline of the parked events over time, in a box of 1000 by columnHeight that is stretched.
func (r *Report) ParkedArea() string {
	if len(r.Parked) == 0 {
		return ""
	}
	first, last := r.Parked[0].At, r.Parked[len(r.Parked)-1].At
	span, most := max(last.Sub(first), time.Nanosecond), max(r.Most(), 1)
	var path strings.Builder
	fmt.Fprintf(&path, "M0 %d", columnHeight)
	for _, l := range r.Parked {
		x := float64(l.At.Sub(first)) / float64(span) * 1000
		y := columnHeight - float64(l.N)/float64(most)*columnHeight
		fmt.Fprintf(&path, "H%.1fV%.1f", x, y)
	}
	fmt.Fprintf(&path, "H1000V%dZ", columnHeight)
	return path.String()
}

// Tick is a place on an axis.
type Tick struct{ X, Label string }

// Hours are the ticks of the time axis: full hours, as many as fit on a phone.
func (r *Report) Hours() []Tick {
	if len(r.Parked) == 0 {
		return nil
	}
	first, last := r.Parked[0].At, r.Parked[len(r.Parked)-1].At
	span := last.Sub(first)
	step := time.Hour
	for step < span/6 {
		step += time.Hour
	}
	var out []Tick
	for t := first.Truncate(step).Add(step); t.Before(last); t = t.Add(step) {
		at := float64(t.Sub(first)) / float64(span) * 100
		if at < 4 || at > 96 {
			continue // the label would leave the plot
		}
		out = append(out, Tick{X: percent(at), Label: t.UTC().Format("15:04")})
	}
	return out
}

func percent(p float64) string { return fmt.Sprintf("%.2f%%", p) }
