package functions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

// Sender is what quarantine and effects need of SQS; *sqs.Client is one.
type Sender interface {
	SendMessage(ctx context.Context, in *sqs.SendMessageInput, options ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// Effects sends effects to a FIFO queue.
type Effects struct {
	SQS Sender
	URL string
}

// Send sends one effect after the other. SendMessageBatch would be cheaper, but each of its entries succeeds or fails
// by itself: where the second of three is refused the third is in the queue already, and no retry puts the second
// before it.
//
// The group is the entity, so that a receiver gets its effects in order and entities do not wait for each other. The
// deduplication id names the effect, so that SQS drops what is sent again within five minutes; later copies have to be
// told by what stands in the message.
func (s *Effects) Send(ctx context.Context, key ordering.Key, effects []ordering.Effect) (sent int, err error) {
	entity := ddb.EntityPK(key)
	for sent, e := range effects {
		if err := ctx.Err(); err != nil {
			return sent, fmt.Errorf("send effect %d of number %d: %w", e.Index, e.Seq, err)
		}
		body, err := EffectBody(e)
		if err != nil {
			return sent, fmt.Errorf("write effect %d of number %d: %w", e.Index, e.Seq, err)
		}
		_, err = s.SQS.SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl:               aws.String(s.URL),
			MessageBody:            aws.String(body),
			MessageGroupId:         aws.String(hashed(entity)),
			MessageDeduplicationId: aws.String(hashed(entity, e.Generation, e.Seq, e.Index)),
		})
		if err != nil {
			return sent, fmt.Errorf("send effect %d of number %d: %w", e.Index, e.Seq, err)
		}
	}
	return len(effects), nil
}

// Sendable measures an effect as the message that it would be.
func (s *Effects) Sendable(e ordering.Effect) error {
	body, err := EffectBody(e)
	if err != nil {
		return fmt.Errorf("it cannot be written as JSON: %w", err)
	}
	if len(body) > maxMessageBytes {
		return fmt.Errorf("it has %d bytes, and a message at most %d", len(body), maxMessageBytes)
	}
	return nil
}

// EffectBody is the message that the receivers of effects parse, numbers with every digit.
func EffectBody(e ordering.Effect) (string, error) {
	exact := json.MarshalToFunc(func(to *jsontext.Encoder, n events.Number) error {
		return to.WriteValue(jsontext.Value(n))
	})
	body, err := json.Marshal(e, json.Deterministic(true), json.WithMarshalers(exact))
	return sendable(string(body)), err
}

// hashed is a name of 64 characters for an entity and numbers. The numbers stand in front, so that no entity's key can
// look like others.
func hashed(entity string, numbers ...any) string {
	sum := sha256.Sum256([]byte(fmt.Sprintln(append(numbers, entity)...)))
	return hex.EncodeToString(sum[:])
}
