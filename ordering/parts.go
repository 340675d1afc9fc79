package ordering

import (
	"maps"
	"slices"
	"strings"
	"time"

	"inorder/events"
)

// existence is the part that an event without any attribute has, so that even such an event can be newer or older
// than a tombstone. No attribute has this name: empty names are refused.
const existence = ""

// part is one thing with a clock of its own, and the event of the batch that would set it.
type part struct {
	name string
	by   *job
}

// planParts is `clock: attribute` and `clock: source`: what has a clock of its own is judged by itself, and an event
// is applied when at least one of its parts is.
func (p *statePlan) planParts(s *events.Stream, known *Entity, jobs []*job, now time.Time) {
	for len(jobs) > 0 {
		f := foldParts(s, jobs)
		verdict, won := f.judge(known)
		refused, rest := splitBy(jobs, func(j *job) bool { return verdict[j].Disposition == Conflict })
		if len(refused) == 0 {
			p.settleParts(known, jobs, f, verdict, len(won) > 0)
			if len(won) > 0 {
				p.write = f.write(s, known, won, now)
			}
			return
		}
		for _, j := range refused {
			p.final[j] = verdict[j]
		}
		jobs = rest // as if the refused had never come: what they covered counts again
	}
}

// settleParts says on what each event's verdict depends.
func (p *statePlan) settleParts(known *Entity, jobs []*job, f folded, verdict verdicts, writes bool) {
	for _, j := range jobs {
		o, judged := verdict[j]
		rivalry, isRival := f.rivals[j]
		switch {
		case isRival && verdict[f.holders[j]].Disposition == Stale:
			// who came first does not hold the position either: judged by the entity, in the next round
		case isRival:
			p.landed[j] = rivalry
		case !judged: // newer events of the batch cover it
			o = Outcome{Disposition: Coalesced}
			if writes {
				p.landed[j] = o
			} else {
				p.lone[j] = o
			}
		case o.Disposition == Applied:
			p.landed[j] = o
		case o.Disposition == Stale, !known.Last.is(j.Event): // its marker, where there are any, knows more
			p.lone[j] = o
		default:
			p.final[j] = o
		}
	}
}

// folded is a batch by its parts: of each the newest event.
type folded struct {
	floor   string // the start of the events' generation, empty where they have none
	parts   []part
	tomb    *job          // `clock: attribute`: the newest tombstone
	holders map[*job]*job // of each rival, who came first
	rivals  verdicts      // events that want the position of another one of the batch, which came first
}

func foldParts(s *events.Stream, jobs []*job) folded {
	f := folded{rivals: verdicts{}, holders: map[*job]*job{}}
	if s.Clock == events.ClockAttribute && s.Order.By == events.BySeq {
		f.floor = events.SeqClock(jobs[0].Event.Generation, 0)
	}
	byName := map[string]*job{}
	newestFirst := slices.Clone(jobs)
	slices.SortStableFunc(newestFirst, func(a, b *job) int { return strings.Compare(b.Event.Clock, a.Event.Clock) })
	for _, j := range newestFirst {
		if f.tomb != nil && j.Event.Clock < f.tomb.Event.Clock {
			break // the tombstone covers it and everything older
		}
		wipes := s.Clock == events.ClockAttribute && j.Event.Tombstone
		names := partNames(s, j.Event)
		if rival := f.samePosition(byName, j, names, wipes); rival != nil {
			f.holders[j] = rival
			f.rivals[j] = atTie(j.Event, lastOf(rival.Delivery, time.Time{}))
			continue
		}
		if wipes {
			f.tomb = j
			continue
		}
		for _, name := range names {
			if byName[name] == nil {
				byName[name] = j
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		f.parts = append(f.parts, part{name, byName[name]})
	}
	return f
}

// samePosition returns the event of the batch that holds j's position already, for one of its parts. A tombstone holds
// it for all parts.
func (f *folded) samePosition(byName map[string]*job, j *job, names []string, wipes bool) *job {
	if f.tomb != nil && f.tomb.Event.Clock == j.Event.Clock {
		return f.tomb
	}
	if wipes {
		names = slices.Collect(maps.Keys(byName))
	}
	for _, name := range names {
		if rival := byName[name]; rival != nil && rival.Event.Clock == j.Event.Clock {
			return rival
		}
	}
	return nil
}

func partNames(s *events.Stream, e *events.Event) []string {
	if s.Clock == events.ClockSource {
		return []string{e.Source}
	}
	if len(e.Content) == 0 {
		return []string{existence}
	}
	names := make([]string, len(e.Content))
	for i := range e.Content {
		names[i] = e.Content[i].Name
	}
	return names
}

// judge compares each part with the entity: what each event came to, and the parts that are newer. Among them the
// tombstone is a part as well, without a name.
func (f folded) judge(known *Entity) (verdict verdicts, won []part) {
	verdict = verdicts{}
	if f.tomb != nil && note(verdict, f.tomb, judgeClock(known, f.tomb.Event, clockFloor(known))) {
		won = append(won, part{by: f.tomb})
	}
	for _, p := range f.parts {
		stored := clockFloor(known)
		if known != nil {
			stored = max(stored, known.Clocks[p.name])
		}
		if note(verdict, p.by, judgeClock(known, p.by.Event, stored)) {
			won = append(won, p)
		}
	}
	return verdict, won
}

// strength says which verdict of its parts an event gets: the strongest.
var strength = [dispositionCount]int{Stale: 1, Duplicate: 2, Applied: 3, Conflict: 4}

// note merges a part's verdict into its event's, and reports whether the part is newer.
func note(verdict verdicts, j *job, o Outcome) bool {
	if before, judged := verdict[j]; !judged || strength[o.Disposition] > strength[before.Disposition] {
		verdict[j] = o
	}
	return o.Disposition == Applied
}

func judgeClock(known *Entity, e *events.Event, stored string) Outcome {
	switch {
	case stored < e.Clock:
		return Outcome{Disposition: Applied, Stored: stored}
	case stored > e.Clock:
		return Outcome{Disposition: Stale, Stored: stored}
	case known.Last.Clock == e.Clock && (e.Stream.Clock != events.ClockSource || known.Last.Source == e.Source):
		o := atTie(e, known.Last)
		o.Stored = stored
		return o
	default: // the entity was written by others since, and no longer knows who holds this position
		return Outcome{Disposition: Duplicate, Stored: stored}
	}
}

func clockFloor(known *Entity) string {
	if known == nil {
		return ""
	}
	return known.Clock
}

// write chooses how the newer parts are written: by one conditional update without a look, or, for what no expression
// can say (a tombstone's removals, a new generation's start, more parts than an expression holds), as a whole on the
// entity's revision. The latter must know the entity; where it does not, it assumes none and learns it by losing.
func (f folded) write(s *events.Stream, known *Entity, won []part, now time.Time) stateWrite {
	merge := Merge{Floor: f.floor}
	var newest *job
	for _, p := range won {
		if newest == nil || newest.Event.Clock < p.by.Event.Clock {
			newest = p.by
		}
		if p.by == f.tomb {
			continue
		}
		merge.Parts = append(merge.Parts, partOf(s, p))
	}
	merge.Last = lastOf(newest.Delivery, now)
	merge.Last.Clock = newest.Event.Clock
	newLife := known != nil && known.Exists && known.Clock < f.floor
	if f.tomb == nil && !newLife && len(merge.Parts) <= MaxMergeParts {
		return mergeParts{merge}
	}
	if known == nil {
		known = &Entity{}
	}
	return swapWhole{known, f.whole(known, merge)}
}

func partOf(s *events.Stream, p part) Part {
	e := p.by.Event
	name := strings.Clone(p.name) // like the values, out of the body
	changed := Part{Name: name, Clock: e.Clock, Set: map[string]any{}}
	switch {
	case s.Clock == events.ClockSource:
		changed.Tomb = e.Tombstone
		for _, name := range s.Owns[e.Source] {
			if value := e.Content.Find(name); value.Exists() && !e.Tombstone {
				changed.Set[name] = ownValue(value.Any())
			} else {
				changed.Remove = append(changed.Remove, name)
			}
		}
	case p.name == existence:
	case e.Content.Find(p.name).IsNull():
		changed.Remove = []string{name}
	default:
		changed.Set[name] = ownValue(e.Content.Get(p.name))
	}
	return changed
}

// whole is the entity after a merge, for Swap.
func (f folded) whole(prev *Entity, merge Merge) *Entity {
	next := &Entity{Exists: true, Rev: prev.Rev + 1, Last: merge.Last, State: map[string]any{}}
	next.Marks, next.Gap = prev.Marks, prev.Gap // a merge leaves them too: whether they are reached is for the sweeper to see
	next.Clock, next.Clocks = max(prev.Clock, merge.Floor), map[string]string{}
	if prev.Exists && prev.Clock >= merge.Floor { // the same life goes on
		maps.Copy(next.State, prev.State)
		maps.Copy(next.Clocks, prev.Clocks)
		next.Tombs = slices.Clone(prev.Tombs)
	}
	if f.tomb != nil && f.tomb.Event.Clock > next.Clock {
		next.Clock = f.tomb.Event.Clock
		for name, clock := range next.Clocks {
			if clock < next.Clock {
				delete(next.State, name)
				delete(next.Clocks, name)
			}
		}
	}
	for _, p := range merge.Parts {
		next.Clocks[p.Name] = p.Clock
		maps.Copy(next.State, p.Set)
		for _, name := range p.Remove {
			delete(next.State, name)
		}
		next.Tombs = slices.DeleteFunc(next.Tombs, func(source string) bool { return source == p.Name })
		if p.Tomb {
			next.Tombs = append(next.Tombs, p.Name)
		}
	}
	return next
}
