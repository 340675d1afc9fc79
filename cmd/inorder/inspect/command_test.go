package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"inorder/cmd/inorder/gaps"
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

// have lets the consumer have events, a minute apart, each published ten seconds before. more is further fields.
func (w *world) have(more ...string) {
	w.T.Helper()
	for i, fields := range more {
		at := began.Add(time.Duration(i) * time.Minute)
		w.Consume(w.Streams, at, fmt.Sprintf(`{"event_id":"e%d","published_at":%q,%s}`, i+1, at.Add(-10*time.Second).Format(time.RFC3339), fields))
	}
}

func (w *world) shows(name string, exitCode int, stream, entity string, change func(*Command)) {
	w.T.Helper()
	c := &Command{
		Flags: w.Flags(), Entity: stack.Entity{Stream: stream, Entity: entity}, History: 20, Since: "1d",
		Output: terminal.Output{Now: func() time.Time { return began.Add(2*time.Hour + 5*time.Minute) }},
	}
	if change != nil {
		change(c)
	}
	out, code := w.Reads(c)
	w.Shows(name, exitCode, out, code)
}

func asJSON(c *Command) { c.JSON = true }

func source(name string) func(*Command) { return func(c *Command) { c.Source = &name } }

// Nothing is open: the state, how far it has come, and the log.
func TestAnEntityThatIsWhole(t *testing.T) {
	w := start(t)
	w.have(`"type":"Posted","entity_id":"a1","seq":1,"data":{"n":0.10,"currency":"EUR"}`, `"type":"Posted","entity_id":"a1","seq":2,"data":{"n":12345678901234567890.5}`)
	w.shows("whole.golden", stack.ExitDone, "ledger", "a1", nil)
	w.shows("whole.json", stack.ExitDone, "ledger", "a1", asJSON)
}

// A step entity with all that can be wrong: a gap, parked events, a blocked one, a void, a skip, owed effects.
func TestAnEntityWithEverything(t *testing.T) {
	w := start(t)
	w.have(
		`"type":"Posted","entity_id":"a1","seq":1,"generation":3,"data":{"n":1}`,
		`"type":"Posted","entity_id":"a1","seq":2,"generation":3,"data":{"n":1}`,
		`"type":"Posted","entity_id":"a1","seq":4,"generation":3,"source":"shop","data":{"n":"much"}`,
		`"type":"Posted","entity_id":"a1","seq":8,"generation":3,"data":{"n":1}`,
	)
	w.Consume(w.Streams, began.Add(10*time.Minute),
		`{"type":"inorder.void","stream":"ledger","entity_id":"a1","generation":3,"ranges":[[3,3]],"reason":"never_existed"}`)
	w.skipped("ledger", "a1")
	w.shows("everything.golden", stack.ExitDone, "ledger", "a1", nil)
	w.shows("everything-80-columns.golden", stack.ExitDone, "ledger", "a1", func(c *Command) { c.Width = 80 })
	w.shows("everything.json", stack.ExitDone, "ledger", "a1", asJSON)
	w.shows("everything-without-history.golden", stack.ExitDone, "ledger", "a1", func(c *Command) { c.History = 0 })
}

// skipped leaves what an operator's skip leaves, and a row that the entity does not know of.
func (w *world) skipped(stream, id string) {
	w.T.Helper()
	key := ordering.Key{Consumer: "billing", Stream: stream, ID: id}
	e, err := w.Store.Entity(w.T.Context(), key)
	if err != nil {
		w.T.Fatal(err)
	}
	next := *e
	next.Rev++
	next.Skipped = []ordering.Range{{First: 2, Last: 2}}
	next.Dispatched = &ordering.Position{Gen: 3, Seq: 1}
	audit := ordering.Audit{
		At: began.Add(30 * time.Minute), By: "ada@example.org", Reason: "lost for good,\nsee ticket 7", Gen: 3, Through: 2,
		Lost: []ordering.Range{{First: 2, Last: 2}},
	}
	if err := w.Store.SwapAudited(w.T.Context(), key, e, &next, audit); err != nil {
		w.T.Fatal(err)
	}
	err = w.Store.PutRow(w.T.Context(), key, ordering.Row{
		Gen: 3, Seq: 9, EventID: "e9", Type: "Posted", ReceivedAt: began.Add(4 * time.Minute), ExpiresAt: began.Add(time.Hour),
		Message: events.Message{ID: "m9", Body: "{}"},
	})
	if err != nil {
		w.T.Fatal(err)
	}
}

// A row that has just arrived is nothing that the sweeper would repair: the invocation that logged it is about to say so.
func TestARowInFlightIsNoMismatch(t *testing.T) {
	w := start(t)
	w.have(`"type":"Posted","entity_id":"a1","seq":1,"data":{"n":1}`)
	key := ordering.Key{Consumer: "billing", Stream: "ledger", ID: "a1"}
	row := ordering.Row{Seq: 3, EventID: "e3", Type: "Posted", ReceivedAt: began, ExpiresAt: began.Add(24 * time.Hour), Message: events.Message{ID: "m3", Body: "{}"}}
	if err := w.Store.PutRow(t.Context(), key, row); err != nil {
		t.Fatal(err)
	}
	after := func(d time.Duration) func(*Command) {
		return func(c *Command) { c.Now = func() time.Time { return began.Add(d) } }
	}
	w.shows("in-flight.golden", stack.ExitDone, "ledger", "a1", after(ordering.InFlight-time.Second))
	w.shows("in-flight-no-more.golden", stack.ExitDone, "ledger", "a1", after(ordering.InFlight))
}

// Each mode tells its position in its own form.
func TestEveryMode(t *testing.T) {
	w := start(t)
	w.have(
		`"type":"SeatsAdded","entity_id":"s1","source":"shop","seq":1,"data":{"n":2}`,
		`"type":"SeatsAdded","entity_id":"s1","source":"shop","seq":3,"data":{"n":2}`,
		`"type":"ContactUpdated","entity_id":"c1","seq":7,"data":{"name":"Ada","email":"a@example.org"}`,
		`"type":"ContactUpdated","entity_id":"c1","seq":9,"data":{"email":null}`,
		`"type":"profile.set","entity_id":"p1","source":"crm","seq":4,"data":{"name":"Ada","email":"a@example.org"}`,
		`"type":"profile.set","entity_id":"p1","source":"billing","seq":2,"data":{"plan":"pro"}`,
		`"type":"profile.gone","entity_id":"p1","source":"billing","seq":3,"data":{}`,
		`"type":"call.ended","entity_id":"k1","created_at":"2026-02-01T09:59:59.123Z","data":{"id":"k1","from":"+49"}`,
		`"type":"call.deleted","entity_id":"k2","created_at":"2026-02-01T09:59:59.123Z","data":{"id":"k2"}`,
		`"type":"inorder.mark","stream":"contact","entity_id":"c1","seq":11`,
		`"type":"Mailed","entity_id":"m1","seq":1,"data":{"n":1}`,
	)
	w.shows("delta.golden", stack.ExitDone, "seats", "s1", source("shop"))
	w.shows("delta.json", stack.ExitDone, "seats", "s1", func(c *Command) { source("shop")(c); c.JSON = true })
	w.shows("attributes.golden", stack.ExitDone, "contact", "c1", nil)
	w.shows("attributes.json", stack.ExitDone, "contact", "c1", asJSON)
	w.shows("sources.golden", stack.ExitDone, "profile", "p1", nil)
	w.shows("time.golden", stack.ExitDone, "call", "k1", nil)
	w.shows("deleted.golden", stack.ExitDone, "call", "k2", nil)
	w.shows("effects.golden", stack.ExitDone, "mail", "m1", nil)
}

// Ids and states are strangers' text.
func TestWideIds(t *testing.T) {
	w := start(t)
	id := strings.Repeat("口座", 40) + "\x1b[2J\u202e"
	quoted, _ := json.Marshal(id)
	w.have(`"type":"call.ended","entity_id":` + string(quoted) + `,"created_at":"2026-02-01T09:59:59Z","data":{"note\u001b":"\u009b31m` + strings.Repeat("x", 300) + `"}`)
	w.shows("wide.golden", stack.ExitDone, "call", id, nil)
	w.shows("wide-80-columns.golden", stack.ExitDone, "call", id, func(c *Command) { c.Width = 80 })
	w.shows("wide.json", stack.ExitDone, "call", id, asJSON)
}

// What cannot be shown is told in a plain sentence, with the exit code of its kind.
func TestErrors(t *testing.T) {
	w := start(t)
	w.shows("error-never-seen.golden", stack.ExitFailed, "ledger", "A1\x1b", nil)
	w.shows("error-no-stream.golden", stack.ExitUsage, "legder", "a1", nil)
	w.shows("error-whose.golden", stack.ExitUsage, "seats", "s1", nil)
	w.shows("error-nobodys.golden", stack.ExitUsage, "ledger", "a1", source("shop"))
	w.shows("error-too-long.golden", stack.ExitUsage, "ledger", strings.Repeat("x", 2048), nil)
	w.have(`"type":"Posted","entity_id":"a1","seq":1,"data":{"n":1}`)
	w.shows("error-no-log-group.golden", stack.ExitUsage, "ledger", "a1", func(c *Command) { c.LogGroup = "/nowhere" })
	delete(w.Variables, "CONSUMER_LOG_GROUP")
	w.shows("error-which-log-group.golden", stack.ExitUsage, "ledger", "a1", func(c *Command) { c.Logs = true })
}

// Lines are read from page to page, those of other entities that a pattern lets through are left out, and they stand in
// the timeline at their time.
func TestLogLinesStandInTheTimeline(t *testing.T) {
	w := start(t)
	w.have(`"type":"Posted","entity_id":"a1","seq":1,"data":{"n":1}`, `"type":"Posted","entity_id":"a1","seq":2,"data":{"n":1}`)
	line := func(seconds int, more string) {
		at := began.Add(time.Duration(seconds) * time.Second)
		w.Logs.Lines = append(w.Logs.Lines, stacktest.Line{
			Timestamp: at.UnixMilli(),
			Message:   fmt.Sprintf(`{"time":%q,"level":"INFO","msg":"event","stream":"ledger",%s}`, at.Format(time.RFC3339Nano), more),
		})
	}
	line(-100_000, `"entity_id":"a1","disposition":"parked"`)
	line(1, `"entity_id":"a1","event_id":"e2","order_key":"0000000000.0000000000000000002","disposition":"deferred","error":"throttled","message_id":"m7","receive_count":2`)
	line(2, `"entity_id":"a11","disposition":"parked"`)
	line(3, `"entity_id":"a1","event_id":"e1","order_key":"0000000000.0000000000000000001","disposition":"conflict","reason":"conflict","message_id":"m8"`)
	line(90, `"entity_id":"a1","event_id":"e1","disposition":"duplicate"`)
	w.Logs.Lines = append(w.Logs.Lines, stacktest.Line{Timestamp: began.UnixMilli(), Message: "START RequestId: 1"})
	w.shows("logs.golden", stack.ExitDone, "ledger", "a1", func(c *Command) { c.Logs = true })
	w.shows("logs.json", stack.ExitDone, "ledger", "a1", func(c *Command) { c.Logs, c.JSON = true, true })
	if calls := w.Calls("FilterLogEvents"); calls != 6 {
		t.Errorf("%d requests for twice three pages", calls)
	}
	for _, pattern := range w.Logs.Patterns() {
		if pattern != `{ ($.stream = "ledger") && ($.entity_id = "a1") }` {
			t.Error(pattern)
		}
	}
}

// A pattern must never say more than it means: what CloudWatch would read as its own syntax is left to our own look.
func TestAPatternHasNoStrangersSyntaxInIt(t *testing.T) {
	for _, id := range []string{`a"1`, "a*", `a\`, "a\n", "%a%", "ü", "", strings.Repeat("x", 401)} {
		if got := pattern(ordering.Key{Stream: "ledger", ID: id}); got != `{ ($.stream = "ledger") && ($.entity_id = *) }` {
			t.Errorf("%q: %s", id, got)
		}
	}
}

type failing struct{}

func (failing) FilterLogEvents(context.Context, *cloudwatchlogs.FilterLogEventsInput, ...func(*cloudwatchlogs.Options)) (*cloudwatchlogs.FilterLogEventsOutput, error) {
	return nil, errors.New("access denied")
}

// Lines that cannot be had are a failure, not an empty log.
func TestLogsThatCannotBeReadAreAFailure(t *testing.T) {
	w := start(t)
	w.have(`"type":"Posted","entity_id":"a1","seq":1,"data":{"n":1}`)
	w.shows("error-logs.golden", stack.ExitFailed, "ledger", "a1", func(c *Command) { c.Logs, c.LogReader = true, failing{} })
}

// lines is a log that never ends.
type lines struct{ read int }

func (l *lines) FilterLogEvents(context.Context, *cloudwatchlogs.FilterLogEventsInput, ...func(*cloudwatchlogs.Options)) (*cloudwatchlogs.FilterLogEventsOutput, error) {
	out := &cloudwatchlogs.FilterLogEventsOutput{NextToken: aws.String("more")}
	for range 40 {
		l.read++
		out.Events = append(out.Events, types.FilteredLogEvent{
			Timestamp: aws.Int64(int64(l.read)), Message: aws.String(`{"stream":"ledger","entity_id":"a1","disposition":"parked"}`),
		})
	}
	return out, nil
}

// However much the log has, the page ends, and says that it does.
func TestTheLogIsReadToALimit(t *testing.T) {
	p, endless := &Page{}, &lines{}
	key := ordering.Key{Stream: "ledger", ID: "a1"}
	if err := p.addLines(t.Context(), endless, "group", &events.Stream{}, key, began); err != nil {
		t.Fatal(err)
	}
	if p.LogLines != maxLogLines || !p.LogsCut || endless.read > maxLogLines+40 {
		t.Errorf("%d lines of %d, cut: %v", p.LogLines, endless.read, p.LogsCut)
	}
	p, nobodys := &Page{}, ordering.Key{Stream: "ledger", ID: "a2"}
	if err := p.addLines(t.Context(), endless, "group", &events.Stream{}, nobodys, began); err != nil || p.LogLines != 0 || !p.LogsCut {
		t.Errorf("%d lines, cut: %v, %v", p.LogLines, p.LogsCut, err)
	}
}

// Where each source has a history of its own, another one's lines are another entity's.
func TestLinesOfAnotherSourceAreLeftOut(t *testing.T) {
	key := ordering.Key{Stream: "seats", ID: "s1", PerSource: true, Source: "shop"}
	for source, want := range map[string]bool{"shop": true, "web": false, "": false} {
		text := fmt.Sprintf(`{"stream":"seats","entity_id":"s1","source":%q}`, source)
		if _, got := momentOf(text, &events.Stream{}, key, began); got != want {
			t.Errorf("source %q: %v", source, got)
		}
	}
}

// Entity and log are compared both ways.
func TestWhereEntityAndLogDisagree(t *testing.T) {
	p := &Page{}
	p.addMismatches(ordering.Numbers{3, 4}, ordering.Numbers{4, 5})
	if len(p.Mismatches) != 2 || !strings.HasPrefix(p.Mismatches[0], "number 3 is said to be parked") || !strings.HasPrefix(p.Mismatches[1], "number 5 has a row") {
		t.Errorf("%q", p.Mismatches)
	}
}

// The timeline calls nothing a gap that lacks no number: a blocked entity is open for that reason.
func TestWhatIsOpenHasItsName(t *testing.T) {
	for want, g := range map[string]*gaps.Gap{
		"gap opened: missing now 2-3":                         {Missing: []events.Range{{First: 2, Last: 3}}, Why: []gaps.Why{gaps.IsMissing}},
		"open since then: blocked at 1: its projection fails": {Blocked: 1, Why: []gaps.Why{gaps.IsBlocked}},
	} {
		if m := opened(g); m.What+" "+m.Detail != want {
			t.Errorf("%s %s, want %s", m.What, m.Detail, want)
		}
	}
}
