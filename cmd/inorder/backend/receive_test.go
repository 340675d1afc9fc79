package backend

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func received(t *testing.T, client *sqs.Client, url string) []types.Message {
	t.Helper()
	out, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: 10, VisibilityTimeout: 60,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Messages
}

// What was received is hidden until its time is over, or somebody shows it again; what is deleted is gone.
func TestAReceivedMessageIsHidden(t *testing.T) {
	now := time.Unix(0, 0)
	q := &Queues{Now: func() time.Time { return now }}
	client := q.Client(nil)
	for _, body := range []string{"a", "b"} {
		if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(QuarantineURL), MessageBody: &body}); err != nil {
			t.Fatal(err)
		}
	}
	first := received(t, client, QuarantineURL)
	if len(first) != 2 || *first[0].Body != "a" || len(received(t, client, QuarantineURL)) != 0 || q.Visible(QuarantineURL) != 0 {
		t.Fatalf("%+v", first)
	}
	if now = now.Add(time.Minute); len(received(t, client, QuarantineURL)) != 2 {
		t.Error("they did not come back")
	}
	show := &sqs.ChangeMessageVisibilityInput{QueueUrl: aws.String(QuarantineURL), ReceiptHandle: first[0].ReceiptHandle}
	if _, err := client.ChangeMessageVisibility(t.Context(), show); err != nil {
		t.Fatal(err)
	}
	again := received(t, client, QuarantineURL)
	if len(again) != 1 || again[0].Attributes["ApproximateReceiveCount"] != "3" || q.Receives(*again[0].MessageId) != 3 {
		t.Fatalf("%+v", again)
	}
	gone := &sqs.DeleteMessageInput{QueueUrl: aws.String(QuarantineURL), ReceiptHandle: again[0].ReceiptHandle}
	if _, err := client.DeleteMessage(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if left := q.Sent(QuarantineURL); len(left) != 1 || left[0].Body != "b" {
		t.Errorf("%+v", left)
	}
}

// Of a FIFO queue's group nothing comes while something of it is hidden.
func TestAHiddenMessageHoldsItsGroup(t *testing.T) {
	q := &Queues{Now: time.Now}
	client := q.Client(nil)
	send := func(id, group string) {
		_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(EffectsURL), MessageBody: &id, MessageGroupId: &group, MessageDeduplicationId: &id,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	send("1", "g")
	if len(received(t, client, EffectsURL)) != 1 {
		t.Fatal("nothing came")
	}
	send("2", "g")
	send("3", "h")
	if got := received(t, client, EffectsURL); len(got) != 1 || *got[0].Body != "3" {
		t.Errorf("%+v", got)
	}
}
