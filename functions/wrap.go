package functions

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"inorder/events"
)

// The attributes that quarantine adds.
const (
	markName     = "inorder"         // String: a Mark
	originalName = "inorder.message" // Binary: the wrapped message, gzip
)

// wrapping is where a wrapped message keeps the original.
type wrapping string

// The wrappings. The second is for what does not fit as the first: an attribute takes any bytes, where a body takes
// text only, and compressed text is always smaller than itself, bytes and all.
const (
	inBody      wrapping = "body"      // the body is the original, as JSON
	inAttribute wrapping = "attribute" // the attribute inorder.message is that JSON, gzip
)

// original is a message as it is wrapped. What is not valid UTF-8 stands as base64.
type original struct {
	Body       string                       `json:"body,omitempty"`
	BodyBase64 []byte                       `json:"body_base64,omitempty"`
	Attributes map[string]originalAttribute `json:"attributes,omitempty"`
}

type originalAttribute struct {
	Type       string `json:"type"`
	Text       string `json:"text,omitempty"`
	TextBase64 []byte `json:"text_base64,omitempty"`
	Binary     []byte `json:"binary,omitempty"`
}

// bodyOfAttributeWrapping is what a person sees who opens such a message in the console.
const bodyOfAttributeWrapping = `the message is in its attribute ` + originalName + `: gzip of JSON`

// markMessage adds a mark to a message that has none, in the first form that SQS takes.
func markMessage(m events.Message, mark Mark) (events.Message, error) {
	if direct, err := marked(m.Body, m.Attributes, mark); err == nil && canSend(direct) {
		return direct, nil
	}
	text, err := json.Marshal(originalOf(m), json.Deterministic(true))
	if err != nil {
		return events.Message{}, fmt.Errorf("wrap it: %w", err)
	}
	mark.Wrapped = inBody
	if wrapped, err := marked(sendable(string(text)), nil, mark); err != nil || canSend(wrapped) {
		return wrapped, err
	}
	packed, err := pack(text)
	if err != nil {
		return events.Message{}, fmt.Errorf("compress it: %w", err)
	}
	mark.Wrapped = inAttribute
	carried := map[string]events.Attribute{originalName: {Type: "Binary", Binary: packed}}
	wrapped, err := marked(bodyOfAttributeWrapping, carried, mark)
	if err == nil && !canSend(wrapped) {
		err = ErrTooLargeToCopy
	}
	return wrapped, err
}

// marked is a message with a mark beside some attributes. The mark is ASCII, so that it is never refused itself.
func marked(body string, attributes map[string]events.Attribute, mark Mark) (events.Message, error) {
	if _, taken := attributes[markName]; taken {
		return events.Message{}, fmt.Errorf("it has an attribute %q of its own", markName)
	}
	text, err := json.Marshal(mark, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return events.Message{}, fmt.Errorf("write its mark: %w", err)
	}
	all := maps.Clone(attributes)
	if all == nil {
		all = map[string]events.Attribute{}
	}
	all[markName] = events.Attribute{Type: "String", Text: sendable(string(text))}
	return events.Message{Body: body, Attributes: all}, nil
}

// Unwrap takes the mark of quarantine off a message and gives back body and attributes as they were, byte for byte.
// Everything else of the message stays. A message without a mark is returned as it is; so is one whose mark does not
// fit what it holds, for then somebody else wrote it.
func Unwrap(m events.Message) events.Message {
	mark, ok := MarkOf(m)
	if !ok {
		return m
	}
	var text []byte
	switch mark.Wrapped {
	case "":
		m.Attributes = maps.Clone(m.Attributes)
		delete(m.Attributes, markName)
		if len(m.Attributes) == 0 {
			m.Attributes = nil
		}
		return m
	case inBody:
		text = []byte(m.Body)
	case inAttribute:
		var err error
		if text, err = unpack(m.Attributes[originalName].Binary); err != nil {
			return m
		}
	}
	var o original
	if err := json.Unmarshal(text, &o, json.RejectUnknownMembers(true)); err != nil {
		return m
	}
	m.Body, m.Attributes = o.restore()
	return m
}

func originalOf(m events.Message) original {
	o := original{}
	o.Body, o.BodyBase64 = textOrBytes(m.Body)
	if len(m.Attributes) > 0 {
		o.Attributes = make(map[string]originalAttribute, len(m.Attributes))
	}
	for name, a := range m.Attributes {
		kept := originalAttribute{Type: a.Type, Binary: a.Binary}
		kept.Text, kept.TextBase64 = textOrBytes(a.Text)
		o.Attributes[name] = kept
	}
	return o
}

func (o original) restore() (body string, attributes map[string]events.Attribute) {
	if len(o.Attributes) > 0 {
		attributes = make(map[string]events.Attribute, len(o.Attributes))
	}
	for name, a := range o.Attributes {
		attributes[name] = events.Attribute{Type: a.Type, Text: a.Text + string(a.TextBase64), Binary: a.Binary}
	}
	return o.Body + string(o.BodyBase64), attributes
}

// textOrBytes is a text, or its bytes where JSON cannot hold it. One of the two is always empty.
func textOrBytes(s string) (string, []byte) {
	if utf8.ValidString(s) {
		return s, nil
	}
	return "", []byte(s)
}

func pack(b []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// maxUnpackedBytes bounds what a foreign attribute can make of itself: six bytes of JSON for each byte of a message.
const maxUnpackedBytes = 6*maxMessageBytes + 1<<16

func unpack(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, maxUnpackedBytes+1))
	if err == nil && len(out) > maxUnpackedBytes {
		err = fmt.Errorf("more than %d bytes", maxUnpackedBytes)
	}
	return out, err
}
