package events

import (
	"errors"
	"fmt"
)

// What a snapshot of entities is read with, as strictly as events are.

// ReadObject reads one JSON object: valid UTF-8, no repeated names, nothing behind it, numbers as Number.
func ReadObject(text string) (map[string]any, error) {
	v, refusal := readJSON(text)
	if refusal != nil {
		return nil, errors.New(refusal.Detail)
	}
	if v.form != formObject {
		return nil, errors.New("it is no JSON object")
	}
	return v.object().Map(), nil
}

// ReadID reads an id: a string that is not blank, or an integer, which counts as its digits.
func ReadID(v any) (string, bool) { return identifier(valueOf(v)) }

// ReadSeq reads a sequence number, an integer from 1 on or its digits.
func ReadSeq(v any) (int64, error) {
	seq, ok := integer(valueOf(v), maxSeq)
	if !ok || seq < 1 {
		return 0, fmt.Errorf("an integer from 1 to %d, or its digits", int64(maxSeq))
	}
	return seq, nil
}

// ReadGeneration reads a generation, an integer from 0 on or its digits.
func ReadGeneration(v any) (int64, error) {
	generation, ok := integer(valueOf(v), maxGeneration)
	if !ok {
		return 0, fmt.Errorf("an integer from 0 to %d, or its digits", int64(maxGeneration))
	}
	return generation, nil
}

// ReadClock makes the clock of an order key by time, text or hex. A time needs the id and the source of the event that
// ties are broken by; without an id every event of that instant counts as newer.
func (s *Stream) ReadClock(at any, id, source string) (string, error) {
	var o order
	key := valueOf(at)
	fault := fmt.Sprintf("the stream is ordered by %s", s.Order.By)
	switch s.Order.By {
	case ByTime:
		if o, fault = readInstant(key); id == "" {
			o.clock += "|"
		} else {
			o.clock = timeClock(o.clock, id, source)
		}
	case ByText:
		o.clock, fault = readTextKey(key)
	case ByHex:
		o.clock, fault = readHexKey(key)
	case BySeq, ByNone:
	}
	if fault != "" {
		return "", errors.New(fault)
	}
	return o.clock, nil
}
