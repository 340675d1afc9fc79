package ddb

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/events"
	"inorder/ordering"
)

// The bookkeeping attributes of an entity. All others are its state.
const (
	attrPK    = "_pk"
	attrRev   = "_rev"
	attrToken = "_token" // step and delta: of the write that made this item

	attrClock       = "_clock"
	attrClockPrefix = "_clock." // and the name of an attribute or source
	attrDeleted     = "_deleted"

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

	attrGapShard    = "_gap_shard"
	attrGapSince    = "_gap_since"
	attrEscalations = "_escalations"
	attrEscalateAt  = "_escalate_at"
)

// encodeEntity writes an entity as an item: what is not the zero value, and the cursor of a step or delta entity also
// where it is 0, because conditions compare it.
func encodeEntity(key ordering.Key, e *ordering.Entity) (item, error) {
	pk := EntityPK(key)
	out, err := encodeState(e.State)
	if err != nil {
		return nil, err
	}
	w := itemWriter(out)
	w.text(attrPK, pk)
	w.integer(attrRev, e.Rev)
	w.last(e.Last)
	w.stateMarks(e.StateMarks)
	if e.Rev != 0 && !hasStateMarks(e) {
		out[attrGen], out[attrApplied] = integer(e.Gen), integer(e.Applied)
	}
	w.gap(pk, e.Gap)
	return out, w.cursor(e.Cursor)
}

// hasStateMarks tells a state entity from a step or delta one, for which its clocks are never written.
func hasStateMarks(e *ordering.Entity) bool {
	return e.Clock != "" || len(e.Clocks) > 0 || len(e.Tombs) > 0
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

// stateMarks writes _deleted as true where the whole entity is deleted by the event of its clock, and as a set where
// sources are. With `clock: source` there is no such clock.
func (w itemWriter) stateMarks(m ordering.StateMarks) {
	w.text(attrClock, m.Clock)
	for name, clock := range m.Clocks {
		w.text(attrClockPrefix+name, clock)
	}
	switch {
	case len(m.Tombs) == 0:
	case m.Clock != "":
		w[attrDeleted] = &types.AttributeValueMemberBOOL{Value: true}
	default:
		w[attrDeleted] = texts(m.Tombs...)
	}
}

func (w itemWriter) cursor(c ordering.Cursor) error {
	w.integer(attrGen, c.Gen)
	w.integer(attrApplied, c.Applied)
	w.integer(attrMaxSeen, c.MaxSeen)
	w.integer(attrBlocked, c.Blocked)
	w.text(attrSkipped, encodeRanges(c.Skipped))
	w.text(attrToken, c.Token)
	if len(c.Ahead) > 0 {
		w[attrAhead] = integers(c.Ahead)
	}
	if c.Dispatched != nil {
		w.text(attrDispatched, events.SeqClock(c.Dispatched.Gen, c.Dispatched.Seq))
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

// decodeEntity reads an item. No item is the zero entity.
func decodeEntity(it item) (*ordering.Entity, error) {
	if len(it) == 0 {
		return &ordering.Entity{}, nil
	}
	r := &itemReader{item: it}
	e := &ordering.Entity{Exists: true, Rev: r.integer(attrRev), Last: r.last()}
	e.Clock, e.Tombs = r.text(attrClock), r.tombs()
	e.Cursor = r.cursor()
	err := decodeNamed(it, e)
	return e, errors.Join(r.err, err)
}

// decodeNamed reads what stands under names of its own: the state and the clocks of its parts. Bookkeeping that this
// version does not know is not state.
func decodeNamed(it item, e *ordering.Entity) error {
	e.State = make(map[string]any)
	for name, v := range it {
		if part, ok := strings.CutPrefix(name, attrClockPrefix); ok {
			if e.Clocks == nil {
				e.Clocks = make(map[string]string)
			}
			e.Clocks[part] = (&itemReader{item: it}).text(name)
			continue
		}
		if strings.HasPrefix(name, "_") {
			continue
		}
		value, err := decodeValue(v)
		if err != nil {
			return fmt.Errorf("attribute %s cannot be read: %w", name, err)
		}
		e.State[name] = value
	}
	return nil
}

func (r *itemReader) last() ordering.Last {
	return ordering.Last{
		EventID:      r.text(attrEventID),
		Source:       r.text(attrSource),
		Fingerprint:  r.text(attrFingerprint),
		Type:         r.text(attrType),
		Clock:        r.text(attrLastClock),
		PublishedAt:  r.instant(attrPublishedAt),
		ReceivedAt:   r.instant(attrReceivedAt),
		AppliedAt:    r.instant(attrAppliedAt),
		MessageID:    r.text(attrMessageID),
		ReceiveCount: int(r.integer(attrReceiveCount)),
	}
}

func (r *itemReader) tombs() []string {
	switch v := r.item[attrDeleted].(type) {
	case nil:
	case *types.AttributeValueMemberBOOL:
		if v.Value {
			return []string{""}
		}
	case *types.AttributeValueMemberSS:
		return slices.Sorted(slices.Values(v.Value))
	default:
		r.fail(attrDeleted, v)
	}
	return nil
}

func (r *itemReader) cursor() ordering.Cursor {
	return ordering.Cursor{
		Gen:        r.integer(attrGen),
		Applied:    r.integer(attrApplied),
		MaxSeen:    r.integer(attrMaxSeen),
		Waiting:    r.waiting(),
		Ahead:      r.ahead(),
		Dispatched: r.dispatched(),
		Owed:       r.owed(),
		Blocked:    r.integer(attrBlocked),
		Skipped:    r.skipped(),
		Token:      r.text(attrToken),
		Gap:        r.gap(),
	}
}

func (r *itemReader) waiting() ordering.Numbers {
	switch v := r.item[attrWaiting].(type) {
	case nil:
	case *types.AttributeValueMemberB:
		numbers, err := decodeWaiting(r.integer(attrApplied), v.Value)
		if err != nil {
			r.fail(attrWaiting, err)
		}
		return numbers
	default:
		r.fail(attrWaiting, v)
	}
	return nil
}

func (r *itemReader) ahead() ordering.Numbers {
	numbers := r.integers(attrAhead)
	slices.Sort(numbers)
	return numbers
}

func (r *itemReader) dispatched() *ordering.Position {
	s := r.text(attrDispatched)
	if s == "" {
		return nil
	}
	gen, seq, ok := events.ParseSeqClock(s)
	if !ok {
		r.fail(attrDispatched, s)
	}
	return &ordering.Position{Gen: gen, Seq: seq}
}

func (r *itemReader) owed() []ordering.Effect {
	effects, err := decodeEffects(r.text(attrOwed))
	if err != nil {
		r.fail(attrOwed, err)
	}
	return effects
}

func (r *itemReader) skipped() []ordering.Range {
	ranges, err := decodeRanges(r.text(attrSkipped))
	if err != nil {
		r.fail(attrSkipped, err)
	}
	return ranges
}

func (r *itemReader) gap() *ordering.Gap {
	if r.item[attrGapSince] == nil {
		return nil
	}
	return &ordering.Gap{
		Since:       r.instant(attrGapSince),
		Escalations: int(r.integer(attrEscalations)),
		EscalateAt:  r.instant(attrEscalateAt),
	}
}

// encodeRanges writes ranges as people do: "7,9-11".
func encodeRanges(ranges []ordering.Range) string {
	var b strings.Builder
	for i, r := range ranges {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(r.First, 10))
		if r.Last != r.First {
			b.WriteByte('-')
			b.WriteString(strconv.FormatInt(r.Last, 10))
		}
	}
	return b.String()
}

func decodeRanges(s string) ([]ordering.Range, error) {
	if s == "" {
		return nil, nil
	}
	var ranges []ordering.Range
	for part := range strings.SplitSeq(s, ",") {
		first, last, found := strings.Cut(part, "-")
		if !found {
			last = first
		}
		from, err1 := strconv.ParseInt(first, 10, 64)
		to, err2 := strconv.ParseInt(last, 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		ranges = append(ranges, ordering.Range{First: from, Last: to})
	}
	return ranges, nil
}
