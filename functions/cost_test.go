package functions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/ordering"
)

// TestCosts holds the handler to the costs that are promised: requests, failed ones included, as they leave the
// client, and write units as the engine tells them, for items of less than 1 KB. None of it is measured in time.
func TestCosts(t *testing.T) {
	engine := startEngine(t)
	for i, tt := range []struct {
		name   string
		stream string
		before []string // batches of events that make the function warm: "seq seq …", of entity x unless "entity.seq"
		batch  string
		cold   bool

		writes, reads int
		units         float64 // per event; 0: not looked at
	}{
		{"state, unique entities", whole, nil, "a.1 b.1 c.1 d.1", false, 4, 0, 1},
		{"state, ten of an entity in a batch", whole, nil, "3 1 2 4 10 9 8 7 6 5", false, 1, 0, 0.1},
		{"state by attribute, ten of an entity", attribute, nil, "3 1 2 4 10 9 8 7 6 5", false, 1, 0, 0.1},
		{"state, stale and cold: one failed condition", whole, []string{"5"}, "3", true, 1, 0, 0},
		{"state, stale or duplicate of an entity that is known", whole, []string{"5"}, "3 5 4", false, 0, 0, 0},
		{"step, a run of ten, cold", plain, nil, "3 1 2 4 10 9 8 7 6 5", false, 1, 1, 0.1},
		{"step, a run of ten, warm", plain, []string{"1"}, "3 11 2 4 10 9 8 7 6 5", false, 1, 0, 0.1},
		{"step, two that wait: their rows and one write", plain, []string{"1"}, "3 4", false, 3, 0, 0},
		{"step, a copy of one that waits", plain, []string{"1", "3"}, "3", false, 2, 0, 0},
		{"step, the run takes rows: one query", plain, []string{"1", "3 4"}, "2", false, 1, 1, 0},
		{"step, beyond the window as it seems", plain, []string{"1"}, "5000", false, 1, 1, 0},
		{"step, duplicates up to the cursor, warm", plain, []string{"1 2 3"}, "3 1 2", false, 0, 0, 0},
		{"step, duplicates, cold: the one read", plain, []string{"1 2 3"}, "3 1 2", true, 0, 1, 0},
		{"step with effects, a run of ten", effects, []string{"1"}, "3 11 2 4 10 9 8 7 6 5", false, 12, 0, 1.4},
		{"step with a log of all, a run of ten", logAll, []string{"1"}, "3 11 2 4 10 9 8 7 6 5", false, 11, 0, 1.1},
		{"delta, ten of an entity, warm", delta, []string{"1"}, "3 11 2 4 10 9 8 7 6 5", false, 1, 0, 0.1},
		{"delta, the database adds: no read", delta, []string{"1"}, "4 12 3 5 11 10 9 8 7 6", false, 1, 0, 0},
		{"delta, duplicates up to the cursor, warm", delta, []string{"1 2 3"}, "3 1 2", false, 0, 0, 0},
		{"delta without a sequence: transactions, and what they cost", none, nil, "1 2 3 4", false, 5, 0, 2.5},
		{"marker: two items, twice the units", marker, nil, "1", false, 2, 0, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newMeasured(t, engine, fmt.Sprintf("cost-%d", i), tt.stream)
			c := w.instance()
			for _, batch := range tt.before {
				w.deliver(t, c, batch)
			}
			if tt.cold {
				c = w.instance()
			}
			w.requests.reset()
			w.meter.Reset()
			w.deliver(t, c, tt.batch)
			writes, reads := w.requests.count()
			if writes != tt.writes || reads != tt.reads {
				t.Errorf("%d writes and %d reads, want %d and %d", writes, reads, tt.writes, tt.reads)
			}
			if tt.units == 0 || lacksUnits(t, engine) {
				return
			}
			events := float64(len(strings.Fields(tt.batch)))
			if got := w.meter.Used().WriteUnits / events; got > tt.units+1e-9 {
				t.Errorf("%.2f write units per event, want at most %.2f", got, tt.units)
			}
		})
	}
}

// TestHotDeltaCosts: sixteen invocations at once on one key cost at most 1.3 writes per batch, the catching up of the
// cursor included, on a new entity and over many batches each, in an order that is the machine's own.
func TestHotDeltaCosts(t *testing.T) {
	const invocations, size = 16, 10
	engine := startEngine(t)
	for _, rounds := range []int{1, 20} {
		t.Run(fmt.Sprint(rounds, " batches each"), func(t *testing.T) {
			w := newMeasured(t, engine, fmt.Sprint("hot-", rounds), delta)
			var consumers [invocations]*Consumer
			for i := range consumers {
				consumers[i] = w.instance()
			}
			w.requests.reset()
			var all sync.WaitGroup
			for i, c := range consumers {
				all.Go(func() {
					for round := range rounds {
						first := (round*invocations+i)*size + 1
						var numbers []string
						for n := first; n < first+size; n++ {
							numbers = append(numbers, fmt.Sprint(n))
						}
						for len(numbers) > 0 { // what lies beyond the window comes back, as it would from the queue
							numbers = w.tryDeliver(t, c, numbers)
						}
					}
				})
			}
			all.Wait()
			writes, _ := w.requests.count()
			batches := invocations * rounds
			e, err := w.store.Entity(t.Context(), ordering.Key{Consumer: "c", Stream: "s", ID: "x"})
			if last := int64(batches * size); err != nil || e.Effective() != last {
				t.Fatalf("the effective cursor is %d, want %d (%v)", e.Effective(), last, err)
			}
			if got := float64(writes) / float64(batches); got > 1.3 {
				t.Errorf("%.2f writes per batch, want at most 1.3", got)
			} else {
				t.Logf("%.2f writes per batch", got)
			}
		})
	}
}

// The streams whose costs are promised.
const (
	whole     = "mode: state, clock: entity"
	attribute = "mode: state, clock: attribute"
	marker    = "mode: state, clock: entity, dedup: marker"
	plain     = "mode: step, projection: {sum: {n: data.n}}"
	effects   = "mode: step, effects: true, projection: {sum: {n: data.n}}"
	logAll    = "mode: step, log: all, projection: {sum: {n: data.n}}"
	delta     = "mode: delta, window: 10000, projection: {sum: {n: data.n}}"
	none      = "mode: delta, order: {by: none}, projection: {sum: {n: data.n}}"
)

// measured is a pair of tables whose requests are counted and whose units are added up.
type measured struct {
	*world
	requests *requests
	meter    *ddb.Meter
}

func newMeasured(t *testing.T, engine *local.Engine, prefix, stream string) *measured {
	t.Helper()
	text := "consumer: c\nstreams:\n  - {name: s, types: [T], " + stream + "}\n"
	s, err := ReadSettings(environment(t, text), nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &measured{world: &world{Settings: s, sqs: &fakeSQS{}}, requests: &requests{}, meter: &ddb.Meter{}}
	tables := ddb.Tables{Entities: prefix + "-entities", Items: prefix + "-items"}
	client := ddb.NewClient(engine.Config(), ddb.ClientOptions{Endpoint: engine.Endpoint, Transport: w.requests, Meter: w.meter})
	if err := ddb.CreateTables(t.Context(), client, tables); err != nil {
		t.Fatal(err)
	}
	w.store = &ddb.Store{API: client, Tables: tables}
	return w
}

// instance is a new function instance, which knows nothing yet.
func (w *measured) instance() *Consumer {
	return NewConsumer(w.parts(w.store, &fakeSQS{}, io.Discard, func() time.Time { return sampleNow }, nil))
}

func (w *measured) deliver(t *testing.T, c *Consumer, batch string) {
	t.Helper()
	w.tryDeliver(t, c, strings.Fields(batch))
}

// tryDeliver hands events to a consumer and returns those that come back.
func (w *measured) tryDeliver(t *testing.T, c *Consumer, numbers []string) (back []string) {
	var in awsevents.SQSEvent
	for _, n := range numbers {
		entity, seq, named := strings.Cut(n, ".")
		if !named {
			entity, seq = "x", n
		}
		in.Records = append(in.Records, record(n, fmt.Sprintf(`{"event_id":"%s","type":"T","entity_id":"%s","seq":%s,"data":{"n":%s}}`, n, entity, seq, seq)))
	}
	out, err := c.Handle(t.Context(), in)
	if err != nil {
		t.Error(err)
	}
	for _, f := range out.BatchItemFailures {
		back = append(back, f.ItemIdentifier)
	}
	return back
}

func lacksUnits(t *testing.T, engine *local.Engine) bool {
	t.Helper()
	findings, err := engine.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return findings.Lacks(local.ConsumedCapacity)
}

// requests counts items as they leave the client: put, updated, deleted or condition-checked, keys got, and queries.
type requests struct {
	mu            sync.Mutex
	writes, reads int
}

func (r *requests) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	r.mu.Lock()
	switch operation {
	case "PutItem", "UpdateItem", "DeleteItem":
		r.writes++
	case "TransactWriteItems":
		var in struct{ TransactItems []json.RawMessage }
		err = json.Unmarshal(body, &in)
		r.writes += len(in.TransactItems)
	case "GetItem", "Query":
		r.reads++
	}
	r.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return http.DefaultTransport.RoundTrip(request)
}

func (r *requests) count() (writes, reads int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writes, r.reads
}

func (r *requests) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes, r.reads = 0, 0
}
