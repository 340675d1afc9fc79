package reconcile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/stack/stacktest"
	"inorder/cmd/inorder/terminal"
	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/ordering"
)

var began = stacktest.Began

type world struct{ *stacktest.World }

func start(t *testing.T) *world {
	t.Helper()
	return &world{stacktest.NewWorld(t)}
}

// have lets a consumer have events, each given by its fields.
func (w *world) have(consumer string, fields ...string) {
	w.T.Helper()
	streams := *w.Streams
	streams.Consumer = consumer
	for i, f := range fields {
		w.Consume(&streams, began, fmt.Sprintf(`{"event_id":"e%d",%s}`, i+1, f))
	}
}

// someEntities are one of each kind.
var someEntities = []string{
	`"type":"Posted","entity_id":"a1","seq":1,"data":{"n":1.50,"note":"hi"}`,
	`"type":"Posted","entity_id":"a1","seq":2,"data":{"n":0.50}`,
	`"type":"Posted","entity_id":"a2","seq":1,"data":{"n":12345678901234567890123.45}`,
	`"type":"SeatsAdded","entity_id":"s1","source":"shop","seq":1,"data":{"n":3}`,
	`"type":"PlanChanged","entity_id":"p1","seq":7,"data":{"plan":"pro","since":null,"tags":["a",1.0]}`,
	`"type":"PlanChanged","entity_id":"p2","seq":7,"data":{"plan":"pro"}`,
	`"type":"PlanEnded","entity_id":"p2","seq":8,"data":{}`,
	`"type":"call.ended","entity_id":"k1","created_at":"2026-02-01T09:59:59Z","data":{"id":"k1"}`,
	`"type":"Posted","entity_id":"waits","seq":2,"data":{"n":1}`,
}

// theSame is what a truth says of them, in other words.
var theSame = []string{
	`{"stream":"ledger","entity_id":"a1","state":{"note":"hi","balance":2},"applied":2}`,
	`{"stream":"ledger","entity_id":"a2","state":{"balance":12345678901234567890123.4500}}`,
	`{"stream":"seats","entity_id":"s1","source":"shop","state":{"seats":3e0},"applied":1}`,
	`{"stream":"plan","entity_id":"p1","state":{"tags":["a",1],"plan":"pro","since":null},"applied":7}`,
	`{"stream":"plan","entity_id":"p2","state":null}`,
	`{"stream":"call","entity_id":"k1","state":{"id":"k1"}}`,
	`{"stream":"ledger","entity_id":"waits","state":null}`,
}

// otherwise differs in everything that can differ.
var otherwise = []string{
	`{"stream":"ledger","entity_id":"a1","state":{"note":"hi ","balance":2.0},"applied":3}`,
	`{"stream":"ledger","entity_id":"a2","state":{"balance":12345678901234567890123.46}}`,
	`{"stream":"ledger","entity_id":"a3","state":{"balance":1},"applied":1}`,
	`{"stream":"ledger","entity_id":4711,"applied":1}`,
	`{"stream":"seats","entity_id":"s1","source":"other","state":{"seats":3}}`,
	`{"stream":"plan","entity_id":"p1","state":{"plan":"free","tags":["a","1"]},"applied":7}`,
	`{"stream":"plan","entity_id":"p2","state":{"plan":"pro"}}`,
}

func (w *world) file(lines ...string) string {
	w.T.Helper()
	path := filepath.Join(w.T.TempDir(), "truth.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		w.T.Fatal(err)
	}
	return path
}

func (w *world) run(change func(*Command)) (out string, exitCode int) {
	w.T.Helper()
	c := &Command{
		Flags: w.Flags(), Limit: 100, Parallel: 1,
		Output: terminal.Output{Now: func() time.Time { return began.Add(time.Hour) }},
	}
	change(c)
	out, exitCode = w.Reads(c)
	// The file is somewhere else in each run.
	return strings.ReplaceAll(out, filepath.Dir(c.Truth)+"/", ""), exitCode
}

func (w *world) shows(name string, exitCode int, change func(*Command)) {
	w.T.Helper()
	out, code := w.run(change)
	w.Shows(name, exitCode, out, code)
}

func TestNothingToCompare(t *testing.T) {
	w := start(t)
	w.shows("empty.golden", stack.ExitDone, func(c *Command) { c.Truth = w.file() })
	w.shows("empty.json", stack.ExitDone, func(c *Command) { c.Truth, c.JSON = w.file(), true })
}

// Numbers by value, names in any order, a deleted entity and one that only waits are no mismatch; lines or a list.
func TestTheSameInOtherWordsIsTheSame(t *testing.T) {
	w := start(t)
	w.have("billing", someEntities...)
	w.have("other", someEntities[0])
	w.shows("same.golden", stack.ExitDone, func(c *Command) { c.Truth = w.file(theSame...) })
	if out, code := w.run(func(c *Command) { c.Truth = w.file("[", strings.Join(theSame, ",\n"), "]") }); code != stack.ExitDone {
		t.Errorf("as a list: exit %d:\n%s", code, out)
	}
}

// Each way in which two sides can differ is listed and counted.
func TestEveryMismatchIsListed(t *testing.T) {
	w := start(t)
	w.have("billing", someEntities...)
	w.shows("many.golden", stack.ExitFailed, func(c *Command) { c.Truth = w.file(otherwise...) })
	w.shows("many-80-columns.golden", stack.ExitFailed, func(c *Command) { c.Truth, c.Width = w.file(otherwise...), 80 })
	w.shows("many.json", stack.ExitFailed, func(c *Command) { c.Truth, c.JSON = w.file(otherwise...), true })
	w.shows("many-limited.golden", stack.ExitFailed, func(c *Command) { c.Truth, c.Limit, c.Emit = w.file(otherwise...), 1, true })
	w.shows("partial.golden", stack.ExitFailed, func(c *Command) { c.Truth, c.Partial = w.file(otherwise[0]), true })
	w.shows("one-stream.golden", stack.ExitFailed, func(c *Command) { c.Truth, c.Stream = w.file(otherwise...), "plan" })
	if scans := w.Calls("Scan"); scans != 5 {
		t.Errorf("%d scans: all but --partial make one", scans)
	}
}

// A metric is one line of its own, and none where nothing differs.
func TestEmit(t *testing.T) {
	w := start(t)
	w.have("billing", someEntities...)
	out, _ := w.run(func(c *Command) { c.Truth, c.Emit = w.file(otherwise...), true })
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, `{"_aws":`) || !strings.Contains(last, `"reconciliation_mismatches_total":11`) {
		t.Error(last)
	}
	if out, _ := w.run(func(c *Command) { c.Truth, c.Emit = w.file(theSame...), true }); strings.Contains(out, "_aws") {
		t.Error(out)
	}
}

// Two consumers that made the same of the same events agree, whether in one table or in two, however it is scanned.
func TestAnotherConsumer(t *testing.T) {
	w := start(t)
	w.have("billing", someEntities...)
	w.have("audit", someEntities...)
	w.have("third", someEntities[0])
	against := func(consumer string, parallel int) func(*Command) {
		return func(c *Command) { c.Against, c.Parallel, c.Rate = consumer, parallel, 1e6 }
	}
	w.shows("against-same.golden", stack.ExitDone, against("audit", 3))
	w.have("audit", `"type":"Posted","entity_id":"a1","seq":3,"data":{"n":1}`, `"type":"Posted","entity_id":"a9","seq":1,"data":{"n":1}`)
	w.have("billing", `"type":"Posted","entity_id":"a8","seq":1,"data":{"n":1}`)
	w.shows("against-other.golden", stack.ExitFailed, against("audit", 1))
	w.shows("against-nobody.golden", stack.ExitFailed, against("nobody", 2))
}

func TestAnotherTable(t *testing.T) {
	engine := local.ForTest(t, local.Dynoxide)
	w := &world{stacktest.NewWorldOn(t, engine)}
	tables := ddb.Tables{Entities: "copy-entities", Items: "copy-items"}
	if err := ddb.CreateTables(t.Context(), engine.Client(), tables); err != nil {
		t.Fatal(err)
	}
	w.have("billing", someEntities...)
	key := ordering.Key{Consumer: "billing", Stream: "ledger", ID: "a1"}
	e, err := w.Store.Entity(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	copied := *e
	copied.Rev = 1
	other := &ddb.Store{API: w.Store.API, Tables: tables}
	if err := other.Swap(t.Context(), key, &ordering.Entity{}, &copied, nil); err != nil {
		t.Fatal(err)
	}
	w.shows("against-table.golden", stack.ExitFailed, func(c *Command) {
		c.Against, c.AgainstTable, c.Stream = "billing", tables.Entities, "ledger"
	})
}

// More entities than one request takes.
func TestManyEntities(t *testing.T) {
	w := start(t)
	var lines []string
	for n := range 2*batch + 50 {
		w.have("billing", fmt.Sprintf(`"type":"PlanChanged","entity_id":"p%d","seq":1,"data":{"n":%d}`, n, n))
		lines = append(lines, fmt.Sprintf(`{"stream":"plan","entity_id":"p%d","state":{"n":%d.0}}`, n, n))
	}
	out, code := w.run(func(c *Command) { c.Truth = w.file(lines...) })
	if code != stack.ExitDone || !strings.Contains(out, "250 entities, no mismatch") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// Ids and values are strangers' text.
func TestWideIds(t *testing.T) {
	w := start(t)
	lines := []string{
		`{"stream":"ledger","entity_id":"` + strings.Repeat("口座", 40) + `","state":{"balance":1}}`,
		`{"stream":"ledger","entity_id":"\u001b[2J","state":{"note":"\u009b31m` + strings.Repeat("x", 200) + `"}}`,
	}
	w.shows("wide.golden", stack.ExitFailed, func(c *Command) { c.Truth = w.file(lines...) })
	w.shows("wide-80-columns.golden", stack.ExitFailed, func(c *Command) { c.Truth, c.Width = w.file(lines...), 80 })
	w.shows("wide.json", stack.ExitFailed, func(c *Command) { c.Truth, c.JSON = w.file(lines...), true })
}

// A wrong file is refused before anything is read, with the line and what is wrong with it.
func TestAWrongFileIsRefusedWithItsLine(t *testing.T) {
	w := start(t)
	right := theSame[0]
	for _, row := range []struct{ line, want string }{
		{`{"stream":"ledger","entity_id":"a"`, "line 3: "},
		{`{"stream":"legder","entity_id":"a","applied":1}`, `line 2: streams.yaml has no stream "legder"`},
		{`{"stream":"ledger","applied":1}`, "line 2: entity_id must be"},
		{`{"stream":"ledger","entity_id":true,"applied":1}`, "line 2: entity_id must be"},
		{`{"stream":"ledger","entity_id":1.5,"applied":1}`, "line 2: entity_id must be"},
		{`{"stream":"ledger","entity_id":"","applied":1}`, "line 2: entity_id must be"},
		{`{"stream":"ledger","entity_id":"b"}`, "line 2: neither state nor applied"},
		{`{"stream":"ledger","entity_id":"b","state":3}`, "line 2: state must be an object"},
		{`{"stream":"ledger","entity_id":"b","state_":{},"applied":3}`, `line 2: `},
		{`{"stream":"ledger","entity_id":"b","state":{"a":1,"a":2}}`, `line 2: `},
		{`{"stream":"ledger","entity_id":"b","source":"x","applied":3}`, "line 2: in stream ledger all sources share one history"},
		{`{"stream":"seats","entity_id":"b","applied":3}`, "line 2: in stream seats each source has a history"},
		{`{"stream":"call","entity_id":"b","applied":3}`, "line 2: stream call has no numbers"},
		{right, "line 2: \"a1\" of stream ledger stands here twice"},
	} {
		out, code := w.run(func(c *Command) { c.Truth = w.file(right, row.line, "") })
		if code != stack.ExitUsage || !strings.Contains(out, row.want) {
			t.Errorf("%s: exit %d: %s", row.line, code, out)
		}
	}
	if w.Calls("BatchGetItem")+w.Calls("Scan") != 0 {
		t.Error("the table was read")
	}
}

func TestBadUsage(t *testing.T) {
	w := start(t)
	for name, change := range map[string]func(*Command){
		"compare with what":       func(*Command) {},
		"one of them":             func(c *Command) { c.Truth, c.Against = "f", "c" },
		"goes with --against":     func(c *Command) { c.Truth, c.AgainstTable = "f", "t" },
		"goes with --truth":       func(c *Command) { c.Against, c.Partial = "c", true },
		"no such file":            func(c *Command) { c.Truth = "nowhere" },
		"this consumer itself":    func(c *Command) { c.Against = "billing" },
		"--parallel 0":            func(c *Command) { c.Truth, c.Parallel = "f", 0 },
		"has no such stream":      func(c *Command) { c.Truth, c.Stream = "f", "legder" },
		"set ENTITIES_TABLE":      func(c *Command) { c.Truth, c.Getenv = "f", func(string) string { return "" } },
		"begins with http:// or ": func(c *Command) { c.Truth, c.Endpoint = "f", "localhost" },
	} {
		if out, code := w.run(change); code != stack.ExitUsage || !strings.Contains(out, name) {
			t.Errorf("exit %d, want %q: %s", code, name, out)
		}
	}
}
