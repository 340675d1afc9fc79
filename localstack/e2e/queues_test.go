package e2e

import (
	"context"
	"crypto/md5" // it is what SQS tells of a body
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
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

// tally counts what was sent.
type tally struct{ atomic.Int64 }

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

// seen is a message that lies in a queue and stays there.
type seen struct {
	id, text   string // text may lack white space at its ends: see is
	sum        string // MD5 of the body
	attributes map[string]string
}

// is tells whether the message has just this body.
func (m seen) is(body string) bool {
	sum := md5.Sum([]byte(body))
	return m.sum == hex.EncodeToString(sum[:])
}

// look lists what lies in a queue without receiving it ("Querying SQS messages", LocalStack's documentation): a receiver
// would hide messages from the operator's commands.
func (s *stack) look(ctx context.Context, queue string) ([]seen, error) {
	from := here.cloud.Endpoint() + "/_aws/sqs/messages?ShowInvisible=true&ShowDelayed=true&QueueUrl=" + url.QueryEscape(s.url(queue))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("look into %s: %w", queue, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("look into %s: %w", queue, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("look into %s: status %d: %s", queue, response.StatusCode, text)
	}
	return readSeen(text)
}

func readSeen(text []byte) ([]seen, error) {
	type raw struct {
		MessageID        string `json:"MessageId"`
		MD5OfBody, Body  string
		MessageAttribute json.RawMessage
	}
	var answer struct {
		ReceiveMessageResponse struct {
			ReceiveMessageResult *struct{ Message json.RawMessage }
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("read %s: %w", text, err)
	}
	result := answer.ReceiveMessageResponse.ReceiveMessageResult
	if result == nil {
		return nil, nil
	}
	messages, err := oneOrMany[raw](result.Message)
	if err != nil {
		return nil, err
	}
	all := make([]seen, 0, len(messages))
	for _, m := range messages {
		attributes, err := oneOrMany[rawAttribute](m.MessageAttribute)
		if err != nil {
			return nil, err
		}
		one := seen{id: m.MessageID, text: m.Body, sum: m.MD5OfBody, attributes: map[string]string{}}
		for _, a := range attributes {
			one.attributes[a.Name] = a.Value.StringValue
		}
		all = append(all, one)
	}
	return all, nil
}

type rawAttribute struct {
	Name  string
	Value struct{ StringValue string }
}

// oneOrMany reads a list that is no list where it has one element: the answer was XML once.
func oneOrMany[T any](text json.RawMessage) (all []T, err error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	if text[0] == '[' {
		err = json.Unmarshal(text, &all)
		return all, err
	}
	var one T
	err = json.Unmarshal(text, &one)
	return []T{one}, err
}

// ledger is what must be in quarantine when all is over.
type ledger struct {
	mu  sync.Mutex
	all []poison
}

// poison is a message that can never succeed.
type poison struct {
	message
	reason string
}

func (l *ledger) add(all ...poison) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, all...)
}

func (l *ledger) list() []poison {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// mark is the attribute that quarantine adds.
type mark struct {
	Reason    string `json:"reason"`
	MessageID string `json:"message_id"`
	Queue     string `json:"queue"`
}

func (m seen) mark() (out mark) {
	_ = json.Unmarshal([]byte(m.attributes["inorder"]), &out) // no mark is a mark without a reason
	return out
}

// holds tells what a list of messages lacks, and, with only, what it has beyond that. A function that is killed between a
// copy and its answer leaves a second copy of the same delivery.
func holds(all []seen, want []poison, only bool) string {
	var lacks []string
	rest := slices.Clone(all)
	for _, p := range want {
		i := slices.IndexFunc(rest, func(m seen) bool { return m.is(p.body) })
		switch {
		case i < 0:
			lacks = append(lacks, fmt.Sprintf("%s: %.120s", p.reason, p.body))
			continue
		case rest[i].mark().Reason != p.reason:
			lacks = append(lacks, fmt.Sprintf("%s, and not %s: %.120s", p.reason, rest[i].mark().Reason, p.body))
		}
		for name, value := range p.attributes {
			if got := rest[i].attributes[name]; got != value {
				lacks = append(lacks, fmt.Sprintf("attribute %s %q, and not %q: %.120s", name, value, got, p.body))
			}
		}
		if n := len(rest[i].attributes); n != len(p.attributes)+1 {
			lacks = append(lacks, fmt.Sprintf("%d attributes and its mark, and not %d: %.120s", len(p.attributes), n, p.body))
		}
		delivery := rest[i].mark().MessageID
		rest = slices.DeleteFunc(rest, func(m seen) bool { return m.mark().MessageID == delivery && m.is(p.body) })
	}
	if only {
		for _, m := range rest {
			lacks = append(lacks, fmt.Sprintf("nothing of what it has: %s %.120s", m.mark().Reason, m.text))
		}
	}
	return strings.Join(lacks, "\n  ")
}
