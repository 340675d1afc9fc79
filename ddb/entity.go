package ddb

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/events"
	"inorder/ordering"
)

// The bookkeeping attributes of an entity. All others are its state.
const (
	attrPK    = "_pk"
	attrRev   = "_rev"
	attrToken = "_token" // of the write that made this item

	attrClock         = "_clock"
	attrClockPrefix   = "_clock." // and the name of an attribute or source
	attrDeleted       = "_deleted"
	attrDeletedPrefix = "_deleted." // and the name of a source
	attrMarkPrefix    = "_mark."    // and the name of a source; the mark without a name is _max_seen and _gen

	attrEventID      = "_event_id"
	attrSource       = "_source"
	attrFingerprint  = "_fingerprint"
	attrType         = "_type"
	attrLastClock    = "_last_clock"
	attrPublishedAt  = "_published_at"
	attrReceivedAt   = "_received_at"
	attrAppliedAt    = "_applied_at"
	attrMessageID    = "_message_id"
	attrReceiveCount = "_receive_count"

	attrGen        = "_gen"
	attrApplied    = "_applied"
	attrMaxSeen    = "_max_seen"
	attrWaiting    = "_waiting"
	attrAhead      = "_ahead"
	attrDispatched = "_dispatched"
	attrOwed       = "_owed"
	attrBlocked    = "_blocked"
	attrSkipped    = "_skipped"
	attrShown      = "_shown" // who showed what is missing
	attrParkSince  = "_park_since"
	attrParkLook   = "_park_look"

	attrGapShard    = "_gap_shard"
	attrGapSince    = "_gap_since"
	attrEscalations = "_escalations"
	attrEscalateAt  = "_escalate_at"
)

// bookkeeping is about how many attributes an entity has beside its state.
const bookkeeping = 16

// encodeEntity writes an entity as an item: what is not the zero value, and the cursor of a step or delta entity also
// where it is 0, because conditions compare it.
func encodeEntity(key ordering.Key, e *ordering.Entity) (item, error) {
	pk := EntityPK(key)
	out, err := encodeBeside(bookkeeping, e.State)
	if err != nil {
		return nil, err
	}
	w := itemWriter(out)
	w.text(attrPK, pk)
	w.integer(attrRev, e.Rev)
	w.last(e.Last)
	w.text(attrToken, e.Token)
	if err := w.stateMarks(e.StateMarks); err != nil {
		return nil, err
	}
	if e.Rev != 0 && !hasStateMarks(e) {
		out[attrGen], out[attrApplied] = integer(e.Gen), integer(e.Applied)
	}
	w.gap(pk, e.Gap)
	return out, w.cursor(e.Cursor)
}

// hasStateMarks tells a state entity from a step or delta one, which has neither clocks nor marks. Only the latter has
// _applied.
func hasStateMarks(e *ordering.Entity) bool {
	return e.Clock != "" || len(e.Clocks) > 0 || len(e.Marks) > 0 || len(e.Tombs) > 0
}

func (w itemWriter) last(last ordering.Last) {
	w.text(attrEventID, last.EventID)
	w.text(attrSource, last.Source)
	w.text(attrFingerprint, last.Fingerprint)
	w.text(attrType, last.Type)
	w.text(attrLastClock, last.Clock)
	w.instant(attrPublishedAt, last.PublishedAt)
	w.instant(attrReceivedAt, last.ReceivedAt)
	w.instant(attrAppliedAt, last.AppliedAt)
	w.text(attrMessageID, last.MessageID)
	w.integer(attrReceiveCount, int64(last.ReceiveCount))
}

// lastAttributes are the names that itemWriter.last may write.
var lastAttributes = []string{
	attrEventID, attrSource, attrFingerprint, attrType, attrLastClock, attrPublishedAt, attrReceivedAt, attrAppliedAt,
	attrMessageID, attrReceiveCount,
}

// isDeleted stands for a tombstone.
var isDeleted = &types.AttributeValueMemberBOOL{Value: true}

// stateMarks writes a tombstone as _deleted where it is the whole entity's, which then has a clock, and as
// _deleted.<source> where it is a source's, with `clock: source`.
func (w itemWriter) stateMarks(m ordering.StateMarks) error {
	w.text(attrClock, m.Clock)
	for name, clock := range m.Clocks {
		w.text(attrClockPrefix+name, clock)
	}
	for _, source := range m.Tombs {
		if m.Clock != "" {
			w[attrDeleted] = isDeleted
		} else {
			w[attrDeletedPrefix+source] = isDeleted
		}
	}
	return w.marks(m.Marks)
}

// marks writes the mark without a name as the two numbers that newerPut compares.
func (w itemWriter) marks(marks map[string]string) error {
	for source, clock := range marks {
		if source != "" {
			w.text(attrMarkPrefix+source, clock)
			continue
		}
		gen, seq, ok := events.ParseSeqClock(clock)
		if !ok {
			return fmt.Errorf("the mark %q is no clock by seq", clock)
		}
		w[attrGen], w[attrMaxSeen] = integer(gen), integer(seq)
	}
	return nil
}

func (w itemWriter) cursor(c ordering.Cursor) error {
	w.integer(attrGen, c.Gen)
	w.integer(attrApplied, c.Applied)
	w.integer(attrMaxSeen, c.MaxSeen)
	w.integer(attrBlocked, c.Blocked)
	w.text(attrSkipped, encodeRanges(c.Skipped))
	w.instant(attrParkSince, c.Park.Since)
	w.instant(attrParkLook, c.Park.Look)
	if len(c.Ahead) > 0 {
		w[attrAhead] = integers(c.Ahead)
	}
	if c.Dispatched != nil {
		w.text(attrDispatched, events.SeqClock(c.Dispatched.Gen, c.Dispatched.Seq))
	}
	if len(c.Shown) > 0 {
		w[attrShown] = witnesses(c.Shown)
	}
	waiting, err := encodeWaiting(c.Applied, c.Waiting)
	if err != nil {
		return err
	}
	if len(waiting) > 0 {
		w[attrWaiting] = &types.AttributeValueMemberB{Value: waiting}
	}
	owed, err := encodeEffects(c.Owed)
	w.text(attrOwed, owed)
	return err
}

// gap writes the two attributes of the index together, always: an item with one of them would be lost to the sweeper.
func (w itemWriter) gap(pk string, gap *ordering.Gap) {
	if gap == nil {
		return
	}
	w[attrGapShard], w[attrGapSince] = integer(gapShard(pk)), instant(gap.Since)
	w.integer(attrEscalations, int64(gap.Escalations))
	w.instant(attrEscalateAt, gap.EscalateAt)
}
