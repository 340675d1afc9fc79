package events

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What each record of each sample decodes to under streams.yaml: "type stream", or the reason for which it is refused.
// Samples whose fault only the ordering sees (a reserved attribute, say) decode here.
var samples = map[string][]string{
	"plan-changed":                      {"PlanChanged subscription"},
	"plan-changed-flat":                 {"PlanChanged subscription"},
	"webhook-pair-reversed":             {"message.delivered message", "message.sent message"},
	"call-completed-before-in-progress": {"call.completed call", "call.in_progress call"},
	"contact-updated":                   {"ContactUpdated contact"},
	"contact-deleted":                   {"ContactDeleted contact tombstone"},
	"cloudevent-structured":             {"com.example.meter.read meter"},
	"cloudevent-binary":                 {"com.example.meter.read meter"},
	"cloudevent-binary-over-sns":        {"com.example.meter.read meter"},
	"s3-two-records":                    {"ObjectCreated:Put object", "ObjectRemoved:Delete object tombstone"},
	"s3-test-notice":                    {"not_an_event"},
	"s3-over-eventbridge":               {"Object Created object"},
	"sns-wrapped":                       {"PlanChanged subscription"},
	"eventbridge-wrapped":               {"PlanChanged subscription"},
	"threefold-wrapped":                 {"PlanChanged subscription"},
	"duplicate":                         {"PlanChanged subscription", "PlanChanged subscription"},
	"step-in-order":                     {"EntryPosted ledger", "EntryPosted ledger"},
	"step-with-its-predecessor-missing": {"EntryPosted ledger"},
	"step-that-was-missing":             {"EntryPosted ledger"},
	"step-ignored":                      {"EntryViewed ledger ignored"},
	"delta":                             {"SeatsAdded seats", "SeatsAdded seats"},
	"tombstone":                         {"SubscriptionDeleted subscription tombstone"},
	"profile-of-two-sources":            {"profile.changed profile", "profile.changed profile"},

	"quarantine-not-json":           {"not_json"},
	"quarantine-not-an-event":       {"not_an_event"},
	"quarantine-no-route":           {"no_route"},
	"quarantine-no-entity-id":       {"no_entity_id"},
	"quarantine-bad-order-key":      {"bad_order_key"},
	"quarantine-bad-event-id":       {"bad_event_id"},
	"quarantine-too-deep":           {"too_deep"},
	"quarantine-future-time":        {"future_time"},
	"quarantine-bad-entity-id":      {"PlanChanged subscription"},
	"quarantine-reserved-attribute": {"PlanChanged subscription"},
	"quarantine-not-owner":          {"profile.changed profile"},
	"quarantine-number-range":       {"PlanChanged subscription"},
	"quarantine-too-large":          {"PlanChanged subscription"},
	"quarantine-conflict":           {"PlanChanged subscription", "PlanChanged subscription"},
	"quarantine-old-generation":     {"EntryPosted ledger", "EntryPosted ledger"},
	"quarantine-projection-error":   {"EntryPosted ledger"},
}

func TestEachSampleDecodesUnderTheExample(t *testing.T) {
	c := mustParse(t, readFile(t, "streams.yaml"))
	for name, want := range samples {
		var got []string
		for _, m := range readSample(t, name) {
			for _, d := range c.Decode(m, sampleNow) {
				got = append(got, outcome(d))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestNoSampleIsWithoutItsTest(t *testing.T) {
	files, err := filepath.Glob("samples/*.json")
	if err != nil || len(files) != len(samples) {
		t.Errorf("%d files, %d in the table, %v", len(files), len(samples), err)
	}
}

// The same plan change on each path is one event: identity and content come from the innermost event, be it flat or not.
func TestWrappersDoNotChangeAnEvent(t *testing.T) {
	sameEvent(t, "plan-changed", "plan-changed-flat", "sns-wrapped", "eventbridge-wrapped", "threefold-wrapped")
}

// A CloudEvent is the same one in both modes, over SNS too.
func TestBothModesOfACloudEventAreOneEvent(t *testing.T) {
	sameEvent(t, "cloudevent-structured", "cloudevent-binary", "cloudevent-binary-over-sns")
}

// The missing step's sample closes the gap that the other one opens: the same account, and just the numbers below.
func TestOneSampleClosesTheGapOfAnother(t *testing.T) {
	c := mustParse(t, readFile(t, "streams.yaml"))
	missing := c.Decode(readSample(t, "step-that-was-missing")[0], sampleNow)[0].Event
	waiting := c.Decode(readSample(t, "step-with-its-predecessor-missing")[0], sampleNow)[0].Event
	if missing.EntityID != waiting.EntityID || missing.Seq != 1 || waiting.Seq != 2 {
		t.Errorf("%s %d, and %s %d waits", missing.EntityID, missing.Seq, waiting.EntityID, waiting.Seq)
	}
}

func sameEvent(t *testing.T, names ...string) {
	t.Helper()
	c := mustParse(t, readFile(t, "streams.yaml"))
	type face struct{ id, source, typ, entity, clock, fingerprint string }
	faces := make([]face, len(names))
	for i, name := range names {
		e := c.Decode(readSample(t, name)[0], sampleNow)[0].Event
		faces[i] = face{e.ID, e.Source, e.Type, e.EntityID, e.Clock, e.Fingerprint()}
		if faces[i] != faces[0] {
			t.Errorf("%s: %+v, want %+v", name, faces[i], faces[0])
		}
	}
}

var sampleNow = time.Date(2026, 9, 5, 10, 15, 0, 0, time.UTC)

func outcome(d Decoded) string {
	if d.Event == nil {
		return string(d.Refusal.Reason)
	}
	words := []string{d.Event.Type, d.Event.Stream.Name}
	if d.Event.Ignored {
		words = append(words, "ignored")
	}
	if d.Event.Tombstone {
		words = append(words, "tombstone")
	}
	return strings.Join(words, " ")
}

// readSample reads a whole SQS event as Lambda hands it to a function ("Using Lambda with Amazon SQS").
func readSample(t testing.TB, name string) []Message {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("samples", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var event struct {
		Records []struct {
			MessageID         string
			Body              string
			MessageAttributes map[string]struct{ StringValue, DataType string }
		}
	}
	if err := json.Unmarshal(text, &event); err != nil {
		t.Fatal(err)
	}
	messages := make([]Message, len(event.Records))
	for i, r := range event.Records {
		messages[i] = Message{ID: r.MessageID, Body: r.Body, Attributes: make(map[string]Attribute)}
		for name, a := range r.MessageAttributes {
			messages[i].Attributes[name] = Attribute{Type: a.DataType, Text: a.StringValue}
		}
	}
	return messages
}
