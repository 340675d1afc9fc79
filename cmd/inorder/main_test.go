package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestExitCodes(t *testing.T) {
	for _, row := range []struct {
		args     string
		exitCode int
		says     string
	}{
		{"--help", 0, "scenario"},
		{"run --help", 0, "a body, or a whole SQS record"},
		{"validate ../../events/streams.yaml", 0, "ok: "},
		{"validate validate/testdata/broken.yaml", 1, "line 3: "},
		{"validate validate/testdata/broken.yaml --json", 1, `"line":3`},
		{"validate nowhere.yaml", 2, "no such file"},
		{"scenario scenario/testdata/holds.yaml", 0, "ok  "},
		{"scenario scenario/testdata/failing/a-wrong-expectation.yaml", 1, "expected  "},
		{"scenario scenario/testdata/unplayable/unknown-stream.yaml", 2, "stream"},
		{"scenario", 2, "expected"},
		{"run --streams run/testdata/streams.yaml run/testdata/one-body.json", 0, "1 event: 1 applied"},
		{"run --streams run/testdata/streams.yaml run/testdata/mixed.jsonl", 1, "deferred to the last"},
		{"run --streams nowhere.yaml run/testdata/mixed.jsonl", 2, "--streams FILE"},
		{"run --batch 0 run/testdata/mixed.jsonl", 2, "1 to 10000"},
		{"run --engine oracle run/testdata/mixed.jsonl", 2, "there are dynoxide and minidyn"},
		{"run --frobnicate", 2, "unknown flag"},
		{"", 2, "expected one of"},
		{"frobnicate", 2, "unexpected argument"},
	} {
		var out bytes.Buffer
		code := inorder(t.Context(), strings.Fields(row.args), &out, &out)
		if code != row.exitCode || !strings.Contains(out.String(), row.says) {
			t.Errorf("inorder %s: exit %d, want %d and %q:\n%s", row.args, code, row.exitCode, row.says, out.String())
		}
	}
}
