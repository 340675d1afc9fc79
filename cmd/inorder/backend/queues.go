package backend

import (
	"bytes"
	"crypto/md5" // SQS answers with MD5 sums, and its client checks them
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"inorder/events"
)

// Where the queues are. No such host exists: requests to it never leave the process.
const (
	queueHost = "sqs.inorder.invalid"
	account   = "000000000000"

	SourceURL     = "https://" + queueHost + "/" + account + "/events"
	QuarantineURL = "https://" + queueHost + "/" + account + "/quarantine"
	EffectsURL    = "https://" + queueHost + "/" + account + "/effects.fifo"
	RepublishURL  = "https://" + queueHost + "/" + account + "/republish"
)

// QueueARN is the ARN of the queue with a URL.
func QueueARN(url string) string {
	return "arn:aws:sqs:eu-west-1:" + account + ":" + url[strings.LastIndexByte(url, '/')+1:]
}

// Queues are SQS queues in memory, as far as their callers can tell: the limits of a message, the five minutes in which a
// FIFO queue drops what has the same deduplication id, and the time for which what was received is hidden. They are the
// round tripper of an SQS client.
type Queues struct {
	Now func() time.Time

	// RedrivePolicies are told as they are, by URL; no message is moved for them.
	RedrivePolicies map[string]string

	mu     sync.Mutex
	sent   map[string][]events.Message // by URL
	first  map[string]time.Time
	held   map[string]held // by the id of a message
	number int
}

// Client is an SQS client whose requests go through rt, which hands them on to these queues; nil: straight to them. It
// tries as often as on AWS, without the pauses.
func (q *Queues) Client(rt http.RoundTripper) *sqs.Client {
	if rt == nil {
		rt = q
	}
	return sqs.New(sqs.Options{
		Region:       "eu-west-1",
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: aws.String("https://" + queueHost),
		HTTPClient:   &http.Client{Transport: rt},
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			o.RateLimiter = ratelimit.None
		}),
	})
}

// Sent lists what a queue took, in order: ID, Body, Attributes, GroupID and SentAt of each message.
func (q *Queues) Sent(url string) []events.Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]events.Message(nil), q.sent[url]...)
}

// Empty takes everything out of a queue.
func (q *Queues) Empty(url string) []events.Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.sent[url]
	delete(q.sent, url)
	return all
}

// RoundTrip answers as SQS does what is sent, received, hidden and deleted, and how deep a queue is.
func (q *Queues) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	switch operation {
	case "SendMessage":
		return q.send(request, body), nil
	case "SendMessageBatch":
		return q.sendBatch(request, body), nil
	case "GetQueueAttributes":
		return q.depth(request, body), nil
	case "ReceiveMessage":
		return q.receive(request, body), nil
	case "DeleteMessage":
		return q.deleteMessage(request, body), nil
	case "ChangeMessageVisibility":
		return q.changeVisibility(request, body), nil
	case "ChangeMessageVisibilityBatch":
		return q.changeVisibilityBatch(request, body), nil
	}
	return Answer(request, http.StatusBadRequest, "com.amazonaws.sqs#UnsupportedOperation", operation), nil
}

func (q *Queues) send(request *http.Request, body []byte) *http.Response {
	var in sendMessage
	if err := json.Unmarshal(body, &in); err != nil {
		return Answer(request, http.StatusBadRequest, "com.amazonaws.sqs#InvalidMessageContents", err.Error())
	}
	if err := in.check(); err != nil {
		return Answer(request, http.StatusBadRequest, "com.amazonaws.sqs#InvalidMessageContents", err.Error())
	}
	return answer(request, http.StatusOK, map[string]string{
		"MessageId":        q.take(in),
		"MD5OfMessageBody": sumOf(in.MessageBody),
	})
}

func sumOf(body string) string {
	sum := md5.Sum([]byte(body))
	return hex.EncodeToString(sum[:])
}

// sendBatch takes each message by itself, or refuses the whole request where SQS would: "SendMessageBatch", Amazon SQS
// API Reference.
func (q *Queues) sendBatch(request *http.Request, body []byte) *http.Response {
	var in sendMessageBatch
	if err := json.Unmarshal(body, &in); err != nil {
		return Answer(request, http.StatusBadRequest, "com.amazonaws.sqs#InvalidMessageContents", err.Error())
	}
	if code := in.refused(); code != "" {
		return Answer(request, http.StatusBadRequest, "com.amazonaws.sqs#"+code, "the batch is refused as a whole")
	}
	out := struct {
		Successful []map[string]string
		Failed     []map[string]any
	}{[]map[string]string{}, []map[string]any{}}
	for _, entry := range in.Entries {
		m := entry.sendMessage
		m.QueueUrl = in.QueueUrl
		if err := m.check(); err != nil {
			out.Failed = append(out.Failed, map[string]any{
				"Id": entry.ID, "SenderFault": true, "Code": "InvalidMessageContents", "Message": err.Error(),
			})
			continue
		}
		out.Successful = append(out.Successful, map[string]string{
			"Id": entry.ID, "MessageId": q.take(m), "MD5OfMessageBody": sumOf(m.MessageBody),
		})
	}
	return answer(request, http.StatusOK, out)
}

// depth answers GetQueueAttributes with how many messages a queue holds, as text like all attributes of a queue.
func (q *Queues) depth(request *http.Request, body []byte) *http.Response {
	var in struct{ QueueUrl string }
	if err := json.Unmarshal(body, &in); err != nil {
		return Answer(request, http.StatusBadRequest, "com.amazonaws.sqs#InvalidAddress", err.Error())
	}
	all, visible := len(q.Sent(in.QueueUrl)), q.Visible(in.QueueUrl)
	attributes := map[string]string{
		"ApproximateNumberOfMessages":           strconv.Itoa(visible),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(all - visible),
		"ApproximateNumberOfMessagesDelayed":    "0",
	}
	if policy := q.RedrivePolicies[in.QueueUrl]; policy != "" {
		attributes["RedrivePolicy"] = policy
	}
	return answer(request, http.StatusOK, map[string]any{"Attributes": attributes})
}

// take keeps the message, unless a FIFO queue had it within its five minutes, and returns its id.
func (q *Queues) take(in sendMessage) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.number++
	id := fmt.Sprintf("10000000-0000-4000-8000-%012d", q.number)
	now := q.Now()
	if in.MessageDeduplicationId != "" {
		name := in.QueueUrl + " " + in.MessageDeduplicationId
		if first, again := q.first[name]; again && now.Sub(first) < deduplicatedTime {
			return id
		}
		if q.first == nil {
			q.first = map[string]time.Time{}
		}
		q.first[name] = now
	}
	m := events.Message{ID: id, Body: in.MessageBody, GroupID: in.MessageGroupId, SentAt: now}
	if len(in.MessageAttributes) > 0 {
		m.Attributes = make(map[string]events.Attribute, len(in.MessageAttributes))
	}
	for name, a := range in.MessageAttributes {
		m.Attributes[name] = events.Attribute{Type: a.DataType, Text: a.StringValue, Binary: a.BinaryValue}
	}
	if q.sent == nil {
		q.sent = map[string][]events.Message{}
	}
	q.sent[in.QueueUrl] = append(q.sent[in.QueueUrl], m)
	return id
}

// Answer is an error of the JSON protocol that DynamoDB and SQS share.
func Answer(request *http.Request, status int, code, message string) *http.Response {
	return AnswerWith(request, status, code, message, nil)
}

// AnswerWith is an error that says more than its message.
func AnswerWith(request *http.Request, status int, code, message string, more map[string]json.RawMessage) *http.Response {
	out := map[string]any{"__type": code, "message": message}
	for name, value := range more {
		out[name] = value
	}
	return answer(request, status, out)
}

func answer(request *http.Request, status int, out any) *http.Response {
	body, err := json.Marshal(out)
	if err != nil {
		panic(err) // maps of strings and of JSON
	}
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Request: request,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amzn-Requestid": {"local"}},
		ContentLength: int64(len(body)),
		Body:          io.NopCloser(bytes.NewReader(body)),
	}
}
