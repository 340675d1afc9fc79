package ordering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"inorder/events"
)

// findings are how a log differs from what the entity says, and which of its rows run out of time.
type findings struct {
	lost      Numbers   // waiting, and without a row: missing again
	found     Numbers   // logged, and not known to wait
	witnesses []Witness // of those
	extend    []Row     // less than half of their time left
	old       []Row     // waiting longer than the stream lets them
	park      Park      // once all of that is done
}

// InFlight is how long after it was received an event may be logged and not yet known to its entity, because its
// invocation is about to say so: somewhat more than a function's timeout. To say it for the invocation would do no harm,
// but count as a mismatch.
const InFlight = time.Minute

// compare looks at the rows of some numbers, heads are enough, beside the entity.
func compare(s *events.Stream, e *Entity, heads []Row, now time.Time) findings {
	var i findings
	here := Numbers{}
	for _, row := range heads {
		waits := row.Seq > e.Applied
		switch {
		case waits && !e.Waiting.Has(row.Seq) && now.Sub(row.ReceivedAt) < InFlight:
			continue
		case waits && !e.Waiting.Has(row.Seq):
			i.found = append(i.found, row.Seq)
			i.witnesses = append(i.witnesses, Witness{row.Seq, row.ReceivedAt})
		}
		if waits {
			here = append(here, row.Seq)
		}
		if waits && row.Void == "" && now.Sub(row.ReceivedAt) >= s.MaxParkAge {
			i.old = append(i.old, row)
			continue
		}
		if row.ExpiresAt.Sub(now) < s.ParkTTL/2 {
			i.extend = append(i.extend, row)
			row.ExpiresAt = now.Add(s.ParkTTL)
		}
		i.park.include(s, row, waits)
	}
	i.lost = e.Waiting.Without(here...)
	return i
}

// logSpan are the numbers whose rows the entity still needs, or may have without knowing.
func logSpan(s *events.Stream, e *Entity, sends bool) Range {
	span := spanOf(s, e, nil)
	known := max(e.Highest(), window(span.First, headsAtOnce).Last) // and as much beyond it as one reading brings
	span.Last = max(min(span.Last, known), e.Waiting.Max())         // a window may have shrunk since they were parked
	if sends && e.OwesEffects() {
		span.First = 1
		if e.Dispatched.Gen == e.Gen {
			span.First = e.Dispatched.Seq + 1
		}
	}
	return span
}

// tendLog gives rows more time, takes those that waited too long to quarantine, and repairs both ways: what is
// logged and not known to wait is added, what has no row is missing again.
func (r *sweepRun) tendLog(ctx context.Context) error {
	e, now := r.entity, r.Now()
	span := logSpan(r.stream, e, r.sending())
	heads, err := r.heads(ctx, e.Gen, span)
	if err != nil {
		return fmt.Errorf("look at the log of %s of stream %s: %w", quoteID(r.key.ID), r.stream.Name, err)
	}
	i := compare(r.stream, e, heads, now)
	if err := r.extendRows(ctx, i.extend, now.Add(r.stream.ParkTTL).Truncate(time.Second)); err != nil {
		return err
	}
	mismatches := len(i.lost) + len(i.found)
	if mismatches == 0 && !e.rowsNeedLook(now) {
		if len(i.old) > 0 { // another sweeper is at them; what it leaves missing it asks for
			r.tried[Escalate] = true
		}
		return nil
	}
	park := i.park
	if len(i.old) > 0 { // ours for now: of sweepers that overlap one makes the copies
		park.Look = now.Add(InFlight)
	}
	landed, err := r.repair(ctx, i, park)
	if err != nil || !landed {
		return err
	}
	r.report.ofStream(MetricMismatches, r.stream, mismatches)
	return r.dropOld(ctx, i, park)
}

// headsAtOnce is how many numbers are looked at by one reading: with rows of the largest size it is some hundred pages.
const headsAtOnce = 1000

// heads reads the heads of a span of rows, a thousand numbers at a time.
func (r *sweepRun) heads(ctx context.Context, gen int64, span Range) (all []Row, err error) {
	for first := span.First; first <= span.Last; {
		portion := window(first, headsAtOnce)
		rows, err := r.Upkeep.RowHeads(ctx, r.key, gen, first, min(portion.Last, span.Last))
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
		if portion.Last >= span.Last {
			break
		}
		first = portion.Last + 1
	}
	return all, nil
}

// repair writes down what the log says.
func (r *sweepRun) repair(ctx context.Context, i findings, park Park) (landed bool, err error) {
	next := *r.entity
	next.Waiting = next.Waiting.With(i.found...).Without(i.lost...)
	next.MaxSeen = max(next.MaxSeen, next.Waiting.Max(), i.lost.Max())
	for _, w := range i.witnesses {
		next.show(w.Seq, w.At)
	}
	if !next.Waiting.Has(next.Blocked) {
		next.Blocked = 0
	}
	next.Park = park
	next.clearPark()
	next.settleGap(r.entity, r.Now())
	return r.put(ctx, &next)
}

// extendRows gives rows more time. One that somebody else extended, or that just left, needs none.
func (r *sweepRun) extendRows(ctx context.Context, rows []Row, until time.Time) error {
	return sideBySide(r.RowsAtOnce, rows, func(row Row) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := r.Upkeep.ExtendRow(ctx, r.key, row, until)
		if taken := (*TakenError)(nil); err == nil || errors.As(err, &taken) {
			return nil
		}
		return fmt.Errorf("extend number %d of %s of stream %s: %w", row.Seq, quoteID(r.key.ID), r.stream.Name, err)
	})
}

// dropOld takes rows that waited too long to quarantine: first the copy, then, in one transaction, the number leaves
// the entity and the row the log. A crash in between leaves both, and the copy will stand twice.
func (r *sweepRun) dropOld(ctx context.Context, i findings, park Park) error {
	for old := range slices.Chunk(i.old, MaxDropRows) {
		after := park // until the last of them is gone
		if i.old[len(i.old)-1].Seq == old[len(old)-1].Seq {
			after = i.park
		}
		if err := r.dropCopied(ctx, old, after); err != nil {
			return err
		}
	}
	return nil
}

// dropCopied copies rows and takes them out of the entity and the log. A copy counts for the entity on which it was made:
// where somebody wrote meanwhile, that may have been to acknowledge the message of the copy itself, redriven, for the sake
// of the row that leaves. So whoever loses copies again.
func (r *sweepRun) dropCopied(ctx context.Context, old []Row, park Park) error {
	for r.lost < maxRounds {
		for _, row := range old {
			if row.Gen != r.entity.Gen || !r.entity.Waiting.Has(row.Seq) {
				return nil // somebody else was faster
			}
		}
		rows, err := r.copyOld(ctx, old)
		if err != nil {
			return err
		}
		landed, err := r.drop(ctx, r.without(rows, park), rows)
		if taken := (*TakenError)(nil); landed || errors.As(err, &taken) {
			return nil // or the log moved under us: the next look finds out how
		}
		if err != nil {
			return err
		}
	}
	return errBusy
}

// without is the entity once some rows are gone.
func (r *sweepRun) without(rows []Row, park Park) *Entity {
	next := *r.entity
	for _, row := range rows {
		next.Waiting = next.Waiting.Without(row.Seq)
	}
	if !next.Waiting.Has(next.Blocked) {
		next.Blocked = 0
	}
	next.Park = park
	next.clearPark()
	next.settleGap(r.entity, r.Now())
	return &next
}

func (r *sweepRun) copyOld(ctx context.Context, old []Row) ([]Row, error) {
	expired := Outcome{Disposition: Quarantined, Reason: events.ParkExpired, Detail: fmt.Sprintf("it waited longer than %s for its predecessors", r.stream.MaxParkAge)}
	rows := make([]Row, 0, len(old))
	for _, head := range old {
		full, err := r.Upkeep.Rows(ctx, r.key, head.Gen, head.Seq, head.Seq)
		if err != nil {
			return nil, fmt.Errorf("read the expired number %d of %s: %w", head.Seq, quoteID(r.key.ID), err)
		}
		for _, row := range full {
			if err := r.Quarantine.Copy(ctx, row.copyAs(expired)); err != nil {
				return nil, fmt.Errorf("copy the expired number %d of %s to quarantine: %w", row.Seq, quoteID(r.key.ID), err)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// drop is put with rows that leave.
func (r *sweepRun) drop(ctx context.Context, next *Entity, rows []Row) (landed bool, err error) {
	next.Rev, next.Token = r.entity.Rev+1, r.NewToken()
	now, landed, err := r.landed(ctx, r.key, next, r.Upkeep.DropRows(ctx, r.key, r.entity, next, rows))
	if errors.Is(err, ErrContended) {
		return false, r.again(ctx)
	}
	if err != nil {
		return false, fmt.Errorf("take expired numbers out of %s of stream %s: %w", quoteID(r.key.ID), r.stream.Name, err)
	}
	r.learn(now)
	if !landed {
		return false, r.again(ctx)
	}
	return true, nil
}
