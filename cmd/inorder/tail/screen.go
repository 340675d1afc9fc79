package tail

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"inorder/cmd/inorder/terminal"
)

// screen shows looks, each in its way.
type screen struct {
	out   io.Writer
	width func() int // of the terminal, which may change; 0: no terminal, one line each
	every time.Duration
	once  bool
	json  bool

	last *Look
}

// What a terminal is told, as ECMA-48 has it: go to the first place, clear all, the rest of the line, what is below.
const (
	home       = "\x1b[H"
	clearAll   = "\x1b[2J"
	clearLine  = "\x1b[K"
	clearBelow = "\x1b[J"
)

func (s *screen) show(l *Look) error {
	var frame bytes.Buffer
	switch {
	case s.json:
		if err := terminal.JSONLine(&frame, l); err != nil {
			return err
		}
	case s.once:
		s.draw(&frame, l)
	case s.width() == 0:
		s.line(&frame, l)
	default:
		s.redraw(&frame, l)
	}
	s.last = l
	_, err := s.out.Write(frame.Bytes()) // whole, so that nobody sees half a frame
	return err
}

// redraw draws over what is there, line by line, which does not flicker.
func (s *screen) redraw(w io.Writer, l *Look) {
	var frame bytes.Buffer
	s.draw(&frame, l)
	if s.last == nil {
		fmt.Fprint(w, clearAll)
	}
	fmt.Fprint(w, home, strings.ReplaceAll(frame.String(), "\n", clearLine+"\n"), clearBelow)
}

func (s *screen) draw(w io.Writer, l *Look) {
	again := ""
	if !s.once {
		again = fmt.Sprintf(", every %s (Ctrl-C ends)", s.every)
	}
	s.print(w, "%s at %s%s\n\n", terminal.Escape(l.Consumer), stamp(l.At), again)
	if len(l.Queues) > 0 {
		s.print(w, "%-12s %9s %10s %9s %9s\n", "queue", "visible", "in flight", "delayed", s.changeTitle())
	}
	for _, q := range queues {
		if d, known := l.Queues[q.name]; known {
			s.print(w, "%-12s %9d %10d %9d %9s\n", q.name, d.Visible, d.NotVisible, d.Delayed, s.change(q.name, d))
		}
	}
	fmt.Fprintln(w)
	s.print(w, "%-12s %9s%s\n", "gaps", count(l.Gaps), oldest(l))
	s.print(w, "%-12s %9s\n", "parked", count(l.Parked))
	s.print(w, "%-12s %9s\n", "blocked", count(l.Blocked))
	s.print(w, "%-12s %9s\n", "effects owed", count(l.Owing))
	if l.OnlyOldest > 0 {
		s.print(w, "(of the oldest entities only: %d more were not read)\n", l.OnlyOldest)
	}
	for _, e := range l.Errors {
		for line := range strings.Lines(e) {
			s.print(w, "error: %s\n", terminal.Escape(strings.TrimSpace(line)))
		}
	}
}

// print cuts a line at the terminal's edge, for one that wraps would not be drawn over.
func (s *screen) print(w io.Writer, format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		fmt.Fprintln(w, terminal.Fit(strings.TrimRight(line, " \n"), s.width()))
	}
}

func (s *screen) changeTitle() string {
	if s.last == nil {
		return ""
	}
	return "change"
}

// change is how the number of those that wait has moved since the last look.
func (s *screen) change(name string, d Depths) string {
	if s.last == nil {
		return ""
	}
	before, known := s.last.Queues[name]
	if moved := d.Visible - before.Visible; known && moved != 0 {
		return fmt.Sprintf("%+d", moved)
	}
	return ""
}

func (s *screen) line(w io.Writer, l *Look) {
	parts := []string{stamp(l.At)}
	for _, q := range queues {
		d, known := l.Queues[q.name]
		switch {
		case !known:
		case d.NotVisible+d.Delayed > 0:
			parts = append(parts, fmt.Sprintf("%s %d+%d", q.name, d.Visible, d.NotVisible+d.Delayed))
		default:
			parts = append(parts, fmt.Sprintf("%s %d", q.name, d.Visible))
		}
	}
	parts = append(parts, "gaps "+count(l.Gaps)+oldest(l), "parked "+count(l.Parked), "blocked "+count(l.Blocked), "owed "+count(l.Owing))
	for _, e := range l.Errors {
		parts = append(parts, "error: "+terminal.Escape(strings.ReplaceAll(e, "\n", "; ")))
	}
	fmt.Fprintln(w, strings.Join(parts, "  "))
}

func oldest(l *Look) string {
	if l.OldestGap == nil {
		return ""
	}
	name := l.OldestGap.Stream + " " + l.OldestGap.EntityID
	if l.OldestGap.Source != "" {
		name += " of " + l.OldestGap.Source
	}
	return fmt.Sprintf(" (oldest %s, %s)", terminal.ShortAge(time.Duration(l.OldestAge)*time.Second), terminal.Fit(terminal.Escape(name), shownName))
}

// shownName is how much of an entity's name stands in a line.
const shownName = 40

func count(n *int) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}

func stamp(t time.Time) string { return terminal.Instant(t.Truncate(time.Second)) }
