package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"inorder/cmd/inorder/stack/stacktest"
	"inorder/ddb/local"
)

// Each operator's command runs by its arguments, against the deployment that the environment or a stack names.
func TestOperatorsCommandsRunByTheirArguments(t *testing.T) {
	cloud := stacktest.Start(t, local.ForTest(t, local.Dynoxide))
	cloud.Setenv(t)
	streams := stacktest.Streams(t, operatorsStreams)
	cloud.Consume(streams, time.Now().Add(-time.Hour),
		`{"event_id":"e1","type":"Posted","entity_id":"a1","seq":1,"data":{"n":1}}`,
		`{"event_id":"e3","type":"Posted","entity_id":"a1","seq":3,"data":{"n":1}}`)
	for _, row := range []struct {
		args     string
		exitCode int
		says     string
	}{
		{"gaps", 1, "1 open gap of billing"},
		{"gaps --stack prod", 1, "1 open gap of billing"},
		{"gaps --json", 1, `"entity_id": "a1"`},
		{"gaps --stack prd", 2, "there is no stack prd"},
		{"gaps --limit=-1", 2, "--limit -1"},
		{"inspect ledger a1", 0, "missing     2"},
		{"inspect ledger a1 --stack prod --json", 0, `"balance": 1`},
		{"inspect ledger a2", 1, "billing has never seen a2 of stream ledger"},
		{"inspect ledger", 2, "(see inorder inspect --help)"},
		{"reconcile --truth testdata/truth.jsonl", 1, "balance     1     2"},
		{"reconcile --against nobody --emit", 1, `"reconciliation_mismatches_total":1`},
		{"reconcile --against nobody --emit --json", 2, "one of them"},
		{"tail --once", 0, "(oldest 1 h, ledger a1)"},
		{"tail --once --json --stack prod", 0, `"gaps_open_current":1`},
		{"tail --every 1ms", 2, "at least 1s"},
		{"reconcile", 2, "--truth FILE or --against CONSUMER"},
		{"inspect ledger a1 --since yesterday", 2, "--since"},
	} {
		args := strings.Fields(row.args)
		args = append(args, "--endpoint", cloud.Endpoint, "--streams", "stack/testdata/streams.yaml")
		var out bytes.Buffer
		code := inorder(t.Context(), args, &out, &out)
		if code != row.exitCode || !strings.Contains(out.String(), row.says) {
			t.Errorf("inorder %s: exit %d, want %d and %q:\n%s", row.args, code, row.exitCode, row.says, out.String())
		}
	}
}

const operatorsStreams = `
consumer: billing
streams:
  - name: ledger
    types: [Posted]
    mode: step
    projection: {sum: {balance: data.n}}
`
