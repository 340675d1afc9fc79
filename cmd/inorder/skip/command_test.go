package skip

import (
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

// post lets an entity have an event of some numbers, each of which adds n.
func (w *world) post(typ, id string, n any, seqs ...int64) {
	w.T.Helper()
	w.Post(began, typ, id, n, seqs...)
}

func (w *world) command(stream, id string, through int64) *Command {
	return &Command{
		Flags: w.Flags(), Entity: stack.Entity{Stream: stream, Entity: id},
		Through: through, Reason: "lost in the outage of 1 February", By: "ada",
		Output: terminal.Output{Now: func() time.Time { return began.Add(2 * time.Hour) }},
	}
}

func (w *world) run(c *Command) (out string, exitCode int) {
	w.T.Helper()
	return w.Changes(w.T.Context(), c, c.Yes)
}

func (w *world) shows(name string, exitCode int, c *Command) {
	w.T.Helper()
	out, code := w.run(c)
	w.Shows(name, exitCode, out, code)
}

func yes(c *Command) *Command    { c.Yes = true; return c }
func asJSON(c *Command) *Command { c.JSON = true; return c }

func (w *world) entity(stream, id string) *ordering.Entity {
	w.T.Helper()
	e, err := w.Store.Entity(w.T.Context(), ordering.Key{Consumer: "billing", Stream: stream, ID: id})
	if err != nil {
		w.T.Fatal(err)
	}
	return e
}

// What a skip would do is what it does, and only --yes does it: the entity moves and an audit row stays.
func TestASkipDoesWhatItSaid(t *testing.T) {
	w := start(t)
	w.post("Posted", "a1", 1, 1, 2, 4)
	w.post("Posted", "a1", "much", 6)
	w.post("Posted", "a1", 10, 8, 9)
	w.shows("many-dry.golden", stack.ExitDone, w.command("ledger", "a1", 7))
	w.shows("many-dry.json", stack.ExitDone, asJSON(w.command("ledger", "a1", 7)))
	w.shows("many-done.golden", stack.ExitDone, yes(w.command("ledger", "a1", 7)))
	e := w.entity("ledger", "a1")
	if e.Applied != 9 || e.State["balance"] != events.Number("23") || e.Gap != nil {
		t.Errorf("it is at %d with %v, gap %v", e.Applied, e.State, e.Gap)
	}
	audits, err := w.Store.Audits(t.Context(), ordering.Key{Consumer: "billing", Stream: "ledger", ID: "a1"})
	if err != nil || len(audits) != 1 || audits[0].By != "ada" || audits[0].Reason != "lost in the outage of 1 February" || audits[0].Through != 7 {
		t.Errorf("audit rows %+v, %v", audits, err)
	}
	if copies := w.Queues.Sent(stacktest.QuarantineURL); len(copies) != 1 || !strings.Contains(copies[0].Attributes["inorder"].Text, "projection_error") {
		t.Errorf("quarantine has %+v", copies)
	}
	before := w.Dump()
	w.shows("again.golden", stack.ExitDone, yes(w.command("ledger", "a1", 7)))
	w.shows("again.json", stack.ExitDone, asJSON(yes(w.command("ledger", "a1", 7))))
	if w.Dump() != before {
		t.Error("to skip what is skipped changed something")
	}
}

func TestOneLostNumber(t *testing.T) {
	w := start(t)
	w.post("Posted", "a1", 1, 1, 3)
	w.shows("one-dry.golden", stack.ExitDone, w.command("ledger", "a1", 2))
	w.shows("one-done.json", stack.ExitDone, asJSON(yes(w.command("ledger", "a1", 2))))
}

// Ids may be as wide as they like, and cannot command the terminal.
func TestAWideID(t *testing.T) {
	w := start(t)
	id := "\x1b[31m" + strings.Repeat("顧客-", 20)
	w.post("Posted", id, 1, 1, 3, 5, 7, 9, 11)
	c := w.command("ledger", id, 10)
	w.shows("wide.golden", stack.ExitDone, c)
	c.Width = 80
	w.shows("wide-80-columns.golden", stack.ExitDone, c)
}

// Effects of what runs go out, unless the deployment holds them; the operator reads which.
func TestEffectsAreToldAndSent(t *testing.T) {
	w := start(t)
	w.post("Mailed", "m1", 1, 1, 3, 4)
	sent := len(w.Queues.Sent(stacktest.EffectsURL))
	w.Variables["EFFECTS"] = "hold"
	w.shows("effects-held.golden", stack.ExitDone, w.command("mail", "m1", 2))
	delete(w.Variables, "EFFECTS")
	w.shows("effects-dry.golden", stack.ExitDone, w.command("mail", "m1", 2))
	w.shows("effects-done.golden", stack.ExitDone, yes(w.command("mail", "m1", 2)))
	if n := len(w.Queues.Sent(stacktest.EffectsURL)) - sent; n != 2 {
		t.Errorf("%d effects were sent, want those of 3 and 4", n)
	}
}

// With EFFECTS=hold in the deployment a skip sends nothing.
func TestASkipHoldsEffectsWhereTheDeploymentDoes(t *testing.T) {
	w := start(t)
	w.post("Mailed", "m1", 1, 1, 3)
	sent := len(w.Queues.Sent(stacktest.EffectsURL))
	w.Variables["EFFECTS"] = "hold"
	if out, code := w.run(yes(w.command("mail", "m1", 2))); code != stack.ExitDone {
		t.Error(out)
	}
	if n := len(w.Queues.Sent(stacktest.EffectsURL)); n != sent {
		t.Errorf("%d effects were sent", n-sent)
	}
}

// What a delta lacks counts as nothing, and a mark's number of a state entity is not waited for any more.
func TestOtherModes(t *testing.T) {
	w := start(t)
	w.post("SeatsAdded", "s1", 5, 1, 3, 6)
	w.shows("delta-dry.golden", stack.ExitDone, w.command("seats", "s1", 4))
	w.shows("delta-done.golden", stack.ExitDone, yes(w.command("seats", "s1", 4)))
	if e := w.entity("seats", "s1"); e.Applied != 4 || e.State["seats"] != events.Number("15") {
		t.Errorf("it is at %d with %v", e.Applied, e.State)
	}
	w.post("PlanChanged", "p1", 1, 7)
	w.Consume(w.Streams, began, `{"type":"inorder.mark","stream":"plan","entity_id":"p1","seq":9}`)
	w.shows("state-dry.golden", stack.ExitDone, w.command("plan", "p1", 9))
	w.shows("state-done.golden", stack.ExitDone, yes(w.command("plan", "p1", 9)))
	if e := w.entity("plan", "p1"); e.Gap != nil {
		t.Errorf("it still stands in the index: %+v", e.Gap)
	}
}

// What cannot be done is said in a sentence, and changes nothing even with --yes.
func TestRefusals(t *testing.T) {
	w := start(t)
	w.post("Posted", "a1", 1, 1, 3)
	w.Consume(w.Streams, began, `{"event_id":"v","type":"Visited","entity_id":"v1","published_at":"2026-02-01T10:00:00Z","data":{}}`)
	before := w.Dump()
	five := int64(5)
	source := "crm"
	for _, row := range []struct {
		name     string
		exitCode int
		change   func(*Command)
	}{
		{"unknown-number", stack.ExitFailed, func(c *Command) { c.Through = 12 }},
		{"never-seen", stack.ExitFailed, func(c *Command) { c.Entity.Entity = "A1" }},
		{"generation", stack.ExitFailed, func(c *Command) { c.Generation = &five }},
		{"no-stream", stack.ExitUsage, func(c *Command) { c.Stream = "lodger" }},
		{"no-numbers", stack.ExitUsage, func(c *Command) { c.Entity = stack.Entity{Stream: "visit", Entity: "v1"} }},
		{"no-reason", stack.ExitUsage, func(c *Command) { c.Reason = " " }},
		{"no-number", stack.ExitUsage, func(c *Command) { c.Through = 0 }},
		{"no-source", stack.ExitUsage, func(c *Command) { c.Stream = "joined" }},
		{"a-source", stack.ExitUsage, func(c *Command) { c.Source = &source }},
	} {
		c := yes(w.command("ledger", "a1", 2))
		row.change(c)
		w.shows("error-"+row.name+".golden", row.exitCode, c)
	}
	w.Variables["EFFECTS"] = "maybe"
	w.shows("error-effects.golden", stack.ExitUsage, yes(w.command("ledger", "a1", 2)))
	delete(w.Variables, "EFFECTS")
	delete(w.Variables, "QUARANTINE_QUEUE_URL")
	w.shows("error-no-queue.golden", stack.ExitUsage, yes(w.command("ledger", "a1", 2)))
	if w.Dump() != before {
		t.Error("a refusal changed something")
	}
}

// nextLife lets an entity begin its next generation just before a request of the command is answered.
func (w *world) nextLife(id string, before func(operation string, nth int) bool) {
	asked := map[string]int{}
	w.Denies = func(operation string, _ []byte) bool {
		if asked[operation]++; before(operation, asked[operation]) {
			w.Denies = nil
			w.Consume(w.Streams, began, fmt.Sprintf(`{"event_id":"next","type":"Posted","entity_id":%q,"generation":4,"seq":2,"data":{"n":1}}`, id))
		}
		return false
	}
}

// An entity that begins a new life between the two reads is left alone, and the operator reads which is which, without
// having named one.
func TestAnEntityThatMovesOnIsLeftAlone(t *testing.T) {
	w := start(t)
	w.Consume(w.Streams, began, `{"event_id":"first","type":"Posted","entity_id":"a1","generation":3,"seq":2,"data":{"n":1}}`)
	w.nextLife("a1", func(operation string, nth int) bool { return operation == "GetItem" && nth == 2 })
	w.shows("moved-on-before.golden", stack.ExitFailed, yes(w.command("ledger", "a1", 1)))
	if e := w.entity("ledger", "a1"); e.Gen != 4 || e.Applied != 0 || len(e.Skipped) > 0 {
		t.Errorf("it is at %d of generation %d, skipped %v", e.Applied, e.Gen, e.Skipped)
	}
}

// A skip takes so many rows at once. Where the entity begins a new life in between, what is done is told, and that it is
// of the old one.
func TestASkipThatIsOvertakenTellsHowFarItCame(t *testing.T) {
	w := start(t)
	const rows = 401 // one more than a skip takes at once
	for seq := range int64(rows) {
		w.Consume(w.Streams, began, fmt.Sprintf(`{"type":"Posted","entity_id":"a1","generation":3,"seq":%d,"data":{"n":1}}`, seq+2))
	}
	w.nextLife("a1", func(operation string, nth int) bool { return operation == "TransactWriteItems" && nth == 2 })
	w.shows("moved-on-between.golden", stack.ExitFailed, yes(w.command("ledger", "a1", rows+1)))
	if e := w.entity("ledger", "a1"); e.Gen != 4 || e.Applied != 0 || len(e.Skipped) > 0 {
		t.Errorf("it is at %d of generation %d, skipped %v", e.Applied, e.Gen, e.Skipped)
	}
}

// Where the cursor has moved and effects could not be sent, the operator reads both: they are owed, and not lost.
func TestWhatIsDoneBeforeAFaultIsTold(t *testing.T) {
	w := start(t)
	w.post("Mailed", "m1", 1, 1, 3)
	w.Denies = func(operation string, _ []byte) bool { return operation == "SendMessage" }
	out, code := w.run(yes(w.command("mail", "m1", 2)))
	for _, want := range []string{"cursor   1 → 3", "effects  owed", "what is done stays done"} {
		if code != stack.ExitFailed || !strings.Contains(out, want) {
			t.Errorf("exit %d, want %q in: %s", code, want, out)
		}
	}
	if e := w.entity("mail", "m1"); e.Gap == nil {
		t.Error("the sweeper does not know that it must send effects")
	}
}
