package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"inorder/events"
	"inorder/ordering"
	"inorder/ordering/memory"
)

// fuzzStreams take whatever may be: one stream of each mode and clock.
const fuzzStreams = `
consumer: c
streams:
  - {name: plan, types: [PlanSet], mode: state, clock: entity, tombstone: [PlanEnded]}
  - {name: part, types: ["part.*"], mode: state, clock: attribute, dedup: marker}
  - {name: profile, types: ["profile.*"], mode: state, clock: source, owns: {crm: [name], billing: [plan]}}
  - {name: ledger, types: [Posted], mode: step, window: 20, projection: {sum: {balance: data.amount}, set: {last: data.note}}, effects: true, on_expired: skip}
  - {name: own, types: [Own], mode: step, per_source: true, start: any, log: all, projection: {sum: {n: data.n}}}
  - {name: seats, types: [Seated], mode: delta, window: 20, projection: {sum: {n: data.n}}}
  - {name: views, types: [Viewed], mode: delta, order: {by: none}, projection: {sum: {n: data.n}}}
  - {name: rest, types: ["*"], mode: state, clock: entity, order: {by: time}}
`

// FuzzConsumer: whatever three messages say, alone and together, the handler answers without an error, names only what it
// was given, each once; its dispositions add up to what it consumed (Conservation); and what it has acknowledged changes
// nothing when it comes again, in another order and to a cold function (AckIdempotence).
func FuzzConsumer(f *testing.F) {
	for _, typ := range []string{"PlanSet", "PlanEnded", "part.x", "profile.x", "Posted", "Own", "Seated", "Viewed", "x"} {
		body := `{"event_id":"e%d","type":"` + typ + `","entity_id":"a","source":"crm","seq":%d,"published_at":"2026-03-01T11:00:00Z","data":{"amount":%d,"n":"1.5","name":null,"note":{"x":[]}}}`
		f.Add(fmt.Sprintf(body, 1, 1, 1), fmt.Sprintf(body, 3, 3, 2), fmt.Sprintf(body, 2, 2, 3))
	}
	f.Add(`{"type":"inorder.void","stream":"ledger","entity_id":"a","ranges":[[1,2]],"reason":"expired"}`,
		`{"type":"inorder.mark","stream":"seats","entity_id":"a","seq":9}`, `{"type":"Posted","entity_id":"a","seq":3,"data":{"amount":1e30}}`)
	f.Add(`{"type":"Posted","entity_id":"a","seq":1,"generation":2,"data":{"amount":"x"}}`, `{"type":"Posted","entity_id":"a","seq":1}`, `[`)
	streams, err := events.ParseStreams([]byte(fuzzStreams), events.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		for _, body := range []string{a, b, c} {
			if refusedBySQS(&sqs.SendMessageInput{MessageBody: &body}) != nil {
				t.Skip("no queue holds such a text")
			}
		}
		w := &fuzzWorld{t: t, streams: streams, store: &memory.Store{}}
		acked := w.deliver(record("m1", a), record("m2", b), record("m3", c))
		stood := w.stands()
		slices.Reverse(acked)
		for _, again := range acked {
			w.deliver(again)
		}
		if now := w.stands(); now != stood {
			t.Fatalf("it stood\n%s\nand after everything came again\n%s", stood, now)
		}
	})
}

// fuzzWorld is a store with cold consumers.
type fuzzWorld struct {
	t       *testing.T
	streams *events.Config
	store   *memory.Store
	token   int
}

// deliver returns what was acknowledged.
func (w *fuzzWorld) deliver(batch ...awsevents.SQSMessage) (acked []awsevents.SQSMessage) {
	w.t.Helper()
	var emf bytes.Buffer
	consumer := NewConsumer(Parts{
		Streams: w.streams, Store: w.store, SQS: &fakeSQS{}, QuarantineURL: "q", EffectsURL: "e.fifo", EffectsMode: ordering.EffectsOn,
		Metrics: &emf, Now: func() time.Time { return testNow }, Parallel: 1, RowsAtOnce: 1,
		Wait:     func(context.Context, int) {},
		NewToken: func() string { w.token++; return fmt.Sprint(w.token) },
	})
	answer, err := consumer.Handle(w.t.Context(), awsevents.SQSEvent{Records: batch})
	if err != nil || answer.BatchItemFailures == nil {
		w.t.Fatal(answer, err)
	}
	checkCounts(w.t, emf.String(), len(batch))
	for _, m := range batch {
		if !takeFailure(&answer, m.MessageId) {
			acked = append(acked, m)
		}
	}
	if len(answer.BatchItemFailures) > 0 {
		w.t.Fatalf("named twice, or never received: %v", answer.BatchItemFailures)
	}
	return acked
}

// takeFailure takes an id out of the answer, once.
func takeFailure(answer *awsevents.SQSEventResponse, id string) bool {
	is := func(f awsevents.SQSBatchItemFailure) bool { return f.ItemIdentifier == id }
	at := slices.IndexFunc(answer.BatchItemFailures, is)
	if at >= 0 {
		answer.BatchItemFailures = slices.Delete(answer.BatchItemFailures, at, at+1)
	}
	return at >= 0
}

// checkCounts: the dispositions are as many as the events consumed, and those at least as many as the messages.
func checkCounts(t *testing.T, emf string, messages int) {
	t.Helper()
	var consumed, ended float64
	for line := range strings.Lines(emf) {
		var doc map[string]any
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err, line)
		}
		n, _ := doc["events_consumed_total"].(float64)
		consumed += n
		for _, d := range ordering.Dispositions() {
			n, _ := doc[d.Metric()].(float64)
			ended += n
		}
	}
	if consumed != ended || consumed < float64(messages) {
		t.Fatalf("%v events consumed of %d messages, and %v dispositions", consumed, messages, ended)
	}
}

// stands is all that must not change.
func (w *fuzzWorld) stands() string {
	var lines []string
	for key, e := range w.store.All() {
		state, err := json.Marshal(e.State)
		if err != nil {
			w.t.Fatal(err)
		}
		lines = append(lines, fmt.Sprint(key, string(state), e.StateMarks, e.Gen, e.Effective(), e.Waiting, e.Ahead, e.Blocked, e.Skipped, e.Dispatched, len(e.Owed)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// FuzzRelay: whatever a message of the republish queue says, the relay answers it or gives it back, sends no more than a
// window of rows and their voids, and nothing that its own consumer could not read.
func FuzzRelay(f *testing.F) {
	for _, stream := range []string{"ledger", "plan", "meter", "profile", "chat", "none"} {
		f.Add(fmt.Sprintf(`{"consumer":"c","stream":%q,"entity_id":"a","source":"","generation":0,"ranges":[[1,3],[7,9]],"attempt":1,"requested_at":"x"}`, stream))
		f.Add(fmt.Sprintf(`{"type":%q,"stream":%q,"entity_id":"a","source":"eu","generation":0,"seq":9}`, NoteType, stream))
	}
	f.Add(`{"stream":"ledger","entity_id":"a","ranges":[[1,9223372036854775807],[3,2]]}`)
	f.Add(`{"stream":"ledger","entity_id":"a","generation":-1,"ranges":[[5,5],[5,5],[1,20]]}`)
	f.Fuzz(func(t *testing.T, body string) {
		b := newRelayBench(t)
		b.outbox.wrote("ledger/a", 1, 2, 5, 9).wrote("plan/a", 4, 9).wrote("meter/a/", 2).wrote("meter/a/eu", 1, 9).wrote("profile/a", 9)
		r := record("m1", body)
		answer, err := b.HandleQueue(t.Context(), awsevents.SQSEvent{Records: []awsevents.SQSMessage{r}})
		if err != nil || answer.BatchItemFailures == nil || takeFailure(&answer, "m1") && len(b.sqs.queues) > 0 || len(answer.BatchItemFailures) > 0 {
			t.Fatalf("%v, %v, sent %v", answer, err, b.sqs.queues)
		}
		if len(b.sqs.queues[republishURL]) > 0 || len(b.sqs.queues[eventsURL]) > 20 {
			t.Fatalf("sent %v", b.sqs.queues)
		}
		for _, sent := range b.sqs.bodies(eventsURL) {
			checkAnswer(t, b, sent)
		}
	})
}

// checkAnswer: what the relay says about numbers is read as it means it.
func checkAnswer(t *testing.T, b *relayBench, body string) {
	t.Helper()
	if strings.HasPrefix(body, `{"n":`) {
		return // a row, as it stands in the outbox
	}
	all := b.streams.Decode(events.Message{Body: body}, testNow)
	e := all[0].Event
	if len(all) != 1 || e == nil || e.Kind == events.Fact {
		t.Fatalf("%+v of %s", all, body)
	}
	var numbers int64
	for _, r := range e.Ranges {
		numbers += r.Last - r.First + 1
	}
	if numbers > stateWindow || e.Kind == events.Void && !reflect.DeepEqual(e.Ranges, events.JoinRanges(e.Ranges)) {
		t.Fatalf("%+v", e)
	}
}
