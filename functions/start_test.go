package functions

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/ddb"
	"inorder/ordering"
)

func awsEnvironment(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
		"AWS_CONFIG_FILE": "/nowhere", "AWS_SHARED_CREDENTIALS_FILE": "/nowhere", "AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(name, value)
	}
}

// With a database that does not answer a started consumer gives the batch back, and still says so in its metrics.
func TestStartedConsumerWithoutDatabase(t *testing.T) {
	awsEnvironment(t)
	var out bytes.Buffer
	streams := "consumer: c\nstreams:\n  - {name: doc, types: [DocSet], mode: state, clock: entity}\n"
	c, err := StartConsumer(t.Context(), environment(t, streams), &out, time.Now, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Handle(t.Context(), awsevents.SQSEvent{Records: []awsevents.SQSMessage{docSet("m1", "a", 1), record("m2", "{{")}})
	if err != nil || len(got.BatchItemFailures) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if !strings.Contains(out.String(), `"msg":"started","function":"consumer","version":"unknown","consumer":"c"}`) {
		t.Errorf("no word of what started: %s", out.String())
	}
	if !strings.Contains(out.String(), `"events_deferred_total":1`) || !strings.Contains(out.String(), `"disposition":"deferred"`) {
		t.Errorf("said: %s", out.String())
	}
}

func TestStartNeedsARegion(t *testing.T) {
	awsEnvironment(t)
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	streams := "consumer: c\nstreams:\n  - {name: doc, types: [DocSet], mode: state, clock: entity}\n"
	if _, err := StartConsumer(t.Context(), environment(t, streams), &bytes.Buffer{}, time.Now, nil); err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("got %v", err)
	}
}

// A producer's outbox is what its variables say, and every wrong one is named.
func TestStartOutbox(t *testing.T) {
	awsEnvironment(t)
	vars := map[string]string{"OUTBOX_TABLE": "shop-outbox", "OUTBOX_TTL": "40d"}
	getenv := func(name string) string { return vars[name] }
	outbox, err := StartOutbox(t.Context(), getenv, time.Now)
	if err != nil || outbox.Table != "shop-outbox" || outbox.TTL != 40*24*time.Hour || outbox.API == nil || outbox.Now == nil {
		t.Errorf("%+v, %v", outbox, err)
	}
	delete(vars, "OUTBOX_TTL")
	if outbox, err = StartOutbox(t.Context(), getenv, time.Now); err != nil || outbox.TTL != ddb.OutboxTTL {
		t.Errorf("without OUTBOX_TTL: %+v, %v", outbox, err)
	}
	vars = map[string]string{"OUTBOX_TTL": "soon"}
	_, err = StartOutbox(t.Context(), getenv, time.Now)
	if err == nil || !strings.Contains(err.Error(), "OUTBOX_TABLE is not set") || !strings.Contains(err.Error(), "OUTBOX_TTL: ") {
		t.Errorf("got %v", err)
	}
}

// The binary refuses to run with wrong settings, with status 1 and every fault on standard error.
func TestMainStopsOnFaults(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "bootstrap")
	if out, err := exec.Command("go", "build", "-o", binary, "./consumer").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), "EFFECTS=maybe", "ENTITIES_TABLE=")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("ended with %v", err)
	}
	for _, want := range []string{"ENTITIES_TABLE is not set", "EFFECTS must be one of", "streams.yaml: no such file"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("nothing about %q in:\n%s", want, out)
		}
	}
}

// The pauses grow, stay short, and end with the context.
func TestWaitShortly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for round := range 30 {
			begin := time.Now()
			waitShortly(t.Context(), round)
			if took := time.Since(begin); took > longestPause || took > firstPause<<min(round, 20) {
				t.Errorf("round %d took %v", round, took)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begin := time.Now()
		waitShortly(ctx, 29)
		if time.Since(begin) != 0 {
			t.Error("it waited on after the end")
		}
	})
}

var _ Applier = (*ordering.Loop)(nil)

// What a consumer is built without is what a function on Lambda has; what the terminal says otherwise stands.
func TestNewConsumer(t *testing.T) {
	streams := newBench(t).Streams
	c := NewConsumer(Parts{Streams: streams, Metrics: &bytes.Buffer{}, Now: time.Now})
	loop, ok := c.Loop.(*ordering.Loop)
	if !ok || loop.RowsAtOnce != atOnce || loop.Wait == nil || loop.Cache == nil || len(loop.NewToken()) < 26 {
		t.Errorf("the loop: %+v", loop)
	}
	if c.Parallel != atOnce || c.Margin != margin || c.Streams != streams || loop.Streams != streams {
		t.Errorf("the consumer: %+v", c)
	}
	c.Log.Error("nobody asked for log lines")
	waited := 0
	c = NewConsumer(Parts{
		Streams: streams, Metrics: &bytes.Buffer{}, Now: time.Now, Parallel: 1, RowsAtOnce: 2,
		Wait: func(context.Context, int) { waited++ }, NewToken: func() string { return "mine" },
	})
	if loop, ok = c.Loop.(*ordering.Loop); !ok || loop.RowsAtOnce != 2 || loop.NewToken() != "mine" || c.Parallel != 1 {
		t.Errorf("the consumer: %+v, its loop: %+v", c, loop)
	}
	if loop.Wait(t.Context(), 0); waited != 1 {
		t.Error("it waits in another way")
	}
}
