package rie

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"inorder/cmd/inorder/stack/stacktest"
	"inorder/ddb"
	"inorder/ddb/local"
)

// consumerName is the consumer of events/streams.yaml, which lies beside each binary.
const consumerName = "billing-view"

// world is what the functions find around them: tables, queues, and a producer's outbox.
type world struct {
	*stacktest.Cloud
	outbox *ddb.Outbox
}

func newWorld(t *testing.T) *world {
	t.Helper()
	emulatorBinary(t)
	engine := local.ForTest(t, local.Dynoxide)
	w := &world{Cloud: stacktest.Start(t, engine)}
	client := ddb.NewClient(engine.Config(), ddb.ClientOptions{Endpoint: engine.Endpoint, TryTimeout: patience})
	w.outbox = &ddb.Outbox{API: client, Table: w.Tables.Entities + "-outbox", Now: time.Now}
	if err := ddb.CreateOutbox(t.Context(), client, w.outbox.Table); err != nil {
		t.Fatal(err)
	}
	return w
}

// environment is that of a function in this world, with some variables changed.
func (w *world) environment(changed map[string]string) map[string]string {
	all := map[string]string{
		"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_SESSION_TOKEN": "local",
		"AWS_ENDPOINT_URL_DYNAMODB": w.Endpoint, "AWS_ENDPOINT_URL_SQS": w.Endpoint,
		"AWS_LAMBDA_FUNCTION_TIMEOUT": "300", // a busy machine must not end it
		"OUTBOX_TABLE":                w.outbox.Table,
	}
	maps.Copy(all, w.Variables)
	maps.Copy(all, changed)
	return all
}

// start runs a function in this world.
func (w *world) start(t *testing.T, name function, changed map[string]string) *emulator {
	t.Helper()
	return start(t, name, w.environment(changed))
}

// batch is an event of the records of several samples, in their order.
func batch(t *testing.T, samples ...string) string {
	t.Helper()
	parts := make([]string, len(samples))
	for i, sample := range samples {
		parts[i] = text(t, samplesFolder, sample+".json")
	}
	return joined(t, parts...)
}

// joined is an event of the records of several events.
func joined(t *testing.T, parts ...string) string {
	t.Helper()
	type event struct{ Records []json.RawMessage }
	var all event
	for _, part := range parts {
		var one event
		if err := json.Unmarshal([]byte(part), &one); err != nil {
			t.Fatal(err)
		}
		all.Records = append(all.Records, one.Records...)
	}
	out, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

var samplesFolder = filepath.Join("..", "..", "events", "samples")

func text(t *testing.T, path ...string) string {
	t.Helper()
	out, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
