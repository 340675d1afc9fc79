package functions

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"inorder/events"
)

// Republish sends republish requests to the producer's queue.
type Republish struct {
	SQS Sender
	URL string // of a standard queue
}

// Request sends one message per request.
func (r *Republish) Request(ctx context.Context, requests []events.RepublishRequest) error {
	for _, request := range requests {
		body, err := json.Marshal(request)
		if err != nil {
			return fmt.Errorf("write the republish request: %w", err)
		}
		_, err = r.SQS.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: aws.String(r.URL), MessageBody: aws.String(sendable(string(body)))})
		if err != nil {
			return fmt.Errorf("send the republish request: %w", err)
		}
	}
	return nil
}
