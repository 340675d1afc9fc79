package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/events"
	"inorder/ordering"
)

// hostileBytes is how large hostile messages are. SQS takes 1,048,576; what is beyond an item's 400 KB is refused alike.
var hostileBytes = flag.Int("hostile-bytes", 430_000, "size of the hostile messages that are large")

const hostileStreams = `
consumer: c
streams:
  - {name: doc, types: [DocSet], mode: state, clock: entity}
  - {name: part, types: [PartSet], mode: state, clock: attribute}
  - {name: mark, types: [Noted], mode: state, clock: entity, dedup: marker, order: {by: time, path: at}}
  - {name: object, types: ["ObjectCreated:*"], mode: state, clock: entity, order: {by: hex}}
  - {name: ledger, types: [Posted], mode: step, window: 100, gap_deadline: 1m, projection: {sum: {balance: data.amount}}}
  - {name: broken, types: [Broken], mode: step, window: 100, gap_deadline: 1m, projection: broken}
  - {name: seats, types: [Seated], mode: delta, window: 100, gap_deadline: 1m, projection: {sum: {seats: data.amount}}}
`

// expense is what something took of those who pay: items written and read, as AWS would count requests, and what was sent.
type expense struct {
	writes, reads    int // items put, updated, deleted or checked, failed ones included; keys got and queries
	copies, requests int // to quarantine; to the producer
	lines            int // of the log, metrics apart
	logged           int // bytes of them
	deferred         int // messages that come back
	took             time.Duration
}

// payer counts requests on their way to the engine.
type payer struct {
	mu            sync.Mutex
	writes, reads int
}

func (p *payer) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(sent))
	var asked struct {
		TransactItems []any
		RequestItems  map[string]struct{ Keys []any }
	}
	if err := json.Unmarshal(sent, &asked); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch _, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); op {
	case "PutItem", "UpdateItem", "DeleteItem":
		p.writes++
	case "TransactWriteItems":
		p.writes += len(asked.TransactItems)
	case "GetItem", "Query":
		p.reads++
	case "BatchGetItem":
		for _, table := range asked.RequestItems {
			p.reads += len(table.Keys)
		}
	}
	return local.Transport().RoundTrip(r)
}

// attacked is a deployment that somebody hostile may send to.
type attacked struct {
	payer   payer
	sqs     fakeSQS
	metrics bytes.Buffer
	logs    bytes.Buffer
	now     time.Time
	streams *events.Config
	store   *ddb.Store
	ends    []string
}

func newAttacked(t *testing.T, engine *local.Engine, prefix string) *attacked {
	t.Helper()
	streams, err := events.ParseStreams([]byte(hostileStreams), events.Options{Projections: []string{"broken"}})
	if err != nil {
		t.Fatal(err)
	}
	a := &attacked{now: sampleNow, streams: streams}
	client := ddb.NewClient(engine.Config(), ddb.ClientOptions{Endpoint: engine.Endpoint, TryTimeout: patience, Transport: &a.payer})
	a.store = &ddb.Store{API: client, Tables: ddb.Tables{Entities: prefix + "-entities", Items: prefix + "-items"}}
	if err := ddb.CreateTables(t.Context(), client, a.store.Tables); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *attacked) parts() SweeperParts {
	return SweeperParts{
		Parts: Parts{
			Streams: a.streams, Store: a.store, SQS: &a.sqs, QuarantineURL: quarantineQueue, EffectsURL: effectsQueue,
			Projections: map[string]ordering.Projector{"broken": func(map[string]any, *events.Event) (map[string]any, []any, error) {
				return nil, nil, fmt.Errorf("never")
			}},
			Metrics: &a.metrics, Log: NewLogger(&a.logs, slog.LevelDebug), Now: func() time.Time { return a.now },
			Wait: func(context.Context, int) {},
			Observe: func(_ events.Message, outcomes []ordering.Outcome) {
				for _, o := range outcomes {
					a.ends = append(a.ends, o.Disposition.String())
				}
			},
		},
		Upkeep: a.store, RepublishURL: republishQueue,
	}
}

// costs measures what some work takes.
func (a *attacked) costs(do func()) expense {
	a.payer.writes, a.payer.reads, a.sqs.sent, a.ends = 0, 0, nil, nil
	a.logs.Reset()
	began := time.Now()
	do()
	e := expense{writes: a.payer.writes, reads: a.payer.reads, took: time.Since(began)}
	for _, in := range a.sqs.sent {
		switch *in.QueueUrl {
		case quarantineQueue:
			e.copies++
		case republishQueue:
			e.requests++
		}
	}
	e.lines, e.logged = strings.Count(a.logs.String(), "\n"), a.logs.Len()
	return e
}

// consume hands over bodies in one batch to a cold function.
func (a *attacked) consume(t *testing.T, bodies ...string) expense {
	t.Helper()
	var batch awsevents.SQSEvent
	for i, body := range bodies {
		if len(body) > maxMessageBytes {
			t.Fatalf("message %d has %d bytes, and SQS takes %d", i, len(body), maxMessageBytes)
		}
		batch.Records = append(batch.Records, record(fmt.Sprint("m", i), body))
	}
	back := 0
	e := a.costs(func() {
		out, err := NewConsumer(a.parts().Parts).Handle(t.Context(), batch)
		if err != nil {
			t.Fatal(err)
		}
		back = len(out.BatchItemFailures)
	})
	e.deferred = back
	return e
}

func (a *attacked) sweep(t *testing.T, times int, every time.Duration) expense {
	t.Helper()
	return a.costs(func() {
		for range times {
			a.now = a.now.Add(every)
			if err := NewSweeper(a.parts()).Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func (a *attacked) entity(t *testing.T, stream, id string) *ordering.Entity {
	t.Helper()
	e, err := a.store.Entity(t.Context(), ordering.Key{Consumer: "c", Stream: stream, ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (e expense) within(t *testing.T, what string, most expense) {
	t.Helper()
	for _, one := range []struct {
		name      string
		got, most int
	}{
		{"writes", e.writes, most.writes},
		{"reads", e.reads, most.reads},
		{"copies", e.copies, most.copies},
		{"requests", e.requests, most.requests},
		{"lines", e.lines, most.lines},
		{"deferred", e.deferred, most.deferred},
	} {
		if one.got > one.most {
			t.Errorf("%s: %d %s, at most %d", what, one.got, one.name, one.most)
		}
	}
	if most := most.lines * 5 * maxLoggedBytes; e.logged > most {
		t.Errorf("%s: %d bytes of log lines, at most %d", what, e.logged, most)
	}
	if e.took > 30*time.Second { // 100,000 zeros alone once took 4, and 20 with the race detector
		t.Errorf("%s takes %v", what, e.took)
	}
	t.Logf("%-5s %d writes, %d reads, %d copies, %d requests, %d lines of %d bytes, %d come back, %v",
		what, e.writes, e.reads, e.copies, e.requests, e.lines, e.logged, e.deferred, e.took.Round(time.Millisecond))
}

// namesItself fails where a metric or one of its dimensions has a name that streams.yaml does not have: each is billed.
func (a *attacked) namesItself(t *testing.T) {
	t.Helper()
	known := map[string]bool{NoEventType: true, "": true}
	for _, s := range a.streams.Streams {
		for _, pattern := range s.Types {
			known[pattern] = true
		}
	}
	for line := range strings.Lines(a.metrics.String()) {
		var document struct {
			Consumer string `json:"consumer"`
			Type     string `json:"event_type"`
			AWS      struct {
				CloudWatchMetrics []struct{ Metrics []struct{ Name string } }
			} `json:"_aws"`
		}
		if err := json.Unmarshal([]byte(line), &document); err != nil {
			t.Fatal(err)
		}
		if !known[document.Type] || document.Consumer != "c" {
			t.Errorf("a message made the dimension %q", document.Type)
		}
		for _, metric := range document.AWS.CloudWatchMetrics[0].Metrics {
			if !metricName.MatchString(metric.Name) {
				t.Errorf("a message made the metric %q", metric.Name)
			}
		}
	}
}

var metricName = regexp.MustCompile(`^(events|event|sequence|effects)_[a-z_]+$`)

func filled(text string, size int) string { return strings.Repeat(text, size/len(text)) }

// One message, the worst of its kind, costs no more than docs/security.md says, the first time and each time that it comes again.
func TestWhatOneHostileMessageCosts(t *testing.T) {
	large := *hostileBytes * 9 / 10 // with what stands around it
	engine := startEngine(t)
	if engine.Name == local.Minidyn {
		t.Skip("minidyn lacks the limits that bound what is written")
	}
	var worst expense
	attacks := 0
	records := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"eventName":"ObjectCreated:Put","s3":{"bucket":{"name":"b"},"object":{"key":"%d","sequencer":"1"}}}`, i)
		}
		return `{"Records":[` + strings.Join(all, ",") + `]}`
	}
	manyRecords := large / 4000
	void := func(stream, id, ranges string) string {
		return fmt.Sprintf(`{"type":"inorder.void","stream":%q,"entity_id":%q,"ranges":[%s],"reason":"never_existed"}`, stream, id, ranges)
	}
	mark := func(stream, id string, seq int64) string {
		return fmt.Sprintf(`{"type":"inorder.mark","stream":%q,"entity_id":%q,"seq":%d}`, stream, id, seq)
	}
	refused := expense{copies: 1, lines: 1}
	fact := func(typ, id string, seq int64, data string) string {
		return fmt.Sprintf(`{"event_id":"%s-%d","type":%q,"entity_id":%q,"seq":%d,"at":"2026-09-05T10:00:00Z","data":%s}`, id, seq, typ, id, seq, data)
	}
	for i, attack := range []struct {
		name, body string
		most       expense
	}{
		{"no JSON, as long as a message can be", filled("x", *hostileBytes), refused},
		{"JSON of very many levels", strings.Repeat(`{"a":`, large/6) + "1" + strings.Repeat("}", large/6), refused},
		{"a state of 40 levels", fact("DocSet", "deep", 1, strings.Repeat(`{"a":`, 40)+"1"+strings.Repeat("}", 40)), refused},
		{"nobody's type, as long as it can be", fact(filled("T", large), "a", 1, "{}"), refused},
		{"a key above 2,048 bytes", fact("DocSet", filled("ü", large/3), 1, "{}"), refused},
		{"an event id as long as it can be", strings.Replace(fact("DocSet", "id", 1, "{}"), "id-1", filled("e", large), 1), expense{writes: 1, copies: 1, lines: 1}},
		{"a marker's id as long as it can be", strings.Replace(fact("Noted", "id", 1, "{}"), "id-1", filled("e", large), 1), expense{writes: 2, reads: 2, copies: 1, lines: 1}},
		{"a state above 400 KB", fact("DocSet", "large", 1, `{"x":"`+filled("x", max(large, 410_000))+`"}`), expense{writes: 1, copies: 1, lines: 1}},
		{"very many attributes, whole", fact("DocSet", "many", 1, "{"+numbered(large/100, `"a%d":1`)+"}"), expense{writes: 1, copies: 1, lines: 1}},
		{"very many attributes, each with its clock", fact("PartSet", "many", 1, "{"+numbered(large/150, `"a%d":1`)+"}"), expense{writes: large/150/40 + 2, reads: 2, copies: 1, lines: 1}},
		{"a step that is too large to wait", fact("Posted", "wait", 2, `{"x":"`+noise(max(large, 700_000), "abcdefghijklmnopqrstuvwxyz0123456789")+`"}`), expense{writes: 1, reads: 1, copies: 1, lines: 1}},
		{"numbers of 99,000 zeros", fact("DocSet", "digits", 1, `{"x":[0`+strings.Repeat(",1"+filled("0", 99_000), large/100_000)+"]}"), refused},
		{"the same, of zeros that say nothing", fact("DocSet", "idle", 1, `{"x":[0`+strings.Repeat(",1."+filled("0", 99_000), large/100_000)+"]}"), expense{writes: 1, copies: 1, lines: 1, deferred: 1}},
		{"an amount of 99,000 zeros", fact("Seated", "zeros", 1, `{"amount":1`+filled("0", 99_000)+`}`), expense{reads: 1, copies: 1, lines: 1}},
		{"a notification of many objects", records(manyRecords), expense{writes: manyRecords, lines: manyRecords}},
		{"a step as far ahead as a number goes", fact("Posted", "far", math.MaxInt64, "{}"), expense{writes: 1, reads: 2, lines: 1, deferred: 1}},
		{"an increment as far ahead", fact("Seated", "far", math.MaxInt64, `{"amount":1}`), expense{writes: 1, reads: 2, lines: 1, deferred: 1}},
		{"a mark as far ahead, of a step", mark("ledger", "mark", math.MaxInt64), expense{writes: 1, reads: 1, lines: 1}},
		{"a mark as far ahead, of an increment", mark("seats", "mark", math.MaxInt64), expense{writes: 1, reads: 1, lines: 1}},
		{"a mark as far ahead, of a state", mark("doc", "mark", math.MaxInt64), expense{writes: 1, reads: 1, lines: 1}},
		{"a void of all numbers", void("ledger", "all", fmt.Sprintf("[1,%d]", int64(math.MaxInt64))), expense{writes: 101, reads: 2, lines: 1, deferred: 1}},
		{"a void of a whole window, step", void("ledger", "window", "[2,100]"), expense{writes: 100, reads: 2, lines: 1}},
		{"a void of a whole window, increment", void("seats", "window", "[2,100]"), expense{writes: 2, reads: 2, lines: 1}},
		{"a void of very many ranges", void("ledger", "ranges", numbered(large/17, "[%[1]d0,%[1]d0]")), expense{writes: 11, reads: 2, lines: 1, deferred: 1}},
		{"a void of one number, very many times", void("ledger", "again", strings.Repeat("[2,2],", large/7)+"[2,2]"), expense{writes: 2, reads: 2, lines: 1}},
		{"a projection that always fails", fact("Broken", "poison", 1, "{}"), expense{writes: 2, reads: 2, copies: 1, lines: 1}},
		{"the highest generation", strings.Replace(fact("Posted", "gen", 1, "{}"), `"seq"`, `"generation":9999999999,"seq"`, 1), expense{writes: 1, reads: 2, lines: 1}},
	} {
		t.Run(attack.name, func(t *testing.T) {
			a := newAttacked(t, engine, fmt.Sprint("hostile-", i))
			for _, time := range []string{"first", "again"} {
				e := a.consume(t, attack.body)
				e.within(t, time, attack.most)
				worst.writes, worst.reads, worst.took = max(worst.writes, e.writes), max(worst.reads, e.reads), max(worst.took, e.took)
				worst.logged = max(worst.logged, e.logged/max(e.lines, 1))
				attacks++
			}
			a.namesItself(t)
		})
	}
	t.Logf("proof: %d deliveries of hostile messages: at most %d writes (a window, attributes by the forty, or one for each record), "+
		"%d reads, one copy, one line of %d bytes for each event", attacks, worst.writes, worst.reads, worst.logged)
}

func numbered(n int, form string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(form, i+1)
	}
	return strings.Join(all, ",")
}

// What a hostile sender breaks, and what not, as docs/security.md says: a number far ahead raises _max_seen for good, and costs one
// request and one alert for each sweep that is due; real events go on. But a higher generation ends the entity's life, and a void
// of a number that exists takes its event away. Nothing here can tell such a message from a true one: who may send is the defence.
func TestWhatAHostileSenderBreaks(t *testing.T) {
	engine := startEngine(t)
	post := func(id string, generation, seq int64) string {
		return fmt.Sprintf(`{"event_id":"%s-%d-%d","type":"Posted","entity_id":%q,"generation":%d,"seq":%d,"data":{"amount":1}}`, id, generation, seq, id, generation, seq)
	}
	wants := func(t *testing.T, a *attacked, want ...string) {
		t.Helper()
		if fmt.Sprint(a.ends) != fmt.Sprint(want) {
			t.Errorf("ended as %v, want %v", a.ends, want)
		}
	}
	t.Run("a mark far ahead", func(t *testing.T) {
		a := newAttacked(t, engine, "far")
		a.consume(t, fmt.Sprintf(`{"type":"inorder.mark","stream":"ledger","entity_id":"a","seq":%d}`, int64(math.MaxInt64)))
		a.consume(t, post("a", 0, 1), post("a", 0, 2))
		wants(t, a, "applied", "applied")
		const sweeps = 60
		e := a.sweep(t, sweeps, time.Minute)
		gapAttempts := a.streams.Stream("ledger").GapAttempts
		e.within(t, "an hour of sweeps", expense{writes: 2 * sweeps, reads: 20 * sweeps, requests: gapAttempts, lines: 2 * sweeps})
		for _, in := range a.sqs.sent {
			var request events.RepublishRequest
			if err := json.Unmarshal([]byte(*in.MessageBody), &request); err != nil || numbersIn(request.Ranges) > 100 {
				t.Errorf("asks for %s", *in.MessageBody)
			}
		}
		a.consume(t, post("a", 0, 3))
		wants(t, a, "applied")
		if got := a.entity(t, "ledger", "a"); got.Applied != 3 || got.MaxSeen != math.MaxInt64 {
			t.Errorf("%d applied, %d seen", got.Applied, got.MaxSeen)
		}
	})
	t.Run("the highest generation", func(t *testing.T) {
		a := newAttacked(t, engine, "life")
		a.consume(t, post("a", 1, 1))
		a.consume(t, post("a", ddb.MaxGeneration, 1))
		a.consume(t, post("a", 1, 2), post("a", 2, 1))
		wants(t, a, "stale", "stale")
	})
	t.Run("a void of what exists", func(t *testing.T) {
		a := newAttacked(t, engine, "void")
		a.consume(t, `{"type":"inorder.void","stream":"ledger","entity_id":"a","ranges":[[1,1]],"reason":"never_existed"}`)
		a.consume(t, post("a", 0, 1))
		wants(t, a, "duplicate")
		a.consume(t, post("b", 0, 2))
		a.consume(t, `{"type":"inorder.void","stream":"ledger","entity_id":"b","ranges":[[1,2]],"reason":"never_existed"}`)
		if got := a.entity(t, "ledger", "b"); got.Applied != 2 || got.State["balance"] != events.Number("1") {
			t.Errorf("a void took away what was logged: %+v", got)
		}
	})
}
