package events

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxGeneration has ten digits, which hold a creation time in epoch seconds for the next two centuries.
const maxGeneration = 9_999_999_999

// Widths of the two numbers in a clock by seq: enough for maxGeneration and for 2^63-1.
const (
	generationWidth = 10
	seqWidth        = 19
)

// SeqClock writes a position by seq as a text that sorts bytewise: generation, dot, sequence, padded with zeros.
func SeqClock(generation, seq int64) string {
	const zeros = "0000000000.0000000000000000000"
	var b [len(zeros)]byte
	copy(b[:], zeros)
	padInto(b[:generationWidth], generation)
	padInto(b[generationWidth+1:], seq)
	return string(b[:])
}

// ParseSeqClock reads what SeqClock wrote, and nothing else.
func ParseSeqClock(clock string) (generation, seq int64, ok bool) {
	if len(clock) != generationWidth+1+seqWidth || clock[generationWidth] != '.' {
		return 0, 0, false
	}
	generation, ok1 := parseDigits(clock[:generationWidth], maxGeneration)
	seq, ok2 := parseDigits(clock[generationWidth+1:], maxSeq)
	if !ok1 || !ok2 {
		return 0, 0, false
	}
	return generation, seq, true
}

// padInto writes a number over zeros, at their end.
func padInto(zeros []byte, n int64) {
	for i := len(zeros) - 1; n > 0; i-- {
		zeros[i] = byte('0' + n%10)
		n /= 10
	}
}

// order is an event's position as read from its order key.
type order struct {
	generation, seq int64
	clock           string
	instant         time.Time // by time only
}

// readOrder reads the order key of a record for a stream. A clock by time lacks its tie-break yet.
func (s *Stream) readOrder(r *record) (order, *Refusal) {
	if s.Order.By == ByNone {
		return order{}, nil // whatever looks like a sequence is not looked at
	}
	v := r.orderKey(s.Order)
	if v.IsNull() {
		return order{}, refuse(BadOrderKey, "no order key by %s at %s", s.Order.By, r.orderPlace(s.Order))
	}
	var o order
	var fault string
	switch s.Order.By {
	case BySeq:
		return readSeq(r, v)
	case ByTime:
		o, fault = readInstant(v)
	case ByText:
		o.clock, fault = readTextKey(v)
	case ByHex:
		o.clock, fault = readHexKey(v)
	case ByNone:
	}
	if fault != "" {
		return order{}, refuse(BadOrderKey, "%s", fault)
	}
	return o, nil
}

func readSeq(r *record, v Value) (order, *Refusal) {
	seq, ok := integer(v, maxSeq)
	if !ok || seq < 1 {
		return order{}, refuse(BadOrderKey, "a sequence must be an integer from 1 to %d, or its digits", int64(maxSeq))
	}
	var generation int64
	if g := r.top("generation"); !g.IsNull() {
		if generation, ok = integer(g, maxGeneration); !ok {
			return order{}, refuse(BadOrderKey, "a generation must be an integer from 0 to %d, or its digits", int64(maxGeneration))
		}
	}
	return order{generation: generation, seq: seq, clock: SeqClock(generation, seq)}, nil
}

const maxSeq = 1<<63 - 1

// integer reads a JSON integer, or a string of plain digits, from 0 to limit. A string may have leading zeros, because
// the sequence extension of CloudEvents asks producers to pad; 7.0 and 7e0 are no integers here, since readers differ in
// what they make of them.
func integer(v Value, limit int64) (int64, bool) {
	if v.form != formNumber && v.form != formText {
		return 0, false
	}
	return parseDigits(v.text, limit)
}

// parseDigits reads plain digits and nothing else: no sign, no space, no exponent.
func parseDigits(s string, limit int64) (int64, bool) {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n <= limit
}

func readInstant(v Value) (order, string) {
	s, isText := v.Text()
	t, ok := parseInstant(s)
	if !isText || !ok {
		return order{}, "a time must be RFC 3339 with a zone and at most nine decimals"
	}
	return order{instant: t, clock: FormatInstant(t)}, ""
}

// timeClock adds the tie-break to an instant: the event id, then the source, so that two events of one instant end in the
// same order everywhere. A separator inside the id is escaped, or two pairs of id and source could share one clock.
func timeClock(instant, id, source string) string {
	if strings.ContainsAny(id, `|\`) {
		id = tieEscaper.Replace(id)
	}
	return instant + "|" + id + "|" + source
}

var tieEscaper = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

func readTextKey(v Value) (key, fault string) {
	s, ok := v.Text()
	if !ok || s == "" {
		return "", "a text key must be a string that is not empty"
	}
	return s, ""
}

// readHexKey makes a hexadecimal key comparable bytewise with keys of any length. "Event message structure" (Amazon S3
// User Guide) has the shorter of two sequencers padded with zeros on its right; taking away the zeros on the right of both
// compares the same and needs no width. Case means nothing. A key of zeros alone keeps one, for a clock is never empty.
func readHexKey(v Value) (key, fault string) {
	s, ok := v.Text()
	if !ok || !isHex(s) {
		return "", "a hex key must be a string of hexadecimal digits"
	}
	s = strings.TrimRight(strings.ToLower(s), "0")
	if s == "" {
		s = "0"
	}
	return s, ""
}

func isHex(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if !isDigit(s[i]) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return s != ""
}

// refuse builds a refusal. Its detail never holds event data.
func refuse(reason Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}
