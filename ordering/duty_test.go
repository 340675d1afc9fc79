package ordering_test

import (
	"strings"
	"testing"
	"time"

	"inorder/events"
	"inorder/ordering"
)

// What is due about an entity follows from its item and the time alone, the first duty first.
func TestDuties(t *testing.T) {
	const (
		step  = "{name: s, types: [T], mode: step, effects: true, gap_deadline: 5m, projection: {sum: {n: data.n}}}"
		any   = "{name: s, types: [T], mode: step, start: any, gap_deadline: 5m, projection: {sum: {n: data.n}}}"
		delta = "{name: s, types: [T], mode: delta, gap_deadline: 5m, projection: {sum: {n: data.n}}}"
		state = "{name: s, types: [T], mode: state, clock: entity, gap_deadline: 5m}"
	)
	young, old := begin.Add(-4*time.Minute), begin.Add(-5*time.Minute)
	later := ordering.Park{Since: begin, Look: begin.Add(time.Hour)}
	sent := &ordering.Position{Seq: 1}
	gap := func(since time.Time) *ordering.Gap { return &ordering.Gap{Since: since} }
	tried := func(n int, next time.Time) *ordering.Gap {
		return &ordering.Gap{Since: old, Escalations: n, EscalateAt: next}
	}
	for _, tt := range []struct {
		rule, stream string
		cursor       ordering.Cursor
		want         ordering.Duty
	}{
		{"what is not in the index has none", step, ordering.Cursor{Applied: 1, Dispatched: sent}, ordering.NoDuty},
		{"effects that nobody sends any more, beside a young gap", strings.Replace(step, "effects: true, ", "", 1), ordering.Cursor{Applied: 2, MaxSeen: 4, Dispatched: sent, Park: later, Gap: gap(young)}, ordering.TidyUp},
		{"a young gap is left alone", step, ordering.Cursor{Applied: 1, MaxSeen: 3, Dispatched: sent, Gap: gap(young)}, ordering.NoDuty},
		{"one as old as the deadline is not, its log first", step, ordering.Cursor{Applied: 1, MaxSeen: 3, Dispatched: sent, Gap: gap(old)}, ordering.TendLog},
		{"so it is before each attempt", step, ordering.Cursor{Applied: 1, MaxSeen: 3, Dispatched: sent, Gap: tried(1, begin)}, ordering.TendLog},
		{"within its back-off it is left alone", step, ordering.Cursor{Applied: 1, MaxSeen: 3, Dispatched: sent, Gap: tried(1, begin.Add(1))}, ordering.NoDuty},
		{"an interrupted drain comes first", step, ordering.Cursor{Applied: 1, Waiting: ordering.Numbers{2, 4}, Park: later, Dispatched: sent, Gap: gap(old)}, ordering.FinishDrain},
		{"but not where it is blocked", step, ordering.Cursor{Applied: 1, Waiting: ordering.Numbers{2}, Blocked: 2, Park: later, Dispatched: sent, Gap: gap(old)}, ordering.RetryBlocked},
		{"rows that nobody has looked at", step, ordering.Cursor{Applied: 1, Waiting: ordering.Numbers{3}, Dispatched: sent, Gap: gap(young)}, ordering.TendLog},
		{"rows with half their time left", step, ordering.Cursor{Applied: 1, Waiting: ordering.Numbers{3}, Park: ordering.Park{Look: begin}, Dispatched: sent, Gap: gap(young)}, ordering.TendLog},
		{"effects that are owed", step, ordering.Cursor{Applied: 2, Park: later, Dispatched: sent, Gap: gap(young)}, ordering.SendOwed},
		{"nothing is open any more", step, ordering.Cursor{Applied: 1, Dispatched: sent, Gap: gap(young)}, ordering.TidyUp},
		{"no baseline yet, and young", any, ordering.Cursor{Waiting: ordering.Numbers{7}, Park: later, Gap: gap(young)}, ordering.NoDuty},
		{"the time for a baseline", any, ordering.Cursor{Waiting: ordering.Numbers{7}, Park: later, Gap: gap(old)}, ordering.TakeBaseline},
		{"number one needs none", any, ordering.Cursor{Waiting: ordering.Numbers{1, 7}, Park: later, Gap: gap(old)}, ordering.FinishDrain},
		{"a mark before any baseline is asked for", any, ordering.Cursor{MaxSeen: 7, Gap: tried(1, begin)}, ordering.TendLog},
		{"a delta's gap", delta, ordering.Cursor{Applied: 1, Ahead: ordering.Numbers{3}, Gap: gap(old)}, ordering.Escalate},
		{"a delta whose cursor moved since", delta, ordering.Cursor{Applied: 1, Ahead: ordering.Numbers{2, 4}, Gap: tried(3, begin.Add(time.Hour))}, ordering.Escalate},
		{"a delta's catching up that lost", delta, ordering.Cursor{Applied: 1, Ahead: ordering.Numbers{2, 3}, Gap: gap(young)}, ordering.TidyUp},
		{"a state whose mark is reached", state, ordering.Cursor{Gap: gap(young)}, ordering.TidyUp},
	} {
		s := newHistory("duties", tt.stream).config.Streams[0]
		e := &ordering.Entity{Exists: true, Rev: 1, Cursor: tt.cursor}
		if got := ordering.DutyOf(s, e, begin, s.Effects); got != tt.want {
			t.Errorf("%s: duty %d, want %d", tt.rule, got, tt.want)
		}
	}
}

// Attempts come ever more rarely, yet at least every hour, but for a deadline that is longer itself.
func TestBackOff(t *testing.T) {
	for deadline, want := range map[time.Duration][]time.Duration{
		5 * time.Minute:  {5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute, time.Hour, time.Hour},
		45 * time.Minute: {45 * time.Minute, time.Hour, time.Hour},
		2 * time.Hour:    {2 * time.Hour, 2 * time.Hour},
	} {
		for i, pause := range want {
			if got := ordering.BackOff(&events.Stream{GapDeadline: deadline}, i+1); got != pause {
				t.Errorf("a deadline of %s: pause %s after attempt %d, want %s", deadline, got, i+1, pause)
			}
		}
	}
}
