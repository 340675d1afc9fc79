package run

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"
)

// records finds the SQS records in a JSON text: an event as Lambda gets it, a record of one, a message as ReceiveMessage
// returns it, its whole answer, or a list of these. Anything else is no record but somebody's message, an S3
// notification with its own Records among them.
func records(text []byte) ([]awsevents.SQSMessage, bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return nil, false
	}
	if text[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(text, &list) != nil {
			return nil, false
		}
		return each(list)
	}
	var batch struct {
		Records  []json.RawMessage `json:"Records"`
		Messages []json.RawMessage `json:"Messages"`
	}
	if json.Unmarshal(text, &batch) == nil {
		if found, ok := each(append(batch.Records, batch.Messages...)); ok {
			return found, true
		}
	}
	one, ok := record(text)
	return []awsevents.SQSMessage{one}, ok
}

// each reads a list in which everything has to be a record.
func each(list []json.RawMessage) ([]awsevents.SQSMessage, bool) {
	found := make([]awsevents.SQSMessage, 0, len(list))
	for _, text := range list {
		r, ok := record(text)
		if !ok {
			return nil, false
		}
		found = append(found, r)
	}
	return found, len(found) > 0
}

// record reads one record in either spelling. What tells it from a message that happens to have a body is that it also
// has what only SQS gives.
func record(text []byte) (awsevents.SQSMessage, bool) {
	var keys map[string]json.RawMessage
	if json.Unmarshal(text, &keys) != nil {
		return awsevents.SQSMessage{}, false
	}
	has := func(names ...string) bool {
		for _, name := range names {
			var s string
			if raw, there := keys[name]; there && json.Unmarshal(raw, &s) == nil {
				return true
			}
		}
		return false
	}
	switch {
	case has("body") && has("messageId", "receiptHandle"):
		var r awsevents.SQSMessage
		err := json.Unmarshal(text, &r)
		return r, err == nil
	case has("Body") && has("MessageId", "ReceiptHandle"):
		var r received
		err := json.Unmarshal(text, &r)
		return r.record(), err == nil
	}
	return awsevents.SQSMessage{}, false
}

// received is a message as ReceiveMessage returns it.
type received struct {
	MessageId         string
	ReceiptHandle     string
	Body              string
	Attributes        map[string]string
	MessageAttributes map[string]struct {
		DataType    string
		StringValue *string
		BinaryValue []byte
	}
}

func (r received) record() awsevents.SQSMessage {
	out := awsevents.SQSMessage{
		MessageId: r.MessageId, ReceiptHandle: r.ReceiptHandle, Body: r.Body, Attributes: r.Attributes,
		MessageAttributes: map[string]awsevents.SQSMessageAttribute{},
	}
	for name, a := range r.MessageAttributes {
		out.MessageAttributes[name] = awsevents.SQSMessageAttribute{
			DataType: a.DataType, StringValue: a.StringValue, BinaryValue: a.BinaryValue,
		}
	}
	return out
}

// bare makes a record of a body alone.
func bare(id string, body []byte, now time.Time) awsevents.SQSMessage {
	return awsevents.SQSMessage{
		MessageId: id, Body: string(body),
		Attributes: map[string]string{"SentTimestamp": strconv.FormatInt(now.UnixMilli(), 10)},
	}
}
