// Package events is what arrives: SQS messages, the envelopes in them, and streams.yaml, which says what each type
// means. It turns bytes into events or into a reason why not, and it decides nothing about order.
package events

import "time"

// Message is one SQS message as it was received. Body and Attributes are kept byte for byte, because a log row and a
// quarantine copy must be exact.
type Message struct {
	ID           string
	Body         string
	Attributes   map[string]Attribute
	GroupID      string // FIFO queues only
	QueueARN     string
	SentAt       time.Time // SentTimestamp
	ReceivedAt   time.Time // when this consumer got it; what gaps are dated by
	ReceiveCount int       // ApproximateReceiveCount
}

// Attribute is one SQS message attribute. Binary is set for the type Binary and its custom forms, Text for all others.
type Attribute struct {
	Type   string // String, Number, Binary, or one of these with a custom label behind a dot
	Text   string
	Binary []byte
}

// Event is one decoded fact that a stream takes.
type Event struct {
	Stream *Stream
	Kind   Kind

	ID          string // unique per Source; empty only where the order key is the identity
	Source      string
	Type        string
	EntityID    string
	Generation  int64 // 0 where the stream is not ordered by seq
	Seq         int64 // 0 where the stream is not ordered by seq
	Clock       string
	PublishedAt time.Time // zero where absent or not a time
	Pattern     string    // the pattern of streams.yaml that took it: the event_type of its metrics
	Ignored     bool      // its type is under `ignore`: it holds its number and does nothing
	Tombstone   bool      // its type is under `tombstone`

	Ranges     []Range    // of a Void: its numbers; ascending, disjoint, no two of them neighbours
	VoidReason VoidReason // of a Void

	Content Object // what the event says; Data has it as Go does

	rec record // where paths are looked up
}

// Number is a JSON number by its text.
type Number string

// Decoded is what one record of a message turned out to be: an Event, or a Refusal where Event is nil.
type Decoded struct {
	Event   *Event
	Refusal Refusal

	// What could be read of a refused record, for its log line. Stream is nil, and Pattern empty, where no stream takes it.
	Stream                    *Stream
	Pattern                   string
	EventID, Source, EntityID string
}

// Refusal says why an event can never succeed.
type Refusal struct {
	Reason Reason
	Detail string // one sentence for a person; holds no event data beyond names and the offending token
}

// Reason is why a message is in quarantine. The list is closed.
type Reason string

// The quarantine reasons.
const (
	NotJSON           Reason = "not_json"
	NotAnEvent        Reason = "not_an_event"
	NoRoute           Reason = "no_route"
	NoEntityID        Reason = "no_entity_id"
	BadEntityID       Reason = "bad_entity_id"
	BadOrderKey       Reason = "bad_order_key"
	BadEventID        Reason = "bad_event_id"
	ReservedAttribute Reason = "reserved_attribute"
	NotOwner          Reason = "not_owner"
	NumberRange       Reason = "number_range"
	TooLarge          Reason = "too_large"
	TooDeep           Reason = "too_deep"
	FutureTime        Reason = "future_time"
	Conflict          Reason = "conflict"
	ParkExpired       Reason = "park_expired"
	OldGeneration     Reason = "old_generation"
	ProjectionError   Reason = "projection_error"
	Skipped           Reason = "skipped"
)
