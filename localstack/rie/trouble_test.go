package rie

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"inorder/cmd/inorder/stack/stacktest"
	"inorder/events"
	"inorder/functions"
)

// shortTimeout ends the work after three quarters of it: before the six seconds after which a client of the functions gives up by
// itself, and as late as can be, for the copies and the answer have the last quarter, on a busy machine too. Who is too late is
// told by the emulator: it ends the function, as Lambda does.
const shortTimeout = "7"

// hanging is the endpoint of a service that takes requests and never answers.
func hanging(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// R4: the consumer gives back what the database did not answer for. What needs no database is done all the same, and the
// process is fit for the next batch.
func TestConsumerRunsOutOfTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.start(t, consumer, map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": hanging(t), "AWS_LAMBDA_FUNCTION_TIMEOUT": shortTimeout})
	for range 2 {
		output := inTime(t, f, batch(t, "plan-changed", "quarantine-not-json", "delta"),
			`{"batchItemFailures":[{"itemIdentifier":"`+planChanged+`"},`+
				`{"itemIdentifier":"e3273792-9f33-5064-9db4-b8845cd1bf43"},{"itemIdentifier":"82d5325f-4482-537f-bc7b-a93d3314026e"}]}`)
		read(t, output).want(t, map[string]float64{"events_consumed_total": 4, "events_deferred_total": 3, "events_quarantined_total": 1})
	}
	wantReasons(t, w, events.NotJSON, events.NotJSON) // one for each time
	if n := strings.Count(f.log.String(), "INIT REPORT"); n != 1 {
		t.Errorf("%d inits:\n%s", n, f.log.String())
	}
}

// R4: the sweeper says that it could not sweep. It sets no gauges, since it knows of nothing.
func TestSweeperRunsOutOfTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.start(t, sweeper, map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": hanging(t), "AWS_LAMBDA_FUNCTION_TIMEOUT": shortTimeout})
	printed, returned := readFailed(t, inTime(t, f, text(t, "testdata", "schedule.json"), `"errorMessage":`))
	printed.want(t, nil)
	if !strings.Contains(returned, "out of time") {
		t.Errorf("returned %s", returned)
	}
}

// R4: the relay names the first row that the queue did not take, from where Lambda then goes on.
func TestRelayRunsOutOfTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.start(t, relay, map[string]string{"AWS_ENDPOINT_URL_SQS": hanging(t), "AWS_LAMBDA_FUNCTION_TIMEOUT": shortTimeout})
	output := inTime(t, f, text(t, "testdata", "outbox-row-inserted.json"),
		`{"batchItemFailures":[{"itemIdentifier":"4421584500000000017450439091"}]}`)
	read(t, output).want(t, map[string]float64{functions.MetricRelayFailures: 1})
}

// R4: the relay gives a request back that its outbox did not answer for.
func TestRelayRunsOutOfTimeWithARequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.start(t, relay, map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": hanging(t), "AWS_LAMBDA_FUNCTION_TIMEOUT": shortTimeout})
	output := inTime(t, f, text(t, "testdata", "republish-request.json"),
		`{"batchItemFailures":[{"itemIdentifier":"9d1c0b1a-6f0e-4c55-8a39-2f5c2f0d7a11"}]}`)
	read(t, output).want(t, map[string]float64{functions.MetricRelayFailures: 1})
	wantBodies(t, w, stacktest.EventsURL)
}

// inTime invokes, and returns what was printed.
func inTime(t *testing.T, f *emulator, event, want string) string {
	t.Helper()
	got := f.invoke(event)
	if !strings.Contains(got.body, want) {
		t.Errorf("after %v of %s s it answered %d %s\n%s%s", got.took, shortTimeout, got.status, got.body, got.output, f.log.String())
	}
	return got.output
}

// R5: a function with wrong settings fails in its init, invocation by invocation, and says all that is wrong, the faults
// of streams.yaml by line.
func TestWrongSettings(t *testing.T) {
	t.Parallel()
	emulatorBinary(t)
	streams := filepath.Join(t.TempDir(), "streams.yaml")
	if err := os.WriteFile(streams, []byte("consumer: c\nstreams:\n  - {name: s, types: [T], mode: stat}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, faults := range map[function][]string{
		consumer: {"ENTITIES_TABLE is not set", "QUARANTINE_QUEUE_URL is not set", "EFFECTS must be one of"},
		sweeper:  {"ENTITIES_TABLE is not set", "REPUBLISH_QUEUE_URL is not set", "EFFECTS must be one of"},
		relay:    {"OUTBOX_TABLE is not set", "EVENTS_QUEUE_URL is not set", "MARK_DELAY must be at most 15m"},
	} {
		f := start(t, name, map[string]string{"AWS_REGION": "eu-west-1", "EFFECTS": "maybe", "MARK_DELAY": "1h", "STREAMS_FILE": streams})
		for range 3 {
			if got := f.invoke("{}"); got.status != http.StatusBadGateway {
				t.Errorf("the %s answers %d %s", name, got.status, got.body)
			}
		}
		said := f.out.await("START RequestId: ", 3) // whatever the first two said stands before that
		for _, want := range append(faults, "the "+string(name)+" cannot start:\n", "line 3: mode must be") {
			if strings.Count(said, want) < 2 {
				t.Errorf("the %s does not say %q in each of its inits:\n%s", name, want, said)
			}
		}
	}
}
