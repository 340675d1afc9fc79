package backend

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// The queues are spoken to by the real client, which checks the sums that they answer with.
func TestAMessageArrivesByteForByte(t *testing.T) {
	q := &Queues{Now: func() time.Time { return time.Unix(7, 0) }}
	client := q.Client(nil)
	in := &sqs.SendMessageInput{
		QueueUrl: aws.String(QuarantineURL), MessageBody: aws.String("{\"a\": \"\u00fc<&>\\u0000\"}\r\n\t"),
		MessageAttributes: map[string]types.MessageAttributeValue{
			"text":   {DataType: aws.String("String.custom"), StringValue: aws.String("ü")},
			"binary": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 255}},
		},
	}
	if _, err := client.SendMessage(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	sent := q.Sent(QuarantineURL)
	if len(sent) != 1 || sent[0].Body != *in.MessageBody || !sent[0].SentAt.Equal(time.Unix(7, 0)) {
		t.Fatalf("%+v", sent)
	}
	if a := sent[0].Attributes["text"]; a.Type != "String.custom" || a.Text != "ü" {
		t.Errorf("%+v", a)
	}
	if a := sent[0].Attributes["binary"]; a.Type != "Binary" || string(a.Binary) != "\x00\xff" {
		t.Errorf("%+v", a)
	}
	if taken := q.Empty(QuarantineURL); len(taken) != 1 || len(q.Sent(QuarantineURL)) != 0 {
		t.Errorf("%d messages taken out, %d left", len(taken), len(q.Sent(QuarantineURL)))
	}
}

func TestAFIFOQueueForgetsADeduplicationIdAfterFiveMinutes(t *testing.T) {
	now := time.Unix(0, 0)
	q := &Queues{Now: func() time.Time { return now }}
	client := q.Client(nil)
	send := func(id string) {
		t.Helper()
		_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(EffectsURL), MessageBody: aws.String(id),
			MessageGroupId: aws.String("g"), MessageDeduplicationId: aws.String(id),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		at   time.Duration
		id   string
		want int
	}{
		{0, "a", 1},
		{0, "a", 1},
		{time.Minute, "b", 2},
		{5*time.Minute - 1, "a", 2},
		{5 * time.Minute, "a", 3},
		{6*time.Minute - 1, "b", 3},
		{6 * time.Minute, "b", 4},
	} {
		now = time.Unix(0, 0).Add(step.at)
		send(step.id)
		if got := len(q.Sent(EffectsURL)); got != step.want {
			t.Errorf("after %s at %s: %d messages, want %d", step.id, step.at, got, step.want)
		}
	}
}

func TestWhatSQSRefusesIsRefused(t *testing.T) {
	q := &Queues{Now: time.Now}
	client := q.Client(nil)
	many := map[string]types.MessageAttributeValue{}
	for _, name := range strings.Split("abcdefghijk", "") {
		many[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String("x")}
	}
	for name, in := range map[string]*sqs.SendMessageInput{
		"a control character": {QueueUrl: aws.String(QuarantineURL), MessageBody: aws.String("\x00")},
		"a non-character":     {QueueUrl: aws.String(QuarantineURL), MessageBody: aws.String("\uffff")},
		"more than 1 MiB":     {QueueUrl: aws.String(QuarantineURL), MessageBody: aws.String(strings.Repeat("x", 1<<20+1))},
		"eleven attributes":   {QueueUrl: aws.String(QuarantineURL), MessageBody: aws.String("x"), MessageAttributes: many},
		"no body":             {QueueUrl: aws.String(QuarantineURL), MessageBody: aws.String("")},
		"no group":            {QueueUrl: aws.String(EffectsURL), MessageBody: aws.String("x")},
	} {
		if _, err := client.SendMessage(context.Background(), in); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if n := len(q.Sent(QuarantineURL)) + len(q.Sent(EffectsURL)); n != 0 {
		t.Errorf("%d messages", n)
	}
}

// Of a batch each message is taken or refused by itself, and its sum is checked by the real client.
func TestABatchIsTakenOneByOne(t *testing.T) {
	q := &Queues{Now: time.Now}
	out, err := q.Client(nil).SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{
		QueueUrl: aws.String(RepublishURL),
		Entries: []types.SendMessageBatchRequestEntry{
			{Id: aws.String("a"), MessageBody: aws.String("first")},
			{Id: aws.String("b"), MessageBody: aws.String("\x00")},
			{Id: aws.String("c"), MessageBody: aws.String("third")},
		},
	})
	if err != nil || len(out.Successful) != 2 || len(out.Failed) != 1 || *out.Failed[0].Id != "b" || !out.Failed[0].SenderFault {
		t.Fatalf("%+v, %v", out, err)
	}
	if sent := q.Sent(RepublishURL); len(sent) != 2 || sent[0].Body != "first" || sent[1].Body != "third" || sent[1].ID != *out.Successful[1].MessageId {
		t.Errorf("%+v", sent)
	}
}

func TestABatchThatSQSRefusesIsRefusedAsAWhole(t *testing.T) {
	q := &Queues{Now: time.Now}
	client := q.Client(nil)
	entry := func(id string, bytes int) types.SendMessageBatchRequestEntry {
		return types.SendMessageBatchRequestEntry{Id: aws.String(id), MessageBody: aws.String(strings.Repeat("x", bytes))}
	}
	var eleven []types.SendMessageBatchRequestEntry
	for _, id := range strings.Split("abcdefghijk", "") {
		eleven = append(eleven, entry(id, 1))
	}
	for what, entries := range map[string][]types.SendMessageBatchRequestEntry{
		"EmptyBatchRequest":            {},
		"TooManyEntriesInBatchRequest": eleven,
		"BatchEntryIdsNotDistinct":     {entry("a", 1), entry("a", 2)},
		"BatchRequestTooLong":          {entry("a", 1<<19), entry("b", 1<<19+1)},
	} {
		_, err := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: aws.String(RepublishURL), Entries: entries})
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n := len(q.Sent(RepublishURL)); n != 0 {
		t.Errorf("%d messages", n)
	}
}
