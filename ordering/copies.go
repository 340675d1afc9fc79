package ordering

import (
	"slices"

	"inorder/events"
)

// copied is a delivery that says what another one of the batch says already.
type copied struct {
	*job
	original *job
}

// setCopiesAside splits a batch into the first delivery of each event and the others. With markers the id alone tells
// events apart, as the marker does; otherwise it takes id, content and position.
func setCopiesAside(s *events.Stream, jobs []*job) (originals []*job, copies []copied) {
	type identity struct{ source, id, clock, fingerprint string }
	first := make(map[identity]*job, len(jobs))
	originals = make([]*job, 0, len(jobs))
	for _, j := range jobs {
		who := identity{source: j.Event.Source, id: j.Event.ID}
		if !s.Marker {
			who.clock = j.Event.Clock
		}
		original, seen := first[who]
		if seen && !s.Marker && !sameContent(original, j) { // only then fingerprints are worth their while
			who.fingerprint = j.Event.Fingerprint()
			original, seen = first[who]
		}
		if seen {
			copies = append(copies, copied{j, original})
			continue
		}
		first[who] = j
		originals = append(originals, j)
	}
	return originals, copies
}

func sameContent(a, b *job) bool { return a.Event.Fingerprint() == b.Event.Fingerprint() }

// copyOutcome is what becomes of a copy once its original has its outcome; false where the copy must be judged by
// itself, because the original was refused and so left nothing behind.
func (j *job) copyOutcome(c *job) (Outcome, bool) {
	original := *j.out
	if c.Event.Kind != events.Fact {
		return original, true
	}
	if !sameContent(c, j) { // with markers: the id is used again for other content
		switch original.Disposition {
		case Deferred:
			return original, true
		case Conflict, Quarantined:
			return Outcome{}, false
		case Applied, Coalesced, Stale, Duplicate, Parked:
			return Outcome{Disposition: Conflict, Reason: events.Conflict, Detail: "its id is used by an event with other content"}, true
		}
	}
	switch original.Disposition {
	case Conflict, Quarantined:
		return original, c.Event.Clock == j.Event.Clock
	case Deferred:
		return original, true
	case Coalesced, Stale:
		if c.Event.Stream.Marker {
			return Outcome{Disposition: Duplicate, Stored: original.Stored}, true
		}
		return original, true
	case Parked:
		if original.Reason != "" { // blocked: it still fails
			return original, true
		}
	case Applied, Duplicate:
	}
	return Outcome{Disposition: Duplicate, Stored: original.Stored}, true
}

// byGeneration splits jobs where a generation is a life of its own, the lowest first. With `clock: entity` the clock
// holds the generation and one write serves all; with `clock: source` it is the source's own.
func byGeneration(s *events.Stream, jobs []*job) [][]*job {
	other := func(j *job) bool { return j.Event.Generation != jobs[0].Event.Generation }
	if s.Mode == events.State && s.Clock != events.ClockAttribute || !slices.ContainsFunc(jobs, other) {
		return [][]*job{jobs}
	}
	lives := map[int64][]*job{}
	var order []int64
	for _, j := range jobs {
		g := j.Event.Generation
		if lives[g] == nil {
			order = append(order, g)
		}
		lives[g] = append(lives[g], j)
	}
	slices.Sort(order)
	groups := make([][]*job, len(order))
	for i, g := range order {
		groups[i] = lives[g]
	}
	return groups
}
