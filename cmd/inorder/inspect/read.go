package inspect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/gaps"
	"inorder/cmd/inorder/terminal"
	"inorder/events"
	"inorder/ordering"
)

// reader looks at one entity.
type reader struct {
	store   ordering.Upkeep
	stream  *events.Stream
	key     ordering.Key
	now     time.Time
	history int64 // numbers of the log at and below the cursor
}

// read returns nil for an entity that was never seen.
func (r *reader) read(ctx context.Context) (*Page, error) {
	e, err := r.store.Entity(ctx, r.key)
	if err != nil || !e.Exists {
		return nil, err
	}
	audits, err := r.store.Audits(ctx, r.key)
	if err != nil {
		return nil, err
	}
	p := r.page(e)
	p.addAudits(audits)
	if r.stream.Mode == events.Step {
		if err := r.addRows(ctx, p, e); err != nil {
			return nil, err
		}
	}
	p.sort()
	return p, nil
}

func (r *reader) page(e *ordering.Entity) *Page {
	p := &Page{
		At: r.now.UTC(), Consumer: r.key.Consumer, Stream: r.key.Stream, EntityID: r.key.ID, Source: r.key.Source,
		Mode: r.stream.Mode, clockKind: r.stream.Clock, Absent: e.Absent(), State: backend.StateJSON(e.State),
		Generation: e.Gen, Skipped: e.Skipped, Deleted: slices.DeleteFunc(slices.Clone(e.Tombs), func(s string) bool { return s == "" }),
		Parked: []Row{}, Voids: []Row{}, Audits: []Audit{}, Timeline: []Moment{},
	}
	if r.stream.Mode == events.State {
		r.addClocks(p, e)
	} else {
		p.addCursor(e)
	}
	r.addLast(p, e)
	if g, is := gaps.Of(r.stream, r.key, e, r.now); is {
		p.Gap = &g
		p.add(opened(&g))
	}
	return p
}

// opened is when the sweeper was first needed: for a gap, or for what else is open.
func opened(g *gaps.Gap) Moment {
	m := Moment{At: g.Since, What: "gap", Detail: "opened: missing now " + terminal.Ranges(g.Missing, true), From: fromEntity}
	if len(g.Missing) == 0 {
		var reasons []string
		for _, why := range g.Why {
			reasons = append(reasons, g.Reason(why))
		}
		m.What, m.Detail = "open", "since then: "+strings.Join(reasons, "; ")
	}
	return m
}

func (p *Page) addCursor(e *ordering.Entity) {
	p.Applied = e.Effective()
	if p.Applied != e.Applied {
		p.Cursor = e.Applied
	}
	p.MaxSeen = e.Highest()
	p.Ahead = e.Ahead.Above(p.Applied)
	if d := e.Dispatched; d != nil {
		owed := e.Applied
		if d.Gen == e.Gen {
			owed -= d.Seq
		}
		p.Effects = &Effects{Generation: d.Gen, Dispatched: d.Seq, Owed: owed, Kept: len(e.Owed)}
	}
}

func (r *reader) addClocks(p *Page, e *ordering.Entity) {
	if _, seq, ok := events.ParseSeqClock(e.Clock); !ok || seq > 0 { // else it is the floor of a generation
		p.Clock = terminal.OrderKey(r.stream, e.Clock)
	}
	for name, clock := range e.Clocks {
		if p.Clocks == nil {
			p.Clocks = map[string]string{}
		}
		p.Clocks[name] = terminal.OrderKey(r.stream, clock)
	}
	for source, mark := range e.Marks {
		if p.Marks == nil {
			p.Marks = map[string]string{}
		}
		p.Marks[source] = terminal.OrderKey(r.stream, mark)
	}
	if gen, seq, ok := events.ParseSeqClock(e.Newest()); ok {
		p.Generation, p.Applied, p.MaxSeen = gen, seq, seq
	}
}

func (r *reader) addLast(p *Page, e *ordering.Entity) {
	l := e.Last
	if l == (ordering.Last{}) {
		return
	}
	p.Last = &Last{
		EventID: l.EventID, Source: l.Source, Type: l.Type, MessageID: l.MessageID, ReceiveCount: l.ReceiveCount,
		Created: instant(l.PublishedAt), Received: instant(l.ReceivedAt), Applied: instant(l.AppliedAt),
	}
	if l.Clock != "" {
		p.Last.OrderKey = terminal.OrderKey(r.stream, l.Clock)
	}
	m := Moment{
		At: l.AppliedAt, What: "applied", OrderKey: cmp.Or(p.Last.OrderKey, p.Clock), EventID: l.EventID, Type: l.Type,
		MessageID: l.MessageID, ReceiveCount: l.ReceiveCount, Detail: "the last event", From: fromEntity,
	}
	if r.stream.Mode == events.Step {
		m.Seq = e.Applied
	}
	p.add(m)
}

func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func (p *Page) addAudits(all []ordering.Audit) {
	for _, a := range all {
		p.Audits = append(p.Audits, Audit{a.At.UTC(), a.By, a.Reason, a.Gen, a.Through, a.Applied, a.Lost, a.Passed})
		p.add(Moment{
			At: a.At, What: "skipped", Seq: a.Through, From: fromAudit,
			Detail: fmt.Sprintf("by %s: %s (%s)", a.By, a.Reason, lossText(a.Lost, a.Passed)),
		})
	}
}

func lossText(lost, passed []events.Range) string {
	var parts []string
	if len(lost) > 0 {
		parts = append(parts, "lost "+terminal.Ranges(lost, false))
	}
	if len(passed) > 0 {
		parts = append(parts, "passed without being applied "+terminal.Ranges(passed, false))
	}
	if len(parts) == 0 {
		return "nothing lost"
	}
	return strings.Join(parts, ", ")
}

// addRows reads the log without its messages: all above the cursor, and the last numbers up to it.
func (r *reader) addRows(ctx context.Context, p *Page, e *ordering.Entity) error {
	first := max(e.Applied-r.history, 0) + 1
	heads, err := r.store.RowHeads(ctx, r.key, e.Gen, first, math.MaxInt64)
	if err != nil {
		return err
	}
	logged := ordering.Numbers{}
	for _, head := range heads {
		row := r.rowOf(head, e)
		switch {
		case head.Void != "":
			p.Voids = append(p.Voids, row)
		case head.Seq > e.Applied:
			p.Parked = append(p.Parked, row)
		}
		if head.Seq > e.Applied && !row.InFlight {
			logged = append(logged, head.Seq)
		}
		if head.Seq <= e.Applied || head.Void != "" {
			p.add(row.moment())
		}
	}
	p.addMismatches(e.Waiting, logged)
	return nil
}

func (r *reader) rowOf(head ordering.Row, e *ordering.Entity) Row {
	return Row{
		Seq: head.Seq, EventID: head.EventID, Source: head.Source, Type: head.Type, Void: string(head.Void),
		Received: instant(head.ReceivedAt), Expires: instant(head.ExpiresAt), MessageID: head.Message.ID,
		Blocked:  head.Seq == e.Blocked,
		InFlight: head.Seq > e.Applied && !e.Waiting.Has(head.Seq) && r.now.Sub(head.ReceivedAt) < ordering.InFlight,
	}
}

func (row Row) moment() Moment {
	m := Moment{What: "received", Seq: row.Seq, EventID: row.EventID, Type: row.Type, MessageID: row.MessageID, From: fromLog}
	if row.Received != nil {
		m.At = *row.Received
	}
	if row.Void != "" {
		m.What, m.Detail = "void", row.Void
	}
	return m
}

// addMismatches names what the sweeper would repair.
func (p *Page) addMismatches(waiting, logged ordering.Numbers) {
	for _, n := range waiting {
		if !logged.Has(n) {
			p.Mismatches = append(p.Mismatches, fmt.Sprintf("number %d is said to be parked, and the log has no row of it", n))
		}
	}
	for _, n := range logged {
		if !waiting.Has(n) {
			p.Mismatches = append(p.Mismatches, fmt.Sprintf("number %d has a row in the log, and the entity does not know that it is parked", n))
		}
	}
}

func (p *Page) add(m Moment) {
	m.At = m.At.UTC()
	p.Timeline = append(p.Timeline, m)
}

func (p *Page) sort() {
	slices.SortStableFunc(p.Timeline, func(a, b Moment) int { return a.At.Compare(b.At) })
}
