package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/events"
	"inorder/ordering"
)

// What the real handler makes of each sample, on fresh tables under events/streams.yaml: one list per message, one
// word per event. A word with a colon names the reason in quarantine.
var sampleEndings = map[string][][]string{
	"plan-changed":                      {{"applied"}},
	"plan-changed-flat":                 {{"applied"}},
	"webhook-pair-reversed":             {{"applied"}, {"applied"}},
	"call-completed-before-in-progress": {{"applied"}, {"coalesced"}},
	"contact-updated":                   {{"applied"}},
	"contact-deleted":                   {{"applied"}},
	"cloudevent-structured":             {{"applied"}},
	"cloudevent-binary":                 {{"applied"}},
	"cloudevent-binary-over-sns":        {{"applied"}},
	"s3-two-records":                    {{"applied", "applied"}},
	"s3-test-notice":                    {{"quarantined:not_an_event"}},
	"s3-over-eventbridge":               {{"applied"}},
	"sns-wrapped":                       {{"applied"}},
	"eventbridge-wrapped":               {{"applied"}},
	"threefold-wrapped":                 {{"applied"}},
	"duplicate":                         {{"applied"}, {"duplicate"}},
	"step-in-order":                     {{"applied"}, {"applied"}},
	"step-with-its-predecessor-missing": {{"parked"}},
	"step-that-was-missing":             {{"applied"}},
	"step-ignored":                      {{"parked"}},
	"delta":                             {{"applied"}, {"applied"}},
	"tombstone":                         {{"applied"}},
	"profile-of-two-sources":            {{"applied"}, {"applied"}},

	"quarantine-not-json":           {{"quarantined:not_json"}},
	"quarantine-not-an-event":       {{"quarantined:not_an_event"}},
	"quarantine-no-route":           {{"quarantined:no_route"}},
	"quarantine-no-entity-id":       {{"quarantined:no_entity_id"}},
	"quarantine-bad-order-key":      {{"quarantined:bad_order_key"}},
	"quarantine-bad-event-id":       {{"quarantined:bad_event_id"}},
	"quarantine-too-deep":           {{"quarantined:too_deep"}},
	"quarantine-future-time":        {{"quarantined:future_time"}},
	"quarantine-bad-entity-id":      {{"quarantined:bad_entity_id"}},
	"quarantine-reserved-attribute": {{"quarantined:reserved_attribute"}},
	"quarantine-not-owner":          {{"quarantined:not_owner"}},
	"quarantine-number-range":       {{"quarantined:number_range"}},
	"quarantine-too-large":          {{"quarantined:too_large"}},
	"quarantine-conflict":           {{"applied"}, {"conflict:conflict"}},
	"quarantine-old-generation":     {{"parked"}, {"applied"}},
	"quarantine-projection-error":   {{"parked:projection_error"}},
}

// The samples' own reasons that the loop puts into quarantine itself, without an ending of that name.
var copiedByTheLoop = map[string]events.Reason{
	"quarantine-old-generation":   events.OldGeneration,
	"quarantine-projection-error": events.ProjectionError,
}

// minidynLacks is what keeps the fallback engine from the right ending. Nothing is left out on any other.
var minidynLacks = map[string]string{
	"contact-updated":      "an attribute a.b beside an attribute a",
	"quarantine-too-large": "the limit of 400 KB for an item",
}

var sampleNow = time.Date(2026, 9, 5, 10, 15, 0, 0, time.UTC)

func TestEachSampleThroughTheHandler(t *testing.T) {
	files, err := filepath.Glob("../events/samples/*.json")
	if err != nil || len(files) != len(sampleEndings) {
		t.Errorf("%d samples, %d in the table, %v", len(files), len(sampleEndings), err)
	}
	engine := startEngine(t)
	for i, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			if lacks := minidynLacks[name]; lacks != "" && engine.Name == local.Minidyn {
				t.Skipf("minidyn lacks %s", lacks)
			}
			w := newWorld(t, engine, fmt.Sprintf("sample-%d", i))
			c := w.consumer("billing-view")
			got := w.handle(t, c, sampleEvent(t, file))
			if want := sampleEndings[name]; !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("ended as %q, want %q\n%s", got, want, w.out.String())
			}
			w.checkQuarantine(t, name, got)
			w.checkEffects(t, name)
		})
	}
}

// Whoever plays with the samples sends them to one consumer, in any order and again. None of them is in another's way: what is a
// conflict is the sample of one.
func TestSamplesDoNotCollide(t *testing.T) {
	files, err := filepath.Glob("../events/samples/*.json")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, startEngine(t), "samples")
	c := w.consumer("billing-view")
	backwards := slices.Clone(files)
	slices.Reverse(backwards)
	for _, file := range slices.Concat(files, backwards) {
		for _, words := range w.handle(t, c, sampleEvent(t, file)) {
			if slices.Contains(words, "conflict:conflict") && filepath.Base(file) != "quarantine-conflict.json" {
				t.Errorf("%s: %q", file, words)
			}
		}
	}
}

// checkQuarantine expects one copy for every reason that was given, and no other.
func (w *world) checkQuarantine(t *testing.T, name string, got [][]string) {
	t.Helper()
	var want []events.Reason
	for _, message := range got {
		for _, word := range message {
			if disposition, reason, ok := strings.Cut(word, ":"); ok && disposition != "parked" {
				want = append(want, events.Reason(reason))
			}
		}
	}
	if reason, ok := copiedByTheLoop[name]; ok {
		want = append(want, reason)
	}
	var copied []events.Reason
	for _, in := range w.sqs.sent {
		if *in.QueueUrl == w.quarantineURL {
			mark, _ := MarkOf(receiveUnopened(delivered(in)))
			copied = append(copied, mark.Reason)
		}
	}
	if !slices.Equal(copied, want) {
		t.Errorf("in quarantine %q, want %q", copied, want)
	}
}

// checkEffects expects one for each step that can run.
func (w *world) checkEffects(t *testing.T, name string) {
	t.Helper()
	want, n := map[string]int{"step-in-order": 2, "step-that-was-missing": 1}[name], 0
	for _, in := range w.sqs.sent {
		if *in.QueueUrl == w.effectsURL {
			n++
		}
	}
	if name != "quarantine-old-generation" && n != want {
		t.Errorf("%d effects, want %d", n, want)
	}
}

func receiveUnopened(r awsevents.SQSMessage) events.Message {
	return events.Message{Body: r.Body, Attributes: attributes(r.MessageAttributes)}
}

// world is one pair of tables on a local engine, with queues in memory.
type world struct {
	*Settings
	store                     ordering.Store
	sqs                       *fakeSQS
	out                       bytes.Buffer
	quarantineURL, effectsURL string
	endings                   [][]string
}

func startEngine(t *testing.T) *local.Engine {
	t.Helper()
	return local.ForTest(t, "")
}

func newWorld(t *testing.T, engine *local.Engine, prefix string) *world {
	t.Helper()
	s, err := ReadSettings(environment(t, "", "STREAMS_FILE", "../events/streams.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	tables := ddb.Tables{Entities: prefix + "-entities", Items: prefix + "-items"}
	client := ddb.NewClient(engine.Config(), ddb.ClientOptions{Endpoint: engine.Endpoint, TryTimeout: patience})
	if err := ddb.CreateTables(t.Context(), client, tables); err != nil {
		t.Fatal(err)
	}
	return &world{
		Settings: s, store: &ddb.Store{API: client, Tables: tables}, sqs: &fakeSQS{},
		quarantineURL: s.QuarantineURL, effectsURL: s.EffectsURL,
	}
}

// consumer is put together as the Lambda function puts its own, under a name.
func (w *world) consumer(name string) *Consumer {
	streams := *w.Streams
	streams.Consumer = name
	settings := *w.Settings
	settings.Streams = &streams
	parts := settings.parts(w.store, w.sqs, &w.out, func() time.Time { return sampleNow }, nil)
	parts.Observe = func(_ events.Message, outcomes []ordering.Outcome) {
		var words []string
		for _, o := range outcomes {
			word := o.Disposition.String()
			if o.Reason != "" {
				word += ":" + string(o.Reason)
			}
			words = append(words, word)
		}
		w.endings = append(w.endings, words)
	}
	return NewConsumer(parts)
}

// handle returns how each message of a batch ended, all of them acked.
func (w *world) handle(t *testing.T, c *Consumer, batch awsevents.SQSEvent) [][]string {
	t.Helper()
	w.endings = nil
	out, err := c.Handle(t.Context(), batch)
	if err != nil || len(out.BatchItemFailures) > 0 {
		t.Errorf("%v, %v\n%s", out, err, w.out.String())
	}
	return w.endings
}

func sampleEvent(t *testing.T, file string) awsevents.SQSEvent {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var batch awsevents.SQSEvent
	if err := json.Unmarshal(text, &batch); err != nil {
		t.Fatal(err)
	}
	return batch
}

// Two consumers share the tables and get the same events, with equal ids, in opposite orders: both end alike, and
// neither sees the other's markers, rows or gaps.
func TestTwoConsumersShareTheTables(t *testing.T) {
	w := newWorld(t, startEngine(t), "shared")
	entry := func(seq int, amount string) awsevents.SQSMessage {
		return record(fmt.Sprintf("l%d", seq), fmt.Sprintf(
			`{"event_id":"a:%d","type":"EntryPosted","entity_id":"x","seq":%d,"data":{"account":"a","amount":%s,"currency":"EUR"}}`, seq, seq, amount))
	}
	note := func(second int, text string) awsevents.SQSMessage {
		return record(fmt.Sprintf("n%d", second), fmt.Sprintf(
			`{"event_id":"n-%d","type":"message.saved","created_at":"2026-09-05T10:00:0%dZ","data":{"id":"x","text":%q}}`, second, second, text))
	}
	all := []awsevents.SQSMessage{entry(1, "0.1"), entry(2, "0.2"), entry(3, "10"), note(1, "first"), note(2, "second")}
	forward, backward := w.consumer("forward"), w.consumer("backward")
	endings := map[string][][]string{}
	for i := range all {
		endings["forward"] = append(endings["forward"], w.handle(t, forward, awsevents.SQSEvent{Records: all[i : i+1]})...)
		last := len(all) - 1 - i
		endings["backward"] = append(endings["backward"], w.handle(t, backward, awsevents.SQSEvent{Records: all[last : last+1]})...)
	}
	for name, want := range map[string][][]string{
		"forward":  {{"applied"}, {"applied"}, {"applied"}, {"applied"}, {"applied"}},
		"backward": {{"applied"}, {"stale"}, {"parked"}, {"parked"}, {"applied"}},
	} {
		if !slices.EqualFunc(endings[name], want, slices.Equal) {
			t.Errorf("%s: %q, want %q\n%s", name, endings[name], want, w.out.String())
		}
	}
	for _, name := range []string{"forward", "backward"} {
		ledger := w.entity(t, ordering.Key{Consumer: name, Stream: "ledger", ID: "a"})
		if ledger.State["balance"] != events.Number("10.3") || ledger.Applied != 3 || ledger.Gap != nil || len(ledger.Waiting) > 0 {
			t.Errorf("%s: ledger %+v", name, ledger)
		}
		if message := w.entity(t, ordering.Key{Consumer: name, Stream: "message", ID: "x"}); message.State["text"] != "second" {
			t.Errorf("%s: message %+v", name, message)
		}
	}
}

func (w *world) entity(t *testing.T, key ordering.Key) *ordering.Entity {
	t.Helper()
	e, err := w.store.Entity(context.WithoutCancel(t.Context()), key)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
