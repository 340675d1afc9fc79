package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Where the queues would be.
const (
	host          = "https://sqs.inorder.invalid/000000000000/"
	eventsURL     = host + "events"
	quarantineURL = host + "quarantine"
	effectsURL    = host + "effects.fifo"
	republishURL  = host + "republish"
	eventsARN     = "arn:aws:sqs:eu-west-1:000000000000:events"
	republishARN  = "arn:aws:sqs:eu-west-1:000000000000:republish"
)

// post is SQS for those who send: what it takes is delivered at once.
type post struct {
	world *world

	mu         sync.Mutex
	effects    Effects
	recent     dedup
	quarantine quarantine
}

func newPost(w *world) *post {
	return &post{world: w, recent: dedup{seen: map[string]bool{}}, quarantine: quarantine{got: map[string]string{}}}
}

// SendMessage sends one message.
func (p *post) SendMessage(ctx context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	l := lifeOf(ctx)
	there, answered := l.spend()
	if !there {
		return nil, l.died()
	}
	p.deliver(ctx, letter{*in.QueueUrl, *in.MessageBody, aws.ToString(in.MessageDeduplicationId), in.MessageAttributes})
	if !answered {
		return nil, l.died()
	}
	return &sqs.SendMessageOutput{MessageId: aws.String("sent")}, nil
}

// SendMessageBatch sends up to ten.
func (p *post) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	l := lifeOf(ctx)
	there, answered := l.spend()
	if !there {
		return nil, l.died()
	}
	out := &sqs.SendMessageBatchOutput{}
	for _, e := range in.Entries {
		p.deliver(ctx, letter{*in.QueueUrl, *e.MessageBody, aws.ToString(e.MessageDeduplicationId), e.MessageAttributes})
		out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{Id: e.Id, MessageId: aws.String("sent")})
	}
	if !answered {
		return nil, l.died()
	}
	return out, nil
}

type letter struct {
	url, body, dedup string
	attributes       map[string]types.MessageAttributeValue
}

func (p *post) deliver(ctx context.Context, l letter) {
	now := p.world.queue.Now()
	switch l.url {
	case eventsURL:
		p.world.send(now, l.body)
	case republishURL:
		p.world.ask(context.WithoutCancel(ctx), l.body, now, 1)
	case effectsURL:
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.recent.copy(l.dedup, now) {
			p.effect(l.body)
		}
	case quarantineURL:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.quarantine.take(l)
	default:
		p.world.fault("a message to %s", l.url)
	}
}

func (p *post) effect(body string) {
	var e Effect
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		p.world.fault("an effect that cannot be read: %v: %s", err, body)
	}
	p.effects.Take(e)
}

// dedup is what a FIFO queue remembers for five minutes ("Exactly-once processing in Amazon SQS", Amazon SQS Developer Guide).
type dedup struct {
	seen  map[string]bool
	order []struct {
		id string
		at time.Time
	}
}

func (d *dedup) copy(id string, now time.Time) bool {
	for len(d.order) > 0 && now.Sub(d.order[0].at) > 5*time.Minute {
		delete(d.seen, d.order[0].id)
		d.order = d.order[1:]
	}
	if d.seen[id] {
		return true
	}
	d.seen[id] = true
	d.order = append(d.order, struct {
		id string
		at time.Time
	}{id, now})
	return false
}

// quarantine holds the reason of each body that came. One that dies between the copy and its answer leaves two.
type quarantine struct {
	got    map[string]string
	faults Faults
}

func (q *quarantine) take(l letter) {
	var mark struct{ Reason string }
	if err := json.Unmarshal([]byte(aws.ToString(l.attributes["inorder"].StringValue)), &mark); err != nil {
		q.faults.Add("a copy without a mark: %s", l.body)
	}
	q.got[l.body] = mark.Reason
}

func (q *quarantine) judge(sent Sent) *Faults {
	f := q.faults
	f.Poison(q.got, sent)
	return &f
}

// String is for the progress.
func (q *quarantine) String() string { return fmt.Sprint(len(q.got)) }
