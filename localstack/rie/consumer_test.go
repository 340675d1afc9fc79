package rie

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/stack/stacktest"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

const (
	nothingBack = `{"batchItemFailures":[]}`
	planChanged = "037328c3-0482-5206-9c33-e54af128e42a" // the message of plan-changed.json
)

// R1: the process of the first invocation says which code it is, answers, and answers the next ones too, without a
// second start; what they print is theirs alone.
func TestConsumerStartsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.start(t, consumer, nil)
	for i, disposition := range []string{"applied", "duplicate", "duplicate"} {
		got := f.invoke(batch(t, "plan-changed"))
		if got.status != 200 || got.body != nothingBack {
			t.Fatalf("answered %d %s\n%s", got.status, got.body, got.output)
		}
		printed := read(t, got.output)
		wantStarted(t, printed, consumer, i == 0)
		printed.want(t, map[string]float64{"events_consumed_total": 1, "events_" + disposition + "_total": 1})
	}
	if n := strings.Count(f.log.String(), "INIT REPORT"); n != 1 {
		t.Errorf("%d inits:\n%s", n, f.log.String())
	}
	stored, err := w.Store.Entity(t.Context(), ordering.Key{Consumer: consumerName, Stream: "subscription", ID: "sub_1"})
	if err != nil || stored.State["plan"] != "basic" {
		t.Errorf("stored %+v, %v", stored, err)
	}
}

// wantStarted expects the line that support looks for first, once, or not at all.
func wantStarted(t *testing.T, printed output, name function, starts bool) {
	t.Helper()
	lines := printed.find("started")
	if len(lines) == 0 && !starts {
		return
	}
	if len(lines) != 1 || !starts || lines[0]["version"] != builtVersion || lines[0]["function"] != string(name) || lines[0]["consumer"] != consumerName {
		t.Errorf("at its start the %s says %v", name, lines)
	}
}

// R3: of a batch in which one event lies beyond its stream's window, one message can never succeed and the others are well,
// exactly the first is named, each time that it comes; the poison lies in quarantine with its reason.
func TestConsumerNamesWhatComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.start(t, consumer, nil)
	far := strings.Replace(batch(t, "step-with-its-predecessor-missing"), `\"seq\":`, `\"seq\":100`, 1)
	id := far[strings.Index(far, `"messageId":"`)+len(`"messageId":"`):][:36]
	got := f.invoke(joined(t, batch(t, "plan-changed"), far, batch(t, "quarantine-not-json", "step-in-order")))
	back := `{"batchItemFailures":[{"itemIdentifier":"` + id + `"}]}`
	if got.status != 200 || got.body != back {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	read(t, got.output).want(t, map[string]float64{
		"events_consumed_total": 5, "events_applied_total": 3, "events_deferred_total": 1, "events_quarantined_total": 1,
		"effects_dispatched_total": 2,
	})
	wantReasons(t, w, events.NotJSON)
	if got = f.invoke(far); got.body != back {
		t.Errorf("answered %d %s the second time", got.status, got.body)
	}
	read(t, got.output).want(t, map[string]float64{"events_consumed_total": 1, "events_deferred_total": 1})
}

// wantReasons expects one copy in quarantine for each reason.
func wantReasons(t *testing.T, w *world, want ...events.Reason) {
	t.Helper()
	var reasons []events.Reason
	for _, m := range w.Queues.Sent(stacktest.QuarantineURL) {
		mark, _ := functions.MarkOf(m)
		reasons = append(reasons, mark.Reason)
	}
	if !slices.Equal(reasons, want) {
		t.Errorf("in quarantine %q, want %q", reasons, want)
	}
}

// R1, R2, R3: every sample is an invocation of one warm process. None of them comes back, and every message is counted.
func TestConsumerTakesEverySample(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(samplesFolder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	w := newWorld(t)
	f := w.start(t, consumer, map[string]string{"LOG_LEVEL": "debug"})
	for _, file := range files {
		got := f.invoke(text(t, file))
		if got.status != 200 || got.body != nothingBack {
			t.Errorf("%s: answered %d %s\n%s", filepath.Base(file), got.status, got.body, got.output)
		}
		printed := read(t, got.output)
		if n := len(printed.find("event")); n == 0 || float64(n) != printed.metrics["events_consumed_total"] {
			t.Errorf("%s: %d events in the log, %v in the metrics", filepath.Base(file), n, printed.metrics)
		}
	}
}

// R2: lines stay whole however many messages are judged at once and however long what they say is: longer than the 4 KB
// that a pipe takes in one piece.
func TestConsumerPrintsWholeLines(t *testing.T) {
	t.Parallel()
	const messages = 300
	var event awsevents.SQSEvent
	for i := range messages {
		body := fmt.Sprintf(`{"event_id":"%d-%s","type":"PlanChanged","entity_id":"e%d","seq":1,"data":{"subscription_id":"e%d","plan":"p"}}`,
			i, strings.Repeat("x", 6000), i, i)
		if i%3 == 0 {
			body = "no JSON"
		}
		event.Records = append(event.Records, awsevents.SQSMessage{
			MessageId: fmt.Sprint("m", i), Body: body, EventSource: "aws:sqs",
			EventSourceARN: "arn:aws:sqs:eu-west-1:123456789012:events",
			Attributes:     map[string]string{"ApproximateReceiveCount": "1", "SentTimestamp": "1788603255000"},
		})
	}
	all, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	got := w.start(t, consumer, map[string]string{"LOG_LEVEL": "debug"}).invoke(string(all))
	if got.body != nothingBack {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	printed := read(t, got.output)
	if n := len(printed.find("event")); n != messages {
		t.Errorf("%d lines of %d messages", n, messages)
	}
	printed.want(t, map[string]float64{
		"events_consumed_total": messages, "events_applied_total": messages * 2 / 3, "events_quarantined_total": messages / 3,
	})
}
