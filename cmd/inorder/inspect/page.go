package inspect

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"inorder/cmd/inorder/gaps"
	"inorder/events"
)

// Page is all that is known of one entity, and its JSON form.
type Page struct {
	At       time.Time   `json:"at"`
	Consumer string      `json:"consumer"`
	Stream   string      `json:"stream"`
	EntityID string      `json:"entity_id"`
	Source   string      `json:"source,omitempty"` // where each source has a history of its own
	Mode     events.Mode `json:"mode"`

	Absent     bool              `json:"absent,omitzero"` // deleted, or nothing has been applied yet
	State      jsontext.Value    `json:"state"`
	Generation int64             `json:"generation"`
	Applied    int64             `json:"applied"`             // step, delta: the effective cursor; state by seq: the newest number
	Cursor     int64             `json:"cursor,omitzero"`     // delta, where it lags behind what is counted: the stored one
	MaxSeen    int64             `json:"max_seen,omitzero"`   // the highest number that is known
	Clock      string            `json:"clock,omitempty"`     // of a state entity, in its producer's form
	Clocks     map[string]string `json:"clocks,omitempty"`    // by attribute or source
	Deleted    []string          `json:"deleted,omitempty"`   // clock: source: whose newest event was a tombstone
	Marks      map[string]string `json:"marks,omitempty"`     // by source: the newest number that somebody told of
	Ahead      []int64           `json:"ahead,omitempty"`     // delta: counted above the cursor
	Skipped    []events.Range    `json:"skipped,omitempty"`   // passed without an event
	Last       *Last             `json:"last_event,omitzero"` // what was written last
	Gap        *gaps.Gap         `json:"gap,omitzero"`        // why the sweeper must look at it
	Effects    *Effects          `json:"effects,omitzero"`
	Parked     []Row             `json:"parked"`               // the log above the cursor
	Voids      []Row             `json:"voids"`                // numbers that are known to have no event
	Mismatches []string          `json:"mismatches,omitempty"` // where entity and log disagree
	Audits     []Audit           `json:"audits"`               // what operators skipped
	Timeline   []Moment          `json:"timeline"`             // what happened, oldest first
	LogLines   int               `json:"log_lines,omitzero"`   // of the timeline, from CloudWatch Logs
	LogsCut    bool              `json:"logs_cut,omitzero"`    // there may be more of them

	clockKind events.ClockKind
}

// Last is the event that was written last.
type Last struct {
	EventID      string     `json:"event_id"`
	Source       string     `json:"source,omitempty"`
	Type         string     `json:"type"`
	OrderKey     string     `json:"order_key,omitempty"` // where the cursor does not tell it
	Created      *time.Time `json:"created,omitzero"`    // by the producer's clock
	Received     *time.Time `json:"received,omitzero"`
	Applied      *time.Time `json:"applied,omitzero"`
	MessageID    string     `json:"message_id"`
	ReceiveCount int        `json:"receive_count"`
}

// Effects is how far effects were sent.
type Effects struct {
	Generation int64 `json:"generation"`
	Dispatched int64 `json:"dispatched"` // sent up to here
	Owed       int64 `json:"owed"`       // numbers whose effects are not sent yet
	Kept       int   `json:"kept"`       // effects of a Go projection among them, kept in the entity
}

// Row is one row of the log, without its message.
type Row struct {
	Seq       int64      `json:"seq"`
	EventID   string     `json:"event_id,omitempty"`
	Source    string     `json:"source,omitempty"`
	Type      string     `json:"type,omitempty"`
	Void      string     `json:"void,omitempty"` // why there is no event
	Received  *time.Time `json:"received,omitzero"`
	Expires   *time.Time `json:"expires,omitzero"`
	MessageID string     `json:"message_id,omitempty"`
	Blocked   bool       `json:"blocked,omitzero"`   // its projection fails
	InFlight  bool       `json:"in_flight,omitzero"` // just logged: its invocation has not said so in the entity yet
}

// Audit is one skip.
type Audit struct {
	At         time.Time      `json:"at"`
	By         string         `json:"by"`
	Reason     string         `json:"reason"`
	Generation int64          `json:"generation"`
	Through    int64          `json:"through"`
	Applied    []events.Range `json:"applied"`
	Lost       []events.Range `json:"lost"`
	Passed     []events.Range `json:"passed"`
}

// Moment is one thing that happened.
type Moment struct {
	At           time.Time `json:"at"`
	What         string    `json:"what"` // received, applied, void, skipped, gap, or from a log line: the disposition or the message
	Seq          int64     `json:"seq,omitzero"`
	OrderKey     string    `json:"order_key,omitempty"`
	EventID      string    `json:"event_id,omitempty"`
	Type         string    `json:"type,omitempty"`
	MessageID    string    `json:"message_id,omitempty"`
	ReceiveCount int       `json:"receive_count,omitzero"`
	Detail       string    `json:"detail,omitempty"`
	From         string    `json:"from"` // entity, log, audit or cloudwatch
}

// Where a moment is known from.
const (
	fromEntity = "entity"
	fromLog    = "log"
	fromAudit  = "audit"
	fromLines  = "cloudwatch"
)
