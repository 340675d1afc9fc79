package ordering

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

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

type deltaAmount map[*job][]amount

// planDelta decides on the open jobs of a numbered delta entity.
func planDelta(in deltaInput) deltaPlan {
	p := deltaPlan{final: verdicts{}, landed: make(verdicts, len(in.jobs)), amount: make(deltaAmount, len(in.jobs))}
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
	slices.SortStableFunc(facts, bySeq) // of one number the first that came goes first
	counted := make([]*job, 0, len(facts))
	amounts := make([]amount, 0, len(facts)*len(in.stream.Projection.Sum))
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
		case len(counted) > 0 && counted[len(counted)-1].Event.Seq == n:
			p.landed[j] = atTie(j.Event, lastOf(counted[len(counted)-1].Delivery, in.now))
		default:
			before := len(amounts)
			read, refusal := appendDelta(amounts, in.stream, j.Event)
			if refusal != nil {
				p.final[j] = quarantined(refusal)
				p.fresh = true // it may be skipped by now, and then that is the reason
				continue
			}
			amounts, p.amount[j] = read, read[before:]
			counted = append(counted, j)
		}
	}
	return counted
}

func bySeq(a, b *job) int { return cmp.Compare(a.Event.Seq, b.Event.Seq) }

// atCounted judges an event whose number is counted. Only of the last one the entity knows who it was.
func atCounted(base *Entity, e *events.Event, stored string) Outcome {
	o := Outcome{Disposition: Duplicate}
	if base.Last.Clock == e.Clock {
		o = atTie(e, base.Last)
	}
	o.Stored = stored
	return o
}

// appendDelta reads what an event adds, or says why it never can.
func appendDelta(amounts []amount, s *events.Stream, e *events.Event) ([]amount, *events.Refusal) {
	if e.Ignored {
		return amounts, nil
	}
	amounts, err := appendAmounts(amounts, s.Projection, e)
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
	stored := events.SeqClock(in.base.Gen, in.base.Effective())
	sums := tally{state: in.base.State}
	numbers := slices.Clone(p.voided)
	for _, j := range all {
		if err := sums.try(p.amount[j]); err != nil {
			p.fresh = true
			p.final[j] = quarantined(&events.Refusal{Reason: events.NumberRange, Detail: err.Error()})
			continue
		}
		sums.take()
		counted, numbers = append(counted, j), append(numbers, j.Event.Seq)
		p.landed[j] = Outcome{Disposition: Applied, Stored: stored}
	}
	if len(counted) > 0 {
		newest := counted[len(counted)-1]
		next.Last = lastOf(newest.Delivery, in.now)
		next.Last.Clock = newest.Event.Clock
	}
	next.State = sums.next()
	next.Ahead = next.Ahead.With(numbers...)
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
		if j.Event.Kind == events.Fact && j.Event.Seq > next.Applied && o.Disposition == Applied {
			p.early = append(p.early, j)
		}
	}
	next.settleGap(in.prev, in.now)
	return &next, counted
}

// addition is one chunk for the database to add. It is out of order, or may be, so it sets the gap attributes unless
// it leaves nothing above the effective cursor.
func (p *deltaPlan) addition(in deltaInput, chunk []*job) (Addition, error) {
	newest := chunk[len(chunk)-1]
	a := Addition{Gen: in.base.Gen, Last: lastOf(newest.Delivery, in.now), Token: in.token}
	a.Last.Clock = newest.Event.Clock
	var sums tally
	for _, j := range chunk {
		if err := sums.try(p.amount[j]); err != nil {
			return a, ErrNumberRange
		}
		sums.take()
		a.Numbers = append(a.Numbers, j.Event.Seq)
	}
	a.Amounts = sums.numbers()
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
