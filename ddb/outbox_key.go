package ddb

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"inorder/ordering"
)

// OutboxKey is whose numbers they are: an entity's, or with PerSource those of one producer of it.
type OutboxKey struct {
	Stream, EntityID string
	Source           string // who writes; may be empty
	PerSource        bool   // the stream's per_source: each source counts for itself, so the key names it
}

// MaxGeneration is the highest generation: ten digits.
const MaxGeneration = 9_999_999_999

// ErrBadOutboxKey says that an outbox key names nothing that a consumer could take.
var ErrBadOutboxKey = errors.New("no key of an outbox")

// OutboxPK is a history's key: stream/entity, with PerSource also /source, each part escaped as in EntityPK.
func OutboxPK(key OutboxKey) string {
	parts := []string{key.Stream, key.EntityID}
	if key.PerSource {
		parts = append(parts, key.Source)
	}
	return joinKey(parts...)
}

// ParseOutboxPK is the reverse of OutboxPK.
func ParseOutboxPK(pk string) (OutboxKey, error) {
	parts := strings.Split(pk, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return OutboxKey{}, fmt.Errorf("%w: %q", ErrBadOutboxKey, pk)
	}
	for i, part := range parts {
		parts[i] = unescaper.Replace(part)
		if escaper.Replace(parts[i]) != part {
			return OutboxKey{}, fmt.Errorf("%w: %q, part %d", ErrBadOutboxKey, pk, i+1)
		}
	}
	key := OutboxKey{Stream: parts[0], EntityID: parts[1]}
	if len(parts) == 3 {
		key.PerSource, key.Source = true, parts[2]
	}
	return key, key.Check()
}

// Check refuses what the consumer would quarantine, or no key of DynamoDB can hold.
func (k OutboxKey) Check() error {
	for _, part := range []struct{ name, value string }{{"stream", k.Stream}, {"entity id", k.EntityID}, {"source", k.Source}} {
		if !utf8.ValidString(part.value) {
			return fmt.Errorf("%w: the %s is not valid UTF-8", ErrBadOutboxKey, part.name)
		}
		if part.name != "source" && strings.TrimSpace(part.value) == "" {
			return fmt.Errorf("%w: the %s is empty or blank", ErrBadOutboxKey, part.name)
		}
	}
	if n := len(OutboxPK(k)); n > maxKeyBytes {
		return fmt.Errorf("%w: it would have %d bytes, and DynamoDB allows %d", ErrBadOutboxKey, n, maxKeyBytes)
	}
	return nil
}

// outboxHeadSK is the sort key of a history's head. It sorts behind all rows, so no range of rows holds it.
const outboxHeadSK = "head"

// outboxRowSK is the sort key of a row: a clock by seq.
func outboxRowSK(at ordering.Position) string { return fmt.Sprintf("%010d.%019d", at.Gen, at.Seq) }

var outboxSK = regexp.MustCompile(`^([0-9]{10})\.([0-9]{19})$`)

// ParseOutboxSK reads a row's position of its sort key. The head's and any other sort key is not ok.
func ParseOutboxSK(sk string) (at ordering.Position, ok bool) {
	m := outboxSK.FindStringSubmatch(sk)
	if m == nil {
		return at, false
	}
	gen, _ := strconv.ParseInt(m[1], 10, 64)
	seq, err := strconv.ParseInt(m[2], 10, 64)
	return ordering.Position{Gen: gen, Seq: seq}, err == nil && seq >= 1
}
