package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

const relayStreams = `
consumer: c
streams:
  - {name: ledger, types: [Posted], mode: step, window: 20, projection: {sum: {balance: data.amount}}}
  - {name: plan, types: [PlanSet], mode: state, clock: entity}
  - {name: meter, types: [Read], mode: delta, per_source: true, projection: {sum: {kwh: data.kwh}}}
  - {name: profile, types: ["profile.*"], mode: state, clock: source, owns: {crm: [name], billing: [plan]}}
  - {name: chat, types: [Said], mode: state, clock: entity, order: {by: time}}
`

const (
	eventsURL     = "https://sqs.eu-west-1.amazonaws.com/123456789012/events"
	eventsFIFOURL = eventsURL + ".fifo"
	republishURL  = "https://sqs.eu-west-1.amazonaws.com/123456789012/republish"
)

// sentMessage is a message that SQS took.
type sentMessage struct {
	body, group, dedup string
	delay              int32
}

// fakeBatchSQS takes what SQS takes, with its rules for batches, and fails as it is told.
type fakeBatchSQS struct {
	mu       sync.Mutex
	requests int
	queues   map[string][]sentMessage
	batches  map[string][]int                    // how many messages each request to a queue had
	fail     func(url, body string) string       // the code that an entry fails with; empty: it does not
	before   func(request int, url string) error // fails a whole request
}

func (f *fakeBatchSQS) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	url := *in.QueueUrl
	if f.before != nil {
		if err := f.before(f.requests, url); err != nil {
			return nil, err
		}
	}
	if err := refusedBatch(in); err != nil {
		return nil, err
	}
	out := &sqs.SendMessageBatchOutput{}
	for _, e := range in.Entries {
		if f.fail != nil {
			if code := f.fail(url, *e.MessageBody); code != "" {
				out.Failed = append(out.Failed, types.BatchResultErrorEntry{Id: e.Id, Code: aws.String(code), Message: aws.String("no"), SenderFault: true})
				continue
			}
		}
		f.queues[url] = append(f.queues[url], sentMessage{
			*e.MessageBody, aws.ToString(e.MessageGroupId), aws.ToString(e.MessageDeduplicationId), e.DelaySeconds,
		})
		out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{Id: e.Id})
	}
	f.batches[url] = append(f.batches[url], len(in.Entries))
	return out, nil
}

// refusedBatch knows the rules of the API reference by words of its own.
func refusedBatch(in *sqs.SendMessageBatchInput) error {
	fault := func(code string) error { return &smithy.GenericAPIError{Code: code, Message: "no"} }
	if n := len(in.Entries); n == 0 || n > 10 {
		return fault("AWS.SimpleQueueService.TooManyEntriesInBatchRequest")
	}
	size, ids := 0, map[string]bool{}
	for _, e := range in.Entries {
		ids[*e.Id] = true
		size += len(*e.MessageBody)
		fifo := strings.HasSuffix(*in.QueueUrl, ".fifo")
		if fifo != (e.MessageGroupId != nil) || fifo != (e.MessageDeduplicationId != nil) || fifo && e.DelaySeconds != 0 || e.DelaySeconds > 900 {
			return fault("InvalidParameterValue")
		}
		if refusedBySQS(&sqs.SendMessageInput{MessageBody: e.MessageBody}) != nil {
			return fault("InvalidMessageContents")
		}
	}
	switch {
	case len(ids) != len(in.Entries):
		return fault("AWS.SimpleQueueService.BatchEntryIdsNotDistinct")
	case size > 1_048_576:
		return fault("AWS.SimpleQueueService.BatchRequestTooLong")
	}
	return nil
}

// bodies are what a queue got, in order.
func (f *fakeBatchSQS) bodies(url string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, m := range f.queues[url] {
		all = append(all, m.body)
	}
	return all
}

// fakeOutbox is a producer's rows in memory.
type fakeOutbox struct {
	heads map[string]ordering.Position            // by key
	rows  map[string]map[ordering.Position]string // by key: the events
	err   error
	panic bool
	reads int
}

func newFakeOutbox() *fakeOutbox {
	return &fakeOutbox{heads: map[string]ordering.Position{}, rows: map[string]map[ordering.Position]string{}}
}

// wrote adds rows of generation 0 under a key, whose head is the last of them.
func (f *fakeOutbox) wrote(pk string, numbers ...int64) *fakeOutbox {
	if f.rows[pk] == nil {
		f.rows[pk] = map[ordering.Position]string{}
	}
	for _, n := range numbers {
		f.rows[pk][ordering.Position{Seq: n}] = fmt.Sprintf(`{"n":%d}`, n)
		f.heads[pk] = ordering.Position{Seq: n}
	}
	return f
}

func (f *fakeOutbox) Head(_ context.Context, key ddb.OutboxKey) (ordering.Position, bool, error) {
	f.reads++
	if f.panic {
		panic("secret data")
	}
	at, found := f.heads[ddb.OutboxPK(key)]
	return at, found, f.err
}

func (f *fakeOutbox) Rows(_ context.Context, key ddb.OutboxKey, gen, first, last int64) iter.Seq2[ddb.OutboxRow, error] {
	return func(yield func(ddb.OutboxRow, error) bool) {
		all := slices.SortedFunc(maps.Keys(f.rows[ddb.OutboxPK(key)]), func(a, b ordering.Position) int {
			if isBefore(a, b) {
				return -1
			}
			return 1
		})
		for _, at := range all {
			if at.Gen == gen && first <= at.Seq && at.Seq <= last && !yield(ddb.OutboxRow{At: at, Event: f.rows[ddb.OutboxPK(key)][at]}, nil) {
				return
			}
		}
	}
}

// provingOutbox can prove of some numbers that they never existed.
type provingOutbox struct {
	*fakeOutbox
	never []events.Range
}

func (p *provingOutbox) NeverExisted(context.Context, ddb.OutboxKey, int64, []events.Range) ([]events.Range, error) {
	return p.never, nil
}

// relayBench is a relay with everything around it that a test may look at.
type relayBench struct {
	*Relay
	sqs       *fakeBatchSQS
	outbox    *fakeOutbox
	emf, logs *bytes.Buffer
}

func newRelayBench(t fatal, change ...func(*RelayParts)) *relayBench {
	t.Helper()
	config, err := events.ParseStreams([]byte(relayStreams), events.Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	b := &relayBench{
		sqs:    &fakeBatchSQS{queues: map[string][]sentMessage{}, batches: map[string][]int{}},
		outbox: newFakeOutbox(), emf: &bytes.Buffer{}, logs: &bytes.Buffer{},
	}
	parts := RelayParts{
		Streams: config, Outbox: b.outbox, SQS: b.sqs, EventsURL: eventsURL, RepublishURL: republishURL, MarkDelay: defaultMarkDelay,
		Metrics: b.emf, Log: NewLogger(b.logs, slog.LevelDebug), Now: func() time.Time { return testNow }, Parallel: 1,
	}
	for _, c := range change {
		c(&parts)
	}
	b.Relay = NewRelay(parts)
	return b
}

// handle gives the relay what Lambda sends and returns the bytes that Lambda sees.
func (b *relayBench) handle(t *testing.T, ctx context.Context, batch string) string {
	t.Helper()
	out, err := b.Handle(ctx, json.RawMessage(batch))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// total is what a counter came to over all documents.
func (b *relayBench) total(t *testing.T, metric string) float64 {
	t.Helper()
	return (&bench{emf: b.emf}).total(t, metric)
}

func (b *relayBench) wantTotals(t *testing.T, want map[string]float64) {
	t.Helper()
	for _, metric := range []string{MetricRowsRelayed, MetricRequests, MetricRowsRepublished, MetricNumbersExpired, MetricMarksSent, MetricRelayFailures} {
		if got := b.total(t, metric); got != want[metric] {
			t.Errorf("%s is %v, want %v", metric, got, want[metric])
		}
	}
}

// streamRecord is a new item of the outbox table as its stream tells it. The number is the record's SequenceNumber.
func streamRecord(number int, pk, sk, image string) string {
	return fmt.Sprintf(`{"eventID":"e%d","eventName":"INSERT","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"eu-west-1",
		"dynamodb":{"ApproximateCreationDateTime":1480642020,"Keys":{"_pk":{"S":%q},"_sk":{"S":%q}},
		"NewImage":{"_pk":{"S":%q},"_sk":{"S":%q}%s},"SequenceNumber":"%d","SizeBytes":54,"StreamViewType":"NEW_IMAGE"},
		"eventSourceARN":"arn:aws:dynamodb:eu-west-1:123456789012:table/outbox/stream/2026-01-01T00:00:00.000"}`, number, pk, sk, pk, sk, image, number)
}

// streamRow is a new row of generation 0.
func streamRow(number int, pk string, seq int, event string) string {
	text, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	return streamRecord(number, pk, fmt.Sprintf("%010d.%019d", 0, seq), `,"event":{"S":`+string(text)+`},"source":{"S":"shop"},"expires_at":{"N":"1"}`)
}

func streamBatch(records ...string) string { return `{"Records":[` + strings.Join(records, ",") + `]}` }

// queueBatch has messages m1, m2 and so on.
func queueBatch(t *testing.T, bodies ...string) string {
	t.Helper()
	var batch awsevents.SQSEvent
	for i, body := range bodies {
		r := record(fmt.Sprint("m", i+1), body)
		r.EventSource = "aws:sqs"
		batch.Records = append(batch.Records, r)
	}
	text, err := json.Marshal(batch)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var errSQS = errors.New("a connection was reset")
