package events

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
)

// Fingerprint is the event's. It is worked out by each call: of most events nobody asks for it.
func (e *Event) Fingerprint() string { return Fingerprint(e.Type, e.Content) }

// Fingerprint says in 22 characters what an event's content is: its type and its data, numbers by their text. Key order and
// white space do not change it; anything else does (up to collisions of SHA-256 cut to 128 bits).
func Fingerprint(typ string, data Object) string {
	scratch := canonicalForms.Get().(*[]byte)
	*scratch = appendObject(appendText((*scratch)[:0], 's', typ), data)
	sum := sha256.Sum256(*scratch)
	if cap(*scratch) <= maxKeptBuffer {
		canonicalForms.Put(scratch)
	}
	var text [22]byte
	base64.RawURLEncoding.Encode(text[:], sum[:16])
	return string(text[:])
}

var canonicalForms = sync.Pool{New: func() any { return new([]byte) }}

// appendCanonical writes a value so that different values have different bytes: each one starts with its kind, and texts
// and collections with their length, so that nothing can run into what follows.
func appendCanonical(b []byte, v Value) []byte {
	switch v.form {
	case formText:
		return appendText(b, 's', v.text)
	case formNumber:
		return appendText(b, '0', v.text)
	case formArray:
		b = binary.AppendUvarint(append(b, '['), uint64(len(v.inner)))
		for i := range v.inner {
			b = appendCanonical(b, v.inner[i].Value)
		}
		return b
	case formObject:
		return appendObject(b, v.inner)
	case formNone, formNull, formTrue, formFalse:
	}
	return append(b, byte(v.form))
}

func appendObject(b []byte, members Object) []byte {
	var stack [fewMembers]int32
	order := stack[:0]
	for i := range members {
		order = append(order, int32(i))
	}
	slices.SortFunc(order, func(i, j int32) int { return strings.Compare(members[i].Name, members[j].Name) })
	b = binary.AppendUvarint(append(b, '{'), uint64(len(members)))
	for _, i := range order {
		b = appendCanonical(appendText(b, 's', members[i].Name), members[i].Value)
	}
	return b
}

func appendText(b []byte, kind byte, s string) []byte {
	b = binary.AppendUvarint(append(b, kind), uint64(len(s)))
	return append(b, s...)
}
