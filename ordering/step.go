package ordering

import (
	"time"

	"inorder/events"
)

// maxDrain is how many waiting rows one compare-and-set takes. More would make an invocation late for its deadline in
// one piece; a longer drain goes on with the next one.
const maxDrain = 400

// stepInput is all that a decision on a step entity depends on.
type stepInput struct {
	stream      *events.Stream
	projections map[string]Projector
	decode      func(Row) (*events.Event, error)
	effects     EffectsMode
	sendable    func(Effect) error

	prev *Entity // as it was read or cached
	base *Entity // prev, or where a new generation begins the empty entity of it
	jobs []*job  // open, of base's generation or an older one
	now  time.Time

	// logged is what is known of the log: rows that were read, and rows that this invocation put.
	logged map[int64]Row
	// readFrom and readTo bound the numbers for which logged is complete: 0, 0 where nothing was read.
	readFrom, readTo int64
	// maxRun bounds how many events are folded at once; 0: no bound. It shrinks where the item would be too large.
	maxRun int
	// retry: a blocked entity runs its blocked event again, though nobody brought it.
	retry bool
	// through is the number up to which an operator passes everything; 0: nobody does.
	through int64
	// tooLarge is a number whose logged event makes the item too large: it blocks like one whose projection fails.
	tooLarge int64
	token    string
}

// stepPlan is what a step decision comes to. Where read is set nothing else counts: the rows are needed first.
type stepPlan struct {
	fresh   bool     // the decision looks beyond the window: it must not rest on a cached copy
	read    *Range   // the waiting rows that the run takes
	puts    []entry  // to be logged before the entity moves, where their number is free
	copies  []copyOf // to quarantine before the entity moves
	next    *Entity
	moves   bool // next differs from prev, or something above the cursor was judged: it must be written
	final   verdicts
	landed  verdicts
	drained []*events.Event
	early   []*job
	missing int // rows that the entity names and the log has not
	ran     map[int64]*events.Event
	voids   map[*job]int // how many numbers each void event takes
	voided  int          // numbers that have none but a void
	builtIn builtIn      // what `sum` and `set` change, until close
	skip    skipPart     // what an operator's skip passes
}

// copyOf is the copy of the event of a number.
type copyOf struct {
	n int64
	Copy
}

// entry is a number that an event of the batch takes in the log: its own, or one of a void's.
type entry struct {
	*job
	n int64
}

// planStep decides on the open jobs of a step entity. It is a pure function of (entity, batch, log).
func planStep(in stepInput) stepPlan {
	p := stepPlan{final: verdicts{}, landed: make(verdicts, len(in.jobs)), ran: make(map[int64]*events.Event, len(in.jobs))}
	if in.through > in.base.Applied {
		p.planSkip(in)
		return p
	}
	candidates := p.sortOut(in)
	run, cut := p.run(in, candidates)
	if p.read != nil {
		return p
	}
	if cut {
		p.postpone(candidates, run)
	}
	p.foldRun(in, candidates, run)
	p.judgeCandidates(in, candidates)
	p.close(in)
	return p
}

// sortOut judges what is not ahead of the cursor and not within the window, and returns the first event of each
// number that is. A void takes what no event of the batch has.
func (p *stepPlan) sortOut(in stepInput) map[int64]*job {
	base := in.base
	p.begin(in)
	facts, controls := splitBy(in.jobs, func(j *job) bool { return j.Event.Kind == events.Fact })
	span := spanOf(in.stream, base, facts)
	stored := events.SeqClock(base.Gen, base.Applied)
	candidates := make(map[int64]*job, len(facts))
	var rivals []*job
	for _, j := range facts {
		n := j.Event.Seq
		switch {
		case j.Event.Generation < base.Gen:
			p.final[j] = Outcome{Disposition: Stale, Stored: stored}
		case within(base.Skipped, n):
			p.final[j] = skipped(stored)
		case n < base.Applied:
			p.final[j] = Outcome{Disposition: Duplicate, Stored: stored}
		case n == base.Applied:
			o := atTie(j.Event, base.Last)
			o.Stored = stored
			p.final[j] = o
			p.fresh = p.fresh || o.Disposition == Conflict // below the cursor, were it passed meanwhile, it is none
		case n < span.First || n > span.Last:
			p.fresh = true
			p.next.hear(n, j.receivedAt(in.now))
			p.landed[j] = Outcome{Disposition: Deferred, Stored: stored, Err: beyondWindow(n, in.stream, span)}
		case candidates[n] != nil:
			rivals = append(rivals, j)
		default:
			candidates[n] = j
		}
	}
	for _, j := range rivals {
		p.rival(in, candidates, j, stored)
	}
	for _, j := range controls {
		p.control(in, span, candidates, j)
	}
	return candidates
}

func skipped(stored string) Outcome {
	return Outcome{Disposition: Quarantined, Reason: events.Skipped, Stored: stored, Detail: "its number was passed over as lost"}
}

// rival judges an event whose number another of the batch has, too: the one that is logged counts, or the first.
func (p *stepPlan) rival(in stepInput, candidates map[int64]*job, j *job, stored string) {
	holder := candidates[j.Event.Seq]
	row, isLogged := in.logged[j.Event.Seq]
	switch {
	case !isLogged:
		p.landed[j] = atTie(j.Event, lastOf(holder.Delivery, in.now))
	case row.is(j.Event) && !row.is(holder.Event):
		candidates[j.Event.Seq] = j
		p.landed[holder] = atRow(holder.Event, row, stored)
	default:
		p.landed[j] = atRow(j.Event, row, stored)
	}
}

// atRow judges an event whose number is taken in the log by another, or by nobody: then it is the original of a number
// that was said to have none.
func atRow(e *events.Event, row Row, stored string) Outcome {
	switch {
	case row.Void == events.Expired:
		return skipped(stored)
	case row.Void != "" || row.is(e):
		return Outcome{Disposition: Duplicate, Stored: stored}
	default:
		return Outcome{Disposition: Conflict, Reason: events.Conflict, Stored: stored, Detail: "its number is taken by " + rivalOf(e, row.EventID, row.Source)}
	}
}

// begin makes the entity that the plan changes.
func (p *stepPlan) begin(in stepInput) {
	next := *in.base
	next.Exists = true
	next.Rev = in.prev.Rev + 1
	next.Token = in.token
	if next.State == nil {
		next.State = map[string]any{}
	}
	p.next, p.builtIn.state = &next, next.State
}

// postpone leaves open what lies behind a run that had to be cut: it is not early, only later.
func (p *stepPlan) postpone(candidates map[int64]*job, end int64) {
	for j, o := range p.landed {
		if j.Event.Seq > end && o.Disposition != Deferred {
			delete(p.landed, j)
		}
	}
	for n, j := range candidates {
		if n > end {
			delete(candidates, n)
			if j.Event.Kind == events.Void {
				delete(p.landed, j) // it comes again, for the rest of its numbers
			}
		}
	}
}

// run returns the end of what is contiguous from the cursor over the batch and the waiting numbers, and asks for the
// rows that it takes. A blocked entity runs only when the blocked event itself is delivered again; otherwise its
// retry is the sweeper's, or the operator's. cut says that only maxRun ended it.
func (p *stepPlan) run(in stepInput, candidates map[int64]*job) (end int64, cut bool) {
	end = in.base.Applied
	if in.base.Blocked != 0 && candidates[in.base.Blocked] == nil && !in.retry {
		return end, false
	}
	var firstRow, lastRow int64
	rows, events := 0, 0
	for {
		n := end + 1
		waits := in.base.Waiting.Has(n)
		if !waits && candidates[n] == nil || rows >= maxDrain {
			break
		}
		if cut = in.maxRun > 0 && events >= in.maxRun; cut {
			break
		}
		if waits {
			if firstRow == 0 {
				firstRow = n
			}
			lastRow = n
			rows++
		}
		events++
		end = n
	}
	if firstRow == 0 || in.readFrom != 0 && in.readFrom <= firstRow && lastRow <= in.readTo {
		return end, cut
	}
	p.read = &Range{First: firstRow, Last: lastRow}
	return end, cut
}

// close settles what follows from the move: the highest number, the effects' place, the gap.
func (p *stepPlan) close(in stepInput) {
	next := p.next
	if len(p.builtIn.sums)+len(p.builtIn.set) > 0 {
		next.State = p.builtIn.next()
	}
	next.MaxSeen = max(next.MaxSeen, next.Waiting.Max(), next.Applied)
	p.placeEffects(in)
	p.settlePark(in)
	next.settleGap(in.prev, in.now)
	p.moves = p.missing > 0 || in.base != in.prev || p.judgedAhead(in) || next.Applied != in.base.Applied ||
		next.MaxSeen != in.base.MaxSeen || next.Blocked != in.base.Blocked || (next.Gap == nil) != (in.prev.Gap == nil)
}

// judgedAhead reports whether anything above the cursor was judged. Even a mere copy of a parked event is then acked
// after a write only: its row may just be leaving, and the write is what shows it.
func (p *stepPlan) judgedAhead(in stepInput) bool {
	for j, o := range p.landed {
		if j.Event.Generation == in.base.Gen && j.Event.Seq > in.base.Applied && o.Disposition != Deferred || p.voids[j] > 0 {
			return true
		}
	}
	return false
}

func (in *stepInput) sends() bool { return in.stream.Effects && in.effects == EffectsOn }

// logsAll reports whether events that run are logged too: for an audit, or because their effects are sent from the log.
func (in *stepInput) logsAll() bool { return in.stream.LogAll || in.sends() }

// placeEffects keeps _dispatched where effects are owed, and lets it move along where none are sent. Where there was
// none, it begins at the cursor as it was: earlier history sends nothing.
func (p *stepPlan) placeEffects(in stepInput) {
	next := p.next
	if next.Dispatched == nil && in.stream.Effects && in.effects != EffectsOff && next.Applied > in.base.Applied {
		next.Dispatched = &Position{Gen: next.Gen, Seq: in.base.Applied}
	}
	if next.Dispatched != nil && !in.sends() {
		next.Dispatched, next.Owed = &Position{Gen: next.Gen, Seq: next.Applied}, nil
	}
}
