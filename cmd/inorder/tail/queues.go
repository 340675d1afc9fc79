package tail

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"golang.org/x/sync/errgroup"

	"inorder/cmd/inorder/stack"
)

// Depths are how many messages a queue holds, approximately: SQS says no more.
type Depths struct {
	Visible    int `json:"visible"`     // waiting
	NotVisible int `json:"not_visible"` // with somebody who works on them
	Delayed    int `json:"delayed"`     // sent, and not to be received yet
}

// queue is one of the stack's, by the name that it has in the output.
type queue struct {
	name     string
	resource stack.Resource
}

var queues = []queue{
	{"events", stack.EventsQueue},
	{"dlq", stack.DLQ},
	{"quarantine", stack.QuarantineQueue},
	{"republish", stack.RepublishQueue},
	{"effects", stack.EffectsQueue},
}

// attributer is what reading depths needs of the SDK's client.
type attributer interface {
	GetQueueAttributes(ctx context.Context, in *sqs.GetQueueAttributesInput, options ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
}

var attributes = []types.QueueAttributeName{
	types.QueueAttributeNameApproximateNumberOfMessages,
	types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
	types.QueueAttributeNameApproximateNumberOfMessagesDelayed,
}

// depthsOf reads all queues at once. A queue that cannot be read is missing in the result, and an error says why.
func depthsOf(ctx context.Context, client attributer, urls map[string]string) (map[string]Depths, []error) {
	found, errs := make([]*Depths, len(queues)), make([]error, len(queues))
	var group errgroup.Group
	for i, q := range queues {
		if urls[q.name] == "" {
			continue
		}
		group.Go(func() error {
			found[i], errs[i] = depths(ctx, client, urls[q.name])
			if errs[i] != nil {
				errs[i] = fmt.Errorf("read the depth of queue %s: %w", q.name, errs[i])
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are each queue's own
	all := map[string]Depths{}
	for i, q := range queues {
		if found[i] != nil {
			all[q.name] = *found[i]
		}
	}
	return all, slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

func depths(ctx context.Context, client attributer, url string) (*Depths, error) {
	out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: aws.String(url), AttributeNames: attributes})
	if err != nil {
		return nil, err
	}
	var d Depths
	for i, to := range []*int{&d.Visible, &d.NotVisible, &d.Delayed} {
		text := out.Attributes[string(attributes[i])]
		if *to, err = strconv.Atoi(text); err != nil {
			return nil, fmt.Errorf("%s is %q", attributes[i], text)
		}
	}
	return &d, nil
}
