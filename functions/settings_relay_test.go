package functions

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

const someStreams = "consumer: c\nstreams:\n  - {name: ledger, types: [Posted], mode: step, start: any, projection: balance}\n"

func relayEnvironment(t *testing.T, streams string, changes ...string) func(string) string {
	t.Helper()
	return environment(t, streams, append([]string{
		"OUTBOX_TABLE", "outbox", "EVENTS_QUEUE_URL", eventsURL, "REPUBLISH_QUEUE_URL", republishURL,
		"ENTITIES_TABLE", "", "ITEMS_TABLE", "", "QUARANTINE_QUEUE_URL", "", "EFFECTS_QUEUE_URL", "",
	}, changes...)...)
}

// The relay needs its own variables and none of the consumer's.
func TestRelaySettings(t *testing.T) {
	s, err := ReadRelaySettings(relayEnvironment(t, someStreams, "LOG_LEVEL", "warn", "MARK_DELAY", "90s", "EVENTS_QUEUE_URL", eventsFIFOURL), []string{"balance"})
	if err != nil {
		t.Fatal(err)
	}
	if s.OutboxTable != "outbox" || s.EventsURL != eventsFIFOURL || s.RepublishURL != republishURL || s.MarkDelay != 90*time.Second ||
		s.LogLevel != slog.LevelWarn || s.Streams.Consumer != "c" {
		t.Errorf("read %+v", s)
	}
	for value, want := range map[string]time.Duration{"": 5 * time.Minute, "0": 0, "0s": 0, "15m": 15 * time.Minute} {
		if s, err := ReadRelaySettings(relayEnvironment(t, someStreams, "MARK_DELAY", value), []string{"balance"}); err != nil || s.MarkDelay != want {
			t.Errorf("MARK_DELAY %q is %v, %v", value, s.MarkDelay, err)
		}
	}
}

// A fault stops the relay before any message is answered, and all of them are told at once.
func TestRelaySettingsFaults(t *testing.T) {
	for _, tt := range []struct {
		name    string
		changes []string
		want    string
	}{
		{"no table", []string{"OUTBOX_TABLE", " "}, "OUTBOX_TABLE is not set"},
		{"no events queue", []string{"EVENTS_QUEUE_URL", ""}, "EVENTS_QUEUE_URL is not set"},
		{"a name for a URL", []string{"EVENTS_QUEUE_URL", "events"}, "EVENTS_QUEUE_URL is not the URL of a queue"},
		{"no republish queue", []string{"REPUBLISH_QUEUE_URL", ""}, "REPUBLISH_QUEUE_URL is not set"},
		{"a FIFO republish queue", []string{"REPUBLISH_QUEUE_URL", eventsFIFOURL}, "REPUBLISH_QUEUE_URL must be a standard queue"},
		{"one queue for both", []string{"REPUBLISH_QUEUE_URL", eventsURL}, "are the same queue"},
		{"a delay that SQS does not know", []string{"MARK_DELAY", "16m"}, "MARK_DELAY must be at most 15m"},
		{"no delay", []string{"MARK_DELAY", "soon"}, "MARK_DELAY: "},
		{"an unknown level", []string{"LOG_LEVEL", "loud"}, "LOG_LEVEL must be one of"},
		{"another consumer", []string{"CONSUMER", "c2"}, `the consumer of streams.yaml is "c"`},
		{"no file", []string{"STREAMS_FILE", "/nowhere/streams.yaml"}, "STREAMS_FILE: open"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadRelaySettings(relayEnvironment(t, someStreams, append(tt.changes, "GAP_DEADLINE", "nonsense")...), []string{"balance"})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
	_, err := ReadRelaySettings(relayEnvironment(t, someStreams, "OUTBOX_TABLE", "", "LOG_LEVEL", "loud", "MARK_DELAY", "1d"), nil)
	for _, want := range []string{"OUTBOX_TABLE", "LOG_LEVEL", "MARK_DELAY", "balance"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s in:\n%v", want, err)
		}
	}
}

// A started relay without queue and database gives everything back, and says so.
func TestStartedRelayWithoutAnything(t *testing.T) {
	awsEnvironment(t)
	var out bytes.Buffer
	r, err := StartRelay(t.Context(), relayEnvironment(t, relayStreams), &out, time.Now, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &relayBench{Relay: r}
	if got := b.handle(t, t.Context(), queueBatch(t, `{"stream":"ledger","entity_id":"a","ranges":[[1,1]]}`)); got != failures("m1") {
		t.Error(got)
	}
	if got := b.handle(t, t.Context(), streamBatch(streamRow(7, "ledger/a", 1, "1"))); got != failures("7") {
		t.Error(got)
	}
	if strings.Count(out.String(), `"relay_failures_total":1`) != 2 {
		t.Errorf("said: %s", out.String())
	}
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	if _, err := StartRelay(t.Context(), relayEnvironment(t, relayStreams), &out, time.Now, nil); err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("got %v", err)
	}
}
