package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Strip shows the way of each lost event from its loss to its heal: a bar for each, all beginning at their loss.
type Strip struct {
	Groups []Group
	Ticks  []Tick // minutes since the loss
	Height int
	Most   string // the longest way
	Left   int    // how many are not shown, because one could not tell so many apart
}

// Group is the losses that came to light in one way.
type Group struct {
	Label string
	Y     int // of the label
	Ways  []Way
}

// Way is one lost event's.
type Way struct {
	Title string
	Y     int
	Parts []Part
	End   string // where it was there; empty: nowhere
}

// Part is one phase of a way.
type Part struct{ Class, From, Length string }

const (
	wayStep     = 8  // pixels from one bar to the next
	groupRoom   = 26 // pixels above the first bar of a group, for its label
	mostWays    = 90
	fewestTicks = 4
)

// Strip lays the losses out, group by group, the longest way last.
func (h *Healing) Strip() Strip {
	shown, left := h.shown()
	longest := time.Minute
	for _, l := range shown {
		longest = max(longest, l.end().Sub(l.LostAt))
	}
	s := Strip{Left: left, Most: minutes(longest)}
	for _, g := range []struct {
		label string
		is    func(Loss) bool
	}{
		{"a later event showed the gap", func(l Loss) bool { return l.Healed == SentAgain && !l.ByMark }},
		{"only a mark could show it", func(l Loss) bool { return l.Healed == SentAgain && l.ByMark }},
		{"newer state made it needless", func(l Loss) bool { return l.Healed == Outdated }},
		{"still missing", func(l Loss) bool { return l.Healed == "" }},
	} {
		var ways []Loss
		for _, l := range shown {
			if g.is(l) {
				ways = append(ways, l)
			}
		}
		if len(ways) > 0 {
			s.add(fmt.Sprintf("%s (%d)", g.label, h.count(g.is)), ways, longest)
		}
	}
	s.Ticks = minuteTicks(longest)
	return s
}

// shown is a part of the losses where there are very many: evenly from the shortest way to the longest.
func (h *Healing) shown() (part []Loss, left int) {
	all := slices.Clone(h.Losses)
	slices.SortStableFunc(all, func(a, b Loss) int { return cmp.Compare(a.end().Sub(a.LostAt), b.end().Sub(b.LostAt)) })
	if len(all) <= mostWays {
		return all, 0
	}
	for i := range mostWays {
		part = append(part, all[i*(len(all)-1)/(mostWays-1)])
	}
	return part, len(all) - mostWays
}

func (s *Strip) add(label string, ways []Loss, longest time.Duration) {
	g := Group{Label: label, Y: s.Height + groupRoom - 10}
	s.Height += groupRoom
	for _, l := range ways {
		w := Way{Title: l.title(), Y: s.Height, Parts: l.parts(longest)}
		if l.Healed != "" {
			w.End = percent(100 * share(l.HealedAt.Sub(l.LostAt), longest))
		}
		g.Ways = append(g.Ways, w)
		s.Height += wayStep
	}
	s.Height += wayStep / 2
	s.Groups = append(s.Groups, g)
}

// end is when a loss was made good; of one that is still missing the last that is known of it.
func (l *Loss) end() time.Time {
	end := l.HealedAt
	for _, at := range []time.Time{l.LostAt, l.SeenAt, l.AskedAt} {
		if l.Healed == "" && at.After(end) {
			end = at
		}
	}
	return end
}

// parts are the phases in their order; one that never began is left out.
func (l *Loss) parts(longest time.Duration) []Part {
	var out []Part
	from, class := l.LostAt, "unseen"
	step := func(to time.Time, next string) {
		if to.IsZero() {
			return
		}
		if to.After(from) {
			out = append(out, Part{
				Class: class, From: percent(100 * share(from.Sub(l.LostAt), longest)), Length: percent(100 * share(to.Sub(from), longest)),
			})
			from = to
		}
		class = next
	}
	if l.Healed != Outdated {
		step(l.SeenAt, "seen")
		step(l.AskedAt, "asked")
	}
	step(l.end(), "")
	return out
}

func (l *Loss) title() string {
	s := fmt.Sprintf("%s %s, number %d: lost %s", l.Stream, l.Entity, l.Number, clockTime(l.LostAt))
	if !l.SeenAt.IsZero() && l.Healed != Outdated {
		s += ", seen missing " + clockTime(l.SeenAt)
	}
	if l.Asked > 0 {
		s += ", asked for " + clockTime(l.AskedAt)
	}
	if l.Asked > 1 {
		s += fmt.Sprintf(" (%d times)", l.Asked)
	}
	switch l.Healed {
	case SentAgain:
		s += ", there " + clockTime(l.HealedAt)
	case Outdated:
		s += ", outdated by newer state " + clockTime(l.HealedAt)
	default:
		s += ", still missing"
	}
	return s
}

func share(part, whole time.Duration) float64 { return float64(part) / float64(whole) }

// minuteTicks are full minutes, few enough for a phone.
func minuteTicks(longest time.Duration) []Tick {
	step := time.Minute
	for _, minutes := range []time.Duration{1, 2, 5, 10, 15, 30, 60, 120} {
		if step = minutes * time.Minute; longest/step <= fewestTicks+1 {
			break
		}
	}
	var out []Tick
	for t := step; t <= longest; t += step {
		if at := 100 * share(t, longest); at < 96 {
			out = append(out, Tick{X: percent(at), Label: fmt.Sprintf("%d min", t/time.Minute)})
		}
	}
	return out
}

// minutes writes a time span as min:s, with hours where there are some.
func minutes(d time.Duration) string {
	d = d.Round(time.Second)
	if d >= time.Hour {
		return fmt.Sprintf("%d:%02d:%02d", d/time.Hour, d/time.Minute%60, d/time.Second%60)
	}
	return fmt.Sprintf("%d:%02d", d/time.Minute, d/time.Second%60)
}
