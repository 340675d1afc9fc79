package republish

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"inorder/cmd/inorder/golden"
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

func (w *world) post(typ, id string, seqs ...int64) {
	w.T.Helper()
	w.Post(began, typ, id, 1, seqs...)
}

func (w *world) command(stream, id, ranges string) *Command {
	return &Command{
		Flags: w.Flags(), Entity: stack.Entity{Stream: stream, Entity: id}, Ranges: ranges,
		Output: terminal.Output{Now: func() time.Time { return began.Add(2 * time.Hour) }},
	}
}

// shows runs the command: it sends what it says, writes nothing into the tables, and with --dry-run does nothing at all.
func (w *world) shows(name string, exitCode int, c *Command) {
	w.T.Helper()
	before := w.Dump()
	sent := len(w.Queues.Sent(stacktest.RepublishURL))
	out, code := w.Run(w.T.Context(), c)
	w.Shows(name, exitCode, out, code)
	if exitCode != stack.ExitDone || c.DryRun {
		if w.Dump() != before {
			w.T.Errorf("%s: something changed", name)
		}
		return
	}
	var bodies strings.Builder
	for _, m := range w.Queues.Sent(stacktest.RepublishURL)[sent:] {
		bodies.WriteString(m.Body + "\n")
	}
	golden.Check(w.T, strings.TrimSuffix(strings.TrimSuffix(name, ".golden"), ".json")+".sent", bodies.String())
	w.Queues.Empty(stacktest.RepublishURL)
	if w.Dump() != before {
		w.T.Errorf("%s: more changed than the republish queue", name)
	}
}

// By hand the same is asked for as the sweeper would ask for, and the entity does not notice.
func TestWhatIsMissingIsAskedFor(t *testing.T) {
	w := start(t)
	w.post("Posted", "none", 1)
	w.shows("nothing.golden", stack.ExitDone, w.command("ledger", "none", ""))
	w.post("Posted", "one", 1, 3)
	w.shows("one.golden", stack.ExitDone, w.command("ledger", "one", ""))
	w.post("Posted", "a1", 1, 3, 5, 9, 11, 13, 15)
	w.shows("many.golden", stack.ExitDone, w.command("ledger", "a1", ""))
	c := w.command("ledger", "a1", "")
	c.JSON = true
	w.shows("many.json", stack.ExitDone, c)
	c = w.command("ledger", "a1", "")
	c.DryRun = true
	w.shows("dry.golden", stack.ExitDone, c)
	c = w.command("ledger", "a1", "6-8, 4")
	w.shows("some.golden", stack.ExitDone, c)
	w.post("SeatsAdded", "s1", 1, 4)
	w.shows("delta.golden", stack.ExitDone, w.command("seats", "s1", ""))
	wide := "\x1b[31m" + strings.Repeat("顧客-", 20)
	w.post("Posted", wide, 1, 3, 5, 7, 9, 11)
	c = w.command("ledger", wide, "")
	c.Width = 80
	w.shows("wide.golden", stack.ExitDone, c)
}

// How often the sweeper asked is told, and is not changed.
func TestTheSweepersAttemptsStayAsTheyAre(t *testing.T) {
	w := start(t)
	key := ordering.Key{Consumer: "billing", Stream: "ledger", ID: "a1"}
	e := &ordering.Entity{Exists: true, Rev: 1, Cursor: ordering.Cursor{Applied: 3, MaxSeen: 5, Gap: &ordering.Gap{Since: began, Escalations: 2, EscalateAt: began.Add(time.Hour)}}}
	if err := w.Store.Swap(t.Context(), key, &ordering.Entity{}, e, nil); err != nil {
		t.Fatal(err)
	}
	w.shows("attempts.golden", stack.ExitDone, w.command("ledger", "a1", ""))
}

// Of a state entity the newest event is asked for, of each source that has a mark.
func TestMarksAreAskedFor(t *testing.T) {
	w := start(t)
	w.post("PlanChanged", "p1", 7)
	w.Consume(w.Streams, began, `{"type":"inorder.mark","stream":"plan","entity_id":"p1","seq":9}`,
		`{"type":"inorder.mark","stream":"profile","entity_id":"u1","source":"crm","seq":4}`,
		`{"type":"inorder.mark","stream":"profile","entity_id":"u1","source":"shop","seq":6}`)
	w.shows("state.golden", stack.ExitDone, w.command("plan", "p1", ""))
	w.shows("state-number.golden", stack.ExitDone, w.command("plan", "p1", "9"))
	w.shows("sources.golden", stack.ExitDone, w.command("profile", "u1", ""))
	w.shows("source-number.golden", stack.ExitDone, w.command("profile", "u1", "6"))
	c := w.command("plan", "p1", "12")
	w.shows("error-state.golden", stack.ExitFailed, c)
	c.Force = true
	w.shows("state-forced.golden", stack.ExitDone, c)
	c = w.command("profile", "u1", "5")
	c.Force = true
	w.shows("error-source.golden", stack.ExitFailed, c)
	w.shows("error-state-many.golden", stack.ExitFailed, w.command("plan", "p1", "8-9"))
	w.shows("error-state-highest.golden", stack.ExitFailed, w.command("plan", "p1", "9223372036854775807")) // and it ends
}

// What is here, or nobody has heard of, is asked for only with --force; what lies beyond the window never.
func TestRefusals(t *testing.T) {
	w := start(t)
	w.post("Posted", "a1", 1, 2, 4)
	w.post("SeatsAdded", "s1", 1, 3)
	for _, row := range []struct {
		name, stream, ranges string
		exitCode             int
	}{
		{"applied", "ledger", "1-3", stack.ExitFailed},
		{"waits", "ledger", "4", stack.ExitFailed},
		{"unknown", "ledger", "3,6", stack.ExitFailed},
		{"beyond", "ledger", "23", stack.ExitFailed},
		{"too-many", "ledger", "1-22", stack.ExitFailed},
		{"no-number", "ledger", "3,x", stack.ExitUsage},
		{"no-range", "ledger", "5-3", stack.ExitUsage},
		{"no-stream", "lodger", "", stack.ExitUsage},
		{"no-seq", "visit", "", stack.ExitUsage},
	} {
		w.shows("error-"+row.name+".golden", row.exitCode, w.command(row.stream, "a1", row.ranges))
	}
	w.shows("error-counted.golden", stack.ExitFailed, w.command("seats", "s1", "3"))
	w.shows("error-never-seen.golden", stack.ExitFailed, w.command("ledger", "A1", ""))
	forced := w.command("ledger", "a1", "1-3,6")
	forced.Force = true
	w.shows("forced.golden", stack.ExitDone, forced)
	forced = w.command("ledger", "b1", "1-3")
	forced.Force = true
	w.shows("forced-never-seen.golden", stack.ExitDone, forced)
	forced.Ranges = "23"
	w.shows("error-forced-beyond.golden", stack.ExitFailed, forced)
	forced.Ranges = ""
	w.shows("error-force-alone.golden", stack.ExitUsage, forced)
	w.Denies = func(operation string, _ []byte) bool { return operation == "SendMessage" }
	out, code := w.Run(w.T.Context(), w.command("ledger", "a1", ""))
	if code != stack.ExitFailed || !strings.Contains(out, "could not ask for 1 number") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// Ranges come out ascending and apart, and hold the same numbers as were written.
func TestRangesAreJoined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[int64]bool{}
		var parts []string
		for range rapid.IntRange(1, 6).Draw(t, "parts") {
			first := rapid.Int64Range(1, 30).Draw(t, "first")
			last := first + rapid.Int64Range(0, 5).Draw(t, "more")
			for n := first; n <= last; n++ {
				want[n] = true
			}
			parts = append(parts, fmt.Sprintf("%d-%d", first, last))
		}
		ranges, err := parseRanges(strings.Join(parts, ","))
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range ranges {
			if i > 0 && r.First <= ranges[i-1].Last+1 {
				t.Fatalf("%v touch", ranges)
			}
			for n := r.First; n <= r.Last; n++ {
				if !want[n] {
					t.Fatalf("%v holds %d", ranges, n)
				}
				delete(want, n)
			}
		}
		if len(want) > 0 {
			t.Fatalf("%v lacks %v", ranges, want)
		}
	})
}
