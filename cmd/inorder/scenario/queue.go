package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/backend"
	"inorder/events"
)

// A message is one message in a queue. What is redriven is another message with the same id of the file.
type message struct {
	id         string // the file's
	sqsID      string
	body       string
	attributes map[string]events.Attribute
	group      string
	sentAt     time.Time
	number     int // of the send: what is older is delivered first

	receives int // SQS's ApproximateReceiveCount, which only grows
	tries    int // receives since the last ack; what max_receive counts
	acked    bool
}

// A mailbox is the source queue with its dead-letter queue.
type mailbox struct {
	fifo       bool
	maxReceive int

	waiting []*message // oldest first
	dead    []*message
	latest  map[string]*message // by the file's id: the one that was delivered last, or sent first
	byID    map[string]string   // SQS message id → the file's id
	number  int
}

func newMailbox(fifo bool, maxReceive int) *mailbox {
	return &mailbox{fifo: fifo, maxReceive: maxReceive, latest: map[string]*message{}, byID: map[string]string{}}
}

// send puts a new message at the end of the queue.
func (b *mailbox) send(m message, now time.Time) {
	b.number++
	m.number, m.sqsID, m.sentAt = b.number, fmt.Sprintf("00000000-0000-4000-8000-%012d", b.number), now
	m.receives, m.tries, m.acked = 0, 0, false
	b.byID[m.sqsID] = m.id
	if b.latest[m.id] == nil {
		b.latest[m.id] = &m
	}
	b.waiting = append(b.waiting, &m)
}

// pick finds the messages of a delivery, in its order. An id stands for its oldest waiting message; where none waits,
// the last one comes once more. Of several waiting messages of one id each is taken once before one is taken twice.
func (b *mailbox) pick(ids []string) ([]*message, error) {
	var picked []*message
	for _, id := range ids {
		var found *message
		for _, m := range b.waiting {
			if m.id == id && (found == nil || !slices.Contains(picked, m) && slices.Contains(picked, found)) {
				found = m
			}
		}
		if found == nil {
			found = b.latest[id]
		}
		if found == nil { // the reader knows what the script sends, not what the relay will
			return nil, fmt.Errorf("no message %q was ever sent; there are %s", id, bracketed(slices.Sorted(maps.Keys(b.latest))))
		}
		picked = append(picked, found)
	}
	return picked, nil
}

// receive makes the Lambda event of a delivery.
func (b *mailbox) receive(batch []*message, now time.Time) awsevents.SQSEvent {
	out := awsevents.SQSEvent{Records: make([]awsevents.SQSMessage, len(batch))}
	for i, m := range batch {
		m.receives++
		m.tries++
		b.latest[m.id] = m
		out.Records[i] = b.record(m, now)
	}
	return out
}

func (b *mailbox) record(m *message, now time.Time) awsevents.SQSMessage {
	r := awsevents.SQSMessage{
		MessageId:     m.sqsID,
		ReceiptHandle: fmt.Sprintf("%s-%d", m.sqsID, m.receives),
		Body:          m.body,
		Attributes: map[string]string{
			"ApproximateReceiveCount":          strconv.Itoa(m.receives),
			"ApproximateFirstReceiveTimestamp": strconv.FormatInt(now.UnixMilli(), 10),
			"SentTimestamp":                    strconv.FormatInt(m.sentAt.UnixMilli(), 10),
			"SenderId":                         "producer",
		},
		MessageAttributes: map[string]awsevents.SQSMessageAttribute{},
		EventSource:       "aws:sqs",
		EventSourceARN:    b.arn(),
		AWSRegion:         "eu-west-1",
	}
	if m.group != "" {
		r.Attributes["MessageGroupId"] = m.group
	}
	for name, a := range m.attributes {
		attribute := awsevents.SQSMessageAttribute{DataType: a.Type, BinaryValue: a.Binary}
		if a.Binary == nil {
			attribute.StringValue = &a.Text
		}
		r.MessageAttributes[name] = attribute
	}
	return r
}

func (b *mailbox) arn() string { return backend.QueueARN(b.url()) }

func (b *mailbox) url() string {
	if b.fifo {
		return backend.SourceURL + ".fifo"
	}
	return backend.SourceURL
}

// settle takes what was acked out of the queue, and puts what was not back, or into the dead-letter queue when it was
// received too often. A message that is acked once is gone, whatever else becomes of it.
func (b *mailbox) settle(m *message, acked bool) {
	m.acked = acked
	at := slices.Index(b.waiting, m)
	switch {
	case acked:
		m.tries = 0
		b.remove(at)
	case m.tries >= b.maxReceive:
		b.remove(at)
		if !slices.Contains(b.dead, m) {
			b.dead = append(b.dead, m)
		}
	case at < 0 && !slices.Contains(b.dead, m):
		b.waiting = append(b.waiting, m)
		slices.SortStableFunc(b.waiting, func(a, b *message) int { return a.number - b.number })
	}
}

func (b *mailbox) remove(at int) {
	if at >= 0 {
		b.waiting = slices.Delete(b.waiting, at, at+1)
	}
}

// redrive sends what lies in the dead-letter queue again.
func (b *mailbox) redrive(now time.Time) {
	dead := b.dead
	b.dead = nil
	for _, m := range dead {
		b.send(*m, now)
	}
}

func idsOf(all []*message) []string {
	ids := make([]string, len(all))
	for i, m := range all {
		ids[i] = m.id
	}
	return ids
}
