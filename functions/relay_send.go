package functions

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"inorder/events"
)

// BatchSender is what the relay needs of SQS; *sqs.Client is one.
type BatchSender interface {
	SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, options ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error)
}

// maxBatchMessages is how many messages one request takes; together they may have as many bytes as a single one:
// "SendMessageBatch" in the Amazon SQS API Reference.
const maxBatchMessages = 10

// outgoing is a message to be sent. It has no attributes: what the producer said stands in its body.
type outgoing struct {
	body         string
	entity       string // its history's key: on a FIFO queue the message group follows from it
	dedup        string // on a FIFO queue: what is sent twice within five minutes under one id comes once
	delaySeconds int32
	seq          int64 // of a row, for its log line
}

// batches sends messages to one queue.
type batches struct {
	sqs  BatchSender
	url  string
	fifo bool
}

// How sending ends, beside nil.
var (
	// errRefused: SQS will never take the message as it is.
	errRefused = errors.New("SQS does not take the message")
	errUnsaid  = errors.New("SQS does not say what became of the message")
)

// refusals are the codes, without their prefix, of what is wrong with a message itself: "SendMessage", Errors, and what
// SQS answers where a queue's own MaximumMessageSize is smaller. Everything else may be different the next time.
var refusals = map[string]bool{
	"InvalidMessageContents": true, "InvalidParameterValue": true, "BatchRequestTooLong": true,
}

// sendable refuses what SQS would refuse.
func (m outgoing) sendable() error {
	if !canSend(events.Message{Body: m.body}) {
		return fmt.Errorf("%w: its body is empty, larger than %d bytes, or holds a character that is not allowed", errRefused, maxMessageBytes)
	}
	return nil
}

// fit is how many of the messages, from the first on, go into one request; at least one.
//
// On a FIFO queue a request takes one message of an entity only: of two the first could be refused and the second be in
// the queue already, and no retry puts the first before it.
func (b batches) fit(messages []outgoing) int {
	size := 0
	entities := map[string]bool{}
	for i, m := range messages {
		size += len(m.body)
		if i > 0 && (i == maxBatchMessages || size > maxMessageBytes || b.fifo && entities[m.entity]) {
			return i
		}
		entities[m.entity] = true
	}
	return len(messages)
}

// send sends messages that fit into one request. It says of each what became of it: nil, errRefused, or anything else,
// after which it may or may not be in the queue.
func (b batches) send(ctx context.Context, messages []outgoing) []error {
	errs := make([]error, len(messages))
	if len(messages) == 0 {
		return errs
	}
	out, err := b.request(ctx, messages)
	if err != nil && refusals[codeOf(err)] && len(messages) > 1 {
		for i := range messages { // which of them it is shows only alone
			errs[i] = b.send(ctx, messages[i:i+1])[0]
		}
		return errs
	}
	for i := range errs {
		switch {
		case err != nil:
			errs[i] = fmt.Errorf("send to %s: %w", b.url, asRefusal(codeOf(err), err))
		default:
			errs[i] = errUnsaid
		}
	}
	if err != nil {
		return errs
	}
	for _, done := range out.Successful {
		if i := placeOf(done.Id, errs); i >= 0 {
			errs[i] = nil
		}
	}
	for _, failed := range out.Failed {
		if i := placeOf(failed.Id, errs); i >= 0 {
			code := aws.ToString(failed.Code)
			said := &smithy.GenericAPIError{Code: code, Message: aws.ToString(failed.Message)}
			errs[i] = asRefusal(shortCode(code), fmt.Errorf("send to %s: %w", b.url, said))
		}
	}
	return errs
}

func (b batches) request(ctx context.Context, messages []outgoing) (out *sqs.SendMessageBatchOutput, err error) {
	defer recovered(&err)
	if ctx.Err() != nil {
		return nil, errOutOfTime
	}
	in := &sqs.SendMessageBatchInput{QueueUrl: aws.String(b.url)}
	for i, m := range messages {
		entry := types.SendMessageBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), MessageBody: aws.String(m.body), DelaySeconds: m.delaySeconds,
		}
		if b.fifo {
			entry.MessageGroupId, entry.MessageDeduplicationId = aws.String(hashed(m.entity)), aws.String(m.dedup)
		}
		in.Entries = append(in.Entries, entry)
	}
	return b.sqs.SendMessageBatch(ctx, in)
}

// sendAll sends any number of messages in their order, and stops behind a request of which any fails that may not fail
// again. It returns how many were sent. A refused one is handed to refused, and passed.
func (b batches) sendAll(ctx context.Context, messages []outgoing, refused func(i int, err error)) (sent int, err error) {
	for from := 0; from < len(messages); {
		n := b.fit(messages[from:])
		for i, failed := range b.send(ctx, messages[from:from+n]) {
			switch {
			case failed == nil:
				sent++
			case errors.Is(failed, errRefused):
				refused(from+i, failed)
			case err == nil:
				err = failed
			}
		}
		if err != nil {
			return sent, err
		}
		from += n
	}
	return sent, nil
}

// sendEach sends any number of messages whose order does not matter, and says of each what became of it.
func (b batches) sendEach(ctx context.Context, messages []outgoing) []error {
	var errs []error
	for from := 0; from < len(messages); from = len(errs) {
		errs = append(errs, b.send(ctx, messages[from:from+b.fit(messages[from:])])...)
	}
	return errs
}

func asRefusal(code string, err error) error {
	if refusals[code] {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return err
}

func codeOf(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return shortCode(api.ErrorCode())
	}
	return ""
}

// placeOf is the place of a batch entry, by its id; -1 for an id that is none of ours.
func placeOf(id *string, of []error) int {
	i, err := strconv.Atoi(aws.ToString(id))
	if err != nil || i < 0 || i >= len(of) {
		return -1
	}
	return i
}

// shortCode takes off what SQS puts in front of some codes, AWS.SimpleQueueService for one.
func shortCode(code string) string { return code[strings.LastIndexByte(code, '.')+1:] }
