package ordering

import (
	"fmt"
	"slices"

	"inorder/events"
)

// foldRun folds the run into the projection, up to the first event that cannot be.
func (p *stepPlan) foldRun(in stepInput, candidates map[int64]*job, end int64) {
	next := p.next
	if end == in.base.Applied {
		return
	}
	var newest Delivery
	for n := range between(in.base.Applied+1, end) {
		row, isLogged := in.logged[n]
		waits := in.base.Waiting.Has(n)
		if waits && !isLogged { // deleted: the number is missing again
			p.missing++
			next.Waiting = next.Waiting.Without(n)
			if next.Blocked == n {
				next.Blocked = 0
			}
			if candidates[n] == nil {
				break
			}
			waits = false
		}
		if isLogged && row.Void != "" || !isLogged && candidates[n].Event.Kind == events.Void {
			p.passVoid(n, row)
			newest = Delivery{}
			continue
		}
		taken, err := p.take(in, candidates[n], row, isLogged)
		if err == nil && n == in.tooLarge {
			err = ErrTooLarge
		}
		if err == nil {
			err = p.project(in, taken.Event, n)
		}
		if err != nil {
			p.block(in, n, candidates[n], row, isLogged, err)
			break
		}
		next.Applied, newest = n, taken
		p.ran[n] = taken.Event
		if waits || isLogged && !sameCandidate(candidates[n], row) {
			p.drained = append(p.drained, taken.Event)
		}
	}
	if newest.Event != nil {
		next.Last = lastOf(newest, in.now)
	}
	if next.Blocked != 0 && next.Blocked <= next.Applied {
		next.Blocked = 0
	}
	next.Waiting = next.Waiting.Above(next.Applied)
}

// passVoid moves the cursor over a number that has no event. One that was meant and is lost is remembered: should it
// turn up, somebody must know.
func (p *stepPlan) passVoid(n int64, row Row) {
	p.next.Applied, p.next.Last = n, Last{}
	if row.Void == events.Expired {
		p.next.remember(Range{First: n, Last: n})
	}
}

func sameCandidate(j *job, row Row) bool { return j != nil && row.is(j.Event) }

// take returns the event of a number: the logged one wins over the batch's.
func (p *stepPlan) take(in stepInput, j *job, row Row, isLogged bool) (Delivery, error) {
	if !isLogged || sameCandidate(j, row) {
		return j.Delivery, nil
	}
	return in.decoded(row)
}

func (in *stepInput) decoded(row Row) (Delivery, error) {
	e, err := in.decode(row)
	if err != nil {
		return Delivery{}, fmt.Errorf("the logged message cannot be read: %w", err)
	}
	return Delivery{Event: e, Message: &row.Message}, nil
}

// project folds one event into the state, and says what it sends.
func (p *stepPlan) project(in stepInput, e *events.Event, n int64) error {
	switch {
	case e.Ignored:
		return nil
	case in.stream.Projection.Name != "":
		return p.projectInGo(in, e, n)
	}
	if err := p.builtIn.try(in.stream.Projection, e); err != nil {
		return err
	}
	if in.sends() {
		if _, err := in.effectsOf(e, n, []any{e.Data()}); err != nil {
			return err
		}
	}
	p.builtIn.take()
	return nil
}

func (p *stepPlan) projectInGo(in stepInput, e *events.Event, n int64) error {
	state, returned, err := project(in.stream, in.projections, p.next.State, e)
	if err != nil {
		return err
	}
	var owed []Effect
	if in.sends() {
		owed, err = in.effectsOf(e, n, returned)
	}
	if err != nil {
		return err
	}
	p.next.State = state
	if len(owed) > 0 {
		p.next.Owed = append(slices.Clone(p.next.Owed), owed...)
	}
	return nil
}

// effectsOf returns the effects of one event. One that could never be sent must show before the cursor passes its
// event: behind it the entity would owe it for ever.
func (in *stepInput) effectsOf(e *events.Event, n int64, returned []any) ([]Effect, error) {
	effects := make([]Effect, len(returned))
	for i, data := range returned {
		effects[i] = effectOf(in.stream, e, n, i, data)
		if err := in.sendable(effects[i]); err != nil {
			return nil, fmt.Errorf("its effect %d could never be sent: %w", i, err)
		}
	}
	return effects, nil
}

// block stops the entity at an event whose projection fails. Its copy goes to quarantine before the write that first
// says so, and again when the event is delivered again.
func (p *stepPlan) block(in stepInput, n int64, j *job, row Row, isLogged bool, err error) {
	p.next.Blocked = n
	blocked := Outcome{Disposition: Parked, Reason: events.ProjectionError, Detail: err.Error(), Stored: events.SeqClock(p.next.Gen, p.next.Applied)}
	switch {
	case j != nil && (!isLogged || row.is(j.Event)):
		p.copies = append(p.copies, copyOf{n, Copy{Delivery: j.Delivery, Outcome: blocked}})
		p.landed[j] = blocked
	case in.base.Blocked != n:
		p.copies = append(p.copies, copyOf{n, row.copyAs(blocked)})
	}
}

// copyAs is a copy of a logged message for quarantine.
func (r *Row) copyAs(o Outcome) Copy {
	return Copy{Delivery: Delivery{Message: &r.Message, Record: r.Record}, Outcome: o}
}

// judgeCandidates says what became of the events within the window, and which of them must be logged first.
func (p *stepPlan) judgeCandidates(in stepInput, candidates map[int64]*job) {
	var waiting Numbers
	stored := events.SeqClock(p.next.Gen, p.next.Applied)
	numbers := make([]int64, 0, len(candidates))
	for n := range candidates {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		j := candidates[n]
		row, isLogged := in.logged[n]
		ran := n <= p.next.Applied
		switch {
		case j.Event.Kind == events.Void: // judged as a whole, by control
			if isLogged && row.Void != "" {
				p.voided++
			}
		case isLogged && !row.is(j.Event):
			p.landed[j] = atRow(j.Event, row, stored)
		case isLogged && in.base.Waiting.Has(n) && n != p.next.Blocked:
			p.landed[j] = Outcome{Disposition: Duplicate, Stored: stored}
		case ran:
			p.landed[j] = Outcome{Disposition: Applied, Stored: stored}
		case n != p.next.Blocked:
			p.landed[j] = Outcome{Disposition: Parked, Stored: stored}
			p.early = append(p.early, j)
		}
		if !isLogged && (!ran || in.logsAll() || j.Event.Kind == events.Void) {
			p.puts = append(p.puts, entry{j, n})
		}
		if !ran {
			waiting = append(waiting, n)
			at := j.receivedAt(in.now)
			if isLogged {
				at = row.ReceivedAt
			}
			p.next.hear(n, at)
		}
	}
	if len(waiting) > 0 {
		p.next.Waiting = p.next.Waiting.With(waiting...)
	}
}
