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

// Area is a number of events over time: an outline in a box of 1000 by columnHeight that is stretched.
type Area struct {
	Path   string
	Most   int
	From   string
	To     string
	Hours  []Tick
	Levels []Level
	Open   []Part // when lost events were missing: it is darker where several were at once
}

// ParkedArea is the parked events over the day, as it was.
func (r *Report) ParkedArea() Area {
	a := area(r.Parked)
	if len(r.Parked) == 0 {
		return a
	}
	first, last := r.Parked[0].At, r.Parked[len(r.Parked)-1].At
	span := max(last.Sub(first), time.Nanosecond)
	for _, l := range r.Healing.Losses {
		from, to := 100*share(l.LostAt.Sub(first), span), 100*share(l.end().Sub(first), span)
		if from, to = max(from, 0), min(to, 100); to > from {
			a.Open = append(a.Open, Part{Class: "open", From: percent(from), Length: percent(to - from)})
		}
	}
	return a
}

// UnhealedArea is the same had nobody asked for what was missing.
func (r *Report) UnhealedArea() Area { return area(r.Healing.Unhealed) }

func area(levels []Level) Area {
	if len(levels) == 0 {
		return Area{}
	}
	first, last := levels[0].At, levels[len(levels)-1].At
	span, most := max(last.Sub(first), time.Nanosecond), 0
	for _, l := range levels {
		most = max(most, l.N)
	}
	var path strings.Builder
	fmt.Fprintf(&path, "M0 %d", columnHeight)
	for _, l := range levels {
		fmt.Fprintf(&path, "H%.1fV%.1f", 1000*share(l.At.Sub(first), span), columnHeight-float64(l.N)/float64(max(most, 1))*columnHeight)
	}
	fmt.Fprintf(&path, "H1000V%dZ", columnHeight)
	return Area{
		Path: path.String(), Most: most, From: dayTime(first, first), To: dayTime(first, last), Hours: hours(first, last), Levels: levels,
	}
}

// Tick is a place on an axis.
type Tick struct{ X, Label string }

// hours are the ticks of a time axis: full hours, as many as fit on a phone.
func hours(first, last time.Time) []Tick {
	span := last.Sub(first)
	step := time.Hour
	for step < span/6 {
		step += time.Hour
	}
	var out []Tick
	for t := first.Truncate(step).Add(step); t.Before(last); t = t.Add(step) {
		at := 100 * share(t.Sub(first), span)
		if at < 4 || at > 96 {
			continue // the label would leave the plot
		}
		out = append(out, Tick{X: percent(at), Label: dayTime(first, t)})
	}
	return out
}

// dayTime is a time on the axis of a day, which goes on after midnight: an axis that starts again at 0 seems to run
// backwards.
func dayTime(first, t time.Time) string {
	midnight := first.UTC().Truncate(24 * time.Hour)
	if past := t.Sub(midnight); past >= 24*time.Hour {
		return fmt.Sprintf("%d:%02d", past/time.Hour, past/time.Minute%60)
	}
	return t.UTC().Format("15:04")
}

func percent(p float64) string { return fmt.Sprintf("%.2f%%", p) }
