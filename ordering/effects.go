package ordering

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"inorder/events"
)

// maxSend is how many effects are sent before _dispatched moves: what a crash makes go out again is no more.
const maxSend = 100

func effectOf(s *events.Stream, e *events.Event, seq int64, index int, data any) Effect {
	published := ""
	if !e.PublishedAt.IsZero() {
		published = events.FormatInstant(e.PublishedAt)
	}
	return Effect{
		Stream: s.Name, EntityID: e.EntityID, Source: e.Source, Generation: e.Generation, Seq: seq, Index: index,
		EventID: e.ID, Type: e.Type, PublishedAt: published, Data: data,
	}
}

// owes reports whether effects are to be sent before anything of this entity may be acked.
func (r *stepRun) owes(e *Entity) bool {
	return r.stream.Effects && r.EffectsMode == EffectsOn && e.OwesEffects()
}

// dispatch sends what lies between _dispatched and the cursor, in order, and then moves _dispatched. A crash between
// the two sends again what the receiver's deduplication, or after its five minutes the receiver, must recognise.
func (r *stepRun) dispatch(ctx context.Context, e *Entity, ran map[int64]*events.Event) (*Entity, error) {
	for gen := e.Gen; e.Gen == gen && e.OwesEffects(); { // another generation is another's, with events of its own
		first := int64(1)
		if e.Dispatched.Gen == e.Gen {
			first = e.Dispatched.Seq + 1
		}
		last := min(e.Applied, window(first, maxSend).Last)
		from := first
		if skipped := rangeOf(e.Skipped, first); skipped.Last > last { // it may be as long as it likes
			last = min(e.Applied, skipped.Last)
			from = last + 1
		}
		due, err := r.due(ctx, e, from, last, ran)
		if err != nil {
			return e, err
		}
		unsent, sendErr := r.send(ctx, due)
		if sendErr != nil {
			last = unsent - 1
		}
		if last >= first {
			if e, err = r.moveDispatched(ctx, e, Position{e.Gen, last}); err != nil {
				return e, err
			}
		}
		if sendErr != nil {
			return e, sendErr
		}
	}
	return e, nil
}

// effect is one that is due, with the pattern that its counter needs.
type effect struct {
	Effect
	event *events.Event
}

// due lists the effects of some numbers: what a Go projection returned, or the events themselves, from this run or
// from their log rows. A number whose row is gone is passed, and counted.
func (r *stepRun) due(ctx context.Context, e *Entity, first, last int64, ran map[int64]*events.Event) ([]effect, error) {
	var due []effect
	owed := map[int64][]effect{}
	for _, o := range e.Owed {
		if o.Generation == e.Gen && first <= o.Seq && o.Seq <= last {
			owed[o.Seq] = append(owed[o.Seq], effect{o, ran[o.Seq]})
		}
	}
	if r.stream.Projection.Name != "" {
		for _, n := range slices.Sorted(maps.Keys(owed)) {
			due = append(due, owed[n]...)
		}
		return due, nil
	}
	rows, err := r.rowsFor(ctx, e.Gen, first, last, ran)
	if err != nil {
		return nil, err
	}
	for n := range between(first, last) {
		event, isHere := ran[n]
		row, isLogged := rows[n]
		switch {
		case len(owed[n]) > 0: // returned by a projection in Go that the stream had then
			due = append(due, owed[n]...)
			continue
		case within(e.Skipped, n) || row.Void != "":
			continue
		case isHere:
		case !isLogged:
			r.report.ofStream(MetricMismatches, r.stream, 1)
			continue
		default:
			if event, err = r.decodeRow(row); err != nil {
				return nil, fmt.Errorf("the effect of number %d of %s: %w", n, quoteID(r.key.ID), err)
			}
		}
		if !event.Ignored {
			due = append(due, effect{effectOf(r.stream, event, n, 0, event.Data()), event})
		}
	}
	return due, nil
}

// rowsFor reads the log for numbers that did not run in this invocation.
func (r *stepRun) rowsFor(ctx context.Context, gen, first, last int64, ran map[int64]*events.Event) (map[int64]Row, error) {
	if first > last {
		return nil, nil
	}
	for first < last && ran[first] != nil {
		first++
	}
	for first < last && ran[last] != nil {
		last--
	}
	if ran[first] != nil {
		return nil, nil
	}
	rows, err := r.Store.Rows(ctx, r.key, gen, first, last)
	if err != nil {
		return nil, fmt.Errorf("read the effects that %s of stream %s owes: %w", quoteID(r.key.ID), r.stream.Name, err)
	}
	bySeq := make(map[int64]Row, len(rows))
	for _, row := range rows {
		bySeq[row.Seq] = row
	}
	return bySeq, nil
}

// send returns, with an error, the number of the first effect that was not sent: what lies before it is.
func (r *stepRun) send(ctx context.Context, due []effect) (unsent int64, err error) {
	if len(due) == 0 {
		return 0, nil
	}
	messages := make([]Effect, len(due))
	for i, d := range due {
		messages[i] = d.Effect
		messages[i].Consumer = r.key.Consumer
	}
	sent, err := r.Effects.Send(ctx, r.key, messages)
	if err != nil {
		unsent = due[min(sent, len(due)-1)].Seq
		err = fmt.Errorf("send effects of %s of stream %s: %w", quoteID(r.key.ID), r.stream.Name, err)
	}
	for _, d := range due[:sent] {
		pattern := r.stream.Types[0]
		if d.event != nil {
			pattern = d.event.Pattern
		}
		r.report.raise(Count{MetricDispatched, pattern}, 1)
	}
	return unsent, err
}

// moveDispatched says that effects up to here are sent. It never goes back: where others moved the entity meanwhile,
// it is their entity that it is moved in, unless they are past it.
func (r *stepRun) moveDispatched(ctx context.Context, e *Entity, to Position) (*Entity, error) {
	for round := range maxRounds {
		if e.Gen != to.Gen || e.Dispatched == nil || e.Dispatched.Gen == to.Gen && e.Dispatched.Seq >= to.Seq {
			return e, nil
		}
		next := *e
		next.Rev, next.Token, next.Dispatched = e.Rev+1, r.NewToken(), &to
		next.Owed = slices.DeleteFunc(slices.Clone(e.Owed), func(o Effect) bool {
			return o.Generation < to.Gen || o.Seq <= to.Seq
		})
		next.clearPark()
		next.settleGap(e, r.Now())
		now, landed, err := r.swap(ctx, r.key, e, &next)
		if err != nil {
			return e, fmt.Errorf("move _dispatched of %s of stream %s: %w", quoteID(r.key.ID), r.stream.Name, err)
		}
		r.learn(now)
		if e = now; !landed {
			r.wait(ctx, round)
		}
	}
	return e, errBusy
}
