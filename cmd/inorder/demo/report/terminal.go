package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
)

// barWidth is the longest bar in a terminal: with label and number a line stays below 80 columns.
const barWidth = 36

// Text writes the report for a terminal.
func (r *Report) Text(w io.Writer, colour bool) error {
	p := &paper{colour: colour}
	p.verdict(r)
	p.healing(r)
	p.dispositions(r)
	p.costs(r)
	p.line("")
	p.line("Play it again: %s", r.Replay)
	_, err := w.Write(p.Bytes())
	return err
}

// paper is what a terminal gets.
type paper struct {
	bytes.Buffer
	colour bool
}

func (p *paper) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// The few colours that mean something; everything is readable without them.
const (
	green = "32"
	red   = "31"
	faint = "2"
	bold  = "1"
)

func (p *paper) in(style, text string) string {
	if !p.colour {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

func (p *paper) verdict(r *Report) {
	p.line("%s", p.in(faint, fmt.Sprintf("%s · seed %d · %s · %d workers", r.Title, r.Seed, r.Engine, r.Workers)))
	if r.Note != "" {
		p.line("%s", r.Note)
	}
	p.line("%s events: %s lost on their way, %s sent twice; and %s poisoned messages.",
		Thousands(r.Day.Events), Thousands(r.Day.Lost), Thousands(r.Day.Copies), Thousands(r.Day.Poison))
	p.line("%s deliveries, in any order; %s of %s invocations died on them; %.1f s.",
		Thousands(r.Play.Deliveries), Thousands(r.Play.Crashes), Thousands(r.Play.Invocations), r.Play.Seconds)
	p.line("")
	if r.Right() {
		p.line("%s", p.in(bold+";"+green, "Everything is right."))
	} else {
		p.line("%s", p.in(bold+";"+red, "Something is wrong."))
	}
	for _, c := range r.Checks {
		p.check(c)
	}
}

func (p *paper) check(c Check) {
	if c.Right {
		p.line("  %s %s", p.in(green, "✔"), c.Name)
		return
	}
	p.line("  %s %s", p.in(red, "✘"), c.Name)
	for _, w := range c.Wrong {
		p.line("      %s", w)
	}
	if c.More > 0 {
		p.line("      and %d more", c.More)
	}
}

// healing tells how long lost events were missing, and why. Numbers stand under each other.
func (p *paper) healing(r *Report) {
	h := &r.Healing
	if h.Count(SentAgain) == 0 {
		return
	}
	p.line("")
	p.line("%s%s", p.in(bold, fmt.Sprintf("%-53s", "How long the lost were missing (min:s, demo's clock)")),
		p.in(faint, fmt.Sprintf("%8s%8s%8s", "p50", "p99", "max")))
	for i, phase := range h.Phases() {
		name := fmt.Sprintf("%-51s", phase.Name)
		if i == len(h.Phases())-1 {
			name = p.in(bold, name)
		}
		p.line("  %s %7s %7s %7s", name, minutes(phase.P50), minutes(phase.P99), minutes(phase.Max))
	}
	p.line("  %s showed by what came after them, %s by a mark alone; %s were lost once more.",
		Thousands(h.Count(SentAgain)-h.ByMark()), Thousands(h.ByMark()), Thousands(h.LostAgain()))
	p.line("  %s more were only late. Unasked, %s entities stay wrong and %s events parked.",
		Thousands(h.Late), Thousands(h.StayWrong), Thousands(h.StayParked()))
}

func (p *paper) dispositions(r *Report) {
	p.line("")
	p.line("%s%s", p.in(bold, "What became of each delivery"), p.in(faint, " (README.md says what each word means)"))
	var there []Count
	for _, c := range r.Dispositions {
		if c.N > 0 {
			there = append(there, c)
		}
	}
	p.bars(there)
	p.line("%s", p.in(faint, fmt.Sprintf("  %s parked took effect later, %s answers died, %s deliveries were marks.",
		Thousands(r.Drained), Thousands(r.Play.Lost), Thousands(r.Healing.Marks))))
}

// bars is a bar chart, each bar with its number. What is there at all gets a mark.
func (p *paper) bars(counts []Count) {
	label, most := 0, 1
	for _, c := range counts {
		label, most = max(label, len([]rune(c.Name))), max(most, c.N)
	}
	for _, c := range counts {
		p.line("%s", strings.TrimRight(fmt.Sprintf("  %-*s %7s %s", label, c.Name, Thousands(c.N), bar(c.N, most, barWidth)), " "))
	}
}

var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// bar draws n of most as part of a width, in eighths of a character.
func bar(n, most, width int) string {
	units := n * width * 8 / most
	if n > 0 {
		units = max(units, 1)
	}
	return strings.Repeat("█", units/8) + eighths[units%8]
}

func (p *paper) costs(r *Report) {
	p.line("")
	p.line("%s", p.in(bold, "What it costs per event, and what is wrong at the end"))
	p.line("%s", p.in(faint, "                          requests    write     read      wrong    wrong"))
	p.line("%s", p.in(faint, "                                      units    units   entities  notices"))
	for _, c := range r.Costs {
		name := fmt.Sprintf("%-22s", c.Name)
		if c.Ours {
			name = p.in(bold, name)
		}
		p.line("  %s %9.2f %8s %8s %10s %8s", name, r.perEvent(float64(c.Requests)), r.units(c.WriteUnits), r.units(c.ReadUnits),
			Thousands(c.WrongEntities), Thousands(c.WrongNotices))
	}
	p.line("%s", p.in(faint, "  inorder is measured, the others are played in memory; nothing heals them."))
}

// units are per event; a dash where nothing is known.
func (r *Report) units(u Units) string {
	if u < 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", r.perEvent(float64(u)))
}

// Thousands writes 12345 as 12,345.
func Thousands(n int) string { return humanize.Comma(int64(n)) }
