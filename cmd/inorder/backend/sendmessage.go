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
	maxBatchEntries  = 10
	maxIDCharacters  = 128
	deduplicatedTime = 5 * time.Minute
)

type sendMessageBatch struct {
	QueueUrl string
	Entries  []struct {
		ID string `json:"Id"`
		sendMessage
	}
}

// refused is the code of the error with which SQS refuses a whole batch, empty where it does not.
func (in sendMessageBatch) refused() string {
	size, ids := 0, map[string]bool{}
	for _, entry := range in.Entries {
		size += entry.size()
		ids[entry.ID] = true
	}
	switch {
	case len(in.Entries) == 0:
		return "EmptyBatchRequest"
	case len(in.Entries) > maxBatchEntries:
		return "TooManyEntriesInBatchRequest"
	case len(ids) < len(in.Entries):
		return "BatchEntryIdsNotDistinct"
	case size > maxMessageBytes:
		return "BatchRequestTooLong"
	}
	return ""
}

// size is what a message counts for: its body and its attributes.
func (in sendMessage) size() int {
	size := len(in.MessageBody)
	for name, a := range in.MessageAttributes {
		size += len(name) + len(a.DataType) + len(a.StringValue) + len(a.BinaryValue)
	}
	return size
}

func (in sendMessage) check() error {
	for name, a := range in.MessageAttributes {
		if a.StringValue == "" && len(a.BinaryValue) == 0 {
			return fmt.Errorf("the message attribute %s has no value", name)
		}
		if !allowed(a.StringValue) {
			return fmt.Errorf("the message attribute %s has a character that SQS does not take", name)
		}
	}
	size := in.size()
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
