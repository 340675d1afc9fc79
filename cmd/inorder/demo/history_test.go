package demo

import (
	"reflect"
	"testing"
	"time"

	"inorder/cmd/inorder/demo/producer"
	"inorder/cmd/inorder/demo/report"
	"inorder/ordering"
)

var morning = time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)

// told makes the answers of one invocation about a ledger: number and disposition.
func told(minute int, pairs ...any) (out []answered) {
	for i := 0; i < len(pairs); i += 2 {
		seq := pairs[i].(int)
		e := &producer.Event{
			Stream: producer.Ledger, Entity: "a", Type: "EntryPosted", Seq: int64(seq), Rank: seq,
			Data: map[string]any{"amount": "1"},
		}
		out = append(out, answered{
			at: morning.Add(time.Duration(minute) * time.Minute), message: &producer.Message{Event: e},
			outcome: ordering.Outcome{Disposition: pairs[i+1].(ordering.Disposition)},
		})
	}
	return out
}

func story() *history {
	h := &history{}
	h.record(1, told(0, 1, ordering.Applied), &watched{})
	h.record(2, told(1, 4, ordering.Parked, 3, ordering.Parked), &watched{distances: []int64{3, 2}})
	h.record(3, nil, nil) // it parked 6, died, and 6 came back as a duplicate
	h.record(1, told(2, 6, ordering.Duplicate), &watched{})
	h.record(1, told(3, 2, ordering.Applied), &watched{drained: 2})
	h.record(2, told(4, 7, ordering.Applied, 5, ordering.Applied), &watched{drained: 1})
	return h
}

// Parked is what was answered ahead of a missing predecessor, a copy of what a dead invocation parked included.
func TestParkedLevels(t *testing.T) {
	var got []int
	for _, l := range story().parkedLevels() {
		got = append(got, l.N)
	}
	if want := []int{0, 2, 3, 1, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("levels %v, want %v", got, want)
	}
}

// Of many levels the highest of each slice of the time is kept, so that no peak is lost, and the last.
func TestThinKeepsPeaks(t *testing.T) {
	var levels []report.Level
	for i := range 5000 {
		levels = append(levels, report.Level{At: morning.Add(time.Duration(i) * time.Second), N: i % 50})
	}
	levels[1234].N = 99
	thinned := thin(levels)
	peak := 0
	for _, l := range thinned {
		peak = max(peak, l.N)
	}
	if len(thinned) > slicesOfDay+2 || peak != 99 || thinned[len(thinned)-1] != levels[4999] {
		t.Errorf("%d levels, peak %d", len(thinned), peak)
	}
}

// A timeline says where the entity stood after each answer, and when what was parked took effect.
func TestTimeline(t *testing.T) {
	h := story()
	m := &producer.Meant{Stream: producer.Ledger, Entity: "a", Last: 7}
	line, early := timeline(m, h.perEntity()["ledger/a"])
	var reached, drained []int
	for _, a := range line.Arrivals {
		reached, drained = append(reached, a.Reached), append(drained, a.Drained)
	}
	if want := []int{1, 1, 1, 1, 4, 7, 7}; !reflect.DeepEqual(reached, want) {
		t.Errorf("reached %v, want %v", reached, want)
	}
	if want := []int{0, 5, 5, 0, 0, 0, 0}; !reflect.DeepEqual(drained, want) {
		t.Errorf("drained %v, want %v", drained, want)
	}
	if early != 3 {
		t.Errorf("%d early, want 3", early)
	}
}

// Deliveries, crashes and distances are counted once.
func TestCounts(t *testing.T) {
	h := story()
	if h.deliveries() != 10 || h.invocations != 6 || h.crashes != 1 || h.lost != 3 || h.drained != 3 {
		t.Errorf("%d deliveries, %d invocations, %d crashes, %d lost, %d drained", h.deliveries(), h.invocations, h.crashes, h.lost, h.drained)
	}
	h.distances = []int64{1, 2, 3, 4, 5, 6, 10, 11, 25, 26, 100, 101, 1 << 40}
	var got []int
	for _, c := range h.histogram() {
		got = append(got, c.N)
	}
	if want := []int{1, 1, 1, 2, 2, 2, 2, 2}; !reflect.DeepEqual(got, want) {
		t.Errorf("histogram %v, want %v", got, want)
	}
	names := map[string]bool{}
	for _, c := range h.dispositions() {
		names[c.Name] = c.Means != ""
	}
	for _, d := range ordering.Dispositions() {
		if !names[d.String()] {
			t.Errorf("disposition %s is not told, or not explained", d)
		}
	}
}
