package ddb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/events"
	"inorder/ordering"
)

// decodeEntity reads an item. No item is the zero entity.
func decodeEntity(it item) (*ordering.Entity, error) {
	if len(it) == 0 {
		return &ordering.Entity{}, nil
	}
	r := &itemReader{item: it}
	e := &ordering.Entity{Exists: true, Rev: r.integer(attrRev), Last: r.last(), Token: r.text(attrToken)}
	e.Clock, e.Cursor = r.text(attrClock), r.cursor()
	if r.item[attrApplied] == nil && r.item[attrMaxSeen] != nil { // a state entity has no cursor
		e.Marks = map[string]string{"": events.SeqClock(e.Gen, e.MaxSeen)}
		e.Gen, e.MaxSeen = 0, 0
	}
	r.named(e)
	return e, r.err
}

// named reads what stands under names of its own: the state, and the clocks, marks and tombs of its parts. Bookkeeping
// that this version does not know is not state.
func (r *itemReader) named(e *ordering.Entity) {
	e.State = make(map[string]any)
	for name, v := range r.item {
		if part, ok := strings.CutPrefix(name, attrClockPrefix); ok {
			e.Clocks = with(e.Clocks, part, r.text(name))
		} else if source, ok := strings.CutPrefix(name, attrMarkPrefix); ok {
			e.Marks = with(e.Marks, source, r.text(name))
		} else if source, ok := strings.CutPrefix(name, attrDeletedPrefix); ok {
			e.Tombs = append(e.Tombs, source)
		} else if !strings.HasPrefix(name, "_") {
			e.State[name] = r.value(name, v)
		}
	}
	if r.item[attrDeleted] != nil {
		e.Tombs = append(e.Tombs, "")
	}
	slices.Sort(e.Tombs)
}

func with(clocks map[string]string, name, clock string) map[string]string {
	if clocks == nil {
		clocks = make(map[string]string)
	}
	clocks[name] = clock
	return clocks
}

func (r *itemReader) value(name string, v types.AttributeValue) any {
	value, err := decodeValue(v)
	if err != nil {
		r.fail(name, err)
	}
	return value
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
		Skipped:    r.ranges(attrSkipped),
		Park:       ordering.Park{Since: r.instant(attrParkSince), Look: r.instant(attrParkLook)},
		Gap:        r.gap(),
		Shown:      r.shown(),
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
		r.fail(attrDispatched, fmt.Errorf("%q is no position", s))
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

func (r *itemReader) shown() []ordering.Witness {
	set, _ := r.item[attrShown].(*types.AttributeValueMemberSS)
	if set == nil {
		return nil
	}
	shown, err := decodeWitnesses(set.Value)
	if err != nil {
		r.fail(attrShown, err)
	}
	return shown
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
