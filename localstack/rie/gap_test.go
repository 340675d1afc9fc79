package rie

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/stack/stacktest"
	"inorder/ddb"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// R1, R3: the sweeper takes a schedule's event and answers null; with nothing open its gauges are zero, and it starts once.
func TestSweeperWithNothingToDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.start(t, sweeper, nil)
	for i := range 2 {
		got := f.invoke(text(t, "testdata", "schedule.json"))
		if got.status != 200 || got.body != "null" {
			t.Errorf("answered %d %s", got.status, got.body)
		}
		printed := read(t, got.output)
		wantStarted(t, printed, sweeper, i == 0)
		printed.want(t, map[string]float64{
			functions.GaugeParked: 0, functions.GaugeGaps: 0, functions.GaugeBlocked: 0,
			functions.GaugeOldestGap: 0, functions.GaugeWindowPercent: 0, functions.GaugeAgePercent: 0,
		})
	}
	if n := len(w.Queues.Sent(stacktest.RepublishURL)); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// R1, R3: the relay takes a record of the outbox's stream: the row goes to the events queue byte for byte, a note of it to
// the relay's own, and no record is named.
func TestRelaySendsANewRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.start(t, relay, nil)
	for i := range 2 {
		got := f.invoke(text(t, "testdata", "outbox-row-inserted.json"))
		if got.status != 200 || got.body != nothingBack {
			t.Errorf("answered %d %s", got.status, got.body)
		}
		printed := read(t, got.output)
		wantStarted(t, printed, relay, i == 0)
		printed.want(t, map[string]float64{functions.MetricRowsRelayed: 1})
	}
	const row = `{"event_id":"acc_1:7","type":"EntryPosted","entity_id":"acc_1","seq":7,"generation":0,"source":"bank",` +
		`"published_at":"2026-09-05T10:14:15Z","data":{"account":"acc_1","amount":12.50,"currency":"EUR"}}`
	wantBodies(t, w, stacktest.EventsURL, row, row)
	const note = `{"type":"inorder.note","stream":"ledger","entity_id":"acc_1","source":"bank","generation":0,"seq":7}`
	wantBodies(t, w, stacktest.RepublishURL, note, note)
}

// R3: the relay answers a republish request with the rows that the outbox has, byte for byte; a message that is neither
// request nor note is named.
func TestRelayAnswersARequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.write(t, "acc_1", "1.00"), w.write(t, "acc_1", "20.00")
	w.write(t, "acc_1", "300.00") // nobody asks for it
	request := text(t, "testdata", "republish-request.json")
	f := w.start(t, relay, nil)
	if got := f.invoke(request); got.status != 200 || got.body != nothingBack {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	wantBodies(t, w, stacktest.EventsURL, first, second)
	got := f.invoke(strings.Replace(request, `\"ranges\"`, `\"spans\"`, 1))
	if got.body != `{"batchItemFailures":[{"itemIdentifier":"9d1c0b1a-6f0e-4c55-8a39-2f5c2f0d7a11"}]}` {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	read(t, got.output).want(t, map[string]float64{functions.MetricRelayFailures: 1})
}

// The three binaries together: a lost event is missed, the sweeper asks for it, the relay sends it again, and the consumer
// goes on. What each of them sends is taken by the next as it is.
func TestALostEventIsHealed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, _, third := w.write(t, "acc_9", "1.00"), w.write(t, "acc_9", "20.00"), w.write(t, "acc_9", "300.00")
	streams := stacktest.Streams(t, text(t, "..", "..", "events", "streams.yaml"))
	w.Consume(streams, time.Now().Add(-10*time.Minute), first, third)

	swept := w.start(t, sweeper, nil).invoke(text(t, "testdata", "schedule.json"))
	printed := read(t, swept.output)
	if lines := printed.find("sequence gap"); len(lines) != 1 || lines[0]["entity_id"] != "acc_9" || printed.metrics[functions.GaugeGaps] != 1 {
		t.Fatalf("answered %d %s: %s", swept.status, swept.body, swept.output)
	}
	requests := w.Queues.Empty(stacktest.RepublishURL)
	if answered := w.start(t, relay, nil).invoke(queued(t, requests)); answered.body != nothingBack {
		t.Fatalf("the relay answered %s to %v", answered.body, requests)
	}
	again := w.Queues.Empty(stacktest.EventsURL)
	if applied := w.start(t, consumer, nil).invoke(queued(t, again)); applied.body != nothingBack {
		t.Fatalf("the consumer answered %s to %v", applied.body, again)
	}
	ledger, err := w.Store.Entity(t.Context(), ordering.Key{Consumer: consumerName, Stream: "ledger", ID: "acc_9"})
	if err != nil || ledger.Applied != 3 || ledger.State["balance"] != events.Number("321") || ledger.Gap != nil {
		t.Errorf("%+v, %v", ledger, err)
	}
}

// write puts an event of an account into the outbox, as a producer does, and returns it as it is to be sent.
func (w *world) write(t *testing.T, account, amount string) string {
	t.Helper()
	var body []byte
	_, err := w.outbox.Write(t.Context(), ddb.OutboxWrite{
		Key: ddb.OutboxKey{Stream: "ledger", EntityID: account},
		Draft: func(at ordering.Position) (ddb.OutboxDraft, error) {
			var err error
			body, err = ddb.OutboxEvent{
				EventID: fmt.Sprintf("%s:%d", account, at.Seq), Type: "EntryPosted", EntityID: account, PublishedAt: time.Now(),
				Data: map[string]any{"account": account, "amount": amount, "currency": "EUR"},
			}.Body(at)
			return ddb.OutboxDraft{Event: body}, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// queued is the event with which Lambda hands on messages of a queue.
func queued(t *testing.T, messages []events.Message) string {
	t.Helper()
	var event awsevents.SQSEvent
	for _, m := range messages {
		event.Records = append(event.Records, awsevents.SQSMessage{MessageId: m.ID, Body: m.Body, EventSource: "aws:sqs"})
	}
	out, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func wantBodies(t *testing.T, w *world, url string, want ...string) {
	t.Helper()
	sent := w.Queues.Sent(url)
	if len(sent) != len(want) {
		t.Fatalf("%d messages in %s: %v", len(sent), url, sent)
	}
	for i, m := range sent {
		if m.Body != want[i] {
			t.Errorf("%s got\n%s\nwant\n%s", url, m.Body, want[i])
		}
	}
}
