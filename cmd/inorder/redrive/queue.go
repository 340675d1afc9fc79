package redrive

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"inorder/events"
)

// API is what redrive needs of SQS; *sqs.Client is one.
type API interface {
	ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, options ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	SendMessage(ctx context.Context, in *sqs.SendMessageInput, options ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
	DeleteMessage(ctx context.Context, in *sqs.DeleteMessageInput, options ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
	ChangeMessageVisibilityBatch(ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput, options ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error)
	GetQueueAttributes(ctx context.Context, in *sqs.GetQueueAttributesInput, options ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
}

const (
	// hiddenTime is how long a message that was looked at stays hidden where this process dies before it shows it again.
	hiddenTime = 10 * time.Minute

	// pollSeconds makes SQS ask all of its servers, which an answer without a wait does not: "Amazon SQS short and long
	// polling", Amazon SQS Developer Guide.
	pollSeconds = 1

	atOnce = 10 // messages of one request: "ReceiveMessage", Amazon SQS API Reference
)

// source is the queue that messages are taken from.
type source struct {
	api API
	url string
}

// received is a message as it was received.
type received struct {
	events.Message
	handle string
}

func (s *source) fifo() bool { return isFIFO(s.url) }

func isFIFO(url string) bool { return strings.HasSuffix(url, ".fifo") }

// receive hides some messages and returns them.
func (s *source) receive(ctx context.Context, most int) ([]received, error) {
	out, err := s.api.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &s.url, MaxNumberOfMessages: int32(min(most, atOnce)), WaitTimeSeconds: pollSeconds,
		VisibilityTimeout:           int32(hiddenTime / time.Second),
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		return nil, fmt.Errorf("receive from %s: %w", s.url, err)
	}
	messages := make([]received, len(out.Messages))
	for i, m := range out.Messages {
		messages[i] = received{messageOf(m), aws.ToString(m.ReceiptHandle)}
	}
	return messages, nil
}

// messageOf takes body and attributes byte for byte.
func messageOf(in types.Message) events.Message {
	m := events.Message{
		ID: aws.ToString(in.MessageId), Body: aws.ToString(in.Body),
		GroupID: in.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)],
	}
	if len(in.MessageAttributes) > 0 {
		m.Attributes = make(map[string]events.Attribute, len(in.MessageAttributes))
	}
	for name, a := range in.MessageAttributes {
		m.Attributes[name] = events.Attribute{Type: aws.ToString(a.DataType), Text: aws.ToString(a.StringValue), Binary: a.BinaryValue}
	}
	return m
}

// remove deletes a message. SQS takes a handle even after its time, and deleting twice is no error.
func (s *source) remove(ctx context.Context, m received) error {
	_, err := s.api.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &s.url, ReceiptHandle: &m.handle})
	if err != nil {
		return fmt.Errorf("delete message %s, which is in the events queue by now: %w", m.ID, err)
	}
	return nil
}

// show makes messages visible again. One that cannot be shown comes back by itself after hiddenTime.
func (s *source) show(ctx context.Context, handles []string) error {
	entries := make([]types.ChangeMessageVisibilityBatchRequestEntry, len(handles))
	for i, handle := range handles {
		entries[i] = types.ChangeMessageVisibilityBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: &handle, VisibilityTimeout: 0}
	}
	out, err := s.api.ChangeMessageVisibilityBatch(ctx, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &s.url, Entries: entries})
	if err == nil && len(out.Failed) > 0 {
		err = fmt.Errorf("%d of %d: %s", len(out.Failed), len(handles), aws.ToString(out.Failed[0].Message))
	}
	return err
}

// depth is what SQS says of the queue. The numbers are approximate: "GetQueueAttributes", Amazon SQS API Reference.
type depth struct {
	visible, hidden int
	receives        int // after so many, the queue's own redrive policy takes a message away; 0: it has none
}

func (s *source) depth(ctx context.Context) (depth, error) {
	out, err := s.api.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &s.url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return depth{}, fmt.Errorf("look at %s: %w", s.url, err)
	}
	var d depth
	d.visible, _ = strconv.Atoi(out.Attributes[string(types.QueueAttributeNameApproximateNumberOfMessages)])
	d.hidden, _ = strconv.Atoi(out.Attributes[string(types.QueueAttributeNameApproximateNumberOfMessagesNotVisible)])
	if policy := out.Attributes[string(types.QueueAttributeNameRedrivePolicy)]; policy != "" {
		var p struct {
			MaxReceiveCount json.Number `json:"maxReceiveCount"` // a number, or its digits
		}
		_ = json.Unmarshal([]byte(policy), &p) // it only serves a hint
		n, _ := p.MaxReceiveCount.Int64()
		d.receives = int(n)
	}
	return d, nil
}
