package soak

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"inorder/cmd/inorder/soak"
)

const (
	batchMessages = 10 // the limit of SQS
	// mostWaiting keeps the senders from running ahead of the consumer: what is delivered is then what was just sent.
	mostWaiting = 3000
)

// send sends all that the producer has, from several places at once.
func (s *stack) send() {
	s.t.Helper()
	var wait sync.WaitGroup
	for range *sendersFlag {
		wait.Go(func() {
			for s.failed.Load() == nil {
				more, err := s.sendSome(s.t.Context())
				if err != nil {
					s.giveUp(err)
				}
				if !more {
					return
				}
				s.pause()
			}
		})
	}
	wait.Wait()
	if err := s.failed.Load(); err != nil {
		s.t.Fatal(*err)
	}
}

// sendSome sends one batch. Rows are in the outbox before any message of them or of later ones is sent.
func (s *stack) sendSome(ctx context.Context) (more bool, err error) {
	s.feeding.Lock()
	messages, rows := s.producer.Next(batchMessages)
	err = s.table.Keep(ctx, rows)
	s.feeding.Unlock()
	if err != nil || len(messages) == 0 {
		return false, err
	}
	in := &sqs.SendMessageBatchInput{QueueUrl: aws.String(s.outputs[eventsQueue])}
	for i, m := range messages {
		in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: &m.Body})
	}
	out, err := s.sqs.SendMessageBatch(ctx, in)
	if err != nil {
		return false, fmt.Errorf("send: %w", err)
	}
	if len(out.Failed) > 0 {
		return false, fmt.Errorf("SQS refused %d messages: %s", len(out.Failed), aws.ToString(out.Failed[0].Message))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range out.Successful {
		s.taken[idOf(aws.ToString(one.MessageId))] = true
	}
	return true, nil
}

func (s *stack) pause() {
	for s.failed.Load() == nil {
		s.mu.Lock()
		waiting := s.depths.visible
		s.mu.Unlock()
		if waiting < mostWaiting {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// messageID is SQS's, a UUID, in as few bytes.
type messageID [16]byte

func idOf(text string) (id messageID) {
	_, _ = hex.Decode(id[:], []byte(strings.ReplaceAll(text, "-", ""))) // what is none is the zero one, which nobody sent
	return id
}

// receive takes effects out of their queue as a receiver would, until the test ends.
func (s *stack) receive(ctx context.Context) error {
	url := aws.String(s.outputs[effectsQueue])
	out, err := s.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: url, MaxNumberOfMessages: 10, WaitTimeSeconds: 2})
	if err != nil || len(out.Messages) == 0 {
		return err
	}
	in := &sqs.DeleteMessageBatchInput{QueueUrl: url}
	for i, m := range out.Messages {
		var e soak.Effect
		if err := json.Unmarshal([]byte(aws.ToString(m.Body)), &e); err != nil {
			return fmt.Errorf("the effect %s: %w", aws.ToString(m.Body), err)
		}
		s.mu.Lock()
		s.effects.Take(e)
		s.mu.Unlock()
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: m.ReceiptHandle})
	}
	_, err = s.sqs.DeleteMessageBatch(ctx, in)
	return err
}

// quarantined takes all that lies in quarantine: reasons by bodies.
func (s *stack) quarantined() map[string]string {
	s.t.Helper()
	got, url := map[string]string{}, aws.String(s.outputs[quarantineQueue])
	for {
		out, err := s.sqs.ReceiveMessage(s.t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: url, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"inorder"},
		})
		if err != nil {
			s.t.Fatal(err)
		}
		if len(out.Messages) == 0 {
			return got
		}
		for _, m := range out.Messages {
			var mark struct{ Reason string }
			if err := json.Unmarshal([]byte(aws.ToString(m.MessageAttributes["inorder"].StringValue)), &mark); err != nil {
				s.t.Errorf("a copy without a mark: %s", aws.ToString(m.Body))
			}
			got[aws.ToString(m.Body)] = mark.Reason
		}
	}
}
