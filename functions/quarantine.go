package functions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/go-json-experiment/json"

	"inorder/events"
	"inorder/ordering"
)

// The limits of an SQS message, of "SendMessage" and "MessageAttributeValue" in the Amazon SQS API Reference: 1 MiB
// with names, types and values of its attributes, of which there are at most ten.
const (
	maxMessageBytes = 1 << 20
	maxAttributes   = 10
)

// maxDetailBytes keeps the mark small: it must fit beside nearly everything.
const maxDetailBytes = 500

// ErrTooLargeToCopy says that no form of a quarantine copy fits into an SQS message. The message is deferred then, and
// SQS itself, which need not add a reason, moves it into the dead-letter queue as it is.
var ErrTooLargeToCopy = errors.New("with its reason the message is larger than SQS allows, even compressed")

// Quarantine copies messages into an SQS standard queue.
type Quarantine struct {
	SQS Sender
	URL string
}

// Mark is the message attribute `inorder` of a message in quarantine, as JSON: why it is there, of the latest time.
type Mark struct {
	Reason     events.Reason `json:"reason"`
	Detail     string        `json:"detail"`
	MessageID  string        `json:"message_id"`        // of the delivery that was refused, as its log line has it
	ReceivedAt time.Time     `json:"received_at"`       // UTC
	Queue      string        `json:"queue"`             // ARN of the queue it came over
	Wrapped    wrapping      `json:"wrapped,omitempty"` // where the original message is, if not in body and attributes
}

// Copy sends one message: its body and attributes byte for byte and the mark, or, where SQS would not take that, the
// message wrapped, which Unwrap reverses. A mark of an earlier time is replaced.
func (q *Quarantine) Copy(ctx context.Context, c ordering.Copy) error {
	m := Unwrap(*c.Delivery.Message)
	marked, err := markMessage(m, Mark{
		Reason:     c.Outcome.Reason,
		Detail:     shortened(c.Outcome.Detail),
		MessageID:  m.ID,
		ReceivedAt: m.ReceivedAt.UTC(),
		Queue:      m.QueueARN,
	})
	if err != nil {
		return fmt.Errorf("message %s: %w", m.ID, err)
	}
	_, err = q.SQS.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl:          aws.String(q.URL),
		MessageBody:       aws.String(marked.Body),
		MessageAttributes: SQSAttributes(marked.Attributes),
	})
	if err != nil {
		return fmt.Errorf("send message %s: %w", m.ID, err)
	}
	return nil
}

// MarkOf reads the mark of a message that was in quarantine. An attribute of that name that is not of this form is the
// producer's own.
func MarkOf(m events.Message) (Mark, bool) {
	attribute, ok := m.Attributes[markName]
	if !ok || attribute.Type != "String" {
		return Mark{}, false
	}
	var mark Mark
	if err := json.Unmarshal([]byte(attribute.Text), &mark, json.RejectUnknownMembers(true)); err != nil {
		return Mark{}, false
	}
	return mark, mark.Reason != ""
}

// SQSAttributes are message attributes as SendMessage takes them.
func SQSAttributes(attributes map[string]events.Attribute) map[string]types.MessageAttributeValue {
	if len(attributes) == 0 {
		return nil
	}
	out := make(map[string]types.MessageAttributeValue, len(attributes))
	for name, a := range attributes {
		value := types.MessageAttributeValue{DataType: aws.String(a.Type)}
		if isBinary(a.Type) {
			value.BinaryValue = a.Binary
		} else {
			value.StringValue = aws.String(a.Text)
		}
		out[name] = value
	}
	return out
}

// shortened cuts a detail where a character ends.
func shortened(detail string) string {
	if len(detail) <= maxDetailBytes {
		return detail
	}
	return cut(detail, maxDetailBytes)
}
