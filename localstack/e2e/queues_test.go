package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// The queues by their outputs.
const (
	eventsQueue     = "EventsQueueUrl"
	dlqQueue        = "DlqUrl"
	quarantineQueue = "QuarantineQueueUrl"
	republishQueue  = "RepublishQueueUrl"
	effectsQueue    = "EffectsQueueUrl"
)

var allQueues = []string{eventsQueue, dlqQueue, quarantineQueue, republishQueue, effectsQueue}

func (s *stack) url(queue string) string { return s.outputs[queue] }

// message is what a producer sends.
type message struct {
	body       string
	attributes map[string]string
	group      string // FIFO queues only
	id         string // FIFO queues only, for deduplication; empty: a new one
}

// send sends messages in their order to the events queue.
func (s *stack) send(t testing.TB, messages ...message) {
	t.Helper()
	if err := s.trySend(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
}

// sendBodies is send for messages without attributes.
func (s *stack) sendBodies(t testing.TB, bodies ...string) {
	t.Helper()
	messages := make([]message, len(bodies))
	for i, body := range bodies {
		messages[i].body = body
	}
	s.send(t, messages...)
}

// A request holds ten messages, and 1 MiB ("SendMessageBatch", Amazon SQS API Reference).
const (
	batchMessages = 10
	batchBytes    = 900_000
)

func (s *stack) trySend(ctx context.Context, messages ...message) error {
	for len(messages) > 0 {
		n, size := 0, 0
		for n < min(len(messages), batchMessages) && (n == 0 || size+len(messages[n].body) < batchBytes) {
			size += len(messages[n].body)
			n++
		}
		if err := s.sendBatch(ctx, messages[:n]); err != nil {
			return err
		}
		messages = messages[n:]
	}
	return nil
}

var dedupe atomic.Int64

func (s *stack) sendBatch(ctx context.Context, messages []message) error {
	to := s.url(eventsQueue)
	in := &sqs.SendMessageBatchInput{QueueUrl: &to}
	for i, m := range messages {
		entry := types.SendMessageBatchRequestEntry{Id: aws.String(fmt.Sprint(i)), MessageBody: aws.String(m.body)}
		for name, value := range m.attributes {
			if entry.MessageAttributes == nil {
				entry.MessageAttributes = map[string]types.MessageAttributeValue{}
			}
			entry.MessageAttributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(value)}
		}
		if strings.HasSuffix(to, ".fifo") {
			if m.id == "" {
				m.id = fmt.Sprintf("%s-%d", s.name, dedupe.Add(1))
			}
			entry.MessageGroupId, entry.MessageDeduplicationId = aws.String(m.group), aws.String(m.id)
		}
		in.Entries = append(in.Entries, entry)
	}
	out, err := s.sqs.SendMessageBatch(ctx, in)
	if err != nil {
		return fmt.Errorf("send %d messages: %w", len(messages), err)
	}
	if len(out.Failed) > 0 {
		return fmt.Errorf("%d of %d messages were refused, the first one because of %s", len(out.Failed), len(messages), aws.ToString(out.Failed[0].Message))
	}
	s.sent.Add(int64(len(messages)))
	return nil
}

// depth is how many messages a queue has.
type depth struct {
	visible, inFlight, delayed string
	err                        error
}

func (d depth) empty() bool { return d == depth{visible: "0", inFlight: "0", delayed: "0"} }

func (d depth) String() string {
	if d.err != nil {
		return d.err.Error()
	}
	return fmt.Sprintf("%s visible, %s in flight, %s delayed", d.visible, d.inFlight, d.delayed)
}

func (s *stack) depths(ctx context.Context, url string) depth {
	out, err := s.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
	if err != nil {
		return depth{err: err}
	}
	of := func(name types.QueueAttributeName) string { return out.Attributes[string(name)] }
	return depth{
		visible:  of(types.QueueAttributeNameApproximateNumberOfMessages),
		inFlight: of(types.QueueAttributeNameApproximateNumberOfMessagesNotVisible),
		delayed:  of(types.QueueAttributeNameApproximateNumberOfMessagesDelayed),
	}
}
