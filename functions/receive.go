package functions

import (
	"strconv"
	"strings"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/events"
)

// received is one record of the batch and what became of the events in it.
type received struct {
	message  events.Message
	decoded  []events.Decoded // at least one
	outcomes []outcome        // one per decoded event
}

// receive takes an SQS record as it is.
func receive(r awsevents.SQSMessage, now time.Time) events.Message {
	count, _ := strconv.Atoi(r.Attributes["ApproximateReceiveCount"])
	return events.Message{
		ID:           r.MessageId,
		Body:         r.Body,
		Attributes:   attributes(r.MessageAttributes),
		GroupID:      r.Attributes["MessageGroupId"],
		QueueARN:     r.EventSourceARN,
		SentAt:       epochMillis(r.Attributes["SentTimestamp"]),
		ReceivedAt:   now.UTC(),
		ReceiveCount: count,
	}
}

func attributes(in map[string]awsevents.SQSMessageAttribute) map[string]events.Attribute {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]events.Attribute, len(in))
	for name, a := range in {
		attribute := events.Attribute{Type: a.DataType}
		if isBinary(a.DataType) {
			attribute.Binary = a.BinaryValue
		} else if a.StringValue != nil {
			attribute.Text = *a.StringValue
		}
		out[name] = attribute
	}
	return out
}

// isBinary reports whether a data type is Binary, alone or with a custom label behind a dot.
func isBinary(dataType string) bool {
	base, _, _ := strings.Cut(dataType, ".")
	return base == "Binary"
}

func epochMillis(text string) time.Time {
	ms, err := strconv.ParseInt(text, 10, 64)
	at := time.UnixMilli(ms).UTC()
	if err != nil || at.Year() < 0 || at.Year() > 9999 {
		return time.Time{}
	}
	return at
}

// isFIFO reports whether a message came over a FIFO queue. Its group alone does not tell: standard queues have groups
// too, for fairness.
func isFIFO(m events.Message) bool { return strings.HasSuffix(m.QueueARN, ".fifo") }
