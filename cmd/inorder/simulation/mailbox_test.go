package simulation

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/backend"
	"inorder/events"
)

// A mailbox is a queue as Lambda's event source mapping sees it: in any order, hidden while somebody has it, and dead
// after too many receives.
type mailbox struct {
	url         string
	hiddenFor   time.Duration
	maxReceives int
	letters     []*letter
}

type letter struct {
	events.Message
	at       time.Time // from then on it is visible
	receives int       // SQS's ApproximateReceiveCount
	tries    int       // receives since it came into the queue
	held     int       // invocations that work on it now
	fact     *fact     // nil: what the relay says about numbers, or poison
}

func (b *mailbox) put(l *letter) { b.letters = append(b.letters, l) }

// visible are those that can be received; dead are those that were received too often, which leave.
func (b *mailbox) visible(now time.Time) (all, dead []*letter) {
	b.letters = slices.DeleteFunc(b.letters, func(l *letter) bool {
		if !l.at.After(now) && l.tries >= b.maxReceives {
			dead = append(dead, l)
			return true
		}
		return false
	})
	for _, l := range b.letters {
		if !l.at.After(now) {
			all = append(all, l)
		}
	}
	return all, dead
}

// next is when the next letter will be visible; zero: there is none.
func (b *mailbox) next() (at time.Time) {
	for _, l := range b.letters {
		if at.IsZero() || l.at.Before(at) {
			at = l.at
		}
	}
	return at
}

func (b *mailbox) remove(l *letter) {
	b.letters = slices.DeleteFunc(b.letters, func(other *letter) bool { return other == l })
}

// longestHidden bounds how long a message that comes back again and again is hidden: longer and longer, or a life would
// consist of little else.
const longestHidden = 15 * time.Minute

// receive hands letters out, as Lambda hands them to a function.
func (b *mailbox) receive(batch []*letter, now time.Time) (in awsevents.SQSEvent) {
	for _, l := range batch {
		l.receives++
		l.tries++
		l.at = now.Add(min(b.hiddenFor<<max(0, l.tries-3), max(b.hiddenFor, longestHidden)))
		r := awsevents.SQSMessage{
			MessageId: l.ID, ReceiptHandle: fmt.Sprint(l.ID, "#", l.receives), Body: l.Body,
			EventSource: "aws:sqs", EventSourceARN: backend.QueueARN(b.url), AWSRegion: "eu-west-1",
			Attributes: map[string]string{
				"ApproximateReceiveCount": strconv.Itoa(l.receives), "SentTimestamp": strconv.FormatInt(l.SentAt.UnixMilli(), 10),
			},
			MessageAttributes: map[string]awsevents.SQSMessageAttribute{},
		}
		for name, a := range l.Attributes {
			attribute := awsevents.SQSMessageAttribute{DataType: a.Type, BinaryValue: a.Binary}
			if a.Binary == nil {
				attribute.StringValue = &a.Text
			}
			r.MessageAttributes[name] = attribute
		}
		in.Records = append(in.Records, r)
	}
	return in
}

// acked is what an answer says of each letter of a batch: whether it may leave.
func acked(batch []*letter, failures []awsevents.SQSBatchItemFailure) []bool {
	all := make([]bool, len(batch))
	for n, l := range batch {
		all[n] = !slices.ContainsFunc(failures, func(f awsevents.SQSBatchItemFailure) bool { return f.ItemIdentifier == l.ID })
	}
	return all
}
