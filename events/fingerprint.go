package events

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"sync"
)

// Fingerprint says in 22 characters what an event's content is: its type and its data, numbers by their text. Key order and
// white space do not change it; anything else does (up to collisions of SHA-256 cut to 128 bits).
func Fingerprint(typ string, data map[string]any) string {
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
func appendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, 'n')
	case bool:
		if v {
			return append(b, 't')
		}
		return append(b, 'f')
	case string:
		return appendText(b, 's', v)
	case Number:
		return appendText(b, '0', string(v))
	case []any:
		b = binary.AppendUvarint(append(b, '['), uint64(len(v)))
		for _, element := range v {
			b = appendCanonical(b, element)
		}
		return b
	case map[string]any:
		return appendObject(b, v)
	}
	return append(b, '?') // no decoder makes such a value
}

func appendObject(b []byte, members map[string]any) []byte {
	var stack [16]string
	names := stack[:0]
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	b = binary.AppendUvarint(append(b, '{'), uint64(len(names)))
	for _, name := range names {
		b = appendCanonical(appendText(b, 's', name), members[name])
	}
	return b
}

func appendText(b []byte, kind byte, s string) []byte {
	b = binary.AppendUvarint(append(b, kind), uint64(len(s)))
	return append(b, s...)
}
