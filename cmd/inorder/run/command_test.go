package run

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs (write it anew with -update):\n%s", path, got)
	}
}

// command is one as the parser would make it.
func command(files ...string) *Command {
	return &Command{
		Files: files, Streams: "testdata/streams.yaml", Batch: 10, Receives: 5,
		Now: func() time.Time { return time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC) },
	}
}

func (c *Command) output(t *testing.T) (out string, exitCode int) {
	t.Helper()
	var b bytes.Buffer
	code, err := c.Run(t.Context(), &b, t.Output())
	if err != nil {
		t.Error(err)
	}
	return b.String(), code
}

var everyForm = []string{"testdata/mixed.jsonl", "testdata/records.jsonl", "testdata/whole.json", "testdata/one-body.json"}

func TestMessagesOfEveryFormAreConsumedAndShown(t *testing.T) {
	out, code := command(everyForm...).output(t)
	if code != exitFailed {
		t.Errorf("exit %d: one message came back to the last", code)
	}
	golden(t, "every-form.golden", []byte(out))
}

func TestJSONHoldsTheSame(t *testing.T) {
	c := command(everyForm...)
	c.JSON = true
	out, _ := c.output(t)
	golden(t, "every-form.golden.json", []byte(out))
	var r Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Messages) != 18 || len(r.Deferred) != 1 || len(r.Entities) != 7 || len(r.Quarantine) != 4 || r.Effects != 2 {
		t.Errorf("%+v", r)
	}
}

func TestStandardInputIsReadWhereNoFileIsNamed(t *testing.T) {
	for _, files := range [][]string{nil, {"-"}} {
		c := command(files...)
		c.In = strings.NewReader("{\"event_id\":\"p-1\",\"type\":\"PlanChanged\",\"seq\":1,\"data\":{\"id\":\"s1\"}}\nno JSON\n")
		out, code := c.output(t)
		if code != exitDone || !strings.Contains(out, "stdin:1") || !strings.Contains(out, "2 events: 1 applied, 1 quarantined") {
			t.Errorf("exit %d:\n%s", code, out)
		}
	}
}

func TestNothingToConsumeIsFine(t *testing.T) {
	c := command()
	c.In = strings.NewReader("\n  \n")
	if out, code := c.output(t); code != exitDone || !strings.HasPrefix(out, "0 events") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// A message that comes back is delivered again behind the others, which may be what it waits for.
func TestWhatComesBackIsDeliveredAgain(t *testing.T) {
	c := command()
	var lines []string
	for _, seq := range []string{"9", "6", "1", "2", "3", "4", "5", "7", "8"} {
		lines = append(lines, `{"event_id":"l-`+seq+`","type":"Posted","entity_id":"a","seq":`+seq+`,"data":{"n":1}}`)
	}
	c.In, c.Batch = strings.NewReader(strings.Join(lines, "\n")), 1
	out, code := c.output(t)
	if code != exitDone || !strings.Contains(out, `{"n":9}`) {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// On a FIFO queue nothing of a group overtakes what came back, and what never goes ends in the dead-letter queue.
func TestAFIFOGroupKeepsItsOrder(t *testing.T) {
	c := command()
	record := func(seq, group string) string {
		body, err := json.Marshal(`{"event_id":"` + group + seq + `","type":"Posted","entity_id":"` + group + `","seq":` + seq + `,"data":{"n":1}}`)
		if err != nil {
			t.Fatal(err)
		}
		return `{"messageId":"` + group + seq + `","body":` + string(body) + `,"attributes":{"MessageGroupId":"` + group +
			`"},"eventSourceARN":"arn:aws:sqs:eu-west-1:123456789012:events.fifo"}`
	}
	c.In = strings.NewReader(strings.Join([]string{record("9", "a"), record("1", "a"), record("1", "b"), record("2", "a")}, "\n"))
	c.Batch, c.Receives, c.JSON = 1, 3, true
	out, code := c.output(t)
	var r Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitFailed {
		t.Fatal(err, code)
	}
	if len(r.Deferred) != 1 || r.Deferred[0] != "a9" || r.Messages[0].Receives != 3 || r.Messages[1].Receives != 1 || r.Dispositions["applied"] != 3 {
		t.Errorf("%+v", r)
	}
}

// Lambda's record and ReceiveMessage's answer of one message are one message; a dump may hold it twice.
func TestAMessageThatStandsTwiceInADumpIsADuplicate(t *testing.T) {
	c := command("testdata/whole.json", "testdata/one-body.json", "testdata/one-body.json", "testdata/whole.json")
	out, code := c.output(t)
	if code != exitDone || !strings.Contains(out, "4 events: 1 applied, 2 duplicate, 1 parked") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestBadUsageSaysWhatToDo(t *testing.T) {
	missing, broken := command("testdata/mixed.jsonl"), command("testdata/mixed.jsonl")
	missing.Streams = "nowhere.yaml"
	broken.Streams = "testdata/mixed.jsonl"
	for _, row := range []struct {
		c    *Command
		want string
	}{
		{missing, "say with --streams FILE what each type of event means"},
		{broken, "testdata/mixed.jsonl has faults:\nline "},
		{command("testdata/nowhere.jsonl"), "no such file"},
		{command("testdata"), "is a directory"},
	} {
		code, err := row.c.Run(t.Context(), io.Discard, io.Discard)
		if code != exitUsage || err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("exit %d, %v, want %q", code, err, row.want)
		}
	}
}

func TestFlagsAreChecked(t *testing.T) {
	for _, change := range []func(*Command){
		func(c *Command) { c.Batch = 0 }, func(c *Command) { c.Batch = 10_001 }, func(c *Command) { c.Receives = 0 },
		func(c *Command) { c.Engine = "x" },
	} {
		c := command()
		change(c)
		if c.Validate() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	if err := command().Validate(); err != nil {
		t.Error(err)
	}
}

// A terminal shows as much as is of use there.
func TestATerminalIsNotFlooded(t *testing.T) {
	r := &Report{Dispositions: map[string]int{}}
	for range 200 {
		r.Messages = append(r.Messages, Ending{Message: "m", Disposition: "applied", EntityID: strings.Repeat("x", 500)})
		r.Quarantine = append(r.Quarantine, Refused{Message: "m\x1b[2J", Reason: "not_json", Detail: strings.Repeat("y", 500)})
	}
	var out bytes.Buffer
	printer{out: &out, width: 60}.print(r)
	for line := range strings.Lines(out.String()) {
		if len([]rune(strings.TrimSpace(line))) > 70 {
			t.Errorf("too long: %s", line)
		}
	}
	if n := strings.Count(out.String(), "\n"); n > 120 || strings.Contains(out.String(), "\x1b") || !strings.Contains(out.String(), "and 150 more") {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}
