package functions

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/ddb"
	"inorder/events"
)

var sweptRows = flag.Int("swept-rows", 5000, "how many rows are parked in 50 entities when TestSweepCost counts a sweep's calls")

// sweptCalls is what one sweep of 50 open entities may cost, one of them due, whatever the number of rows.
const sweptCalls = 60

// TestSweepCost: a sweep costs calls in proportion to the entities that are due, not to the rows that wait: 50 entities
// are open, one of them is due.
func TestSweepCost(t *testing.T) {
	const entities = 50
	engine := startEngine(t)
	streams, err := events.ParseStreams([]byte(`
consumer: c
streams:
  - {name: s, types: [T], mode: step, window: 5000, gap_deadline: 5m, projection: {sum: {n: data.n}}}
`), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	calls := &callCounter{}
	tables := ddb.Tables{Entities: "sweep-entities", Items: "sweep-items"}
	client := ddb.NewClient(engine.Config(), ddb.ClientOptions{Endpoint: engine.Endpoint, Transport: calls, TryTimeout: patience})
	if err := ddb.CreateTables(t.Context(), client, tables); err != nil {
		t.Fatal(err)
	}
	store := &ddb.Store{API: client, Tables: tables}
	now, sent := testNow, &fakeSQS{}
	parts := Parts{Streams: streams, Store: store, SQS: sent, Metrics: io.Discard, Now: func() time.Time { return now }}
	consumer := NewConsumer(parts)
	park := func(entity, first, last int) {
		for ; first <= last; first += 500 {
			var batch awsevents.SQSEvent
			for n := first; n < min(first+500, last+1); n++ {
				batch.Records = append(batch.Records, record(fmt.Sprint(entity, ".", n), fmt.Sprintf(
					`{"event_id":"%d.%d","type":"T","entity_id":"e%d","seq":%d,"data":{"n":%d,"note":"%s"}}`, entity, n, entity, n, n, strings.Repeat("x", 200))))
			}
			if out, err := consumer.Handle(t.Context(), batch); err != nil || len(out.BatchItemFailures) > 0 {
				t.Fatal(err, out)
			}
		}
	}
	each := *sweptRows / entities
	park(0, 2, each+1)
	now = now.Add(4 * time.Minute)
	for entity := 1; entity < entities; entity++ {
		park(entity, 2, each+1)
	}
	now = now.Add(2 * time.Minute)
	calls.n.Store(0)
	if err := NewSweeper(SweeperParts{Parts: parts, Upkeep: store, RepublishURL: "https://sqs/republish"}).Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	toDatabase, toQueues := int(calls.n.Load()), len(sent.sent)
	t.Logf("%d rows in %d entities, one of them due: %d calls to DynamoDB and %d to SQS in one sweep", each*entities, entities, toDatabase, toQueues)
	if toQueues != 1 || toDatabase+toQueues > sweptCalls {
		t.Errorf("%d calls to DynamoDB and %d to SQS, want at most %d in all and one request", toDatabase, toQueues, sweptCalls)
	}
}

// callCounter counts requests as they leave the client, a batch being one.
type callCounter struct{ n atomic.Int64 }

func (c *callCounter) RoundTrip(request *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return http.DefaultTransport.RoundTrip(request)
}
