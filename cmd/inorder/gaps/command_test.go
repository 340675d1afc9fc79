package gaps

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/stack/stacktest"
	"inorder/cmd/inorder/terminal"
	"inorder/events"
	"inorder/ordering"
)

var began = stacktest.Began

type world struct{ *stacktest.World }

func start(t *testing.T) *world {
	t.Helper()
	return &world{stacktest.NewWorld(t)}
}

// post is an event that adds 1.
func post(typ, id string, seq int64) string {
	return fmt.Sprintf(`{"event_id":"%s-%d","type":%q,"entity_id":%s,"seq":%d,"data":{"n":1}}`, typ, seq, typ, quoted(id), seq)
}

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// numbers lets an entity of the ledger have some numbers.
func (w *world) numbers(at time.Time, id string, seqs ...int64) {
	w.T.Helper()
	for _, seq := range seqs {
		w.Consume(w.Streams, at, post("Posted", id, seq))
	}
}

// put stores an entity that no single invocation would leave.
func (w *world) put(consumer, stream, id string, cursor ordering.Cursor) {
	w.T.Helper()
	key := ordering.Key{Consumer: consumer, Stream: stream, ID: id}
	e := &ordering.Entity{Exists: true, Rev: 1, Cursor: cursor}
	if err := w.Store.Swap(w.T.Context(), key, &ordering.Entity{}, e, nil); err != nil {
		w.T.Fatal(err)
	}
}

func (w *world) command() *Command {
	return &Command{
		Flags: w.Flags(), Limit: 50,
		Output: terminal.Output{Now: func() time.Time { return began.Add(2*time.Hour + 5*time.Minute) }},
	}
}

// shows runs the command and compares what it prints with a golden file.
func (w *world) shows(name string, exitCode int, change func(*Command)) {
	w.T.Helper()
	c := w.command()
	if change != nil {
		change(c)
	}
	out, code := w.Reads(c)
	w.Shows(name, exitCode, out, code)
}

func asJSON(c *Command) { c.JSON = true }

func TestNothingOpen(t *testing.T) {
	w := start(t)
	w.numbers(began, "a1", 1, 2, 3)
	w.shows("empty.golden", stack.ExitDone, nil)
	w.shows("empty.json", stack.ExitDone, asJSON)
}

func TestOneGap(t *testing.T) {
	w := start(t)
	w.numbers(began, "a1", 1, 2, 5)
	w.shows("one.golden", stack.ExitFailed, nil)
	w.shows("one.json", stack.ExitFailed, asJSON)
	w.shows("one-of-another-stream.golden", stack.ExitDone, func(c *Command) { c.Stream = "mail" })
}

// Each reason why the sweeper must look at an entity has its own words, and the oldest comes first.
func TestEveryReasonIsTold(t *testing.T) {
	w := start(t)
	w.everyReason()
	w.shows("many.golden", stack.ExitFailed, nil)
	w.shows("many-80-columns.golden", stack.ExitFailed, func(c *Command) { c.Width = 80 })
	w.shows("many.json", stack.ExitFailed, asJSON)
	w.shows("many-limited.golden", stack.ExitFailed, func(c *Command) { c.Limit = 2 })
}

func (w *world) everyReason() {
	at := func(minutes int) time.Time { return began.Add(time.Duration(minutes) * time.Minute) }
	gap := func(minutes int) *ordering.Gap { return &ordering.Gap{Since: at(minutes)} }
	w.numbers(at(0), "a1", 1, 3, 5, 8, 13, 21)
	w.Consume(w.Streams, at(10), `{"event_id":"b","type":"Posted","entity_id":"b1","seq":1,"data":{"n":"much"}}`)
	w.Consume(w.Streams, at(20), post("Joined", "j1", 7), post("Joined", "j1", 8))
	w.Consume(w.Streams, at(30), post("SeatsAdded", "s1", 2), post("SeatsAdded", "s1", 4))
	w.Consume(w.Streams, at(40), `{"type":"inorder.mark","stream":"plan","entity_id":"p1","seq":9}`)
	w.put("billing", "mail", "m1", ordering.Cursor{Applied: 5, Dispatched: &ordering.Position{Seq: 3}, Gap: gap(50)})
	w.put("billing", "ledger", "d1", ordering.Cursor{Applied: 5, Waiting: ordering.Numbers{6, 7}, MaxSeen: 7, Gap: gap(60)})
	w.put("billing", "gone", "g1", ordering.Cursor{Applied: 5, Waiting: ordering.Numbers{7}, MaxSeen: 7, Gap: gap(70)})
	w.put("billing", "ledger", "t1", ordering.Cursor{Applied: 5, MaxSeen: 5, Gap: gap(80)})
	asked := gap(90)
	asked.Escalations, asked.EscalateAt = 3, at(150)
	w.put("billing", "ledger", "e1", ordering.Cursor{Gen: 2, Applied: 5, MaxSeen: 9, Gap: asked})
	given := gap(100)
	given.Escalations, given.EscalateAt = 8, at(150)
	w.put("billing", "ledger", "f1", ordering.Cursor{Applied: 5, MaxSeen: 7, Gap: given})
	w.put("other", "ledger", "o1", ordering.Cursor{Applied: 5, MaxSeen: 9, Gap: gap(50)})
}

// Ids are strangers' text: they may be wide, and must not reach the terminal as they are.
func TestWideIds(t *testing.T) {
	w := start(t)
	w.numbers(began, strings.Repeat("account-", 40), 2)
	w.numbers(began.Add(time.Minute), strings.Repeat("口座", 30), 2)
	w.numbers(began.Add(2*time.Minute), "\x1b[2J\x07evil\u202e", 2)
	w.shows("wide.golden", stack.ExitFailed, nil)
	w.shows("wide-80-columns.golden", stack.ExitFailed, func(c *Command) { c.Width = 80 })
	w.shows("wide.json", stack.ExitFailed, asJSON)
}

// Where a request fails or something is not known, the reason is told in one line.
func TestErrors(t *testing.T) {
	w := start(t)
	w.shows("error-no-table.golden", stack.ExitUsage, func(c *Command) { c.Getenv = func(string) string { return "" } })
	w.shows("error-no-stream.golden", stack.ExitUsage, func(c *Command) { c.Stream = "legder" })
	w.Variables["ENTITIES_TABLE"] = "nowhere"
	out, code := w.Reads(w.command())
	if code != stack.ExitFailed || !strings.Contains(out, "read shard") || !strings.Contains(out, "nowhere") && !strings.Contains(out, "not found") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// One counter for all entities: no number in two of them, and most of the stream's entities have gaps.
func TestASharedCounterIsRecognised(t *testing.T) {
	for _, row := range []struct {
		name    string
		numbers func(entity int) []int64
		whole   int // entities without a gap
		want    string
	}{
		{"shared", func(n int) []int64 { return []int64{int64(n) + 1, int64(n) + 7} }, 0, "shared_counter"},
		{"shared, as soon as half have gaps", func(n int) []int64 { return []int64{int64(n) + 2, int64(n) + 8} }, 5, "shared_counter"},
		{"most entities are whole", func(n int) []int64 { return []int64{int64(n) + 2, int64(n) + 8} }, 6, ""},
		{"a number occurs twice", func(n int) []int64 { return []int64{1, int64(n) + 7} }, 0, ""},
		{"it may be chance", func(n int) []int64 { return []int64{40 + 17*int64(n*n), 41 + 17*int64(n*n)} }, 0, "joined_late"},
		{"they began at 1", func(n int) []int64 { return []int64{1, 3} }, 0, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := start(t)
			for n := range 6 {
				w.numbers(began, fmt.Sprintf("a%d", n), row.numbers(n)...)
			}
			for n := range row.whole {
				w.numbers(began, fmt.Sprintf("whole%d", n), 1)
			}
			if row.name == "shared" {
				w.shows("shared-counter.golden", stack.ExitFailed, nil)
			}
			hints := w.hints()
			if row.want != "" && !hints[row.want] || row.want == "" && hints["shared_counter"] {
				t.Errorf("%v, want %q", hints, row.want)
			}
		})
	}
}

func (w *world) hints() map[string]bool {
	w.T.Helper()
	c := w.command()
	c.JSON = true
	out, _ := w.Reads(c)
	var r struct{ Hints []struct{ Kind string } }
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		w.T.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, h := range r.Hints {
		kinds[h.Kind] = true
	}
	return kinds
}

// Four entities may look alike by chance: five are the least that a guess rests on.
func TestGuessesNeedEnoughEntities(t *testing.T) {
	w := start(t)
	for n := range 4 {
		w.numbers(began, fmt.Sprintf("a%d", n), int64(n)+2)
	}
	if hints := w.hints(); len(hints) != 0 {
		t.Errorf("%v from four entities", hints)
	}
	w.numbers(began, "a4", 6)
	if hints := w.hints(); !hints["shared_counter"] || hints["same_time"] {
		t.Errorf("%v from five", hints)
	}
}

// A consumer that begins in the middle of a history misses the first numbers of all entities, from 1 on.
func TestAConsumerThatJoinedLateIsRecognised(t *testing.T) {
	w := start(t)
	for n := range 5 {
		w.numbers(began.Add(time.Duration(n)*10*time.Minute), fmt.Sprintf("a%d", n), 40, 41)
	}
	w.shows("joined-late.golden", stack.ExitFailed, nil)
}

// Gaps that began together have one cause, if most of them did.
func TestGapsThatBeganTogetherAreRecognised(t *testing.T) {
	w := start(t)
	for n := range 5 {
		w.numbers(began.Add(time.Duration(n)*time.Minute), fmt.Sprintf("a%d", n), 1, 3)
	}
	for n := range 4 {
		w.numbers(began.Add(time.Duration(n+2)*10*time.Minute), fmt.Sprintf("b%d", n), 1, 3)
	}
	w.shows("same-time.golden", stack.ExitFailed, nil)
	w.numbers(began.Add(time.Hour), "b4", 1, 3)
	if hints := w.hints(); hints["same_time"] {
		t.Errorf("%v, where only half began together", hints)
	}
}

// What is younger than the gap deadline may be just late.
func TestYoungGapsMayBeUnderWay(t *testing.T) {
	w := start(t)
	w.numbers(began.Add(2*time.Hour+time.Minute), "a1", 2)
	w.shows("under-way.golden", stack.ExitFailed, nil)
}

// The index lags behind: an entity that it still names, and that has no gap, is none.
func TestAnEntityWithoutAGapIsNotListed(t *testing.T) {
	w := start(t)
	if _, is := Of(w.Streams.Stream("ledger"), ordering.Key{}, &ordering.Entity{Exists: true}, began); is {
		t.Error("listed")
	}
}

// Attempts count since the cursor moved. A delta's moves unseen while the database adds, so what was asked for then
// counts no more.
func TestAttemptsBeforeTheCursorMovedDoNotCount(t *testing.T) {
	s := &events.Stream{Mode: events.Delta, Order: events.Order{By: events.BySeq}, Window: 100, GapDeadline: 5 * time.Minute, GapAttempts: 8}
	gap := &ordering.Gap{Since: began, Escalations: 3, EscalateAt: began.Add(time.Hour)}
	for _, row := range []struct {
		ahead    ordering.Numbers
		attempts int
		next     time.Time
	}{
		{ordering.Numbers{4}, 3, gap.EscalateAt},
		{ordering.Numbers{2, 4}, 0, began.Add(s.GapDeadline)},
	} {
		e := &ordering.Entity{Exists: true, Cursor: ordering.Cursor{Applied: 1, Ahead: row.ahead, Gap: gap}}
		g, is := Of(s, ordering.Key{}, e, began)
		if !is || g.Attempts != row.attempts || !g.NextAttempt.Equal(row.next) {
			t.Errorf("%v: %+v, want %d attempts, the next at %v", row.ahead, g, row.attempts, row.next)
		}
	}
}

// Where number 1 is here and blocked, the consumer has not joined late, whatever else is missing.
func TestABlockedBeginningIsNoLateJoining(t *testing.T) {
	var all []Gap
	for n := range int64(5) {
		all = append(all, Gap{
			Stream: "ledger", Why: []Why{IsMissing, IsBlocked}, Blocked: 1, Missing: []events.Range{{First: 2, Last: 3}},
			known: ordering.Numbers{1, 4 + n}, AgeSeconds: 3600, Since: began.Add(time.Duration(n) * time.Hour),
		})
	}
	hints, err := diagnose(all, nil)
	if err != nil || len(hints) != 1 || hints[0].Kind != ManyBlocked {
		t.Errorf("%+v, %v", hints, err)
	}
}
