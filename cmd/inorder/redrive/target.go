package redrive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"inorder/functions"
)

// target is the events queue.
type target struct {
	api API
	url string
}

// send gives a message back as it was when it first came: body and attributes byte for byte, without quarantine's mark.
func (t *target) send(ctx context.Context, from *source, m message) error {
	in := &sqs.SendMessageInput{
		QueueUrl: &t.url, MessageBody: aws.String(m.original.Body), MessageAttributes: functions.SQSAttributes(m.original.Attributes),
	}
	if m.original.GroupID != "" { // standard queues have groups too, for fairness
		in.MessageGroupId = aws.String(m.original.GroupID)
	}
	if isFIFO(t.url) {
		if in.MessageGroupId == nil {
			in.MessageGroupId = aws.String(hashed(m.place())) // quarantine does not keep it
		}
		// By where it was, not by what it says: the original's own id may still be within the five minutes in which SQS
		// drops what it has seen, and a message that is sent twice, for a crash came before its deletion, shall be dropped.
		in.MessageDeduplicationId = aws.String(hashed(from.url + " " + m.ID))
	}
	if _, err := t.api.SendMessage(ctx, in); err != nil {
		return fmt.Errorf("send message %s to the events queue: %w", m.ID, err)
	}
	return nil
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// isItsOwn reports whether SQS refuses this one message for what it holds, so that others may pass: "SendMessage", Amazon
// SQS API Reference, Errors, and an attribute that it does not take.
func isItsOwn(err error) bool {
	api := smithy.APIError(nil)
	if !errors.As(err, &api) {
		return false
	}
	switch api.ErrorCode() {
	case "InvalidMessageContents", "InvalidParameterValue", "InvalidAttributeValue", "InvalidAttributeName":
		return true
	}
	return false
}
