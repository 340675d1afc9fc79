package report

import (
	"fmt"
	"strings"
)

// Plot is a timeline as a picture: from left to right the arrivals in the order of their times, from bottom to top the producer's order. Had nothing
// been overtaken the marks would lie on a rising line.
type Plot struct {
	Marks        []Mark
	Waits        []Wait
	Ticks        []Tick
	Line         string // where the entity stands, in a box of 1000 by Height that is stretched
	Height       int    // pixels
	Top, Bottom  int    // where the highest and the first number lie
	Highest      int
	Dispositions []string // those that occur, for the key
	Summary      string   // what a reader who does not see the picture should know
}

// Mark is one arrival.
type Mark struct {
	X, Title, Disposition string
	Label                 string // where there is room for it
	Y                     int
}

// Wait is how long an arrival was parked.
type Wait struct {
	From, To string
	Y        int
}

const (
	plotRoom   = 10 // pixels above the highest and below the first number
	plotHeight = 190
	fewTicks   = 5 // so many labels of the axis fit on a phone
	fewMarks   = 6 // and so many of the marks
)

// Plot lays the timeline out.
func (t *Timeline) Plot() Plot {
	highest := 1
	for _, a := range t.Arrivals {
		highest = max(highest, a.Number, a.Reached)
	}
	step := min(24, max(4, plotHeight/highest))
	room, labels := plotRoom, len(t.Arrivals) <= fewMarks
	if labels {
		step, room = 30, 24
	}
	p := Plot{Height: room + plotRoom + highest*step, Highest: highest, Top: room}
	y := func(number int) int { return room + (highest-number)*step }
	p.Bottom = y(1)
	seen := map[string]bool{}
	for i, a := range t.Arrivals {
		mark := Mark{X: t.x(i), Y: y(a.Number), Disposition: a.Disposition, Title: a.title(t)}
		if labels {
			mark.Label = a.Label
		}
		p.Marks = append(p.Marks, mark)
		if a.Drained > i+1 {
			p.Waits = append(p.Waits, Wait{From: t.x(i), To: t.x(a.Drained - 1), Y: y(a.Number)})
		}
		if !seen[a.Disposition] {
			seen[a.Disposition] = true
			p.Dispositions = append(p.Dispositions, a.Disposition)
		}
	}
	p.Line = t.line(y)
	p.Ticks = t.ticks()
	p.Summary = fmt.Sprintf("%d arrivals of %d numbers, %d of them parked on arrival", len(t.Arrivals), highest, len(p.Waits))
	return p
}

func (a *Arrival) title(t *Timeline) string {
	s := fmt.Sprintf("%s: %s, number %d: %s", clockTime(a.At), a.What, a.Number, a.Disposition)
	if a.Drained > 0 && a.Drained <= len(t.Arrivals) {
		s += ", took effect at " + clockTime(t.Arrivals[a.Drained-1].At)
	}
	return s
}

// x is the middle of the place of arrival i.
func (t *Timeline) x(i int) string {
	return percent((float64(i) + 0.5) / float64(len(t.Arrivals)) * 100)
}

// line steps up with the entity, half a place before each arrival that moved it.
func (t *Timeline) line(y func(int) int) string {
	var path strings.Builder
	for i, a := range t.Arrivals {
		x := (float64(i) + 0.5) / float64(len(t.Arrivals)) * 1000
		if i == 0 {
			fmt.Fprintf(&path, "M%.1f %dV%d", x, y(0), y(a.Reached))
			continue
		}
		fmt.Fprintf(&path, "H%.1fV%d", x, y(a.Reached))
	}
	return path.String() + "H1000"
}

// ticks label the times of a few arrivals; all where there are few.
func (t *Timeline) ticks() []Tick {
	n := len(t.Arrivals)
	if n == 0 {
		return nil
	}
	every := max(1, (n+fewTicks-1)/fewTicks)
	var out []Tick
	for i := 0; i < n; i += every {
		out = append(out, Tick{X: t.x(i), Label: dayTime(t.Arrivals[0].At, t.Arrivals[i].At)})
	}
	return out
}
