package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/smithy-go/logging"

	"inorder/events"
	"inorder/ordering"
)

var update = flag.Bool("update", false, "write the golden files anew")

// One line per event, without its data: every disposition, several events in one message, and what cannot be read.
func TestLogLines(t *testing.T) {
	b := newBench(t)
	const stored = "0000000000.0000000000000000012"
	for _, d := range ordering.Dispositions() {
		o := ordering.Outcome{Disposition: d, Stored: stored}
		switch d {
		case ordering.Deferred:
			o.Err = errors.New("update doc a: throttled")
		case ordering.Conflict:
			o.Reason = events.Conflict
		case ordering.Parked:
			o.Reason = events.ProjectionError
		case ordering.Quarantined:
			o.Reason = events.NumberRange
		case ordering.Applied, ordering.Coalesced, ordering.Stale, ordering.Duplicate:
		}
		b.loop.ends["m-"+d.String()] = o
	}
	for i, d := range ordering.Dispositions() {
		r := record("m-"+d.String(), `{"event_id":"e-1","type":"DocSet","entity_id":"a","seq":7,"generation":2,"source":"crm",`+
			`"published_at":"2026-03-01T13:59:58.5+02:00","data":{"secret":"s3cr3t"}}`)
		r.Attributes["ApproximateReceiveCount"] = string(rune('1' + i))
		b.handle(t, t.Context(), r)
	}
	b.loop.ends["m-invalid"] = ordering.Outcome{Stored: stored, Err: fmt.Errorf("update doc a: %w", ordering.ErrInvalid)}
	b.handle(t, t.Context(), docSet("m-invalid", "a", 7))
	b.handle(t, t.Context(), record("m-broken", `{"s3cr3t`))
	b.handle(t, t.Context(), record("m-homeless", `{"event_id":"e-2","type":"Unknown","entity_id":"z","seq":1,"data":{"x":"s3cr3t"}}`))
	b.handle(t, t.Context(), s3Notice("m-two", s3Record("a.png", "0065B2"), s3Record("b.png", "zz")))
	if strings.Contains(b.logs.String(), "s3cr3t") {
		t.Error("event data was logged")
	}
	golden(t, "testdata/log.golden", b.logs.String())
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("differs from %s (go test -update writes it anew):\n%s", file, got)
	}
}

// A fault of our own must be seen: a request that the database calls invalid, and a panic wherever it was. Whatever else
// comes back is everyday. Guarantee 1: the panic is its own message's; its value, which may be event data, is not logged.
func TestOurOwnFaultsAreLoud(t *testing.T) {
	secret := errors.New("the s3cr3t")
	for name, tt := range map[string]struct {
		set  func(b *bench)
		want slog.Level
	}{
		"an invalid request": {func(b *bench) {
			b.loop.ends["m1"] = ordering.Outcome{Err: fmt.Errorf("swap c/doc/a: %w", ordering.ErrInvalid)}
		}, slog.LevelError},
		"a throttled request": {func(b *bench) {
			b.loop.ends["m1"] = ordering.Outcome{Err: fmt.Errorf("swap c/doc/a: %w", ordering.ErrThrottled)}
		}, slog.LevelInfo},
		"an error that is not understood": {func(b *bench) {
			b.loop.ends["m1"] = ordering.Outcome{Err: errors.New("bad gateway")}
		}, slog.LevelInfo},
		"a panic in the loop": {func(b *bench) {
			b.loop.apply = func(context.Context, ordering.Key, []ordering.Delivery) ordering.Report { panic(secret) }
		}, slog.LevelError},
		"a panic in the copy": {func(b *bench) {
			b.loop.ends["m1"] = ordering.Outcome{Disposition: ordering.Conflict, Reason: events.Conflict}
			b.quarantine.copy = func(context.Context, ordering.Copy) error { panic(secret) }
		}, slog.LevelError},
		"a copy that fails": {func(b *bench) {
			b.loop.ends["m1"] = ordering.Outcome{Disposition: ordering.Conflict, Reason: events.Conflict}
			b.quarantine.err = errThrottledSend
		}, slog.LevelInfo},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Log = NewLogger(b.logs, slog.LevelInfo)
			tt.set(b)
			if got := b.handle(t, t.Context(), docSet("m1", "a", 1)); got != failures("m1") {
				t.Errorf("got %s", got)
			}
			logs := b.logs.String()
			if strings.Count(logs, "\n") != 1 || !strings.Contains(logs, `"level":"`+tt.want.String()+`"`) || strings.Contains(logs, "s3cr3t") {
				t.Errorf("want one line at %v: %s", tt.want, logs)
			}
		})
	}
}

// The decoder has its panics, too. Here it has no streams to look into.
func TestPanicInTheDecoderIsLoud(t *testing.T) {
	b := newBench(t)
	b.Streams = nil
	r := b.open(limits{work: t.Context()}, receive(docSet("m1", "a", 1), testNow))
	o := r.outcomes[0].Outcome
	if o.Disposition != ordering.Deferred || levelOf(o) != slog.LevelError || !strings.Contains(o.Err.Error(), "at inorder/events.") {
		t.Errorf("ended as %+v at %v", o, levelOf(o))
	}
}

// Applied is what happens all day: it is for debug.
func TestAppliedIsLoggedForDebugOnly(t *testing.T) {
	b := newBench(t)
	b.Log = NewLogger(b.logs, slog.LevelInfo)
	b.loop.ends["m2"] = ordering.Outcome{Disposition: ordering.Stale}
	b.handle(t, t.Context(), docSet("m1", "a", 2), docSet("m2", "a", 1))
	if logs := b.logs.String(); strings.Contains(logs, "m1") || strings.Count(logs, "\n") != 1 {
		t.Errorf("logs: %s", logs)
	}
}

// What libraries say is a JSON line like ours: the standard logger's at error level, the SDK's at the one that it has.
func TestWhatLibrariesSay(t *testing.T) {
	before, writer, flags := slog.Default(), log.Writer(), log.Flags()
	t.Cleanup(func() {
		slog.SetDefault(before)
		slog.SetLogLoggerLevel(slog.LevelInfo)
		log.SetOutput(writer)
		log.SetFlags(flags)
	})
	var out bytes.Buffer
	CaptureLog(&out)
	log.Printf("%s", `{"errorMessage":"of a handler"}`)
	sdkLog(logging.Warn, "failed to %s", "close")
	sdkLog(logging.Debug, "nobody asked")
	var lines []string
	for line := range strings.Lines(out.String()) {
		var said struct{ Level, Msg, Message string }
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		lines = append(lines, said.Level+" "+said.Msg+" "+said.Message)
	}
	if want := []string{`ERROR {"errorMessage":"of a handler"} `, "WARN AWS SDK failed to close"}; !slices.Equal(lines, want) {
		t.Errorf("got %q", lines)
	}
}
