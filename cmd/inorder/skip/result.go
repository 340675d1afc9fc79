package skip

import (
	"github.com/go-json-experiment/json/jsontext"

	"inorder/cmd/inorder/backend"
	"inorder/events"
	"inorder/ordering"
)

// Result is what --json prints.
type Result struct {
	DryRun      bool `json:"dry_run"` // nothing was changed; what follows is what would be
	NothingToDo bool `json:"nothing_to_do"`

	Consumer   string `json:"consumer"`
	Stream     string `json:"stream"`
	EntityID   string `json:"entity_id"`
	Source     string `json:"source,omitempty"`
	Generation int64  `json:"generation"`
	Through    int64  `json:"through"`
	Reason     string `json:"reason"`
	By         string `json:"by"`

	Lost    []events.Range `json:"lost"`    // nobody has them
	Applied []events.Range `json:"applied"` // logged, up to Through
	Passed  []events.Range `json:"passed"`  // logged, and cannot be applied: quarantine has a copy
	Drained []events.Range `json:"drained"` // what waited behind Through
	Effects Effects        `json:"effects"` // of what runs

	Before Side `json:"before"`
	After  Side `json:"after"`

	mode events.Mode
}

// overtaken reports whether the entity began another generation in the middle of it.
func (r *Result) overtaken() bool {
	return r.mode != events.State && r.Before.Generation != r.After.Generation
}

// Side is the entity before or after.
type Side struct {
	Generation int64          `json:"generation"`
	Applied    int64          `json:"applied"`  // the effective cursor; of a state entity the number of its clock
	MaxSeen    int64          `json:"max_seen"` // the highest number that is known
	Missing    []events.Range `json:"missing"`
	Blocked    int64          `json:"blocked,omitzero"` // the number whose projection fails
	Parked     int            `json:"parked"`           // step: events that are logged and wait
	Ahead      int            `json:"ahead"`            // delta: events that are counted above the cursor
	State      jsontext.Value `json:"state"`
}

// Effects is what becomes of the effects of what runs.
type Effects string

// What becomes of effects.
const (
	NoEffects   Effects = "none" // the stream has none
	EffectsSent Effects = "sent"
	EffectsOff  Effects = "off"
	EffectsHeld Effects = "hold"
	EffectsOwed Effects = "owed" // not all could be sent: the sweeper sends the rest
)

func effectsOf(s *events.Stream, mode ordering.EffectsMode, done bool, after *ordering.Entity) Effects {
	switch {
	case !s.Effects:
		return NoEffects
	case mode == ordering.EffectsOff:
		return EffectsOff
	case mode == ordering.EffectsHold:
		return EffectsHeld
	case done && after.OwesEffects():
		return EffectsOwed
	}
	return EffectsSent
}

func sideOf(s *events.Stream, e *ordering.Entity) Side {
	side := Side{
		Generation: e.Gen, Applied: e.Effective(), MaxSeen: e.Highest(),
		Missing: listed(e.Missing(s)), Blocked: e.Blocked,
		Parked: len(e.Waiting), Ahead: len(e.Ahead.Above(e.Effective())), State: backend.StateJSON(e.State),
	}
	if s.Mode == events.State {
		side.addMarks(s, e)
	}
	return side
}

// addMarks is for a state entity, of which only the newest number, of each source, can be missing.
func (side *Side) addMarks(s *events.Stream, e *ordering.Entity) {
	side.Generation, side.Applied, _ = events.ParseSeqClock(e.Newest())
	side.MaxSeen = side.Applied
	for _, mark := range e.MissingMarks(s) {
		side.Missing = append(side.Missing, events.Range{First: mark.Seq, Last: mark.Seq})
		side.MaxSeen = max(side.MaxSeen, mark.Seq)
	}
}

// listed is an empty list rather than none, for those who parse it.
func listed(ranges []events.Range) []events.Range {
	return append([]events.Range{}, ranges...)
}

// split parts ranges at a number: up to it, and above.
func split(ranges []events.Range, at int64) (upTo, above []events.Range) {
	upTo, above = []events.Range{}, []events.Range{}
	for _, r := range ranges {
		if r.First <= at {
			upTo = append(upTo, events.Range{First: r.First, Last: min(r.Last, at)})
		}
		if r.Last > at {
			above = append(above, events.Range{First: max(r.First, at+1), Last: r.Last})
		}
	}
	return upTo, above
}
