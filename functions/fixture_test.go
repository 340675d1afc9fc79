package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/events"
	"inorder/ordering"
)

// patience is how long a try on an engine may take: a busy machine is no lost answer, after which a try more would be made.
const patience = time.Minute

const testStreams = `
consumer: c
streams:
  - {name: doc, types: [DocSet, "doc.*"], mode: state, clock: entity}
  - {name: ledger, types: [Posted], mode: step, projection: {sum: {balance: data.amount}}}
  - {name: own, types: [OwnSet], mode: step, per_source: true, projection: {sum: {n: data.n}}}
  - {name: object, types: ["ObjectCreated:*"], mode: state, clock: entity, order: {by: hex}}
`

const (
	standardARN = "arn:aws:sqs:eu-west-1:123456789012:events"
	fifoARN     = "arn:aws:sqs:eu-west-1:123456789012:events.fifo"
)

var testNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fakeLoop stands for ordering.Loop: it ends every delivery as `ends` says, by message id, Applied otherwise.
type fakeLoop struct {
	mu    sync.Mutex
	calls []string // "entity: ids"
	keys  []ordering.Key
	ends  map[string]ordering.Outcome
	apply func(ctx context.Context, key ordering.Key, batch []ordering.Delivery) ordering.Report // instead, where set
}

func (f *fakeLoop) Apply(ctx context.Context, key ordering.Key, batch []ordering.Delivery) ordering.Report {
	f.mu.Lock()
	defer f.mu.Unlock()
	ids := make([]string, len(batch))
	var report ordering.Report
	for i, d := range batch {
		ids[i] = d.Message.ID
		o, ok := f.ends[d.Message.ID]
		if !ok {
			o = ordering.Outcome{Disposition: ordering.Applied}
		}
		report.Outcomes = append(report.Outcomes, o)
	}
	f.calls = append(f.calls, key.ID+": "+strings.Join(ids, " "))
	f.keys = append(f.keys, key)
	if f.apply != nil {
		return f.apply(ctx, key, batch)
	}
	return report
}

// fakeQuarantine keeps what is copied.
type fakeQuarantine struct {
	mu     sync.Mutex
	copies []ordering.Copy
	err    error
	copy   func(ctx context.Context, c ordering.Copy) error
}

func (f *fakeQuarantine) Copy(ctx context.Context, c ordering.Copy) error {
	if f.copy != nil {
		return f.copy(ctx, c)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return f.err
	}
	f.copies = append(f.copies, c)
	return nil
}

// bench is a consumer with everything around it that a test may look at.
type bench struct {
	*Consumer
	loop       *fakeLoop
	quarantine *fakeQuarantine
	emf, logs  *bytes.Buffer
	seen       map[string][]string // message id → dispositions
}

func newBench(t fatal) *bench {
	t.Helper()
	config, err := events.ParseStreams([]byte(testStreams), events.Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	b := &bench{
		loop: &fakeLoop{ends: map[string]ordering.Outcome{}}, quarantine: &fakeQuarantine{},
		emf: &bytes.Buffer{}, logs: &bytes.Buffer{}, seen: map[string][]string{},
	}
	now := func() time.Time { return testNow }
	b.Consumer = &Consumer{
		Loop: b.loop, Streams: config, Quarantine: b.quarantine,
		Metrics: NewMetrics(b.emf, config.Consumer, now), Log: NewLogger(b.logs, slog.LevelDebug), Now: now, Parallel: 4,
		Observe: func(m events.Message, outcomes []ordering.Outcome) {
			b.seen[m.ID] = nil
			for _, o := range outcomes {
				b.seen[m.ID] = append(b.seen[m.ID], o.Disposition.String())
			}
		},
	}
	return b
}

// handle returns the bytes that Lambda sees.
func (b *bench) handle(t *testing.T, ctx context.Context, records ...awsevents.SQSMessage) string {
	t.Helper()
	out, err := b.Handle(ctx, awsevents.SQSEvent{Records: records})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// total is what a counter came to over all documents, under [consumer].
func (b *bench) total(t *testing.T, metric string) float64 {
	t.Helper()
	var sum float64
	for _, line := range strings.Split(strings.TrimSpace(b.emf.String()), "\n") {
		var doc map[string]any
		if line == "" {
			continue
		}
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if n, ok := doc[metric].(float64); ok {
			sum += n
		}
	}
	return sum
}

func record(id, body string) awsevents.SQSMessage {
	return awsevents.SQSMessage{MessageId: id, Body: body, EventSourceARN: standardARN, Attributes: map[string]string{
		"ApproximateReceiveCount": "1", "SentTimestamp": "1772366399000",
	}}
}

func inGroup(r awsevents.SQSMessage, group string) awsevents.SQSMessage {
	r.EventSourceARN = fifoARN
	r.Attributes["MessageGroupId"] = group
	return r
}

func docSet(id, entity string, seq int) awsevents.SQSMessage {
	return record(id, fmt.Sprintf(`{"event_id":"e-%s","type":"DocSet","entity_id":%q,"seq":%d,"data":{"v":1}}`, id, entity, seq))
}

func failures(ids ...string) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"itemIdentifier":%q}`, id)
	}
	return `{"batchItemFailures":[` + b.String() + `]}`
}

func deferral() ordering.Outcome {
	return ordering.Outcome{Disposition: ordering.Deferred, Err: errors.New("throttled")}
}

func (b *bench) want(t *testing.T, dispositions map[string][]string) {
	t.Helper()
	for id, want := range dispositions {
		if !slices.Equal(b.seen[id], want) {
			t.Errorf("%s ended as %v, want %v", id, b.seen[id], want)
		}
	}
}
