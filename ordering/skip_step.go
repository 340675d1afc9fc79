package ordering

import (
	"maps"
	"slices"

	"inorder/events"
)

// skipPart is what one compare-and-set of an operator's skip does with the numbers that it moves the cursor over.
type skipPart struct {
	applied []Range // logged, and run
	lost    []Range // nobody has them
	passed  []Range // logged, and cannot be applied
}

func (p *skipPart) empty() bool { return len(p.applied)+len(p.lost)+len(p.passed) == 0 }

// planSkip passes everything up to in.through: it applies what is logged, passes what is missing, and passes what is
// logged and cannot be applied, of which quarantine gets a copy first unless it has one. All that did not run is
// remembered as skipped. It trusts the log, not the entity, for what is logged.
func (p *stepPlan) planSkip(in stepInput) {
	p.begin(in)
	base, end := in.base, in.through
	waiting := base.Waiting.Without(base.Waiting.Above(end)...)
	if len(waiting) > maxDrain {
		end = waiting[maxDrain] - 1
	}
	if in.readFrom != base.Applied+1 || in.readTo < end {
		p.read = &Range{First: base.Applied + 1, Last: end}
		return
	}
	for _, n := range slices.Sorted(maps.Keys(in.logged)) {
		if base.Applied < n && n <= end {
			p.lose(n - 1)
			p.passRow(in, in.logged[n])
		}
	}
	p.lose(end)
	p.next.Waiting = p.next.Waiting.Above(end)
	p.next.Blocked = 0
	p.close(in)
	p.moves = true
}

// lose moves the cursor over numbers that nobody has.
func (p *stepPlan) lose(through int64) {
	if next := p.next; next.Applied < through {
		lost := Range{First: next.Applied + 1, Last: through}
		p.skip.lost = addRange(p.skip.lost, lost)
		next.remember(lost)
		next.Applied, next.Last = through, Last{}
	}
}

// passRow moves the cursor over a number that is logged.
func (p *stepPlan) passRow(in stepInput, row Row) {
	next, here := p.next, Range{First: row.Seq, Last: row.Seq}
	if row.Void != "" {
		p.passVoid(row.Seq, row)
		return
	}
	taken, err := p.take(in, nil, row, true)
	if err == nil {
		err = p.project(in, taken.Event, row.Seq)
	}
	next.Applied = row.Seq
	if err == nil {
		next.Last, p.ran[row.Seq] = lastOf(taken, in.now), taken.Event
		p.drained = append(p.drained, taken.Event)
		p.skip.applied = addRange(p.skip.applied, here)
		return
	}
	if in.base.Blocked != row.Seq { // or it has its copy
		passed := Outcome{Disposition: Quarantined, Reason: events.ProjectionError, Detail: err.Error()}
		p.copies = append(p.copies, copyOf{row.Seq, row.copyAs(passed)})
	}
	next.Last = Last{}
	next.remember(here)
	p.skip.passed = addRange(p.skip.passed, here)
}
