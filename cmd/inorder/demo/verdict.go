package demo

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"inorder/cmd/inorder/demo/producer"
	"inorder/cmd/inorder/demo/report"
	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

// faults collects what is wrong under one heading.
type faults struct {
	wrong []string
	more  int
}

// shownFaults is how many lines of one heading are shown: the first tell the kind, the number the extent.
const shownFaults = 6

func (f *faults) add(format string, args ...any) {
	if len(f.wrong) == shownFaults {
		f.more++
		return
	}
	f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
}

func (f *faults) count() int { return len(f.wrong) + f.more }

func (f *faults) check(name string, args ...any) report.Check {
	return report.Check{Name: fmt.Sprintf(name, args...), Right: f.count() == 0, Wrong: f.wrong, More: f.more}
}

// verdict compares what is there with what the producer meant. The first check's faults are the wrong entities, the
// second's the wallets whose owners were told something wrong.
func (r *run) verdict(ctx context.Context, h *report.Healing) ([]report.Check, error) {
	entities, err := r.checkEntities(ctx)
	if err != nil {
		return nil, err
	}
	return []report.Check{entities, r.checkNotices(), r.checkHealing(h), r.checkRequests(), r.checkMessages(), r.checkQuarantine()}, nil
}

func (r *run) checkEntities(ctx context.Context) (report.Check, error) {
	var f faults
	meant := map[string]bool{}
	for _, m := range r.day.Meant {
		key := ordering.Key{Consumer: producer.Consumer, Stream: m.Stream, ID: m.Entity}
		meant[ddb.EntityPK(key)] = true
		e, err := r.judge.Entity(ctx, key)
		if err != nil {
			return report.Check{}, err
		}
		if wrong := compare(m, e); wrong != "" {
			f.add("%s %s: %s", m.Stream, m.Entity, wrong)
		}
	}
	there, err := r.backend.EntityKeys(ctx, r.tables)
	if err != nil {
		return report.Check{}, err
	}
	for _, pk := range there {
		if !meant[pk] {
			f.add("%s: nobody ever spoke of it", pk)
		}
	}
	n := len(r.day.Meant)
	return f.check("%s of %s entities hold what their producer meant", report.Thousands(max(0, n-f.count())), report.Thousands(n)), nil
}

// compare says what is wrong with an entity; empty: nothing.
func compare(m *producer.Meant, e *ordering.Entity) string {
	if m.State == nil {
		if e.Exists && (len(e.Tombs) == 0 || len(e.State) > 0) {
			return fmt.Sprintf("it is there with %v and should not be", e.State)
		}
		return ""
	}
	if !e.Exists {
		return "it is not there"
	}
	if wrong := compareStates(m.State, e.State); wrong != "" {
		return wrong
	}
	switch m.Stream {
	case producer.Ledger, producer.Wallet:
		if e.Applied != m.Last || len(e.Waiting) > 0 {
			return fmt.Sprintf("applied up to %d of %d, %d waiting", e.Applied, m.Last, len(e.Waiting))
		}
	case producer.Seats:
		if through := e.Ahead.Through(e.Applied); through != m.Last {
			return fmt.Sprintf("counted up to %d of %d", through, m.Last)
		}
	}
	return ""
}

func compareStates(want, got map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if value, there := got[name]; !there || !same(want[name], value) {
			return fmt.Sprintf("%s is %v, meant %v", name, orNothing(value), want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, meant := want[name]; !meant {
			return fmt.Sprintf("%s is %v and nobody set it", name, got[name])
		}
	}
	return ""
}

func orNothing(v any) any {
	if v == nil {
		return "missing"
	}
	return v
}

// same compares numbers by their value, everything else as it is.
func same(want, got any) bool {
	n, isNumber := got.(events.Number)
	if !isNumber {
		return want == got
	}
	a, ok := new(big.Rat).SetString(fmt.Sprint(want))
	b, also := new(big.Rat).SetString(string(n))
	return ok && also && a.Cmp(b) == 0
}

// checkMessages asks whether each message that arrived was acknowledged once for each arrival.
func (r *run) checkMessages() report.Check {
	var f faults
	arrived := 0
	for m, n := range r.sent {
		arrived += n
		if acked := r.acks[m]; acked != n {
			f.add("message %s arrived %d times and was acknowledged %d times", m.ID, n, acked)
		}
	}
	for _, m := range r.queue.Dead() {
		f.add("message %s is in the dead-letter queue", m.ID)
	}
	return f.check("%s messages arrived; none is left over, none in a dead-letter queue", report.Thousands(arrived))
}
