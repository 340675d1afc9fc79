package ordering

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"inorder/events"
)

// stepRun is one invocation's work on one step entity.
type stepRun struct {
	numbered

	rows             map[int64]Row // read from the log, or found where a number was taken
	own              map[int64]Row // put by this invocation: they stay what they are for as long as it lives
	readFrom, readTo int64
	copied           map[int64]bool    // numbers whose blocked event has its copy in quarantine
	leftovers        map[Position]bool // what an old generation left waiting and has its copy in quarantine
	maxRun           int
	tooLarge         int64

	retry    bool  // a blocked event is tried again though nobody brought it
	adopting bool  // the lowest waiting number becomes the baseline
	through  int64 // an operator passes everything up to here
	audited  func(ctx context.Context, p stepPlan) (now *Entity, landed bool, err error)
}

// applyStep reads, plans, logs, moves the cursor by a compare-and-set and plans again where that is lost. Messages are
// decided only after the move has landed; a crash anywhere before leaves them to come back, and a row that was logged
// meanwhile is found by whoever handles its event again.
func (l *Loop) applyStep(ctx context.Context, key Key, s *events.Stream, jobs []*job, r *Report) {
	run := l.newStepRun(key, s, jobs, r)
	if err := run.takeTurns(ctx, run.readyToDrain, run.turn); err != nil {
		giveUp(jobs, err)
	}
}

func (l *Loop) newStepRun(key Key, s *events.Stream, jobs []*job, r *Report) *stepRun {
	run := &stepRun{numbered: numbered{Loop: l, key: key, stream: s, jobs: jobs, report: r}}
	run.forget = run.forgetRows
	return run
}

// readyToDrain reports whether a long drain, which this invocation began, is not at its end.
func (r *stepRun) readyToDrain() bool {
	return r.fresh && r.entity.drains() && r.report.ranAny
}

// turn either learns something that the next one needs, or moves the entity.
func (r *stepRun) turn(ctx context.Context) error {
	base, err := r.life(ctx)
	if err != nil || base == nil {
		return err
	}
	plan := planStep(r.input(base))
	switch {
	case plan.read != nil:
		return r.readRows(ctx, base.Gen, *plan.read)
	case !r.fresh && (plan.fresh || len(plan.copies) > 0 || !plan.moves && r.owes(r.entity)):
		return r.readAgain(ctx)
	case len(plan.puts) > 0:
		return r.putRows(ctx, plan.puts)
	case !plan.moves:
		return r.settle(ctx, plan, r.entity)
	}
	if err := r.sendCopies(ctx, plan); err != nil {
		for _, j := range open(r.jobs) { // it comes back alone: what else there is need not wait for its copy
			if j.Event.Seq == plan.next.Blocked && j.Event.Generation == plan.next.Gen {
				j.decide(Outcome{Disposition: Deferred, Err: err})
				err = nil
			}
		}
		return err
	}
	return r.move(ctx, base, plan)
}

// life returns the entity on which to decide: as it is, or, for a higher generation, the empty one of the new life,
// after the old one's affairs are in order. It returns nil where the entity had to be read first, or to be looked at again.
func (r *stepRun) life(ctx context.Context) (*Entity, error) {
	first := firstOpen(r.jobs)
	if r.adopts() {
		return r.atBaseline(), nil
	}
	if first == nil || first.Event.Generation <= r.entity.Gen {
		return r.entity, nil
	}
	if !r.fresh {
		return nil, r.readAgain(ctx)
	}
	ended := r.entity.Gen
	if err := r.endLife(ctx); err != nil || r.entity.Gen != ended { // while effects were sent, somebody else began a new life
		return nil, err
	}
	born := &Entity{Exists: true, Rev: r.entity.Rev, Cursor: Cursor{Gen: first.Event.Generation}}
	if r.entity.Dispatched != nil {
		born.Dispatched = &Position{Gen: born.Gen}
	}
	return born, nil
}

// adopts reports whether the entity, as it is now, shall take its baseline: after a lost round it may be another life.
func (r *stepRun) adopts() bool {
	return r.adopting && r.entity.hasDuty(TakeBaseline, r.stream, r.Now(), false)
}

// atBaseline is the entity with its cursor right below the lowest number that waits: what came before it is not ours.
func (r *stepRun) atBaseline() *Entity {
	at := *r.entity
	at.Applied = at.Waiting[0] - 1
	if r.stream.Effects && r.EffectsMode != EffectsOff {
		at.Dispatched = &Position{Gen: at.Gen, Seq: at.Applied}
	}
	return &at
}

// endLife sends what the old generation still owes and keeps a copy of what it left waiting. A crash after it repeats
// it, since nothing is written yet: a copy may then stand twice.
func (r *stepRun) endLife(ctx context.Context) error {
	ended := r.entity.Gen
	if r.owes(r.entity) {
		settled, err := r.dispatch(ctx, r.entity, nil)
		if err != nil {
			return err
		}
		if r.entity = settled; settled.Gen != ended { // what waits there is of a life that goes on
			return nil
		}
	}
	for numbers := range slices.Chunk(r.entity.Waiting, leftoversAtOnce) {
		if err := r.keepLeftovers(ctx, numbers); err != nil {
			return err
		}
	}
	return nil
}

// leftoversAtOnce bounds how many rows of an ended life are held at once.
const leftoversAtOnce = 50

// keepLeftovers copies what waits under some numbers.
func (r *stepRun) keepLeftovers(ctx context.Context, numbers Numbers) error {
	rows, err := r.Store.Rows(ctx, r.key, r.entity.Gen, numbers[0], numbers.Max())
	if err != nil {
		return fmt.Errorf("read what generation %d of %s left waiting: %w", r.entity.Gen, quoteID(r.key.ID), err)
	}
	rows = slices.DeleteFunc(rows, func(row Row) bool {
		return row.Void != "" || !numbers.Has(row.Seq) || r.leftovers[Position{row.Gen, row.Seq}]
	})
	err = sideBySide(r.RowsAtOnce, rows, func(row Row) error {
		leftover := row.copyAs(Outcome{Disposition: Quarantined, Reason: events.OldGeneration, Detail: "a higher generation began before its predecessors came"})
		if err := r.Quarantine.Copy(ctx, leftover); err != nil {
			return fmt.Errorf("copy number %d of generation %d of %s to quarantine: %w", row.Seq, row.Gen, quoteID(r.key.ID), err)
		}
		return nil
	})
	if err == nil {
		if r.leftovers == nil {
			r.leftovers = map[Position]bool{}
		}
		for _, row := range rows {
			r.leftovers[Position{row.Gen, row.Seq}] = true
		}
	}
	return err
}

// logged is what is known of the log.
func (r *stepRun) logged() map[int64]Row {
	if len(r.own) == 0 {
		return r.rows
	}
	logged := make(map[int64]Row, len(r.rows)+len(r.own))
	maps.Copy(logged, r.rows)
	maps.Copy(logged, r.own)
	return logged
}

func (r *stepRun) input(base *Entity) stepInput {
	return stepInput{
		stream: r.stream, projections: r.Projections, decode: r.decodeRow, effects: r.EffectsMode, sendable: r.sendable,
		prev: r.entity, base: base, jobs: open(r.jobs), now: r.Now(),
		logged: r.logged(), readFrom: r.readFrom, readTo: r.readTo, maxRun: r.maxRun, tooLarge: r.tooLarge, token: r.NewToken(),
		retry: r.retry, through: r.through,
	}
}

func (r *stepRun) sendable(e Effect) error {
	e.Consumer = r.key.Consumer
	return r.Effects.Sendable(e)
}

// forgetRows drops the rows that may have left since they were read, and those of another life.
func (r *stepRun) forgetRows(newer *Entity) {
	if r.entity != nil && newer.Gen != r.entity.Gen {
		r.own = nil
	}
	r.rows, r.readFrom, r.readTo = nil, 0, 0
}

// forgetCopies makes copies again of what would be gone after the write that was lost: whoever came between may have
// acknowledged the message of the copy itself, redriven, because its row was there. A blocked event's row stays.
func (r *stepRun) forgetCopies() {
	clear(r.leftovers)
	if r.through > 0 {
		clear(r.copied)
	}
}

// sendCopies keeps a copy of what blocks, or is passed though it cannot be applied, before the write that says so.
func (r *stepRun) sendCopies(ctx context.Context, p stepPlan) error {
	for _, c := range p.copies {
		if r.copied[c.n] {
			continue
		}
		if err := r.Quarantine.Copy(ctx, c.Copy); err != nil {
			return fmt.Errorf("copy number %d of %s, which cannot be applied, to quarantine: %w", c.n, quoteID(r.key.ID), err)
		}
		if r.copied == nil {
			r.copied = map[int64]bool{}
		}
		r.copied[c.n] = true
	}
	return nil
}

// move is the compare-and-set. After it the cursor is where it is for everybody; what is owed from here on is sent by
// this invocation or, after a crash, by whoever comes next.
func (r *stepRun) move(ctx context.Context, base *Entity, p stepPlan) error {
	now, landed, err := r.write(ctx, p)
	switch {
	case errors.Is(err, ErrTooLarge) && r.owes(r.entity): // what is owed takes its room: it is sent first
		return r.settleDebt(ctx)
	case errors.Is(err, ErrTooLarge):
		return r.shrink(base, p, err)
	case errors.Is(err, ErrContended):
		return r.again(ctx)
	case err != nil:
		return fmt.Errorf("move %s of stream %s: %w", quoteID(r.key.ID), r.stream.Name, err)
	case !landed:
		r.learn(now)
		r.forgetCopies()
		return r.again(ctx)
	}
	r.learn(now)
	r.maxRun, r.tooLarge = 0, 0
	return r.settle(ctx, p, now)
}

// write is the compare-and-set, with an audit row where an operator passes something.
func (r *stepRun) write(ctx context.Context, p stepPlan) (now *Entity, landed bool, err error) {
	if p.skip.empty() {
		return r.swap(ctx, r.key, r.entity, p.next)
	}
	return r.audited(ctx, p)
}

// settleDebt makes room in an item that is full of effects that nobody took yet. It is no fault of the next event.
func (r *stepRun) settleDebt(ctx context.Context) error {
	if !r.fresh {
		return r.readAgain(ctx)
	}
	settled, err := r.dispatch(ctx, r.entity, nil)
	if err == nil {
		r.learn(settled)
	}
	return err
}

// shrink makes the run shorter until it fits, or refuses the one event that does not.
func (r *stepRun) shrink(base *Entity, p stepPlan, tooLarge error) error {
	length := int(p.next.Applied - base.Applied)
	if length != 1 {
		if length == 0 {
			return tooLarge
		}
		r.maxRun = length / 2
		return nil
	}
	logged := r.logged()
	for _, j := range open(r.jobs) {
		_, isLogged := logged[j.Event.Seq] // then a refusal would leave its number taken
		if j.Event.Seq == p.next.Applied && !isLogged && p.landed[j].Disposition == Applied {
			j.decide(quarantined(&events.Refusal{Reason: events.TooLarge, Detail: "the entity would be larger than an item of the table may be (400 KB)"}))
			r.maxRun = 0
			return nil
		}
	}
	if r.tooLarge == p.next.Applied {
		return tooLarge
	}
	r.tooLarge = p.next.Applied
	return nil
}

// settle sends the effects that are owed and decides the messages. Where the sending fails, what the cursor has
// passed is not acked: its return sends what is due.
func (r *stepRun) settle(ctx context.Context, p stepPlan, now *Entity) error {
	var unsent error
	if r.owes(now) {
		settled, err := r.dispatch(ctx, now, p.ran)
		if unsent = err; err == nil {
			r.learn(settled)
		}
	}
	r.note(p)
	for _, v := range []verdicts{p.final, p.landed} {
		for j, o := range v {
			if unsent != nil && (o.Disposition == Applied || o.Disposition == Duplicate) {
				o = Outcome{Disposition: Deferred, Stored: o.Stored, Err: unsent}
			}
			j.decide(o)
		}
	}
	return unsent
}

func (r *stepRun) note(p stepPlan) {
	for _, e := range p.drained {
		r.report.count(MetricDrained, e, 1)
	}
	r.report.ranAny = r.report.ranAny || len(p.ran) > 0
	for _, j := range p.early {
		r.report.Distances = append(r.report.Distances, Distance{j.Event.Pattern, j.Event.Seq - p.next.Applied})
	}
	r.report.ofStream(MetricMismatches, r.stream, p.missing)
	r.report.ofStream(MetricVoid, r.stream, p.voided)
	for j, o := range p.final {
		if o.Disposition == Duplicate && j.Event.Seq < r.entity.Applied && restarted(j.Event, r.entity.Last) {
			r.report.count(MetricRestartSuspected, j.Event, 1)
		}
	}
}
