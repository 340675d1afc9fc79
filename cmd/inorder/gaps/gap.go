package gaps

import (
	"maps"
	"slices"
	"time"

	"inorder/events"
	"inorder/ordering"
)

// Gap is one entity that the sweeper must look at, and its JSON form.
type Gap struct {
	Stream     string `json:"stream"`
	EntityID   string `json:"entity_id"`
	Source     string `json:"source,omitempty"` // where each source has a history of its own, or a mark is a source's
	Generation int64  `json:"generation"`

	Applied int64          `json:"applied"`  // the effective cursor
	MaxSeen int64          `json:"max_seen"` // the highest number that is known
	Missing []events.Range `json:"missing"`  // [first, last]
	Parked  int            `json:"parked"`   // step: events that are logged and wait
	Ahead   int            `json:"ahead"`    // delta: events that are counted above the cursor

	Since       time.Time  `json:"since"` // when the consumer received what first showed it
	AgeSeconds  int64      `json:"age_seconds"`
	Attempts    int        `json:"attempts"`
	MaxAttempts int        `json:"max_attempts"`           // after so many it only alarms
	NextAttempt *time.Time `json:"next_attempt,omitempty"` // where something is missing: when it is asked for

	Why        []Why     `json:"why"`
	Blocked    int64     `json:"blocked,omitzero"`     // the number whose projection fails
	Dispatched *Position `json:"dispatched,omitempty"` // where effects are owed: up to here they were sent
	Marks      []Mark    `json:"marks,omitempty"`      // of a state entity: the newest event that is known and not here
	Error      string    `json:"error,omitempty"`      // why the entity cannot be read

	known ordering.Numbers // numbers that are known to be this entity's, as far as it remembers them
	gap   time.Duration    // the stream's gap deadline
	start bool             // the stream may begin anywhere
}

// Position is a number within a generation.
type Position struct {
	Generation int64 `json:"generation"`
	Seq        int64 `json:"seq"`
}

// Mark is a position that one source, or somebody, has told of.
type Mark struct {
	Source string `json:"source,omitempty"`
	Position
}

// Why is why an entity stands in the index.
type Why string

// Why an entity stands in the index. Several may hold at once.
const (
	IsMissing   Why = "missing"    // a number is missing
	IsBlocked   Why = "blocked"    // its next event is here, and its projection fails
	NoBaseline  Why = "baseline"   // start: any, and the beginning is not chosen yet
	OwesEffects Why = "effects"    // effects are not sent yet
	NotDrained  Why = "drain"      // what waits is next in line: an invocation was interrupted
	NotTidied   Why = "tidy"       // nothing is open any more; the next sweep takes it out
	NoStream    Why = "no_stream"  // streams.yaml does not have its stream
	Unreadable  Why = "unreadable" // what is stored cannot be understood
)

// Of describes an entity that stands in the index, by what it is now. It returns false for one that does not stand there
// any more: the index lags behind.
func Of(s *events.Stream, key ordering.Key, e *ordering.Entity, now time.Time) (Gap, bool) {
	if e.Gap == nil {
		return Gap{}, false
	}
	g := Gap{
		Stream: key.Stream, EntityID: key.ID, Source: key.Source, Generation: e.Gen,
		Applied: e.Effective(), MaxSeen: e.Highest(), Missing: []events.Range{},
		Parked: len(e.Waiting), Ahead: len(e.Ahead.Above(e.Effective())), Blocked: e.Blocked, Attempts: e.Attempts(),
		Since: e.GapSince().UTC(), AgeSeconds: int64(max(now.Sub(e.GapSince()), 0) / time.Second),
	}
	if s == nil {
		g.Why = []Why{NoStream}
		return g, true
	}
	g.MaxAttempts, g.gap, g.start = s.GapAttempts, s.GapDeadline, s.StartAny
	g.known = known(s, e)
	g.Missing = append(g.Missing, e.Missing(s)...)
	g.addMark(s, e)
	g.Why = why(s, e, now, len(g.Missing) > 0)
	if e.OwesEffects() {
		g.Dispatched = &Position{e.Dispatched.Gen, e.Dispatched.Seq}
	}
	g.addNextAttempt(e)
	return g, true
}

// addMark is for a state entity, of which only the newest number of each source can be missing.
func (g *Gap) addMark(s *events.Stream, e *ordering.Entity) {
	if s.Mode != events.State {
		return
	}
	if gen, seq, ok := events.ParseSeqClock(e.Newest()); ok {
		g.Generation, g.Applied, g.MaxSeen = gen, seq, seq
	}
	marks := e.MissingMarks(s)
	for _, source := range slices.Sorted(maps.Keys(marks)) {
		at := marks[source]
		g.Marks = append(g.Marks, Mark{source, Position{at.Gen, at.Seq}})
		g.Missing = append(g.Missing, events.Range{First: at.Seq, Last: at.Seq})
		g.MaxSeen = max(g.MaxSeen, at.Seq)
	}
}

// addNextAttempt says when what is missing is asked for next.
func (g *Gap) addNextAttempt(e *ordering.Entity) {
	if len(g.Missing) == 0 {
		return
	}
	next := e.GapSince().Add(g.gap).UTC()
	if g.Attempts > 0 {
		next = e.Gap.EscalateAt.UTC()
	}
	g.NextAttempt = &next
}

// why lists all that is wrong; what the sweeper does first about it is the sweeper's to say.
func why(s *events.Stream, e *ordering.Entity, now time.Time, missing bool) []Why {
	all := []Why{}
	add := func(is bool, w Why) {
		if is {
			all = append(all, w)
		}
	}
	lags := s.Mode == events.Delta && e.Effective() != e.Applied && !missing
	add(missing, IsMissing)
	add(e.Blocked != 0, IsBlocked)
	add(s.Mode == events.Step && e.NoBaseline(s) && len(e.Waiting) > 0, NoBaseline)
	add(ordering.DutyOf(s, e, now, true) == ordering.FinishDrain || lags, NotDrained)
	add(e.OwesEffects(), OwesEffects)
	add(len(all) == 0, NotTidied)
	return all
}

// known are the numbers that this entity is known to have, where they can be listed: not those up to the cursor, for
// which the first and the last stand, and of a history that began anywhere only the last.
func known(s *events.Stream, e *ordering.Entity) ordering.Numbers {
	if s.Mode == events.State {
		return nil
	}
	numbers := slices.Concat(e.Waiting, e.Ahead)
	if e.MaxSeen > e.Effective() {
		numbers = append(numbers, e.MaxSeen)
	}
	if e.Applied > 0 {
		numbers = append(numbers, e.Applied)
		if !s.StartAny {
			numbers = append(numbers, 1)
		}
	}
	return ordering.Numbers{}.With(numbers...)
}
