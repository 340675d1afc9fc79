package ordering

import (
	"slices"
	"time"

	"inorder/events"
)

// Key names one entity: what has a history of its own.
type Key struct {
	Consumer string
	Stream   string
	ID       string

	// PerSource says that every source has a history of its own, Source's, which may be empty. Otherwise Source is.
	PerSource bool
	Source    string
}

// Entity is all that is kept about one entity. The zero Entity is one that was never seen. Entities are values that
// nobody changes once they are shared: a decision copies what it changes.
type Entity struct {
	Exists bool
	Rev    int64 // raised by every write but that of `clock: entity`; what Swap compares

	// State holds the projection's attributes: nil, bool, string, events.Number, []any and map[string]any.
	State map[string]any

	Last  Last   // the event that was written last
	Token string // of the write that made this entity: who wrote it recognises its own after a lost answer

	StateMarks
	Cursor
}

// StateMarks is the bookkeeping of a state entity.
type StateMarks struct {
	// Clock, with `clock: entity`, is the entity's clock. With `clock: attribute` it is a floor below which nothing
	// counts: the start of a generation, or a tombstone. With `clock: source` it is empty.
	Clock string
	// Clocks holds one clock per attribute or per source.
	Clocks map[string]string
	// Marks are the clocks of marks that are ahead of what the entity has: the newest event is known to exist and has
	// not come. With `clock: source` there is one per source, otherwise one, under "".
	Marks map[string]string
	// Tombs: with `clock: source`, the sources whose newest event was a tombstone. Otherwise one element, "", where
	// the entity was deleted by the event of Clock.
	Tombs []string
}

// Cursor is the bookkeeping of a step or delta entity.
type Cursor struct {
	Gen     int64
	Applied int64   // every number up to here is applied
	MaxSeen int64   // the highest number that was heard of
	Waiting Numbers // step: the numbers above Applied that are known to be logged
	Ahead   Numbers // delta: the numbers above Applied that are counted already

	Dispatched *Position // up to here effects were sent; nil: the stream never had effects
	Owed       []Effect  // effects of a Go projection that are not sent yet
	Blocked    int64     // the number whose projection fails, always Applied+1; 0: none
	Skipped    []Range   // numbers that an operator, or an expired history, passed over
	Park       Park      // of a step entity whose log holds what must not expire
	Gap        *Gap      // why the sweeper must look at this entity; nil: it need not
	Shown      []Witness // who showed what is missing; empty without a gap
}

// Park is what is known of the rows that a step entity still needs: those that wait, and those whose effects are owed.
type Park struct {
	Since time.Time // no waiting event was received before it; zero where none waits
	Look  time.Time // before it none of the rows has less than half of its time left, or is too old; zero where there are none
}

// Last is what is remembered of the event that was written last.
type Last struct {
	EventID, Source, Fingerprint, Type string
	Clock                              string // its order key; kept where the entity's own clock does not tell it
	PublishedAt, ReceivedAt, AppliedAt time.Time
	MessageID                          string
	ReceiveCount                       int
}

// Position is a number within a generation.
type Position struct{ Gen, Seq int64 }

// Range is an inclusive range of numbers.
type Range = events.Range

// Gap puts the entity into the index that the sweeper reads.
type Gap struct {
	Since       time.Time // when this consumer received what first showed it
	Escalations int
	EscalateAt  time.Time
}

// Effect is one message for the effects queue, in the form that its receivers parse.
type Effect struct {
	Consumer    string `json:"consumer"`
	Stream      string `json:"stream"`
	EntityID    string `json:"entity_id"`
	Source      string `json:"source"`
	Generation  int64  `json:"generation"`
	Seq         int64  `json:"seq"`
	Index       int    `json:"index"`
	EventID     string `json:"event_id"`
	Type        string `json:"type"`
	PublishedAt string `json:"published_at"`
	Data        any    `json:"data"` // events.Number is written with every digit
}

// Row is one event in the log of a step entity.
type Row struct {
	Gen, Seq int64
	Void     events.VoidReason // of a void row, which holds no event; empty otherwise

	EventID, Source, Fingerprint, Type string
	ReceivedAt                         time.Time
	Message                            events.Message // as it was received: ID, Body, Attributes, ReceiveCount
	Record                             int            // which event of the message, where it held several
	ExpiresAt                          time.Time      // whole seconds
}

// Audit is what is kept, for good, of an operator's skip.
type Audit struct {
	At      time.Time
	By      string // who, as far as the tool knows
	Reason  string
	Gen     int64
	Through int64   // the number that was asked for
	Applied []Range // what was logged and ran
	Lost    []Range // what nobody had
	Passed  []Range // what was logged and could not be applied
}

// Marker remembers that an event of a source was taken, for streams whose clocks cannot tell.
type Marker struct {
	Consumer, Source, EventID string
	Fingerprint               string
	MessageID                 string    // of the delivery that brought it
	Token                     string    // of the write that left it: who wrote it recognises its own after a lost answer
	ExpiresAt                 time.Time // whole seconds
}

// Delivery is one event of the batch with the message that brought it.
type Delivery struct {
	Event   *events.Event
	Message *events.Message
	Record  int // which event of the message, where it held several
}

// Absent reports whether there is no state: nothing was ever applied in this life, or the entity was deleted.
func (e *Entity) Absent() bool {
	if !e.Exists {
		return true
	}
	if e.Clock == "" && len(e.Clocks) == 0 { // step, delta, or a state entity of which only a mark is known
		return e.Applied == 0 && len(e.Ahead) == 0 && len(e.State) == 0
	}
	if len(e.Clocks) > 0 && len(e.Tombs) > 0 { // clock: source
		for source := range e.Clocks {
			if !slices.Contains(e.Tombs, source) {
				return false
			}
		}
		return true
	}
	if len(e.Clocks) > 0 {
		return false
	}
	return len(e.Tombs) > 0 || e.Last.Clock != "" // a floor with nothing above it: clock: attribute, deleted
}
