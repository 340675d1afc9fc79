package functions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	awsevents "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// fakeSQS takes what SQS takes, and gives it back as Lambda would pass it on.
type fakeSQS struct {
	sent []*sqs.SendMessageInput
	err  error
	nth  int // the call that fails with err; 0: every one
}

var errInvalidMessage = errors.New("InvalidMessageContents or InvalidParameterValue")

func (f *fakeSQS) SendMessage(_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	if f.err != nil && (f.nth == 0 || f.nth == len(f.sent)+1) {
		return nil, f.err
	}
	if err := refusedBySQS(in); err != nil {
		return nil, err
	}
	f.sent = append(f.sent, in)
	return &sqs.SendMessageOutput{MessageId: aws.String(fmt.Sprintf("sqs-%d", len(f.sent)))}, nil
}

// refusedBySQS knows the rules of the API reference by words of its own: characters by a list of ranges, sizes by sums.
func refusedBySQS(in *sqs.SendMessageInput) error {
	size := len(*in.MessageBody)
	texts := []string{*in.MessageBody}
	if len(in.MessageAttributes) > 10 {
		return fmt.Errorf("%w: %d attributes", errInvalidMessage, len(in.MessageAttributes))
	}
	for name, a := range in.MessageAttributes {
		size += len(name) + len(*a.DataType)
		switch {
		case strings.HasPrefix(*a.DataType, "Binary"):
			size += len(a.BinaryValue)
			if len(a.BinaryValue) == 0 || a.StringValue != nil {
				return fmt.Errorf("%w: attribute %s", errInvalidMessage, name)
			}
		case a.StringValue == nil || a.BinaryValue != nil:
			return fmt.Errorf("%w: attribute %s", errInvalidMessage, name)
		default:
			size += len(*a.StringValue)
			texts = append(texts, *a.StringValue)
		}
	}
	for _, text := range texts {
		if text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !inSQSRange(r) }) {
			return fmt.Errorf("%w: a text", errInvalidMessage)
		}
	}
	if size > 1_048_576 {
		return fmt.Errorf("%w: %d bytes", errInvalidMessage, size)
	}
	return nil
}

func inSQSRange(r rune) bool {
	for _, allowed := range [][2]rune{{0x9, 0x9}, {0xA, 0xA}, {0xD, 0xD}, {0x20, 0xD7FF}, {0xE000, 0xFFFD}, {0x10000, 0x10FFFF}} {
		if allowed[0] <= r && r <= allowed[1] {
			return true
		}
	}
	return false
}

// delivered is a sent message as a Lambda function receives it.
func delivered(in *sqs.SendMessageInput) awsevents.SQSMessage {
	r := record("again", *in.MessageBody)
	r.MessageAttributes = map[string]awsevents.SQSMessageAttribute{}
	for name, a := range in.MessageAttributes {
		r.MessageAttributes[name] = awsevents.SQSMessageAttribute{DataType: *a.DataType, StringValue: a.StringValue, BinaryValue: a.BinaryValue}
	}
	return r
}
