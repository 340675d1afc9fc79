package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"inorder/events"
	"inorder/ordering"
	"inorder/ordering/memory"
)

// op is what is asked of a store or a queue.
type op uint8

const (
	opRead op = iota
	opSwap
	opAdd
	opCatchUp
	opPutRow
	opExtendRow
	opRows
	opDropRows
	opAudited
	opQuarantine
	opSend
	opRepublish
)

// moves tells which of them write the entity.
var moves = [...]bool{opSwap: true, opAdd: true, opCatchUp: true, opDropRows: true, opAudited: true, opRepublish: false}

// reads tells which of them change nothing: that their answer is lost is no other fault than that they failed.
var reads = [...]bool{opRead: true, opRows: true, opRepublish: false}

// request is one, without revisions and tokens, which are the asker's own affair.
type request struct {
	op
	absent      bool // opSwap: the asker knows of no entity
	next        *ordering.Entity
	row         *ordering.Row
	rows        []ordering.Row
	gen         int64
	first, last int64
	heads       bool
	add         *ordering.Addition
	at          *ordering.Entity // opCatchUp
	since       time.Time        // opCatchUp
	until       time.Time        // opExtendRow
	audit       *ordering.Audit
	message     int // opQuarantine, opSend
	reason      events.Reason
	missing     set // opRepublish: the messages that answer it
	asksFor     []events.Range
}

// verb is how transcripts call it.
func (r *request) verb() string {
	switch r.op {
	case opRead:
		return "reads the entity"
	case opSwap, opDropRows, opAudited:
		return fmt.Sprintf("%s cursor %d.%d%s", [...]string{opSwap: "writes", opDropRows: "drops rows, writes", opAudited: "skips, writes"}[r.op],
			r.next.Gen, r.next.Applied, aside(r.next))
	case opAdd:
		return fmt.Sprintf("lets the database add %v", r.add.Numbers)
	case opCatchUp:
		return fmt.Sprintf("catches up to %d", r.last)
	case opPutRow:
		return fmt.Sprintf("logs %d.%d", r.row.Gen, r.row.Seq)
	case opExtendRow:
		return fmt.Sprintf("extends row %d.%d", r.row.Gen, r.row.Seq)
	case opRows:
		return fmt.Sprintf("reads rows %d.%d to %d", r.gen, r.first, r.last)
	case opQuarantine:
		return fmt.Sprintf("copies m%d to quarantine (%s)", r.message, r.reason)
	case opSend:
		return fmt.Sprintf("sends the effect of m%d", r.message)
	case opRepublish:
		return fmt.Sprintf("asks for %v", r.asksFor)
	}
	return "?"
}

// aside is what stands in an entity beside its cursor.
func aside(e *ordering.Entity) string {
	var b strings.Builder
	for _, part := range []struct {
		shown bool
		text  string
	}{
		{len(e.Waiting) > 0, " waiting " + ranges(e.Waiting)},
		{len(e.Ahead) > 0, " ahead " + ranges(e.Ahead)},
		{e.MaxSeen > e.Applied, fmt.Sprint(" seen ", e.MaxSeen)},
		{e.Blocked != 0, fmt.Sprint(" blocked at ", e.Blocked)},
		{len(e.Skipped) > 0, fmt.Sprint(" skipped ", e.Skipped)},
	} {
		if part.shown {
			b.WriteString(part.text)
		}
	}
	if e.Dispatched != nil {
		fmt.Fprintf(&b, " dispatched %d.%d", e.Dispatched.Gen, e.Dispatched.Seq)
	}
	if e.Gap != nil {
		b.WriteString(" gap")
	}
	return b.String()
}

// ranges shows numbers, neighbours as a range.
func ranges(numbers ordering.Numbers) string {
	list := make([]events.Range, len(numbers))
	for i, n := range numbers {
		list[i] = events.Range{First: n, Last: n}
	}
	var texts []string
	for _, r := range events.JoinRanges(list) {
		if texts = append(texts, fmt.Sprint(r.First)); r.Last > r.First {
			texts[len(texts)-1] += fmt.Sprint("-", r.Last)
		}
	}
	return "[" + strings.Join(texts, " ") + "]"
}

// failure is how a request went wrong, as far as its asker can tell.
type failure uint8

const (
	noFailure failure = iota
	lostRace          // a condition did not hold; the answer has what is there
	rowTaken          // the answer has the row that is there
	noAnswer          // nobody knows
	throttled
	contended
)

// done is what a request did to a store.
type done struct {
	content uint32 // afterwards
	failure
	tells bool   // the answer has the entity, as it is afterwards
	rows  uint32 // which the answer has
	wrote bool   // the entity was written
	fault string // of the move from the one content to the other
}

// carryOut makes a request of a store with some content, on the memory store itself. current: the entity that the asker
// knows is the one that is there.
func (c *contents) carryOut(at uint32, r *request, current bool) done {
	before := &c.all[at]
	store := before.store.Clone()
	rows, entity, err := ask(store, c.key, r, current)
	d := done{tells: r.op == opRead || entity != nil}
	lost, taken := (*ordering.LostError)(nil), (*ordering.TakenError)(nil)
	switch {
	case err == nil:
		d.wrote = moves[r.op]
	case errors.As(err, &lost):
		d.failure, d.tells = lostRace, true
	case errors.As(err, &taken):
		d.failure, rows = rowTaken, []ordering.Row{taken.Row}
	default:
		panic(fmt.Sprintf("%s: %s: %v", c.Name, r.verb(), err))
	}
	d.rows = c.rowsOf(rows)
	if d.content = at; err == nil && !reads[r.op] {
		d.content = c.keep(store)
	}
	if d.wrote {
		d.fault = c.backwards(before, &c.all[d.content])
	}
	return d
}

// theRevision is the one of every entity that is kept here.
const theRevision = 1

// ask makes a request. Who knows what is there knows it by theRevision.
func ask(store *memory.Store, key ordering.Key, r *request, current bool) (rows []ordering.Row, e *ordering.Entity, err error) {
	ctx := context.Background()
	prev := &ordering.Entity{Exists: !r.absent, Rev: theRevision}
	if !current {
		prev.Rev++
	}
	switch r.op {
	case opRead:
	case opSwap:
		err = store.Swap(ctx, key, prev, r.next, nil)
	case opAdd:
		e, err = store.Add(ctx, key, *r.add)
	case opCatchUp:
		e, err = store.CatchUp(ctx, key, r.at, r.last, r.since, "")
	case opPutRow:
		err = store.PutRow(ctx, key, *r.row)
	case opExtendRow:
		err = store.ExtendRow(ctx, key, *r.row, r.until)
	case opRows:
		if r.heads {
			rows, err = store.RowHeads(ctx, key, r.gen, r.first, r.last)
		} else {
			rows, err = store.Rows(ctx, key, r.gen, r.first, r.last)
		}
	case opDropRows:
		err = store.DropRows(ctx, key, prev, r.next, r.rows)
	case opAudited:
		err = store.SwapAudited(ctx, key, prev, r.next, *r.audit)
	case opQuarantine, opSend, opRepublish:
		panic("no request of a store")
	}
	return rows, e, err
}

// answersOf are the messages with which a relay answers a request for numbers.
func (m *model) answersOf(requests []events.RepublishRequest) (answers set, ranges []events.Range) {
	for _, r := range requests {
		ranges = append(ranges, r.Ranges...)
		for i, message := range m.Messages {
			asked := func(of events.Range) bool { return of.First <= message.Seq && message.Seq <= of.Last }
			if message.Origin == Lost && message.Gen == r.Generation && slices.ContainsFunc(r.Ranges, asked) {
				answers.put(i)
			}
		}
	}
	return answers, ranges
}
