package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"inorder/cmd/inorder/stack/stacktest"
	"inorder/ddb/local"
)

// The commands that change something run by their arguments, and change nothing without being told to.
func TestOperatorsCommandsThatWriteRunByTheirArguments(t *testing.T) {
	cloud := stacktest.Start(t, local.ForTest(t, local.Dynoxide))
	cloud.Setenv(t)
	cloud.Consume(stacktest.Streams(t, operatorsStreams), time.Now().Add(-time.Hour),
		`{"event_id":"e1","type":"Posted","entity_id":"a1","seq":1,"data":{"n":1}}`,
		`{"event_id":"e3","type":"Posted","entity_id":"a1","seq":3,"data":{"n":1}}`)
	_, err := cloud.Queues.Client(nil).SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: aws.String(stacktest.DLQURL), MessageBody: aws.String(`{"event_id":"e2","type":"Posted","entity_id":"a1","seq":2,"data":{"n":1}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		args     string
		exitCode int
		says     string
		changes  bool
	}{
		{"skip ledger a1 --through 2", 2, "--reason: say why", false},
		{"skip ledger a1 --reason lost", 2, "numbers begin with 1", false},
		{"skip ledger --through 2 --reason lost", 2, "<entity>", false},
		{"skip ledger a1 --through 2 --reason lost", 0, "with --yes", false},
		{"skip ledger a1 --through 9 --reason lost --yes", 1, "the highest known one is 3", false},
		{"republish ledger a1 --dry-run", 0, "would ask for 1 number", false},
		{"republish ledger a1 --ranges 1", 1, "is applied already", false},
		{"republish ledger a1 --stack prod", 0, "asked for 1 number", true},
		{"redrive --from dlq", 0, "1 of 1 message matches", false},
		{"redrive --from effects", 2, "quarantine", false},
		{"redrive --from dlq --reason conflict", 2, "only the quarantine knows reasons", false},
		{"redrive --reason conflict,skipped --json", 0, `"looked": 0`, false},
		{"redrive --from dlq --yes", 0, "1 of 1 message moved", true},
		{"skip ledger a1 --through 2 --reason lost --by ada --yes", 0, "cursor   1 → 3", true},
		{"skip ledger a1 --through 2 --reason lost --yes", 0, "nothing to skip", false},
		{"bootstrap testdata/snapshot.jsonl", 0, "write    1", false},
		{"bootstrap testdata/snapshot.jsonl --yes --json", 0, `"written": 1`, true},
		{"bootstrap testdata/snapshot.jsonl --yes", 0, "kept     1", false},
		{"bootstrap nowhere.jsonl", 2, "no such file", false},
		{"bootstrap", 2, "<file>", false},
	} {
		before := cloud.Dump()
		args := strings.Fields(row.args)
		args = append(args, "--endpoint", cloud.Endpoint, "--streams", "stack/testdata/streams.yaml")
		var out bytes.Buffer
		code := inorder(t.Context(), args, &out, &out)
		if code != row.exitCode || !strings.Contains(out.String(), row.says) {
			t.Errorf("inorder %s: exit %d, want %d and %q:\n%s", row.args, code, row.exitCode, row.says, out.String())
		}
		if changed := cloud.Dump() != before; changed != row.changes {
			t.Errorf("inorder %s: it changed something: %v, want %v", row.args, changed, row.changes)
		}
	}
}
