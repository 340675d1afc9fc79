package backend

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

type sendMessage struct {
	QueueUrl               string
	MessageBody            string
	MessageAttributes      map[string]sentAttribute
	MessageGroupId         string
	MessageDeduplicationId string
}

type sentAttribute struct {
	DataType    string
	StringValue string
	BinaryValue []byte
}

// The limits of a message: "SendMessage", Amazon SQS API Reference.
const (
	maxMessageBytes  = 1 << 20
	maxAttributes    = 10
	maxIDCharacters  = 128
	deduplicatedTime = 5 * time.Minute
)

func (in sendMessage) check() error {
	size := len(in.MessageBody)
	for name, a := range in.MessageAttributes {
		size += len(name) + len(a.DataType) + len(a.StringValue) + len(a.BinaryValue)
		if a.StringValue == "" && len(a.BinaryValue) == 0 {
			return fmt.Errorf("the message attribute %s has no value", name)
		}
		if !allowed(a.StringValue) {
			return fmt.Errorf("the message attribute %s has a character that SQS does not take", name)
		}
	}
	fifo := strings.HasSuffix(in.QueueUrl, ".fifo")
	switch {
	case in.MessageBody == "":
		return errors.New("the message body is empty")
	case !allowed(in.MessageBody):
		return errors.New("the message body has a character that SQS does not take")
	case size > maxMessageBytes:
		return fmt.Errorf("the message has %d bytes", size)
	case len(in.MessageAttributes) > maxAttributes:
		return fmt.Errorf("the message has %d attributes", len(in.MessageAttributes))
	case fifo && (in.MessageGroupId == "" || in.MessageDeduplicationId == ""):
		return errors.New("a FIFO queue wants a group and a deduplication id")
	case len(in.MessageGroupId) > maxIDCharacters || len(in.MessageDeduplicationId) > maxIDCharacters:
		return errors.New("an id has more than 128 characters")
	}
	return nil
}

// allowed reports whether SQS takes a text: the characters of XML 1.0. The functions have the same table and it stays
// twice: this fake judges their messages, so it must not learn from them what SQS takes.
func allowed(text string) bool {
	for i, r := range text {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xD7FF:
		case r == utf8.RuneError:
			if _, width := utf8.DecodeRuneInString(text[i:]); width == 1 {
				return false
			}
		case r >= 0xE000 && r <= 0xFFFD || r >= 0x10000:
		default:
			return false
		}
	}
	return true
}
