package events

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// controlPrefix is of types that concern the order itself, not a producer's fact.
const controlPrefix = "inorder."

// The types of control events: what a relay, or any other producer, says about numbers.
const (
	VoidType = "inorder.void" // what cannot be sent again
	MarkType = "inorder.mark" // numbers up to here exist
)

// Kind tells a producer's fact from what is said about the order.
type Kind uint8

// The kinds of events.
const (
	Fact Kind = iota
	Void      // of some numbers no event will come, for VoidReason
	Mark      // numbers up to Seq exist
)

// VoidReason is why no event will come for a number.
type VoidReason string

// The reasons of a void event, and of a log row that holds no event.
const (
	// NeverExisted: the producer proves that it never used the number. The cursor may pass it.
	NeverExisted VoidReason = "never_existed"
	// Expired: the producer no longer has the event. The cursor passes it only where the stream says on_expired: skip.
	Expired VoidReason = "expired"
)

// Range is an inclusive range of sequence numbers; as JSON it is [first, last].
type Range struct{ First, Last int64 }

// MarshalJSON writes [first, last].
func (r Range) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "[%d,%d]", r.First, r.Last), nil
}

// UnmarshalJSON reads [first, last].
func (r *Range) UnmarshalJSON(text []byte) error {
	var pair []int64
	if err := json.Unmarshal(text, &pair); err != nil {
		return fmt.Errorf("a range is [first, last]: %w", err)
	}
	if len(pair) != 2 || pair[0] < 1 || pair[1] < pair[0] {
		return fmt.Errorf("a range is [first, last] with 1 <= first <= last, not %s", text)
	}
	r.First, r.Last = pair[0], pair[1]
	return nil
}

// RepublishRequest asks the producer to send some numbers of an entity again: one message of the republish queue.
type RepublishRequest struct {
	Consumer    string  `json:"consumer"`
	Stream      string  `json:"stream"`
	EntityID    string  `json:"entity_id"`
	Source      string  `json:"source"` // empty but with per_source, and with `clock: source`
	Generation  int64   `json:"generation"`
	Ranges      []Range `json:"ranges"`
	Attempt     int     `json:"attempt"`
	RequestedAt string  `json:"requested_at"` // FormatInstant
}

// VoidEvent is what a relay sends for numbers that it cannot send.
type VoidEvent struct {
	Type       string     `json:"type"` // VoidType
	Stream     string     `json:"stream"`
	EntityID   string     `json:"entity_id"`
	Source     string     `json:"source"`
	Generation int64      `json:"generation"`
	Ranges     []Range    `json:"ranges"`
	Reason     VoidReason `json:"reason"`
}

// MarkEvent is what a relay sends where an entity's newest event might be lost.
type MarkEvent struct {
	Type       string `json:"type"` // MarkType
	Stream     string `json:"stream"`
	EntityID   string `json:"entity_id"`
	Source     string `json:"source"`
	Generation int64  `json:"generation"`
	Seq        int64  `json:"seq"`
}

func isControl(typ string) bool { return strings.HasPrefix(typ, controlPrefix) }

// control makes an event of a record that speaks about the order. It names its stream itself, and counts under that
// stream's first type.
func (c *Config) control(r *record) (route, *Event, *Refusal) {
	s := c.Stream(r.text("stream"))
	if s == nil {
		return route{}, nil, refuse(NoRoute, "%s names no stream of this consumer", controlName(r.typ))
	}
	e, refusal := s.control(r)
	return route{stream: s, pattern: s.Types[0]}, e, refusal
}

// controlName is a type that may be told, for it is ours, and not more than a word of one that is not.
func controlName(typ string) string {
	switch typ {
	case VoidType, MarkType:
		return typ
	}
	return "a type under " + controlPrefix
}

func (s *Stream) control(r *record) (*Event, *Refusal) {
	if r.typ != VoidType && r.typ != MarkType {
		return nil, refuse(NotAnEvent, "types under %s are this product's own: %s and %s", controlPrefix, VoidType, MarkType)
	}
	if s.Order.By != BySeq {
		return nil, refuse(BadOrderKey, "stream %s has no sequence that %s could speak about", s.Name, r.typ)
	}
	entityID, ok := identifier(r.top("entity_id"))
	if !ok {
		return nil, refuse(NoEntityID, "no entity id at entity_id: a string that is not blank, or an integer")
	}
	source, ok := sourceOf(r)
	if !ok {
		return nil, refuse(BadEventID, "its source is neither a string nor an integer")
	}
	e := &Event{
		Stream: s, Pattern: s.Types[0], Source: source, Type: r.typ, EntityID: entityID,
		Content: r.data, rec: *r,
	}
	if r.typ == MarkType {
		seq := r.top("seq")
		if !seq.Exists() {
			return nil, refuse(BadOrderKey, "a mark needs the highest number at seq")
		}
		o, refusal := readSeq(r, seq)
		if refusal != nil {
			return nil, refusal
		}
		e.Kind, e.Generation, e.Seq, e.Clock = Mark, o.generation, o.seq, o.clock
		return e, nil
	}
	return e, s.void(e, r)
}

func (s *Stream) void(e *Event, r *record) *Refusal {
	e.Kind, e.VoidReason = Void, VoidReason(r.text("reason"))
	if e.VoidReason != NeverExisted && e.VoidReason != Expired {
		return refuse(NotAnEvent, "the reason of a void event is %s or %s", NeverExisted, Expired)
	}
	o, refusal := readSeq(r, Value{form: formNumber, text: "1"}) // its generation
	if refusal != nil {
		return refusal
	}
	e.Generation, e.Clock = o.generation, o.clock
	for _, element := range r.top("ranges").elements() {
		pair := element.Value.elements()
		if len(pair) != 2 {
			return badRanges()
		}
		first, ok1 := integer(pair[0].Value, maxSeq)
		last, ok2 := integer(pair[1].Value, maxSeq)
		if !ok1 || !ok2 || first < 1 || last < first {
			return badRanges()
		}
		e.Ranges = append(e.Ranges, Range{first, last})
	}
	if len(e.Ranges) == 0 {
		return badRanges()
	}
	e.Ranges = JoinRanges(e.Ranges)
	return nil
}

// JoinRanges puts ranges in order and makes one of those that overlap or touch: so a message's size bounds what there is
// to do about it, however often its ranges name a number. What is passed in stays as it is.
func JoinRanges(ranges []Range) (joined []Range) {
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, func(a, b Range) int { return cmp.Compare(a.First, b.First) })
	for _, r := range ranges {
		if n := len(joined); n > 0 && r.First-1 <= joined[n-1].Last {
			joined[n-1].Last = max(joined[n-1].Last, r.Last)
			continue
		}
		joined = append(joined, r)
	}
	return joined
}

func badRanges() *Refusal {
	return refuse(BadOrderKey, "a void event needs ranges: a list, not empty, of [first, last] with 1 <= first <= last")
}
