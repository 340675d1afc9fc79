package ordering

import (
	"context"
	"time"

	"inorder/events"
)

// Loop carries out decisions: it reads an entity, decides, writes, and decides again where it lost a race. It is safe
// for concurrent use, also on one entity; the conditions of its writes settle who is first.
type Loop struct {
	Store       Store
	Quarantine  Quarantine
	Effects     EffectSender
	EffectsMode EffectsMode
	Streams     *events.Config // decodes log rows again
	Projections map[string]Projector
	Cache       *Cache // of a warm function; nil: every entity is read
	Now         func() time.Time
	NewToken    func() string // unique for every write
}

// EffectsMode is what happens to effects.
type EffectsMode uint8

// The effects modes, by the variable EFFECTS.
const (
	EffectsOn   EffectsMode = iota
	EffectsOff              // as if no stream had effects
	EffectsHold             // _dispatched moves along and nothing is sent: a rebuild into empty tables
)

// Projector is a projection written in Go: a pure function of the state and one event. It must not change the state
// it is given. What it returns as effects is sent in that order; an error, or a panic, blocks the entity at this event.
type Projector func(state map[string]any, e *events.Event) (next map[string]any, effects []any, err error)

// Report is what became of one entity's part of a batch.
type Report struct {
	Outcomes  []Outcome // one per delivery, in their order
	Counts    map[Count]int
	Distances []Distance // of early arrivals
}

// Count names a counter beside the dispositions'.
type Count struct {
	Metric    string // one of the Metric constants below
	EventType string // a pattern of streams.yaml
}

// Distance is how far ahead of its cursor an event arrived.
type Distance struct {
	EventType string
	Numbers   int64
}

// The counters that a Report raises. Those of the dispositions are Disposition.Metric.
const (
	MetricDrained          = "events_drained_total"
	MetricDispatched       = "effects_dispatched_total"
	MetricMismatches       = "reconciliation_mismatches_total"
	MetricRestartSuspected = "sequence_restarts_suspected_total"
)

// Apply takes one entity's part of a batch, in the order of arrival, all of it of one stream. It returns when every
// delivery has an outcome that is durable, or is deferred.
func (l *Loop) Apply(ctx context.Context, key Key, batch []Delivery) Report {
	panic("to be written")
}
