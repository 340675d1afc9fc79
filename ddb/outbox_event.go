package ddb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ordering"
)

// OutboxEvent is an event in the form that every consumer reads. A producer that has a form of its own, CloudEvents for
// one, passes its bytes instead.
type OutboxEvent struct {
	EventID     string // unique per Source; may be empty, for its number names it already
	Type        string
	EntityID    string
	Source      string
	PublishedAt time.Time // zero: the event does not say it
	Data        any       // whatever encoding/json writes as an object
}

// Body writes the event of a number. Two characters that JSON may hold as they are and SQS refuses are escaped.
func (e OutboxEvent) Body(at ordering.Position) ([]byte, error) {
	if strings.TrimSpace(e.Type) == "" || strings.HasPrefix(e.Type, "inorder.") {
		return nil, fmt.Errorf("%w: %q is no type of an event: it must not be blank, nor begin with inorder", ErrBadOutboxEvent, e.Type)
	}
	body := struct {
		EventID     string `json:"event_id,omitempty"`
		Type        string `json:"type"`
		EntityID    string `json:"entity_id"`
		Seq         int64  `json:"seq"`
		Generation  int64  `json:"generation"`
		Source      string `json:"source"`
		PublishedAt string `json:"published_at,omitempty"`
		Data        any    `json:"data"`
	}{EventID: e.EventID, Type: e.Type, EntityID: e.EntityID, Seq: at.Seq, Generation: at.Gen, Source: e.Source, Data: e.Data}
	if !e.PublishedAt.IsZero() {
		body.PublishedAt = e.PublishedAt.UTC().Format(time.RFC3339Nano)
	}
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	if err := to.Encode(body); err != nil {
		return nil, fmt.Errorf("write the event: %w", err)
	}
	text := strings.NewReplacer("\ufffe", `\ufffe`, "\uffff", `\uffff`).Replace(strings.TrimSuffix(out.String(), "\n"))
	return []byte(text), nil
}

// What an outbox refuses before it writes anything.
var (
	ErrBadOutboxEvent = errors.New("no event that could be sent")
	ErrEventTooLarge  = errors.New("the event is too large for its row")
)

// A message may have 1 MiB since August 2025 ("SendMessage" in the Amazon SQS API Reference), so the row is what limits an
// event: whatever fits into it can be sent. This does not compile where it were otherwise.
const _ uint = 1<<20 - maxItemBytes

// checkEvent refuses what the relay could not send or the table not hold.
func checkEvent(body []byte) error {
	if !json.Valid(body) || bytes.TrimLeft(body, " \t\r\n")[0] != '{' {
		return fmt.Errorf("%w: it is not a JSON object", ErrBadOutboxEvent)
	}
	if !utf8.Valid(body) || bytes.ContainsAny(body, "\ufffe\uffff") {
		return fmt.Errorf("%w: SQS takes valid UTF-8 without U+FFFE and U+FFFF, which JSON can escape", ErrBadOutboxEvent)
	}
	return nil
}

// checkRow refuses a row that the table would not hold.
func checkRow(row item) error {
	size := 0
	for name, v := range row {
		size += len(name) + sizeOf(v)
	}
	if size > maxItemBytes {
		return fmt.Errorf("%w: with its key it has %d bytes, and an item at most %d", ErrEventTooLarge, size, maxItemBytes)
	}
	return nil
}

// sizeOf is a value's share of an item's size, "DynamoDB item sizes and formats", of the kinds that an outbox writes.
func sizeOf(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return len(v.Value)/2 + 2
	default:
		return 0
	}
}
