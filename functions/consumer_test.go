package functions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/events"
	"inorder/ordering"
)

// The bytes that Lambda sees: {} or a misspelt key would make SQS delete a batch, or redeliver it.
func TestAnswerIsAlwaysAList(t *testing.T) {
	for _, tt := range []struct {
		name    string
		records []awsevents.SQSMessage
		want    string
	}{
		{"an empty batch", nil, failures()},
		{"all acked", []awsevents.SQSMessage{docSet("m1", "a", 1), docSet("m2", "b", 1)}, failures()},
		{"one comes back", []awsevents.SQSMessage{docSet("m1", "a", 1), docSet("late", "b", 1), docSet("m3", "c", 1)}, failures("late")},
		{"an id that stands twice", []awsevents.SQSMessage{docSet("late", "a", 1), docSet("late", "a", 1)}, failures("late")},
		{"poison is acked", []awsevents.SQSMessage{record("m1", "{{"), docSet("m2", "b", 1)}, failures()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.loop.ends["late"] = deferral()
			if got := b.handle(t, t.Context(), tt.records...); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got, want := b.total(t, MetricConsumed), float64(len(tt.records)); got != want {
				t.Errorf("consumed %v, want %v", got, want)
			}
		})
	}
}

// An id that stands twice in a batch is acked only where both of its records may be.
func TestTwiceInABatchNeedsBothAcks(t *testing.T) {
	b := newBench(t)
	first, second := docSet("m1", "a", 1), docSet("m1", "b", 1)
	b.loop.apply = func(_ context.Context, key ordering.Key, _ []ordering.Delivery) ordering.Report {
		if key.ID == "b" {
			return ordering.Report{Outcomes: []ordering.Outcome{deferral()}}
		}
		return ordering.Report{Outcomes: []ordering.Outcome{{Disposition: ordering.Applied}}}
	}
	if got := b.handle(t, t.Context(), first, second); got != failures("m1") {
		t.Errorf("got %s", got)
	}
}

// Nothing can be judged, or named to SQS: then, and only then, the whole batch comes back.
func TestErrorOnlyWhereNothingCanBeJudged(t *testing.T) {
	b := newBench(t)
	if _, err := b.Handle(t.Context(), awsevents.SQSEvent{Records: []awsevents.SQSMessage{{Body: "{}"}}}); err == nil {
		t.Error("a record without an id was accepted")
	}
	for _, broken := range []*Consumer{{Loop: b.loop}, {Streams: b.Streams}} {
		if _, err := broken.Handle(t.Context(), awsevents.SQSEvent{}); err == nil {
			t.Error("a consumer without streams or loop answered")
		}
	}
	if len(b.loop.calls) > 0 {
		t.Errorf("the loop was called: %v", b.loop.calls)
	}
}

// Guarantee 1: events of one entity in their order by one call; entities by calls of their own.
func TestEntitiesAreSeparateAndInOrder(t *testing.T) {
	b := newBench(t)
	ofSource := func(id, source string) awsevents.SQSMessage {
		return record(id, fmt.Sprintf(`{"event_id":"e","type":"OwnSet","entity_id":"z","source":%q,"seq":1,"data":{"n":1}}`, source))
	}
	b.handle(t, t.Context(), docSet("m1", "a", 2), docSet("m2", "b", 1), docSet("m3", "a", 1), ofSource("m4", "crm"), ofSource("m5", ""))
	slices.Sort(b.loop.calls)
	if want := []string{"a: m1 m3", "b: m2", "z: m4", "z: m5"}; !slices.Equal(b.loop.calls, want) {
		t.Errorf("calls %q, want %q", b.loop.calls, want)
	}
	for _, want := range []ordering.Key{
		{Consumer: "c", Stream: "doc", ID: "a"},
		{Consumer: "c", Stream: "own", ID: "z", PerSource: true, Source: "crm"},
		{Consumer: "c", Stream: "own", ID: "z", PerSource: true},
	} {
		if !slices.Contains(b.loop.keys, want) {
			t.Errorf("no call for %+v in %+v", want, b.loop.keys)
		}
	}
}

// Guarantees 1 and 3: a panic costs its own entity one redelivery, and its value, which may be event data, is not logged.
func TestPanicDefersItsOwnEntity(t *testing.T) {
	b := newBench(t)
	b.loop.apply = func(_ context.Context, key ordering.Key, batch []ordering.Delivery) ordering.Report {
		if key.ID == "a" {
			panic("the secret of " + key.ID)
		}
		out := make([]ordering.Outcome, len(batch))
		for i := range out {
			out[i].Disposition = ordering.Stale
		}
		return ordering.Report{Outcomes: out}
	}
	if got := b.handle(t, t.Context(), docSet("m1", "a", 1), docSet("m2", "b", 1), docSet("m3", "a", 2)); got != failures("m1", "m3") {
		t.Errorf("got %s", got)
	}
	b.want(t, map[string][]string{"m1": {"deferred"}, "m2": {"stale"}, "m3": {"deferred"}})
	if logs := b.logs.String(); strings.Contains(logs, "secret") || !strings.Contains(logs, "panic of type string at inorder/functions.") {
		t.Errorf("logs: %s", logs)
	}
	if got := b.total(t, "events_deferred_total"); got != 2 {
		t.Errorf("deferred %v, want 2", got)
	}
}

// Guarantee 3: a loop that reports less than it was given has not decided about the rest.
func TestMissingOutcomeIsDeferred(t *testing.T) {
	b := newBench(t)
	b.loop.apply = func(context.Context, ordering.Key, []ordering.Delivery) ordering.Report {
		return ordering.Report{Outcomes: []ordering.Outcome{{Disposition: ordering.Applied}}}
	}
	if got := b.handle(t, t.Context(), docSet("m1", "a", 1), docSet("m2", "a", 2)); got != failures("m2") {
		t.Errorf("got %s", got)
	}
}

func s3Record(key, sequencer string) string {
	return fmt.Sprintf(`{"eventVersion":"2.1","eventSource":"aws:s3","eventTime":"2026-01-01T00:00:00.000Z","eventName":"ObjectCreated:Put",`+
		`"s3":{"bucket":{"name":"pics"},"object":{"key":%q,"sequencer":%q}}}`, key, sequencer)
}

func s3Notice(id string, records ...string) awsevents.SQSMessage {
	return record(id, `{"Records":[`+strings.Join(records, ",")+`]}`)
}

// A message with several events is acked when each of them may be; each is counted.
func TestSeveralEventsInOneMessage(t *testing.T) {
	b := newBench(t)
	b.loop.apply = func(_ context.Context, key ordering.Key, _ []ordering.Delivery) ordering.Report {
		if strings.HasSuffix(key.ID, "late.png") {
			return ordering.Report{Outcomes: []ordering.Outcome{deferral()}}
		}
		return ordering.Report{Outcomes: []ordering.Outcome{{Disposition: ordering.Applied}}}
	}
	got := b.handle(t, t.Context(), s3Notice("two", s3Record("a.png", "01"), s3Record("b.png", "02")),
		s3Notice("mixed", s3Record("c.png", "03"), s3Record("late.png", "04")))
	if got != failures("mixed") {
		t.Errorf("got %s", got)
	}
	b.want(t, map[string][]string{"two": {"applied", "applied"}, "mixed": {"applied", "deferred"}})
	if got := b.total(t, MetricConsumed); got != 4 {
		t.Errorf("consumed %v, want 4", got)
	}
}

// One copy is enough for all of a message's refused events: a redrive brings them all back.
func TestOneCopyOfAMessageWithSeveralRefusedEvents(t *testing.T) {
	b := newBench(t)
	if got := b.handle(t, t.Context(), s3Notice("m", s3Record("a.png", "zz"), s3Record("b.png", "02"), s3Record("c.png", "-"))); got != failures() {
		t.Errorf("got %s", got)
	}
	b.want(t, map[string][]string{"m": {"quarantined", "applied", "quarantined"}})
	if len(b.quarantine.copies) != 1 {
		t.Fatalf("%d copies, want 1", len(b.quarantine.copies))
	}
	o := b.quarantine.copies[0].Outcome
	if o.Reason != events.BadOrderKey || !strings.Contains(o.Detail, "record 0: ") || !strings.Contains(o.Detail, "record 2: ") {
		t.Errorf("copied as %+v", o)
	}
}

// A time that no row could be read back with is none: it would stop the entity for good.
func TestTimesBeyondTheCalendarAreNone(t *testing.T) {
	for _, text := range []string{"", "soon", "999999999999999", "-99999999999999", "9223372036854775807"} {
		if at := epochMillis(text); !at.IsZero() {
			t.Errorf("%q is %v", text, at)
		}
	}
	if at := epochMillis("1772366399000"); at.IsZero() {
		t.Error("a time of ours is none")
	}
}
