package ordering

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cockroachdb/apd/v3"

	"inorder/events"
)

// deltaInput is all that a decision on a numbered delta entity depends on.
type deltaInput struct {
	stream *events.Stream
	prev   *Entity // as it was read or cached
	base   *Entity // prev, or where a new generation begins the empty entity of it
	jobs   []*job  // open, of base's generation or an older one
	now    time.Time
	token  string

	// letAdd: others write this entity too, so the database shall add.
	letAdd bool
	// careful: the database refused to add, so each amount is judged here.
	careful bool
	// alone: together the events would make the item too large, so each is tried by itself.
	alone bool
}

// deltaPlan is what a delta decision comes to: one compare-and-set, or additions that need none.
type deltaPlan struct {
	fresh  bool // it looks beyond the window, or refuses a sum: it must not rest on a cached copy
	final  verdicts
	landed verdicts
	early  []*job
	next   *Entity     // compare-and-set; nil where adds is used or nothing changes
	adds   [][]*job    // each at most MaxAddNumbers
	amount deltaAmount // of each job that adds

	voided, expired Numbers   // to be counted without change; of them those that were meant and are lost
	heard           []Witness // marks that are news
}

type deltaAmount map[*job]map[string]*apd.Decimal

// planDelta decides on the open jobs of a numbered delta entity.
func planDelta(in deltaInput) deltaPlan {
	p := deltaPlan{final: verdicts{}, landed: verdicts{}, amount: deltaAmount{}}
	facts, controls := splitBy(in.jobs, func(j *job) bool { return j.Event.Kind == events.Fact })
	counted := p.sortOut(in, facts)
	for _, j := range controls {
		p.control(in, counted, j)
	}
	if len(counted) == 0 && !p.fresh && !p.controls() {
		return p
	}
	if in.alone && len(counted) > 1 {
		counted = counted[:1]
		maps.DeleteFunc(p.landed, func(j *job, o Outcome) bool {
			return o.Disposition != Deferred && j.Event.Seq != counted[0].Event.Seq
		})
	}
	next, counted := p.fold(in, counted)
	if len(p.landed) == 0 {
		return p
	}
	inOrder := !next.openGap()
	if !in.careful && !p.fresh && !p.controls() && in.base == in.prev && (in.letAdd || !inOrder) && len(counted) > 0 {
		p.adds = slices.Collect(slices.Chunk(counted, MaxAddNumbers))
		return p
	}
	if len(counted) > 0 || p.controls() || in.base != in.prev || next.MaxSeen != in.base.MaxSeen || (next.Gap == nil) != (in.prev.Gap == nil) {
		p.next = next
	}
	return p
}

// sortOut judges what is counted already, skipped, old, or beyond the window, and returns the others by their numbers.
func (p *deltaPlan) sortOut(in deltaInput, facts []*job) []*job {
	byNumber := map[int64]*job{}
	base, effective := in.base, in.base.Effective()
	stored := events.SeqClock(base.Gen, effective)
	for _, j := range facts {
		n := j.Event.Seq
		switch {
		case j.Event.Generation < base.Gen:
			p.final[j] = Outcome{Disposition: Stale, Stored: stored}
		case within(base.Skipped, n):
			p.final[j] = skipped(stored)
		case n <= effective || base.Ahead.Has(n):
			p.final[j] = atCounted(base, j.Event, stored)
			p.fresh = p.fresh || p.final[j].Disposition == Conflict // the last one may be another meanwhile
		case n-effective > in.stream.Window:
			p.fresh = true
			p.landed[j] = Outcome{Disposition: Deferred, Stored: stored, Err: beyondWindow(n, in.stream, window(effective+1, in.stream.Window))}
		case byNumber[n] != nil:
			p.landed[j] = atTie(j.Event, lastOf(byNumber[n].Delivery, in.now))
		default:
			amounts, refusal := deltaAmounts(in.stream, j.Event)
			if refusal != nil {
				p.final[j] = quarantined(refusal)
				p.fresh = true // it may be skipped by now, and then that is the reason
				continue
			}
			byNumber[n], p.amount[j] = j, amounts
		}
	}
	counted := make([]*job, 0, len(byNumber))
	for _, n := range slices.Sorted(maps.Keys(byNumber)) {
		counted = append(counted, byNumber[n])
	}
	return counted
}

// atCounted judges an event whose number is counted. Only of the last one the entity knows who it was.
func atCounted(base *Entity, e *events.Event, stored string) Outcome {
	o := Outcome{Disposition: Duplicate}
	if base.Last.Clock == e.Clock {
		o = atTie(e, base.Last)
	}
	o.Stored = stored
	return o
}

// deltaAmounts reads what an event adds, or says why it never can.
func deltaAmounts(s *events.Stream, e *events.Event) (map[string]*apd.Decimal, *events.Refusal) {
	if e.Ignored {
		return nil, nil
	}
	amounts, err := amountsOf(s.Projection, e)
	switch {
	case errors.Is(err, errNumberRange):
		return nil, &events.Refusal{Reason: events.NumberRange, Detail: err.Error()}
	case err != nil:
		return nil, &events.Refusal{Reason: events.ProjectionError, Detail: err.Error()}
	}
	return amounts, nil
}

// fold is the entity after a compare-and-set that counts these events, and those of them that it does count. What does
// not fit is refused only on a fresh read: another may have made room.
func (p *deltaPlan) fold(in deltaInput, all []*job) (after *Entity, counted []*job) {
	next := *in.base
	next.Exists, next.Rev, next.Token = true, in.prev.Rev+1, in.token
	next.State = maps.Clone(in.base.State)
	if next.State == nil {
		next.State = map[string]any{}
	}
	stored := events.SeqClock(in.base.Gen, in.base.Effective())
	for _, j := range all {
		if err := addTo(next.State, p.amount[j]); err != nil {
			p.fresh = true
			p.final[j] = quarantined(&events.Refusal{Reason: events.NumberRange, Detail: err.Error()})
			continue
		}
		counted = append(counted, j)
		next.Ahead = next.Ahead.With(j.Event.Seq)
		next.Last = lastOf(j.Delivery, in.now)
		next.Last.Clock = j.Event.Clock
		p.landed[j] = Outcome{Disposition: Applied, Stored: stored}
	}
	next.Ahead = next.Ahead.With(p.voided...)
	for _, n := range p.expired {
		next.remember(Range{First: n, Last: n})
	}
	next.Applied = next.Effective()
	next.Ahead = next.Ahead.Above(next.Applied)
	next.MaxSeen = max(next.MaxSeen, next.Ahead.Max(), next.Applied)
	for _, w := range p.heard {
		next.hear(w.Seq, w.At)
	}
	for _, n := range p.voided {
		if n > next.Applied {
			next.show(n, in.now)
		}
	}
	for j, o := range p.landed {
		if j.Event.Kind == events.Fact && (o.Disposition == Deferred || j.Event.Seq > next.Applied) {
			next.hear(j.Event.Seq, j.receivedAt(in.now))
		}
		if j.Event.Kind == events.Fact && j.Event.Seq > next.Applied && p.landed[j].Disposition == Applied {
			p.early = append(p.early, j)
		}
	}
	next.settleGap(in.prev, in.now)
	return &next, counted
}

// addTo adds amounts to a state, all or none of them.
func addTo(state map[string]any, amounts map[string]*apd.Decimal) error {
	sums := make(map[string]any, len(amounts))
	for name, amount := range amounts {
		if held, has := state[name]; has {
			before, err := parseAmount(held)
			if err != nil {
				return fmt.Errorf("what attribute %s holds %w", name, err)
			}
			if amount, err = add(before, amount); err != nil {
				return fmt.Errorf("the sum in attribute %s %w", name, err)
			}
		}
		sums[name] = numberOf(amount)
	}
	maps.Copy(state, sums)
	return nil
}

// addition is one chunk for the database to add. It is out of order, or may be, so it sets the gap attributes unless
// it leaves nothing above the effective cursor.
func (p *deltaPlan) addition(in deltaInput, chunk []*job) (Addition, error) {
	newest := chunk[len(chunk)-1]
	a := Addition{Gen: in.base.Gen, Amounts: map[string]events.Number{}, Last: lastOf(newest.Delivery, in.now), Token: in.token}
	a.Last.Clock = newest.Event.Clock
	sums := map[string]any{}
	for _, j := range chunk {
		if err := addTo(sums, p.amount[j]); err != nil {
			return a, ErrNumberRange
		}
		a.Numbers = append(a.Numbers, j.Event.Seq)
	}
	for name, sum := range sums {
		a.Amounts[name] = sum.(events.Number)
	}
	after := in.base.Cursor
	after.Ahead = after.Ahead.With(a.Numbers...)
	if after.openGap() {
		a.GapSince = in.now
		w := Witness{newest.Event.Seq, newest.receivedAt(in.now)}
		if len(in.base.Shown) < maxShown && in.base.tells(w) {
			a.Shown = &w
		}
	}
	return a, nil
}
