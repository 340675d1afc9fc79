// Package raw is the loop that one writes first: each message of a batch is one conditional write to DynamoDB. It is what
// the consumer is measured against, so it does as little as it can and is still right for events that come in order: it
// keeps no log and no metrics, remembers nothing and reads nothing.
package raw

import (
	"context"
	"encoding/json"
	"errors"

	awsevents "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"
)

// API is what the loop needs of the SDK's client.
type API interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// Event is what the loop reads of a body.
type Event struct {
	ID          string `json:"event_id"`
	Type        string `json:"type"`
	Entity      string `json:"entity_id"`
	Seq         int64  `json:"seq"`
	PublishedAt string `json:"published_at"`
	Data        struct {
		Plan     string `json:"plan"`
		Currency string `json:"currency"`
		Seats    int64  `json:"seats"`
		Amount   int64  `json:"amount"`
	} `json:"data"`
}

// Write makes the one write of an event. What its condition refuses is old, and no error.
type Write func(ctx context.Context, e Event) error

// Loop answers batches as a Lambda function does.
type Loop struct {
	Write    Write
	Parallel int // writes of a batch at once

	// InOrder writes what a batch holds of one entity one after the other, as a cursor needs it; the entities go side by
	// side all the same. Without it every message goes by itself.
	InOrder bool
}

// Handle writes all messages of a batch and names those that must come back.
func (l *Loop) Handle(ctx context.Context, batch awsevents.SQSEvent) (awsevents.SQSEventResponse, error) {
	failed := make([]bool, len(batch.Records))
	group := errgroup.Group{}
	group.SetLimit(l.Parallel)
	for _, lane := range l.lanes(batch.Records) {
		group.Go(func() error {
			for _, m := range lane {
				failed[m.at] = m.err != nil || l.Write(ctx, m.event) != nil
			}
			return nil
		})
	}
	_ = group.Wait() // what failed is named
	out := awsevents.SQSEventResponse{BatchItemFailures: []awsevents.SQSBatchItemFailure{}}
	for i, r := range batch.Records {
		if failed[i] {
			out.BatchItemFailures = append(out.BatchItemFailures, awsevents.SQSBatchItemFailure{ItemIdentifier: r.MessageId})
		}
	}
	return out, nil
}

// message is one of a batch, decoded.
type message struct {
	at    int
	event Event
	err   error
}

// lanes are what is written one after the other.
func (l *Loop) lanes(records []awsevents.SQSMessage) (lanes [][]message) {
	byEntity := map[string]int{}
	for i, r := range records {
		m := message{at: i}
		m.err = json.Unmarshal([]byte(r.Body), &m.event)
		lane, known := byEntity[m.event.Entity]
		if !known || !l.InOrder {
			lane = len(lanes)
			byEntity[m.event.Entity] = lane
			lanes = append(lanes, nil)
		}
		lanes[lane] = append(lanes[lane], m)
	}
	return lanes
}

func unlessOld(err error) error {
	if refused := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &refused) {
		return nil
	}
	return err
}
