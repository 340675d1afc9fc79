package bootstrap

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/stack/stacktest"
	"inorder/cmd/inorder/terminal"
	"inorder/ordering"
)

var began = stacktest.Began

type world struct{ *stacktest.World }

func start(t *testing.T) *world {
	t.Helper()
	return &world{stacktest.NewWorld(t)}
}

func (w *world) command(file string) *Command {
	return &Command{Flags: w.Flags(), File: file, Output: terminal.Output{Now: func() time.Time { return began }}}
}

// file is a snapshot of some lines, under a name that is always the same.
func (w *world) file(lines ...string) string {
	w.T.Helper()
	w.T.Chdir(w.dir())
	if err := os.WriteFile("snapshot.jsonl", []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		w.T.Fatal(err)
	}
	return "snapshot.jsonl"
}

// dir is a folder that has this package's testdata.
func (w *world) dir() string {
	w.T.Helper()
	here, err := os.Getwd()
	if err != nil {
		w.T.Fatal(err)
	}
	dir := w.T.TempDir()
	if err := os.Symlink(filepath.Join(here, "testdata"), filepath.Join(dir, "testdata")); err != nil {
		w.T.Fatal(err)
	}
	return dir
}

func (w *world) run(ctx context.Context, c *Command) (out string, exitCode int) {
	w.T.Helper()
	return w.Changes(ctx, c, c.Yes)
}

func (w *world) shows(name string, exitCode int, c *Command) {
	w.T.Helper()
	out, code := w.run(w.T.Context(), c)
	w.Shows(name, exitCode, out, code)
}

func yes(c *Command) *Command    { c.Yes = true; return c }
func asJSON(c *Command) *Command { c.JSON = true; return c }

func (w *world) entity(key ordering.Key) *ordering.Entity {
	w.T.Helper()
	key.Consumer = "billing"
	e, err := w.Store.Entity(w.T.Context(), key)
	if err != nil {
		w.T.Fatal(err)
	}
	return e
}

func posted(id string, seq int) string {
	return fmt.Sprintf(`{"event_id":"%s-%d","type":"Posted","entity_id":%q,"seq":%d,"data":{"n":1}}`, id, seq, id, seq)
}

// Every mode has its line, and a dry run counts what --yes writes. To run it again changes nothing.
func TestASnapshotOfEveryMode(t *testing.T) {
	w := start(t)
	w.shows("many-dry.golden", stack.ExitDone, w.command("testdata/many.jsonl"))
	w.shows("many-done.golden", stack.ExitDone, yes(w.command("testdata/many.jsonl")))
	after := w.Dump()
	w.shows("many-again.golden", stack.ExitDone, yes(w.command("testdata/many.jsonl")))
	w.shows("many-again.json", stack.ExitDone, asJSON(yes(w.command("testdata/many.jsonl"))))
	w.shows("many-again-dry.golden", stack.ExitDone, w.command("testdata/many.jsonl"))
	if w.Dump() != after {
		t.Error("the second time changed something")
	}
	a1 := w.entity(ordering.Key{Stream: "ledger", ID: "a1"})
	if a1.Applied != 120 || fmt.Sprint(a1.State) != "map[balance:12345678901234567890.5]" || a1.Gap != nil {
		t.Errorf("a1: %+v", a1)
	}
	if a2 := w.entity(ordering.Key{Stream: "ledger", ID: "a2"}); a2.Gen != 3 || a2.Applied != 7 {
		t.Errorf("a2: %+v", a2)
	}
	if m := w.entity(ordering.Key{Stream: "mail", ID: "42"}); m.Dispatched == nil || m.Dispatched.Seq != 5 {
		t.Errorf("42: %+v", m)
	}
	if j := w.entity(ordering.Key{Stream: "joined", ID: "j1", PerSource: true, Source: "shop"}); j.Applied != 3 {
		t.Errorf("j1: %+v", j)
	}
	if v := w.entity(ordering.Key{Stream: "visit", ID: "v1"}); v.Clock != "2026-02-01T10:00:00.000000000Z|e1|" {
		t.Errorf("v1: %+v", v)
	}
	if u := w.entity(ordering.Key{Stream: "profile", ID: "u1"}); fmt.Sprint(u.State) != "map[cart:[x] name:Ada]" {
		t.Errorf("u1: %+v", u)
	}
}

// After it the consumer goes on where the snapshot ends: the next number runs, the last one is a duplicate, an older state
// is stale, and increments go on adding.
func TestTheConsumerGoesOnFromThere(t *testing.T) {
	w := start(t)
	if out, code := w.run(t.Context(), yes(w.command("testdata/many.jsonl"))); code != stack.ExitDone {
		t.Fatal(out)
	}
	w.Consume(w.Streams, began, posted("a1", 120), posted("a1", 121),
		`{"event_id":"p7","type":"PlanChanged","entity_id":"p1","seq":7,"data":{"plan":"old"}}`,
		`{"event_id":"p8","type":"PlanChanged","entity_id":"p1","seq":8,"data":{"plan":"same"}}`,
		`{"event_id":"m5","type":"Mailed","entity_id":"42","seq":5,"data":{"n":1}}`,
		`{"event_id":"m6","type":"Mailed","entity_id":"42","seq":6,"data":{"n":1}}`,
		`{"event_id":"s","type":"SeatsAdded","entity_id":"s1","seq":10,"data":{"n":2}}`,
		`{"event_id":"c","type":"Clicked","entity_id":"c1","data":{"n":2}}`,
		`{"event_id":"v0","type":"Visited","entity_id":"v1","published_at":"2026-02-01T09:00:00Z","data":{"page":"/old"}}`)
	for key, want := range map[ordering.Key]string{
		{Stream: "ledger", ID: "a1"}: "map[balance:12345678901234567891.5]", {Stream: "plan", ID: "p1"}: "map[plan:basic]",
		{Stream: "mail", ID: "42"}: "map[mails:6]", {Stream: "seats", ID: "s1"}: "map[seats:6]",
		{Stream: "clicks", ID: "c1"}: "map[clicks:12]", {Stream: "visit", ID: "v1"}: "map[page:/]",
	} {
		if got := fmt.Sprint(w.entity(key).State); got != want {
			t.Errorf("%s of %s is %s, want %s", key.ID, key.Stream, got, want)
		}
	}
	if sent := w.Queues.Sent(stacktest.EffectsURL); len(sent) != 1 || !strings.Contains(sent[0].Body, `"seq":6`) {
		t.Errorf("effects %+v: what the snapshot holds sends none", sent)
	}
}

// What only waits makes room; what has begun stays, and the operator reads which and why.
func TestWhatIsThereAlready(t *testing.T) {
	w := start(t)
	w.Consume(w.Streams, began, posted("waits", 3), posted("waits", 6), posted("begun", 1), posted("far", 1), posted("far", 2))
	wide := "\x1b[31m" + strings.Repeat("顧客-", 20)
	w.Consume(w.Streams, began, strings.ReplaceAll(posted("wide", 1), `"entity_id":"wide"`, `"entity_id":"\u001b[31m`+strings.Repeat("顧客-", 20)+`"`))
	if !w.entity(ordering.Key{Stream: "ledger", ID: wide}).Exists {
		t.Fatal("the wide one was not consumed")
	}
	lines := []string{
		`{"stream":"ledger","entity_id":"waits","applied":5,"state":{"balance":5}}`,
		`{"stream":"ledger","entity_id":"begun","applied":5,"state":{"balance":5}}`,
		`{"stream":"ledger","entity_id":"far","applied":2,"state":{"balance":2}}`,
		`{"stream":"ledger","entity_id":"\u001b[31m` + strings.Repeat("顧客-", 20) + `","applied":5,"state":{"balance":2}}`,
	}
	file := w.file(lines...)
	w.shows("there-dry.golden", stack.ExitFailed, w.command(file))
	narrow := w.command(file)
	narrow.Width = 80
	w.shows("there-80-columns.golden", stack.ExitFailed, narrow)
	w.shows("there-done.golden", stack.ExitFailed, yes(w.command(file)))
	w.shows("there.json", stack.ExitFailed, asJSON(w.command(file)))
	if e := w.entity(ordering.Key{Stream: "ledger", ID: "waits"}); e.Applied != 5 || fmt.Sprint(e.Waiting) != "[6]" {
		t.Errorf("%+v", e)
	}
	w.Consume(w.Streams, began, posted("waits", 7))
	if e := w.entity(ordering.Key{Stream: "ledger", ID: "waits"}); e.Applied != 7 || fmt.Sprint(e.State) != "map[balance:7]" {
		t.Errorf("it does not go on: %+v", e)
	}
}

// All faults are listed, each with its line, and nothing is written.
func TestFaults(t *testing.T) {
	w := start(t)
	before := w.Dump()
	w.shows("faults.golden", stack.ExitUsage, yes(w.command("testdata/faults.jsonl")))
	w.shows("no-file.golden", stack.ExitUsage, yes(w.command("testdata/nowhere.jsonl")))
	if w.Dump() != before {
		t.Error("something was written")
	}
	file := w.file("", " ")
	w.shows("empty.golden", stack.ExitDone, yes(w.command(file)))
	w.shows("empty.json", stack.ExitDone, asJSON(w.command(file)))
	if err := os.WriteFile(file, bytes.Repeat([]byte("{}\n"), 150), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _ := w.run(t.Context(), w.command(file)); !strings.Contains(out, "and 50 more") {
		t.Error(out)
	}
	if err := os.WriteFile(file, bytes.Repeat([]byte("x"), maxLine+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := w.run(t.Context(), w.command(file)); code != stack.ExitUsage || !strings.Contains(out, "line 1 is longer") {
		t.Error(out)
	}
}

// Where the database fails it ends, says how far it is, and goes on when it is run again; Ctrl-C is no different.
func TestItGoesOnWhereItEnded(t *testing.T) {
	w := start(t)
	ctx, stop := context.WithCancel(t.Context())
	var run atomic.Int32 // requests of an earlier one may still be on their way
	run.Store(1)
	w.Denies = func(operation string, body []byte) bool {
		switch run.Load() {
		case 1:
			return operation == "PutItem" && bytes.Contains(body, []byte("ledger/a2"))
		case 2:
			stop()
		}
		return false
	}
	out, code := w.run(t.Context(), yes(w.command("testdata/many.jsonl")))
	if code != stack.ExitFailed || !strings.Contains(out, "line 3: ") || !strings.Contains(out, "run it again for the rest") {
		t.Errorf("exit %d: %s", code, out)
	}
	run.Store(2)
	if out, code := w.run(ctx, yes(w.command("testdata/many.jsonl"))); code != stack.ExitFailed || !strings.Contains(out, "It ended early") {
		t.Errorf("exit %d: %s", code, out)
	}
	run.Store(3)
	if out, code := w.run(t.Context(), yes(w.command("testdata/many.jsonl"))); code != stack.ExitDone {
		t.Errorf("exit %d: %s", code, out)
	}
	if e := w.entity(ordering.Key{Stream: "clicks", ID: "c1"}); fmt.Sprint(e.State) != "map[clicks:10]" {
		t.Errorf("%+v", e)
	}
}

func TestOneEntity(t *testing.T) {
	w := start(t)
	file := w.file(`{"stream":"ledger","entity_id":"a1","applied":1,"state":{"balance":1}}`)
	w.shows("one-dry.golden", stack.ExitDone, w.command(file))
	w.shows("one-done.json", stack.ExitDone, asJSON(yes(w.command(file))))
}
