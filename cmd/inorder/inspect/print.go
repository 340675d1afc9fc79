package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"inorder/cmd/inorder/gaps"
	"inorder/cmd/inorder/terminal"
	"inorder/events"
)

// printer shows a page to a person.
type printer struct {
	out   io.Writer
	width int
	p     *Page
}

// On a terminal so many rows of one table are shown.
const maxShown = 30

const labelWidth = 12

func (p *Page) print(out io.Writer, width int) { printer{out, width, p}.print() }

func (w printer) print() {
	p := w.p
	title := p.Stream + " " + p.EntityID
	if p.Source != "" {
		title += " of " + p.Source
	}
	fmt.Fprintf(w.out, "%s\n", terminal.Escape(title))
	w.field("consumer", p.Consumer+", "+string(p.Mode)+" stream")
	w.field("looked at", terminal.Instant(p.At))
	fmt.Fprintln(w.out)
	w.position()
	w.state()
	w.last()
	w.open()
	w.rows("parked: logged, waiting to be applied", p.Parked)
	w.rows("void: numbers without an event", p.Voids)
	w.audits()
	w.timeline()
}

func (w printer) field(name, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(w.out, "%-*s%s\n", labelWidth, name, terminal.Escape(text))
}

func (w printer) position() {
	p := w.p
	if p.Generation != 0 {
		w.field("generation", fmt.Sprint(p.Generation))
	}
	switch {
	case p.Mode != events.State:
		w.field("applied", w.cursor())
	case p.Clock != "":
		w.field("clock", p.Clock)
	}
	if p.clockKind == events.ClockSource {
		for _, source := range slices.Sorted(maps.Keys(p.Clocks)) {
			w.field("clock", p.Clocks[source]+", of "+source)
		}
	}
	if p.MaxSeen > p.Applied {
		w.field("highest", fmt.Sprintf("%d is known to exist", p.MaxSeen))
	}
	for _, source := range slices.Sorted(maps.Keys(p.Marks)) {
		text := p.Marks[source] + " is known to exist"
		if source != "" {
			text += ", of " + source
		}
		w.field("mark", text)
	}
	w.field("skipped", terminal.Ranges(p.Skipped, w.width > 0))
	w.field("deleted", strings.Join(p.Deleted, ", "))
}

func (w printer) cursor() string {
	text := fmt.Sprint(w.p.Applied)
	if w.p.Cursor != 0 || len(w.p.Ahead) > 0 {
		text += fmt.Sprintf(" (stored cursor %d", max(w.p.Cursor, 0))
		if w.p.Cursor == 0 {
			text = fmt.Sprintf("%d (", w.p.Applied)
		} else if len(w.p.Ahead) > 0 {
			text += ", "
		}
		if len(w.p.Ahead) > 0 {
			text += "counted ahead " + terminal.Ranges(rangesOf(w.p.Ahead), w.width > 0)
		}
		text += ")"
	}
	return text
}

func rangesOf(numbers []int64) (out []events.Range) {
	for _, n := range numbers {
		if last := len(out) - 1; last >= 0 && out[last].Last == n-1 {
			out[last].Last = n
		} else {
			out = append(out, events.Range{First: n, Last: n})
		}
	}
	return out
}

func (p *Page) absence() string {
	switch {
	case p.Mode != events.State:
		return "nothing is applied yet"
	case p.Last == nil:
		return "nothing has come yet, only a mark"
	}
	return "deleted"
}

// state shows each attribute with its clock, where attributes or sources have clocks of their own.
func (w printer) state() {
	p := w.p
	if p.Absent {
		w.field("state", "absent: "+p.absence())
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(p.State, &values); err != nil {
		w.field("state", string(p.State))
		return
	}
	names := slices.Collect(maps.Keys(values))
	clocks := p.Clocks
	if p.clockKind != events.ClockAttribute {
		clocks = nil
	}
	for name := range clocks {
		if _, there := values[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	t := terminal.Table{Titles: []string{"attribute", "value", "clock"}, Width: w.width, Indent: strings.Repeat(" ", labelWidth)}
	for _, name := range names {
		value := string(values[name])
		if value == "" {
			value = "(removed)"
		}
		t.Rows = append(t.Rows, []string{name, value, clocks[name]})
	}
	if len(t.Rows) > 0 {
		fmt.Fprintf(w.out, "state\n")
		t.Write(w.out)
	}
	fmt.Fprintln(w.out)
}

func (w printer) last() {
	l := w.p.Last
	if l == nil {
		if w.p.Applied > 0 {
			w.field("last event", fmt.Sprintf("none: number %d is void, or was skipped", w.p.Applied))
			fmt.Fprintln(w.out)
		}
		return
	}
	text := l.EventID
	if text == "" {
		text = "(no event id)"
	}
	text += ", " + l.Type
	if l.OrderKey != "" {
		text += ", order key " + l.OrderKey
	}
	if l.Source != "" {
		text += ", from " + l.Source
	}
	w.field("last event", text)
	w.when("  created", l.Created)
	w.when("  received", l.Received)
	w.when("  applied", l.Applied)
	w.field("  message", fmt.Sprintf("%s, received %s", l.MessageID, terminal.Times(l.ReceiveCount)))
	fmt.Fprintln(w.out)
}

func (w printer) when(name string, t *time.Time) {
	if t != nil {
		w.field(name, terminal.When(*t, w.p.At))
	}
}

// open says what the sweeper has to do about it.
func (w printer) open() {
	g, p := w.p.Gap, w.p
	if g == nil {
		w.field("open", "nothing: no gap, nothing blocked or owed")
	} else {
		w.gap(g)
	}
	if e := p.Effects; e != nil {
		text := fmt.Sprintf("sent up to %d", e.Dispatched)
		if e.Generation != p.Generation {
			text += fmt.Sprintf(" of generation %d", e.Generation)
		}
		if e.Owed > 0 {
			text += fmt.Sprintf(", those of %s owed", terminal.Count(e.Owed, "number"))
		}
		w.field("effects", text)
	}
	for _, m := range p.Mismatches {
		w.field("mismatch", m+" (the sweeper repairs it)")
	}
	fmt.Fprintln(w.out)
}

func (w printer) gap(g *gaps.Gap) {
	if len(g.Missing) > 0 {
		w.field("missing", terminal.Ranges(g.Missing, w.width > 0))
	}
	w.field("open since", terminal.When(g.Since, w.p.At))
	if g.NextAttempt != nil {
		next := "next " + terminal.When(*g.NextAttempt, w.p.At)
		if !g.NextAttempt.After(w.p.At) {
			next = "due at the next sweep"
		}
		w.field("asked for", fmt.Sprintf("%d of %d times; %s", g.Attempts, g.MaxAttempts, next))
	}
	for _, why := range g.Why {
		if why != gaps.OwesEffects { // said below
			w.field("also", g.Reason(why))
		}
	}
}

func (w printer) rows(title string, all []Row) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w.out, "%s (%d)\n", title, len(all))
	shown := w.some(len(all))
	t := terminal.Table{
		Titles: []string{"seq", "event", "type", "source", "received", "expires", "message", "note"},
		Width:  w.width, Indent: "  ", LeaveOut: "message", Below: "note", Keep: []string{"received", "expires", "seq"},
	}
	for _, r := range all[:shown] {
		t.Rows = append(t.Rows, []string{fmt.Sprint(r.Seq), r.EventID, r.Type, r.Source, w.stamp(r.Received), w.distance(r.Expires), r.MessageID, note(r)})
	}
	t.Write(w.out)
	w.leftOut(len(all) - shown)
	fmt.Fprintln(w.out)
}

func note(r Row) string {
	switch {
	case r.InFlight:
		return "just logged: its invocation is about to say so in the entity"
	case r.Void != "":
		return r.Void
	case r.Blocked:
		return "blocked: its projection fails"
	}
	return ""
}

func (w printer) stamp(t *time.Time) string {
	if t == nil {
		return ""
	}
	return terminal.Instant(t.Truncate(time.Second))
}

func (w printer) distance(t *time.Time) string {
	switch {
	case t == nil:
		return ""
	case t.After(w.p.At):
		return "in " + terminal.ShortAge(t.Sub(w.p.At))
	}
	return terminal.ShortAge(w.p.At.Sub(*t)) + " ago"
}

func (w printer) audits() {
	for _, a := range w.p.Audits {
		fmt.Fprintf(w.out, "skipped through %d, %s by %s\n", a.Through, terminal.When(a.At, w.p.At), terminal.Escape(a.By))
		w.field("  reason", a.Reason)
		w.field("  applied", terminal.Ranges(a.Applied, false))
		w.field("  lost", terminal.Ranges(a.Lost, false))
		w.field("  passed", terminal.Ranges(a.Passed, false))
		fmt.Fprintln(w.out)
	}
}

func (w printer) timeline() {
	all := w.p.Timeline
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w.out, "timeline, as far as it is known\n")
	shown := w.some(len(all))
	t := terminal.Table{
		Titles: []string{"at", "what", "seq", "event", "type", "message", "detail", "from"},
		Width:  w.width, Indent: "  ", LeaveOut: "from", Below: "detail", Keep: []string{"at", "what", "seq"},
	}
	for _, m := range all[len(all)-shown:] {
		seq := m.OrderKey
		if m.Seq != 0 {
			seq = fmt.Sprint(m.Seq)
		}
		t.Rows = append(t.Rows, []string{terminal.Instant(m.At), m.What, seq, m.EventID, m.Type, m.MessageID, m.Detail, m.From})
	}
	t.Write(w.out)
	if left := len(all) - shown; left > 0 {
		fmt.Fprintf(w.out, "  (%d older ones left out: --json shows all)\n", left)
	}
	if w.p.LogsCut {
		fmt.Fprintf(w.out, "  (there are more log lines than these: the newest %d were read)\n", w.p.LogLines)
	}
}

func (w printer) some(n int) int {
	if w.width > 0 {
		return min(n, maxShown)
	}
	return n
}

func (w printer) leftOut(n int) {
	if n > 0 {
		fmt.Fprintf(w.out, "  … and %d more (--json shows all)\n", n)
	}
}
