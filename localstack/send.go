package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	lambdaevents "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

type sendCommand struct {
	Place
	Stack string   `help:"Name of the stack." default:"inorder" placeholder:"NAME"`
	Files []string `arg:"" name:"file" help:"Records as SQS hands them to a function (events/samples/*.json), a body, or one body a line; - is standard input."`
}

func (s *sendCommand) Run(ctx context.Context, out, notes io.Writer) error {
	c, err := s.open(notes)
	if err != nil {
		return err
	}
	outputs, err := c.Outputs(ctx, s.Stack)
	if err != nil {
		return err
	}
	queue := outputs["EventsQueueUrl"]
	if queue == "" {
		return fmt.Errorf("stack %s has no output EventsQueueUrl", s.Stack)
	}
	client := sqs.NewFromConfig(c.Config())
	var sent []message
	for _, file := range s.Files {
		messages, err := read(file)
		if err != nil {
			return err
		}
		for _, m := range messages {
			answer, err := client.SendMessage(ctx, m.to(queue))
			if err != nil {
				return fmt.Errorf("send a message of %s: %w", file, err)
			}
			fmt.Fprintf(out, "sent %s from %s\n", aws.ToString(answer.MessageId), file)
		}
		sent = append(sent, messages...)
	}
	return look(sent, on(s.Stack, c), time.Now(), out)
}

// message is a record of which only what a sender decides matters.
type message lambdaevents.SQSMessage

func read(file string) ([]message, error) {
	text, err := os.ReadFile(file)
	if file == "-" {
		text, err = io.ReadAll(os.Stdin)
	}
	if err != nil {
		return nil, err
	}
	return messages(text), nil
}

func messages(text []byte) []message {
	var batch struct{ Records []message }
	if json.Unmarshal(text, &batch) == nil && len(batch.Records) > 0 && batch.Records[0].EventSource == "aws:sqs" {
		return batch.Records
	}
	if text = bytes.TrimSpace(text); json.Valid(text) {
		return []message{{Body: string(text)}}
	}
	var all []message
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, message{Body: line})
		}
	}
	return all
}

func (m message) to(queue string) *sqs.SendMessageInput {
	input := &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: &m.Body, MessageAttributes: map[string]types.MessageAttributeValue{}}
	for name, a := range m.MessageAttributes {
		input.MessageAttributes[name] = types.MessageAttributeValue{
			DataType: aws.String(a.DataType), StringValue: a.StringValue, BinaryValue: a.BinaryValue,
		}
	}
	if strings.HasSuffix(queue, ".fifo") {
		input.MessageGroupId, input.MessageDeduplicationId = aws.String("by-hand"), aws.String(rand.Text())
		if group := m.Attributes["MessageGroupId"]; group != "" {
			input.MessageGroupId = &group
		}
	}
	return input
}
