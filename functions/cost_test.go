package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/ordering"
)

// A cost is what one batch may cost.
type cost struct {
	name   string // as in docs/costs.md, where it stands there
	stream string
	before []string // batches of events that make the function warm: "seq seq …", of entity x unless "entity.seq"
	batch  string
	cold   bool

	writes, reads int
	units         float64 // of writes, indexes and failed conditions included
}

var costs = []cost{
	{"state, each of another entity", whole, nil, "a.1 b.1 c.1 d.1", false, 4, 0, 4},
	{"state, ten of one entity in a batch", whole, nil, "3 1 2 4 10 9 8 7 6 5", false, 1, 0, 1},
	{"state by attribute, ten of one entity in a batch", attribute, nil, "3 1 2 4 10 9 8 7 6 5", false, 1, 0, 1},
	{"state, stale: the function does not know the entity", whole, []string{"5"}, "3", true, 1, 0, 1},
	{"state, stale or duplicate: it does", whole, []string{"5"}, "3 5 4", false, 0, 0, 0},
	{"step, a run of ten", plain, []string{"1"}, "3 11 2 4 10 9 8 7 6 5", false, 1, 0, 1},
	{"step, a run of ten, cold", plain, nil, "3 1 2 4 10 9 8 7 6 5", false, 1, 1, 1},
	{"step, the first that waits: it opens the gap", plain, []string{"1"}, "3", false, 2, 0, 3},
	{"step, another that waits", plain, []string{"1", "3"}, "5", false, 2, 0, 2},
	{"step, ten that wait, in one batch", plain, []string{"1"}, "3 4 5 6 7 8 9 10 11 12", false, 11, 0, 12},
	{"step, two that wait: their rows and one write", plain, []string{"1"}, "3 4", false, 3, 0, 4},
	{"step, a copy of one that waits", plain, []string{"1", "3"}, "3", false, 2, 0, 2},
	{"step, one that releases all that waits: it closes the gap", plain, []string{"1", "3 4"}, "2", false, 1, 1, 2},
	{"step, one that releases some of it", plain, []string{"1", "3 5"}, "2", false, 1, 1, 1},
	{"step, one beyond the window: it opens the gap", plain, []string{"1"}, "5000", false, 1, 1, 2},
	{"step, duplicates up to the cursor", plain, []string{"1 2 3"}, "3 1 2", false, 0, 0, 0},
	{"step, duplicates up to the cursor, cold", plain, []string{"1 2 3"}, "3 1 2", true, 0, 1, 0},
	{"step with `log: all`, a run of ten", logAll, []string{"1"}, "3 11 2 4 10 9 8 7 6 5", false, 11, 0, 11},
	{"step with effects, a run of ten", effects, []string{"1"}, "3 11 2 4 10 9 8 7 6 5", false, 12, 0, 14},
	{"delta, ten of one entity in a batch", delta, []string{"1"}, "3 11 2 4 10 9 8 7 6 5", false, 1, 0, 1},
	{"delta, ten of one entity in a batch, cold", delta, nil, "3 1 2 4 10 9 8 7 6 5", true, 1, 1, 1},
	{"delta, one ahead of a missing one: it opens the gap", delta, []string{"1"}, "3", false, 1, 0, 2},
	{"delta, ten ahead of a missing one: the database adds", delta, []string{"1"}, "4 12 3 5 11 10 9 8 7 6", false, 1, 0, 2},
	{"delta, another ahead of it", delta, []string{"1", "3"}, "5", false, 1, 0, 1},
	{"delta, the missing one: it closes the gap", delta, []string{"1", "3"}, "2", false, 1, 0, 2},
	{"delta, duplicates up to the cursor", delta, []string{"1 2 3"}, "3 1 2", false, 0, 0, 0},
	{"delta, duplicates up to the cursor, cold", delta, []string{"1 2 3"}, "3 1 2", true, 0, 1, 0},
	{"delta without a sequence, four in a batch", none, nil, "1 2 3 4", false, 5, 0, 10},
	{"delta without a sequence, a duplicate", none, []string{"1"}, "1", true, 2, 0, 4},
	{"state with `dedup: marker`", marker, nil, "1", false, 2, 0, 4},
	{"state with `dedup: marker`, a duplicate", marker, []string{"1"}, "1", true, 2, 0, 4},
}

// TestCosts holds the handler to the costs that are promised: requests, failed ones included, as they leave the
// client, and write units as the engine tells them, for items of less than 1 KB. None of it is measured in time.
func TestCosts(t *testing.T) {
	engine := startEngine(t)
	telling := tellsUnits(t, engine)
	for i, tt := range costs {
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
			if got := w.units(); telling && got != tt.units {
				t.Errorf("%v write units, want %v", got, tt.units)
			}
		})
	}
}

// Every row of docs/costs.md is measured here, and says what is measured.
func TestCostsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/costs.md")
	if err != nil {
		t.Fatal(err)
	}
	measured := map[string]string{}
	for _, c := range hotCosts {
		measured[c.name] = fmt.Sprintf("at most %v", c.units)
	}
	for _, c := range costs {
		measured[c.name] = strconv.FormatFloat(c.units/float64(len(strings.Fields(c.batch))), 'f', -1, 64)
	}
	rows := regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \| ([^|]+) \|$`).FindAllStringSubmatch(string(text), -1)
	if len(rows) < 20 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, row := range rows[2:] {
		if want, ok := measured[row[1]]; !ok || want != row[2] {
			t.Errorf("%s: %s write units per event are promised, %q measured", row[1], row[2], want)
		}
	}
}

// hotCosts are the rows of docs/costs.md that TestHotDeltaCosts measures.
var hotCosts = []struct {
	name   string
	rounds int
	units  float64 // at most, per event, indexes included
}{
	{"delta, sixteen invocations at once on one key, a batch each", 1, 0.2},
	{"delta, sixteen invocations at once on one key, twenty batches each", 20, 0.8},
}

// TestHotDeltaCosts: sixteen invocations at once on one key cost at most 1.3 writes per batch, the catching up of the
// cursor included, on a new entity and over many batches each, request by request in an order that is drawn: so over twenty
// new entities, one after the other, since a single unlucky one of sixteen batches may cost more.
func TestHotDeltaCosts(t *testing.T) {
	engine := startEngine(t)
	telling := tellsUnits(t, engine)
	for _, tt := range hotCosts {
		t.Run(tt.name, func(t *testing.T) {
			w := newMeasured(t, engine, fmt.Sprint("hot-", tt.rounds), delta)
			var consumers [crowd]*Consumer
			for i := range consumers {
				consumers[i] = w.instance()
			}
			w.requests.reset()
			w.meter.Reset()
			entities, rng := 20/tt.rounds, rand.New(rand.NewPCG(1, 1))
			for n := range entities {
				w.rush(t, rng, consumers[:], fmt.Sprintf("x%d", n), tt.rounds)
			}
			writes, _ := w.requests.count()
			batches := float64(crowd * tt.rounds * entities)
			perBatch, perEvent := float64(writes)/batches, w.units()/(batches*crowdBatch)
			t.Logf("%.2f writes per batch, %.2f write units per event", perBatch, perEvent)
			if perBatch > 1.3 {
				t.Errorf("%.2f writes per batch, want at most 1.3", perBatch)
			}
			if telling && perEvent > tt.units {
				t.Errorf("%.2f write units per event, want at most %.2f", perEvent, tt.units)
			}
		})
	}
}

const (
	crowd      = 16 // invocations at once
	crowdBatch = 10
)

// rush lets consumers count the numbers of one entity at once, some batches each.
func (w *measured) rush(t *testing.T, rng *rand.Rand, consumers []*Consumer, entity string, rounds int) {
	t.Helper()
	var all []func()
	for i, c := range consumers {
		all = append(all, func() {
			for round := range rounds {
				first := (round*crowd+i)*crowdBatch + 1
				var numbers []string
				for n := first; n < first+crowdBatch; n++ {
					numbers = append(numbers, fmt.Sprintf("%s.%d", entity, n))
				}
				for len(numbers) > 0 { // what lies beyond the window comes back, as it would from the queue
					numbers = w.tryDeliver(t, c, numbers)
				}
			}
		})
	}
	interleave(rng, &w.requests.turn, all...)
	e, err := w.store.Entity(t.Context(), ordering.Key{Consumer: "c", Stream: "s", ID: entity})
	if last := int64(crowd * rounds * crowdBatch); err != nil || e.Effective() != last {
		t.Errorf("the effective cursor of %s is %d, want %d (%v)", entity, e.Effective(), last, err)
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
	client := ddb.NewClient(engine.Config(), ddb.ClientOptions{Endpoint: engine.Endpoint, Transport: w.requests, Meter: w.meter, TryTimeout: patience})
	if err := ddb.CreateTables(t.Context(), client, tables); err != nil {
		t.Fatal(err)
	}
	w.store = &ddb.Store{API: client, Tables: tables}
	return w
}

// instance is a new function instance, which knows nothing yet.
func (w *measured) instance() *Consumer {
	parts := w.parts(w.store, &fakeSQS{}, io.Discard, func() time.Time { return sampleNow }, nil)
	parts.Wait = func(context.Context, int) {}
	return NewConsumer(parts)
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

// units are those that the engine told, and those of failed conditions, of which no engine and not AWS tells any.
func (w *measured) units() float64 {
	w.requests.mu.Lock()
	defer w.requests.mu.Unlock()
	return w.meter.Used().WriteUnits + w.requests.refused
}

func tellsUnits(t *testing.T, engine *local.Engine) bool {
	t.Helper()
	findings, err := engine.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return !findings.Lacks(local.ConsumedCapacity)
}

// requests counts items as they leave the client: put, updated, deleted or condition-checked, keys got, and queries.
type requests struct {
	mu            sync.Mutex
	writes, reads int
	refused       float64 // write units of items of up to 1 KB whose condition failed: billed like the others
	turn          func()  // waits for the request's turn; nil: there is nobody else
}

func (r *requests) RoundTrip(request *http.Request) (*http.Response, error) {
	if r.turn != nil {
		r.turn()
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	writes, reads, units := 0, 0, 0.0
	switch operation {
	case "PutItem", "UpdateItem", "DeleteItem":
		writes, units = 1, 1
	case "TransactWriteItems":
		var in struct{ TransactItems []json.RawMessage }
		err = json.Unmarshal(body, &in)
		writes, units = len(in.TransactItems), 2*float64(len(in.TransactItems))
	case "GetItem", "Query":
		reads = 1
	}
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes += writes
	r.reads += reads
	if err == nil && response.StatusCode == http.StatusBadRequest {
		r.refused += units
	}
	return response, err
}

func (r *requests) count() (writes, reads int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writes, r.reads
}

func (r *requests) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes, r.reads, r.refused = 0, 0, 0
}
