package e2e

import (
	"crypto/md5" // it is S3's ETag
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
)

const (
	senderTopic    = "inorder-e2e-topic"
	senderTopicARN = "arn:aws:sns:us-east-1:000000000000:" + senderTopic
	senderBucket   = "inorder-e2e-bucket"
)

// E7: what a topic publishes is applied, whether SNS wraps it or hands it on raw.
func TestTopicSends(t *testing.T) {
	s := begin(t)
	t.Parallel()
	client := sns.NewFromConfig(here.cloud.Config())
	topic, err := client.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String(senderTopic)})
	if err != nil || aws.ToString(topic.TopicArn) != senderTopicARN {
		t.Fatalf("topic %v, %v", topic, err)
	}
	subscription, err := client.Subscribe(t.Context(), &sns.SubscribeInput{
		TopicArn: topic.TopicArn, Protocol: aws.String("sqs"), Endpoint: aws.String(s.outputs["EventsQueueArn"]), ReturnSubscriptionArn: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	publish := func(id string) {
		body := fmt.Sprintf(`{"event_id":"%s:1","type":"PlanChanged","seq":1,"data":{"subscription_id":%[1]q,"note":%q}}`, id, secret)
		if _, err := client.Publish(t.Context(), &sns.PublishInput{TopicArn: topic.TopicArn, Message: &body}); err != nil {
			t.Fatal(err)
		}
		s.until(t, applyTimeout, "the entity", func() string {
			return s.missing(t.Context(), expectations{{"subscription", id}: {state: fmt.Sprintf(`{"subscription_id":%q,"note":%q}`, id, secret)}})
		})
	}
	publish("topic-wrapped")
	_, err = client.SetSubscriptionAttributes(t.Context(), &sns.SetSubscriptionAttributesInput{
		SubscriptionArn: subscription.SubscriptionArn, AttributeName: aws.String("RawMessageDelivery"), AttributeValue: aws.String("true"),
	})
	if err != nil {
		t.Fatal(err)
	}
	publish("topic-raw")
}

// E7: a bucket's notification names its object, with a key that is read as it was given; the notice that S3 sends when
// notifications begin is no event.
func TestBucketSends(t *testing.T) {
	s := begin(t)
	t.Parallel()
	client := s3.NewFromConfig(here.cloud.Config(), func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(senderBucket)}); err != nil {
		t.Fatal(err)
	}
	_, err := client.PutBucketNotificationConfiguration(t.Context(), &s3.PutBucketNotificationConfigurationInput{
		Bucket: aws.String(senderBucket),
		NotificationConfiguration: &s3types.NotificationConfiguration{QueueConfigurations: []s3types.QueueConfiguration{
			{QueueArn: aws.String(s.outputs["EventsQueueArn"]), Events: []s3types.Event{"s3:ObjectCreated:*"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.until(t, applyTimeout, "quarantine", func() string { return s.testNotice(t) })

	const key, body = "2026/july plan+1 ä.txt", "twelve bytes"
	if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(senderBucket), Key: aws.String(key), Body: strings.NewReader(body)}); err != nil {
		t.Fatal(err)
	}
	sum := md5.Sum([]byte(body))
	want := fmt.Sprintf(`{"bucket":%q,"key":%q,"size":12,"etag":%q}`, senderBucket, key, hex.EncodeToString(sum[:]))
	name := entityName{"object", senderBucket + "%2F" + strings.ReplaceAll(key, "/", "%2F")}
	s.until(t, applyTimeout, "the object", func() string {
		got, err := s.item(t.Context(), name)
		if err != nil {
			return err.Error()
		}
		delete(got, "sequencer") // S3's own
		if lack := got.differs(expectation{state: want}); lack != "" {
			return lack
		}
		return ""
	})
}

// testNotice waits for S3's notice in quarantine.
func (s *stack) testNotice(t *testing.T) string {
	t.Helper()
	all, err := s.look(t.Context(), quarantineQueue)
	if err != nil {
		return err.Error()
	}
	for _, m := range all {
		if strings.Contains(m.text, "s3:TestEvent") && m.mark().Reason == "not_an_event" {
			s.poison.add(poison{message{body: m.text}, "not_an_event"})
			return ""
		}
	}
	return "S3's notice that notifications begin"
}

// E7: a webhook that is posted to the stack's address is applied, byte for byte, also where its sender names a charset.
// By then TestLostOnesAreHealed has updated the stack, so that this is about the address after an update, too.
func TestWebhookSends(t *testing.T) {
	s := begin(t)
	t.Parallel()
	const id = "webhook-call"
	body := fmt.Sprintf(`{"id":"wh & %%+ 1","type":"call.completed","created_at":"2026-03-05T10:14:31.47+02:00","data":{"id":%q,"state":"völlig & ganz","note":%q}}`, id, secret)
	if status := post(t, s.webhookURL(t), "application/json; charset=utf-8", body); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	s.sent.Add(1)
	s.until(t, applyTimeout, "the entity", func() string {
		return s.missing(t.Context(), expectations{{"call", id}: {state: fmt.Sprintf(`{"id":%q,"state":"völlig & ganz","note":%q}`, id, secret)}})
	})
}

// webhookURL is the output's address as LocalStack has it ("API Gateway", LocalStack's documentation).
func (s *stack) webhookURL(t *testing.T) string {
	t.Helper()
	output, err := url.Parse(s.outputs["WebhookUrl"])
	if err != nil {
		t.Fatal(err)
	}
	id, _, _ := strings.Cut(output.Host, ".")
	return here.cloud.Address + "/_aws/execute-api/" + id + output.Path
}

func post(t *testing.T, to, contentType, body string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}
