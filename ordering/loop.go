package ordering

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	RowsAtOnce  int           // log rows of one entity that are put side by side; 0 is 1

	// Wait passes a little time before another round on an item that others fight over; nil: none passes.
	Wait func(ctx context.Context, round int)
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
	Outcomes  []Outcome     // one per delivery, in their order
	Counts    map[Count]int // nil where there is nothing to count
	Distances []Distance    // of early arrivals

	ranAny bool // what waits right behind is this invocation's to drain
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
	MetricEscalated        = "event_gaps_escalated_total"
	MetricHealed           = "event_gaps_healed_total"
	MetricVoid             = "event_gaps_void_total"
	MetricMismatches       = "reconciliation_mismatches_total"
	MetricRestartSuspected = "sequence_restarts_suspected_total"
)

// maxRounds is how often an invocation decides again on one entity. Whoever loses a round has lost it to a write that
// landed, so others made progress; after this many the message is better off with a later delivery.
const maxRounds = 24

// maxTurns bounds an invocation's turns on one entity, those included that only learn something, or drain. The longest
// honest work is a whole window that drains, a few hundred rows at a time.
const maxTurns = 1000

// errNoEnd is why a delivery is deferred whose entity needs more turns than that.
var errNoEnd = errors.New("the entity needs more turns than one invocation has")

// errBusy is why a delivery that lost every round is deferred.
var errBusy = errors.New("the entity kept moving: others write it faster than this invocation can decide")

// Apply takes one entity's part of a batch, in the order of arrival, all of it of one stream. It returns when every
// delivery has an outcome that is durable, or is deferred.
func (l *Loop) Apply(ctx context.Context, key Key, batch []Delivery) Report {
	r := &Report{Outcomes: make([]Outcome, len(batch))}
	own := make([]job, len(batch))
	jobs := make([]*job, len(batch))
	for i := range batch {
		own[i] = job{Delivery: batch[i], out: &r.Outcomes[i]}
		jobs[i] = &own[i]
	}
	l.apply(ctx, key, jobs, r)
	return *r
}

// job is one delivery on its way to an outcome. It is open until decide is called.
type job struct {
	Delivery
	out     *Outcome
	decided bool
}

// receivedAt is when this consumer received it.
func (j *job) receivedAt(now time.Time) time.Time {
	if j.Message.ReceivedAt.IsZero() {
		return now
	}
	return j.Message.ReceivedAt
}

func (j *job) decide(o Outcome) { *j.out, j.decided = o, true }

func open(jobs []*job) []*job {
	return slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.decided })
}

// firstOpen is the first of the open ones, nil where there is none.
func firstOpen(jobs []*job) *job {
	for _, j := range jobs {
		if !j.decided {
			return j
		}
	}
	return nil
}

// apply sets copies aside, for what a copy is follows from what its original became, and then takes one generation
// after the other, the lower one first.
func (l *Loop) apply(ctx context.Context, key Key, jobs []*job, r *Report) {
	if len(jobs) == 0 {
		return
	}
	stream := jobs[0].Event.Stream
	originals, copies := setCopiesAside(stream, jobs)
	for _, generation := range byGeneration(stream, originals) {
		l.applyMode(ctx, key, stream, generation, r)
	}
	var again []*job
	for _, c := range copies {
		if outcome, follows := c.original.copyOutcome(c.job); follows {
			c.decide(outcome)
		} else {
			again = append(again, c.job)
		}
	}
	l.apply(ctx, key, again, r) // fewer than before: each round of copies loses its originals
}

func (l *Loop) applyMode(ctx context.Context, key Key, s *events.Stream, jobs []*job, r *Report) {
	switch s.Mode {
	case events.State:
		facts, controls := splitBy(jobs, func(j *job) bool { return j.Event.Kind == events.Fact })
		l.applyState(ctx, key, s, facts, r)
		l.applyMarks(ctx, key, s, controls, r)
	case events.Step:
		l.applyStep(ctx, key, s, jobs, r)
	case events.Delta:
		if s.Order.By == events.ByNone {
			l.applyMarked(ctx, key, s, jobs)
		} else {
			l.applyDelta(ctx, key, s, jobs, r)
		}
	}
}

// giveUp defers what is still open.
func giveUp(jobs []*job, err error) {
	for _, j := range jobs {
		if !j.decided {
			j.decide(Outcome{Disposition: Deferred, Err: err})
		}
	}
}

// nothingWritten reports whether a store's error says for sure that the write did not happen.
func nothingWritten(err error) bool {
	for _, sure := range []error{ErrThrottled, ErrContended, ErrTooLarge, ErrNumberRange, ErrTooComplex, ErrInvalid} {
		if errors.Is(err, sure) {
			return true
		}
	}
	return false
}

func (l *Loop) wait(ctx context.Context, round int) {
	if l.Wait != nil {
		l.Wait(ctx, round)
	}
}

// read returns the entity as it is now.
func (l *Loop) read(ctx context.Context, key Key) (*Entity, error) {
	e, err := l.Store.Entity(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read %s of stream %s: %w", quoteID(key.ID), key.Stream, err)
	}
	l.Cache.put(key, e)
	return e, nil
}

func (r *Report) count(metric string, e *events.Event, n int) {
	r.raise(Count{metric, e.Pattern}, n)
}

// ofStream counts what no single event stands for, under the first of the stream's types.
func (r *Report) ofStream(metric string, s *events.Stream, n int) {
	r.raise(Count{metric, s.Types[0]}, n)
}

func (r *Report) raise(c Count, n int) {
	if n <= 0 {
		return
	}
	if r.Counts == nil {
		r.Counts = map[Count]int{}
	}
	r.Counts[c] += n
}
