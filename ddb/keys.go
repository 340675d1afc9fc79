package ddb

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"inorder/events"
	"inorder/ordering"
)

// maxKeyBytes is DynamoDB's limit for a partition key: "Constraints in Amazon DynamoDB", partition keys.
const maxKeyBytes = 2048

// ErrBadKey says that an entity's identity does not fit into a key of the database.
var ErrBadKey = errors.New("the key would be longer than 2048 bytes")

// escaper keeps the encoding injective: / separates parts, and % begins an escape. All else stays as it is, so that a
// key reads like what it names.
var escaper = strings.NewReplacer("%", "%25", "/", "%2F")

var unescaper = strings.NewReplacer("%25", "%", "%2F", "/")

// EntityPK is an entity's key: consumer/stream/entity, with a history per source also /source, which may be empty:
// c/s/e/ is the source "", c/s/e the entity of a stream without such histories.
func EntityPK(key ordering.Key) string {
	parts := []string{key.Consumer, key.Stream, key.ID}
	if key.PerSource || key.Source != "" {
		parts = append(parts, key.Source)
	}
	return joinKey(parts...)
}

// CheckKey returns ErrBadKey for an entity that no table can hold.
func CheckKey(key ordering.Key) error {
	if n := len(EntityPK(key)); n > maxKeyBytes {
		return fmt.Errorf("%w: %d", ErrBadKey, n)
	}
	return nil
}

// ParseEntityPK is the reverse of EntityPK, for keys that were read from an index.
func ParseEntityPK(pk string) (ordering.Key, error) {
	parts := strings.Split(pk, "/")
	if len(parts) < 3 || len(parts) > 4 {
		return ordering.Key{}, fmt.Errorf("%q is no entity's key", pk)
	}
	for i, part := range parts {
		parts[i] = unescaper.Replace(part)
		if escaper.Replace(parts[i]) != part {
			return ordering.Key{}, fmt.Errorf("%q is no entity's key: part %d", pk, i+1)
		}
	}
	key := ordering.Key{Consumer: parts[0], Stream: parts[1], ID: parts[2]}
	if len(parts) == 4 {
		key.PerSource, key.Source = true, parts[3]
	}
	return key, nil
}

// markerPK is a marker's key, consumer/%/source/event_id. A % alone stands where an entity's key has its stream, and
// no escaped name is that, so the two never meet. What would be too long is consumer/%sha256/ and the hash of that
// key: such events are told apart as surely as their fingerprints are.
func markerPK(m ordering.Marker) (pk string, hashed bool) {
	consumer := escaper.Replace(m.Consumer)
	pk = consumer + "/%/" + joinKey(m.Source, m.EventID)
	if len(pk) <= maxKeyBytes {
		return pk, false
	}
	sum := sha256.Sum256([]byte(pk))
	return consumer + "/%sha256/" + hex.EncodeToString(sum[:]), true
}

func markerKey(m ordering.Marker) item {
	pk, _ := markerPK(m)
	return item{attrPK: text(pk), attrSK: text(markerSK)}
}

// markerSK is the sort key of every marker: a marker is alone under its key.
const markerSK = "seen"

// rowSK is the sort key of a log row. Ten digits hold a generation and nineteen a number, so rows sort as they do.
func rowSK(gen, seq int64) string { return fmt.Sprintf("step/%010d/%019d", gen, seq) }

func parseRowSK(sk string) (gen, seq int64, err error) {
	if _, err := fmt.Sscanf(sk, "step/%010d/%019d", &gen, &seq); err != nil || rowSK(gen, seq) != sk {
		return 0, 0, fmt.Errorf("%q is no log row's sort key", sk)
	}
	return gen, seq, nil
}

// auditSK is the sort key of an audit row. Instants of this form sort as they follow.
func auditSK(at time.Time) string { return auditPrefix + events.FormatInstant(at) }

// All audit rows sort from auditPrefix on and before auditsEnd, in which the slash is the next byte.
const (
	auditPrefix = "audit/"
	auditsEnd   = "audit0"
)

// bookmarkKey is where a consumer's sweeper keeps its place: under the consumer alone, which no slash follows, so that it
// never meets an entity or a marker.
func bookmarkKey(consumer string) item {
	return item{attrPK: text(escaper.Replace(consumer)), attrSK: text(bookmarkSK)}
}

const bookmarkSK = "sweep"

func joinKey(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, part := range parts {
		escaped[i] = escaper.Replace(part)
	}
	return strings.Join(escaped, "/")
}
