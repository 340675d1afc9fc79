package demo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// post is the way to SQS for sweeper and relay: the real client checks what they send, and what SQS took is handed on to
// be delivered. A request that is made twice is delivered twice.
type post struct {
	*sqs.Client
	deliver func(ctx context.Context, letter posted)
}

// posted is a message that SQS took.
type posted struct {
	url, body string
	delay     time.Duration
}

// SendMessage sends one message.
func (p post) SendMessage(ctx context.Context, in *sqs.SendMessageInput, options ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	out, err := p.Client.SendMessage(ctx, in, options...)
	if err == nil {
		p.deliver(ctx, posted{aws.ToString(in.QueueUrl), aws.ToString(in.MessageBody), seconds(in.DelaySeconds)})
	}
	return out, err
}

// SendMessageBatch sends up to ten.
func (p post) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, options ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	out, err := p.Client.SendMessageBatch(ctx, in, options...)
	if err != nil {
		return out, err
	}
	taken := map[string]bool{}
	for _, entry := range out.Successful {
		taken[aws.ToString(entry.Id)] = true
	}
	for _, entry := range in.Entries {
		if taken[aws.ToString(entry.Id)] {
			p.deliver(ctx, posted{aws.ToString(in.QueueUrl), aws.ToString(entry.MessageBody), seconds(entry.DelaySeconds)})
		}
	}
	return out, nil
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }
