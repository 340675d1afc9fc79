package ordering

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"inorder/events"
)

// Snapshot is an entity as somebody else knew it: what a consumer begins with that starts late or moves over.
type Snapshot struct {
	Generation int64
	Applied    int64  // step, and delta by seq: every number up to here is in State
	Clock      string // state: of all that is in State
	Source     string // with `clock: source`: whose attributes State holds
	State      map[string]any
}

// Check returns why a snapshot can never be an entity of a stream, nil where it can.
func (p Snapshot) Check(s *events.Stream) *events.Refusal {
	if s.Mode == events.State {
		return refuseState(s, &events.Event{Source: p.Source, Content: events.ObjectOf(p.State)})
	}
	for _, name := range slices.Sorted(maps.Keys(p.State)) {
		if r := refuseAttribute(name, p.State[name]); r != nil {
			return r
		}
	}
	return nil
}

// Bootstrapped is what became of a snapshot.
type Bootstrapped struct {
	Verdict BootstrapVerdict
	Why     string  // it was kept or refused
	Entity  *Entity // as it is afterwards
	Passed  int     // numbers that waited and are in the snapshot: their rows are evidence, and no more
}

// BootstrapVerdict is a closed list.
type BootstrapVerdict uint8

// What becomes of a snapshot.
const (
	SnapshotWritten BootstrapVerdict = iota
	SnapshotKept                     // the entity is as far already, or farther
	SnapshotRefused                  // the entity has begun something that the snapshot would undo
)

// Bootstrap gives an entity the state and the cursor of a snapshot, where it has none of its own yet. dryRun: it says what
// it would do. To do it again changes nothing.
func (k *Keeper) Bootstrap(ctx context.Context, key Key, s *events.Stream, snapshot Snapshot, dryRun bool) (Bootstrapped, error) {
	e, err := k.read(ctx, key)
	for round := 0; err == nil && round < maxRounds; round++ {
		in := bootstrapInput{
			stream: s, entity: e, snapshot: snapshot, now: k.Now(), token: k.NewToken(),
			places: s.Effects && k.EffectsMode != EffectsOff,
		}
		write, out := planBootstrap(in)
		if write == nil || dryRun {
			return out, nil
		}
		var landed bool
		if e, landed, err = k.settleBootstrap(ctx, key, in.entity, write, in.token); landed {
			return out, nil
		}
		if errors.Is(err, ErrTooLarge) {
			return refusedSnapshot(in.entity, "it would be larger than an item of the table may be (400 KB)"), nil
		}
		if k.wait(ctx, round); err == nil && e == nil {
			e, err = k.read(ctx, key)
		}
	}
	if err == nil {
		err = errBusy
	}
	return Bootstrapped{}, fmt.Errorf("bootstrap %s of stream %s: %w", quoteID(key.ID), s.Name, err)
}

// settleBootstrap makes the write, and tells whether it landed. Where another came between it returns what is there, nil
// where that must be read.
func (k *Keeper) settleBootstrap(ctx context.Context, key Key, prev *Entity, write stateWrite, token string) (now *Entity, landed bool, err error) {
	err = k.carryOut(ctx, key, write, nil)
	if parts, is := write.(mergeParts); is && errors.Is(err, ErrTooComplex) {
		whole := stamped(swapInstead(prev, parts.Merge), token) // on what was decided on: a rival makes it lose
		err = k.carryOut(ctx, key, whole, nil)
	}
	if errors.Is(err, ErrContended) {
		return nil, false, nil
	}
	return k.landed(ctx, key, &Entity{Token: token}, err)
}

// bootstrapInput is all that the decision about a snapshot depends on.
type bootstrapInput struct {
	stream   *events.Stream
	entity   *Entity // as it was read
	snapshot Snapshot
	now      time.Time
	token    string
	places   bool // the stream has effects that are sent, or held
}

// planBootstrap decides what becomes of a snapshot. It is a pure function; without a write nothing is to be done.
func planBootstrap(in bootstrapInput) (stateWrite, Bootstrapped) {
	if in.stream.Mode != events.State {
		return in.cursor()
	}
	switch in.stream.Clock {
	case events.ClockEntity:
		return in.whole()
	case events.ClockAttribute:
		return in.attributes()
	case events.ClockSource:
		return in.source()
	}
	return nil, Bootstrapped{}
}

// cursor is for a step or delta entity. It may have heard of numbers and logged some, but must not have run or counted any.
func (in bootstrapInput) cursor() (stateWrite, Bootstrapped) {
	e, p := in.entity, in.snapshot
	begun := e.Applied > 0 || len(e.Ahead) > 0 || len(e.State) > 0
	switch {
	case e.Exists && in.stream.Order.By == events.ByNone:
		return nil, keptSnapshot(e, "it is there already")
	case e.Exists && e.Gen > p.Generation:
		return nil, keptSnapshot(e, fmt.Sprintf("generation %d has begun", e.Gen))
	case e.Gen < p.Generation && (begun || len(e.Waiting) > 0):
		return nil, refusedSnapshot(e, fmt.Sprintf("it is in generation %d, which has events of its own", e.Gen))
	case e.Gen == p.Generation && begun && e.Effective() >= p.Applied:
		return nil, keptSnapshot(e, fmt.Sprintf("it is at %d already", e.Effective()))
	case begun:
		return nil, refusedSnapshot(e, fmt.Sprintf("its history has begun: it is at %d, and a snapshot cannot replace it", e.Effective()))
	case e.Waiting.Max()-p.Applied > in.stream.Window:
		return nil, refusedSnapshot(e, fmt.Sprintf("number %d waits, which lies beyond the window above %d", e.Waiting.Max(), p.Applied))
	}
	next := *e
	if e.Gen != p.Generation {
		next.Cursor = Cursor{Dispatched: e.Dispatched}
	}
	next.Exists, next.Rev, next.Token = true, e.Rev+1, in.token
	next.State, next.Last = stateOf(p), Last{AppliedAt: in.now}
	next.Gen, next.Applied, next.MaxSeen = p.Generation, p.Applied, max(next.MaxSeen, p.Applied)
	next.Waiting, next.Blocked = next.Waiting.Above(p.Applied), 0
	if in.places || next.Dispatched != nil { // what the snapshot holds sends nothing
		next.Dispatched = &Position{Gen: p.Generation, Seq: p.Applied}
	}
	next.clearPark()
	next.settleGap(e, in.now)
	return swapWhole{e, &next}, Bootstrapped{Entity: &next, Passed: len(e.Waiting) - len(next.Waiting)}
}

// whole is for `clock: entity`, where a snapshot is like any event: the newer one wins.
func (in bootstrapInput) whole() (stateWrite, Bootstrapped) {
	e, p := in.entity, in.snapshot
	if e.Exists && e.Clock >= p.Clock {
		return nil, keptSnapshot(e, "it is as new already, or newer")
	}
	next := &Entity{Exists: true, State: stateOf(p), Last: Last{AppliedAt: in.now}, StateMarks: StateMarks{Clock: p.Clock}, Token: in.token}
	known := e
	if !e.Exists {
		known = nil
	}
	return whole(known, next, in.now), Bootstrapped{Entity: next}
}

// attributes is for `clock: attribute`. The snapshot's clock is that of each of its attributes and of all that it lacks, so
// it cannot be laid over an entity that has attributes already.
func (in bootstrapInput) attributes() (stateWrite, Bootstrapped) {
	e, p := in.entity, in.snapshot
	switch {
	case e.Exists && e.Clock >= p.Clock:
		return nil, keptSnapshot(e, "it is as new already, or newer")
	case e.Clock != "" || len(e.Clocks) > 0:
		return nil, refusedSnapshot(e, "it has attributes with clocks of their own, over which a snapshot cannot be laid")
	}
	next := *e
	next.Exists, next.Rev, next.Token = true, e.Rev+1, in.token
	next.State, next.Last = stateOf(p), Last{AppliedAt: in.now}
	next.Clock, next.Clocks = p.Clock, map[string]string{}
	for name, value := range p.State {
		next.Clocks[name] = p.Clock
		if value == nil { // null removes an attribute and keeps its clock
			delete(next.State, name)
		}
	}
	if next.Marks[""] <= p.Clock {
		next.Marks = nil
	}
	next.settleGap(e, in.now)
	return swapWhole{e, &next}, Bootstrapped{Entity: &next}
}

// source is for `clock: source`, where a snapshot is like any event of its source: it replaces what that one owns.
func (in bootstrapInput) source() (stateWrite, Bootstrapped) {
	e, p := in.entity, in.snapshot
	if e.Clocks[p.Source] >= p.Clock {
		return nil, keptSnapshot(e, "what it has of that source is as new already, or newer")
	}
	owned := Part{Name: p.Source, Clock: p.Clock, Set: map[string]any{}}
	for _, name := range in.stream.Owns[p.Source] {
		if value, says := p.State[name]; says {
			owned.Set[name] = value
		} else {
			owned.Remove = append(owned.Remove, name)
		}
	}
	merge := Merge{Parts: []Part{owned}, Last: Last{Source: p.Source, Clock: p.Clock, AppliedAt: in.now}, Token: in.token}
	return mergeParts{merge}, Bootstrapped{Entity: folded{}.whole(e, merge)}
}

func stateOf(p Snapshot) map[string]any {
	if p.State == nil {
		return map[string]any{}
	}
	return maps.Clone(p.State)
}

func keptSnapshot(e *Entity, why string) Bootstrapped {
	return Bootstrapped{Verdict: SnapshotKept, Why: why, Entity: e}
}

func refusedSnapshot(e *Entity, why string) Bootstrapped {
	return Bootstrapped{Verdict: SnapshotRefused, Why: why, Entity: e}
}
