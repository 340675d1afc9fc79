package functions

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"inorder/ordering"
)

const effectStreams = `
consumer: c
streams:
  - {name: ledger, types: [Posted], mode: step, effects: true, projection: balance}
`

// environment lays a streams.yaml beside the binary, as the build does, and returns the variables.
func environment(t *testing.T, streams string, changes ...string) func(string) string {
	t.Helper()
	dir := t.TempDir()
	if streams != "" {
		if err := os.WriteFile(filepath.Join(dir, "streams.yaml"), []byte(streams), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{
		"LAMBDA_TASK_ROOT":     dir,
		"ENTITIES_TABLE":       "entities",
		"ITEMS_TABLE":          "items",
		"QUARANTINE_QUEUE_URL": "https://sqs.eu-west-1.amazonaws.com/123456789012/quarantine",
		"EFFECTS_QUEUE_URL":    "http://localhost:4566/000000000000/effects.fifo",
	}
	for i := 0; i < len(changes); i += 2 {
		env[changes[i]] = changes[i+1]
	}
	return func(name string) string { return env[name] }
}

func TestSettings(t *testing.T) {
	s, err := ReadSettings(environment(t, effectStreams, "LOG_LEVEL", "DEBUG", "EFFECTS", "hold", "GAP_DEADLINE", "90s", "PARK_TTL", "3d"), []string{"balance"})
	if err != nil {
		t.Fatal(err)
	}
	if s.EntitiesTable != "entities" || s.ItemsTable != "items" || s.LogLevel != slog.LevelDebug || s.EffectsMode != ordering.EffectsHold ||
		!strings.HasSuffix(s.QuarantineURL, "/quarantine") || !strings.HasSuffix(s.EffectsURL, "/effects.fifo") {
		t.Errorf("read %+v", s)
	}
	if st := s.Streams.Streams[0]; st.GapDeadline != 90*time.Second || st.ParkTTL != 72*time.Hour {
		t.Errorf("stream %+v", st)
	}
	s, err = ReadSettings(environment(t, effectStreams), []string{"balance"})
	if err != nil || s.LogLevel != slog.LevelInfo || s.EffectsMode != ordering.EffectsOn || s.Streams.Streams[0].GapDeadline != 5*time.Minute {
		t.Errorf("defaults %+v, %v", s, err)
	}
}

// A fault stops the function before any message is judged, and says what to do.
func TestSettingsFaults(t *testing.T) {
	for _, tt := range []struct {
		name    string
		streams string
		changes []string
		want    string // of the error; empty: none
	}{
		{"no entities table", effectStreams, []string{"ENTITIES_TABLE", ""}, "ENTITIES_TABLE is not set"},
		{"no items table", effectStreams, []string{"ITEMS_TABLE", " "}, "ITEMS_TABLE is not set"},
		{"no quarantine", effectStreams, []string{"QUARANTINE_QUEUE_URL", ""}, "QUARANTINE_QUEUE_URL is not set"},
		{"a name for a URL", effectStreams, []string{"QUARANTINE_QUEUE_URL", "quarantine"}, "QUARANTINE_QUEUE_URL is not the URL of a queue"},
		{"a host for a URL", effectStreams, []string{"QUARANTINE_QUEUE_URL", "https://sqs.eu-west-1.amazonaws.com"}, "QUARANTINE_QUEUE_URL is not the URL of a queue"},
		{"an ARN for a URL", effectStreams, []string{"QUARANTINE_QUEUE_URL", standardARN}, "QUARANTINE_QUEUE_URL is not the URL of a queue"},
		{"a FIFO quarantine", effectStreams, []string{"QUARANTINE_QUEUE_URL", "https://h/1/q.fifo"}, "QUARANTINE_QUEUE_URL must be a standard queue"},
		{"effects to a standard queue", effectStreams, []string{"EFFECTS_QUEUE_URL", "https://h/1/q"}, "EFFECTS_QUEUE_URL must be a FIFO queue"},
		{"effects to nowhere", effectStreams, []string{"EFFECTS_QUEUE_URL", ""}, "stream ledger has effects, so EFFECTS_QUEUE_URL must be set"},
		{"no effects, no queue", effectStreams, []string{"EFFECTS_QUEUE_URL", "", "EFFECTS", "off"}, ""},
		{"effects held, no queue", effectStreams, []string{"EFFECTS_QUEUE_URL", "", "EFFECTS", "hold"}, ""},
		{"an unknown mode", effectStreams, []string{"EFFECTS", "yes"}, `EFFECTS must be one of on, off, hold: "yes"`},
		{"an unknown level", effectStreams, []string{"LOG_LEVEL", "trace"}, `LOG_LEVEL must be one of debug, info, warn, error: "trace"`},
		{"no duration", effectStreams, []string{"GAP_DEADLINE", "soon"}, "GAP_DEADLINE: "},
		{"no time at all", effectStreams, []string{"PARK_TTL", "0s"}, "PARK_TTL must be longer than nothing"},
		{"no file", "", nil, "STREAMS_FILE: open "},
		{"another file", effectStreams, []string{"STREAMS_FILE", "/nowhere/streams.yaml"}, "STREAMS_FILE: open /nowhere/streams.yaml"},
		{"a wrong file", "consumer: c\nstreams:\n  - {name: a, mode: steps, types: [A]}\n", nil, "3"},
		{"the consumer, named twice", effectStreams, []string{"CONSUMER", "c"}, ""},
		{"another consumer", effectStreams, []string{"CONSUMER", "c2"}, `CONSUMER is "c2" (the stack's parameter Consumer, by which alarms and dashboard watch), and the consumer of streams.yaml is "c"`},
		{"another consumer, by a blank", effectStreams, []string{"CONSUMER", "c "}, `CONSUMER is "c "`},
		{"an unknown projection", strings.Replace(effectStreams, "balance", "balances", 1), nil, "balances"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadSettings(environment(t, tt.streams, tt.changes...), []string{"balance"})
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

// Whoever mends a deployment wants all of it at once.
func TestAllSettingsFaultsAreListed(t *testing.T) {
	_, err := ReadSettings(environment(t, "consumer: c\nstreams:\n  - {name: a, mode: steps, types: [A]}\n  - {name: b, mode: state, types: [B]}\n",
		"ENTITIES_TABLE", "", "LOG_LEVEL", "loud", "PARK_TTL", "long", "QUARANTINE_QUEUE_URL", ""), nil)
	if err == nil {
		t.Fatal("no fault")
	}
	for _, want := range []string{"ENTITIES_TABLE", "LOG_LEVEL", "PARK_TTL", "QUARANTINE_QUEUE_URL", "line 3: ", "line 4: "} {
		if strings.Count(err.Error(), want) == 0 {
			t.Errorf("nothing about %s in:\n%v", want, err)
		}
	}
}
