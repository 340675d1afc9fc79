package redrive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"inorder/cmd/inorder/golden"
	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/stack/stacktest"
	"inorder/cmd/inorder/terminal"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

type world struct{ *stacktest.World }

func start(t *testing.T) *world {
	t.Helper()
	return &world{stacktest.NewWorld(t)}
}

// quarantine holds copies of messages, as the consumer leaves them there.
func (w *world) quarantine(reason events.Reason, messages ...events.Message) {
	w.T.Helper()
	q := &functions.Quarantine{SQS: w.Queues.Client(nil), URL: stacktest.QuarantineURL}
	for _, m := range messages {
		err := q.Copy(w.T.Context(), ordering.Copy{Delivery: ordering.Delivery{Message: &m}, Outcome: ordering.Outcome{Reason: reason}})
		if err != nil {
			w.T.Fatal(err)
		}
	}
}

// dead is messages that ended in the dead-letter queue.
func (w *world) dead(url string, messages ...events.Message) {
	w.T.Helper()
	for i, m := range messages {
		in := &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &m.Body, MessageAttributes: functions.SQSAttributes(m.Attributes)}
		if m.GroupID != "" {
			in.MessageGroupId, in.MessageDeduplicationId = &m.GroupID, aws.String(fmt.Sprint(m.ID, i))
		}
		if _, err := w.Queues.Client(nil).SendMessage(w.T.Context(), in); err != nil {
			w.T.Fatal(err)
		}
	}
}

func posted(id string, seq int) events.Message {
	return events.Message{ID: fmt.Sprint("m-", id, seq), Body: fmt.Sprintf(`{"event_id":"%s-%d","type":"Posted","entity_id":%q,"seq":%d,"data":{"n":1}}`, id, seq, id, seq)}
}

func (w *world) command() *Command {
	return &Command{
		Flags: w.Flags(), From: "quarantine", Rate: 1e9,
		Output: terminal.Output{Now: func() time.Time { return time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC) }},
	}
}

func (w *world) run(ctx context.Context, c *Command) (out string, exitCode int) {
	w.T.Helper()
	out, exitCode = w.Changes(ctx, c, c.Yes)
	for _, url := range []string{stacktest.QuarantineURL, stacktest.DLQURL} {
		if all := len(w.Queues.Sent(url)); w.Queues.Visible(url) != all {
			w.T.Errorf("%d of %d messages of %s are visible afterwards", w.Queues.Visible(url), all, url)
		}
	}
	return out, exitCode
}

func (w *world) shows(name string, exitCode int, change func(*Command)) {
	w.T.Helper()
	c := w.command()
	if change != nil {
		change(c)
	}
	out, code := w.run(w.T.Context(), c)
	w.Shows(name, exitCode, out, code)
}

// bodies are those of a queue, sorted.
func (w *world) bodies(url string) []string {
	var all []string
	for _, m := range w.Queues.Sent(url) {
		all = append(all, m.Body)
	}
	slices.Sort(all)
	return all
}

func asJSON(c *Command) { c.JSON = true }

func TestNothingThere(t *testing.T) {
	w := start(t)
	w.shows("empty.golden", stack.ExitDone, nil)
	w.shows("empty.json", stack.ExitDone, asJSON)
	w.shows("empty-dlq.golden", stack.ExitDone, func(c *Command) { c.From, c.Yes = "dlq", true })
}

func (w *world) fill() {
	w.T.Helper()
	w.quarantine(events.ProjectionError, posted("a1", 1), posted("a1", 2), posted("a2", 7))
	w.quarantine(events.Conflict, posted("a1", 3))
	w.quarantine(events.Skipped, posted("a3", 4))
	w.quarantine(events.OldGeneration, posted("a3", 5))
	w.quarantine(events.NotJSON, events.Message{ID: "x", Body: "{"})
	w.quarantine(events.NoRoute, events.Message{ID: "y", Body: `{"type":"Unheard","entity_id":"a1","seq":1,"data":{}}`})
	w.quarantine(events.ParkExpired, events.Message{ID: "z", Body: `{"event_id":"s","type":"SeatsAdded","entity_id":"s1","seq":4,"data":{"n":1}}`})
}

// A preview counts what is there, by reason and stream, and leaves all of it visible; it says what moving would come to.
func TestAPreviewCounts(t *testing.T) {
	w := start(t)
	w.quarantine(events.ParkExpired, posted("a1", 3))
	w.shows("one.golden", stack.ExitDone, nil)
	w.fill()
	w.shows("many.golden", stack.ExitDone, nil)
	w.shows("many.json", stack.ExitDone, asJSON)
	w.shows("many-limited.golden", stack.ExitDone, func(c *Command) { c.Limit = 2 })
	w.shows("by-reason.golden", stack.ExitDone, func(c *Command) { c.Reason = []string{"conflict", "projection_error"} })
	w.shows("by-stream.golden", stack.ExitDone, func(c *Command) { c.Stream = "seats" })
	w.shows("by-entity.golden", stack.ExitDone, func(c *Command) { c.Entity = "a3" })
	w.shows("none.golden", stack.ExitDone, func(c *Command) { c.Reason = []string{"too_deep"} })
	w.Queues.RedrivePolicies = map[string]string{stacktest.QuarantineURL: `{"deadLetterTargetArn":"a","maxReceiveCount":"10"}`}
	w.shows("receives.golden", stack.ExitDone, func(c *Command) { c.Stream = "seats" })
	w.shows("narrow.golden", stack.ExitDone, func(c *Command) { c.Width = 60 })
}

// Each message is received once, whatever the filter: a look is no reason to lose it to the queue's own policy.
func TestEachMessageIsLookedAtOnce(t *testing.T) {
	w := start(t)
	for n := range 35 {
		w.quarantine(events.Conflict, posted("a", n+1))
	}
	w.run(t.Context(), w.command())
	for _, m := range w.Queues.Sent(stacktest.QuarantineURL) {
		if n := w.Queues.Receives(m.ID); n != 1 {
			t.Errorf("message %s was received %d times", m.ID, n)
		}
	}
}

// What is meant is in the events queue as it first came, and only there; the rest stays where it was.
func TestWhatIsMeantIsMoved(t *testing.T) {
	w := start(t)
	w.fill()
	first := posted("b", 1)
	first.Attributes = map[string]events.Attribute{"trace": {Type: "String", Text: "ü"}, "raw": {Type: "Binary", Binary: []byte{0, 255}}}
	w.quarantine(events.ProjectionError, first)
	stays := len(w.Queues.Sent(stacktest.QuarantineURL)) - 4
	w.shows("done.golden", stack.ExitDone, func(c *Command) { c.Reason, c.Yes = []string{"projection_error"}, true })
	if got, want := w.bodies(stacktest.EventsURL), []string{posted("a1", 1).Body, posted("a1", 2).Body, posted("a2", 7).Body, first.Body}; !slices.Equal(got, want) {
		t.Errorf("the events queue has %v", got)
	}
	for _, m := range w.Queues.Sent(stacktest.EventsURL) {
		if _, marked := m.Attributes["inorder"]; marked || m.Body == first.Body && len(m.Attributes) != 2 {
			t.Errorf("%s has the attributes %v", m.Body, m.Attributes)
		}
	}
	if n := len(w.Queues.Sent(stacktest.QuarantineURL)); n != stays {
		t.Errorf("%d messages stayed, want %d", n, stays)
	}
	w.shows("done-again.golden", stack.ExitDone, func(c *Command) { c.Reason, c.Yes = []string{"projection_error"}, true })
	w.shows("done.json", stack.ExitDone, func(c *Command) { c.Yes, c.JSON = true, true })
	if n := len(w.Queues.Sent(stacktest.QuarantineURL)); n != 0 {
		t.Errorf("%d messages stayed", n)
	}
}

// A message that could not bear a mark beside its attributes comes back unwrapped.
func TestAWrappedMessageIsUnwrapped(t *testing.T) {
	w := start(t)
	m := posted("a1", 1)
	m.Attributes = map[string]events.Attribute{}
	for n := range 10 {
		m.Attributes[fmt.Sprint("a", n)] = events.Attribute{Type: "String", Text: "x"}
	}
	w.quarantine(events.ParkExpired, m)
	if out, code := w.run(t.Context(), yes(w.command())); code != stack.ExitDone {
		t.Error(out)
	}
	sent := w.Queues.Sent(stacktest.EventsURL)
	if len(sent) != 1 || sent[0].Body != m.Body || len(sent[0].Attributes) != 10 {
		t.Errorf("%+v", sent)
	}
}

func yes(c *Command) *Command { c.Yes = true; return c }

// A limit is kept to the message, and the same command goes on with the rest.
func TestALimitIsKept(t *testing.T) {
	w := start(t)
	for n := range 15 {
		w.dead(stacktest.DLQURL, posted("a", n+1))
	}
	limited := func(c *Command) { c.From, c.Yes, c.Limit = "dlq", true, 12 }
	w.shows("limited.golden", stack.ExitDone, limited)
	if n := len(w.Queues.Sent(stacktest.EventsURL)); n != 12 {
		t.Errorf("%d messages were moved, want 12", n)
	}
	w.shows("limited-rest.golden", stack.ExitDone, limited)
	if n := len(w.Queues.Sent(stacktest.EventsURL)); n != 15 {
		t.Errorf("%d messages were moved, want 15", n)
	}
}

// A crash after a message was sent leaves it in both queues: a duplicate for the consumer, never a loss.
func TestAMessageIsSentBeforeItIsDeleted(t *testing.T) {
	w := start(t)
	w.quarantine(events.ParkExpired, posted("a", 1))
	w.Denies = func(operation string, _ []byte) bool { return operation == "DeleteMessage" }
	out, code := w.run(t.Context(), yes(w.command()))
	if code != stack.ExitFailed || !strings.Contains(out, "which is in the events queue by now") {
		t.Errorf("exit %d: %s", code, out)
	}
	if len(w.Queues.Sent(stacktest.EventsURL)) != 1 || len(w.Queues.Sent(stacktest.QuarantineURL)) != 1 {
		t.Error("it is not in both queues")
	}
	w.Denies = func(operation string, _ []byte) bool { return operation == "SendMessage" }
	out, code = w.run(t.Context(), yes(w.command()))
	if code != stack.ExitFailed || len(w.Queues.Sent(stacktest.QuarantineURL)) != 1 {
		t.Errorf("what could not be sent is not there any more: exit %d: %s", code, out)
	}
}

// Ctrl-C ends it after the current message, and everything else stays, visible.
func TestAnInterruptEndsAfterTheCurrentMessage(t *testing.T) {
	w := start(t)
	w.quarantine(events.ParkExpired, posted("a", 1), posted("a", 2), posted("a", 3))
	ctx, interrupt := context.WithCancel(t.Context())
	w.Denies = func(operation string, _ []byte) bool {
		if operation == "SendMessage" {
			interrupt()
		}
		return false
	}
	out, code := w.run(ctx, yes(w.command()))
	if code != stack.ExitFailed {
		t.Errorf("exit %d", code)
	}
	golden.Check(t, "interrupted.golden", out)
	if len(w.Queues.Sent(stacktest.EventsURL)) != 1 || len(w.Queues.Sent(stacktest.QuarantineURL)) != 2 {
		t.Error("not one was moved, or not two stayed")
	}
}

// A message that SQS refuses stays, and keeps no other from moving.
func TestARefusedMessageHurtsNoOther(t *testing.T) {
	w := start(t)
	mark := `{"reason":"too_large","detail":"","message_id":"m","received_at":"2026-02-01T10:00:00Z","queue":"q","wrapped":"body"}`
	w.dead(stacktest.QuarantineURL, events.Message{
		Body: `{"body":"\u0001"}`, Attributes: map[string]events.Attribute{"inorder": {Type: "String", Text: mark}},
	})
	w.quarantine(events.ParkExpired, posted("a", 1))
	out, code := w.run(t.Context(), yes(w.command()))
	if code != stack.ExitFailed || !strings.Contains(out, "1 message refused by SQS") {
		t.Errorf("exit %d: %s", code, out)
	}
	if len(w.Queues.Sent(stacktest.EventsURL)) != 1 || len(w.Queues.Sent(stacktest.QuarantineURL)) != 1 {
		t.Error("the other one was not moved, or the refused one is gone")
	}
}

// Over FIFO queues a group stays in order; where quarantine did not keep the group, the entity stands for it. A message
// that is sent twice, for a crash came before its deletion, is dropped by SQS.
func TestFIFOQueues(t *testing.T) {
	w := start(t)
	fifo, dlq := stacktest.EventsURL+".fifo", stacktest.DLQURL+".fifo"
	w.Variables["EVENTS_QUEUE_URL"], w.Variables["DLQ_URL"] = fifo, dlq
	for n := range 25 {
		m := posted("a", n+1)
		m.GroupID = "tenant-1"
		w.dead(dlq, m)
	}
	c := yes(w.command())
	c.From = "dlq"
	if out, code := w.run(t.Context(), c); code != stack.ExitDone {
		t.Fatal(out)
	}
	for n, m := range w.Queues.Sent(fifo) {
		if m.Body != posted("a", n+1).Body || m.GroupID != "tenant-1" {
			t.Errorf("at %d stands %s of group %s", n, m.Body, m.GroupID)
		}
	}
	if n := len(w.Queues.Empty(fifo)); n != 25 {
		t.Errorf("%d messages", n)
	}
	w.quarantine(events.ParkExpired, posted("a", 1), posted("b", 1), posted("a", 2))
	w.Denies = func(operation string, _ []byte) bool { return operation == "DeleteMessage" }
	w.run(t.Context(), yes(w.command()))
	w.Denies = nil
	if out, code := w.run(t.Context(), yes(w.command())); code != stack.ExitDone {
		t.Fatal(out)
	}
	groups := map[string]string{}
	for _, m := range w.Queues.Sent(fifo) {
		groups[m.Body] = m.GroupID
	}
	if n := len(w.Queues.Sent(fifo)); n != 3 || groups[posted("a", 1).Body] != groups[posted("a", 2).Body] || groups[posted("a", 1).Body] == groups[posted("b", 1).Body] {
		t.Errorf("%d messages, groups %v", n, groups)
	}
}

// Of a FIFO queue a look sees each group up to the first that stays; it says so.
func TestAPreviewOfAFIFOQueue(t *testing.T) {
	w := start(t)
	dlq := stacktest.DLQURL + ".fifo"
	w.Variables["DLQ_URL"] = dlq
	for n := range 12 {
		m := posted("a", n+1)
		m.GroupID = "g"
		w.dead(dlq, m)
	}
	w.shows("fifo.golden", stack.ExitDone, func(c *Command) { c.From = "dlq" })
}

// forgetful is an SQS that delivers a deleted message once more, as a standard queue may.
type forgetful struct {
	API
	shown bool
}

func (f *forgetful) DeleteMessage(ctx context.Context, in *sqs.DeleteMessageInput, options ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error) {
	if f.shown {
		return f.API.DeleteMessage(ctx, in, options...)
	}
	f.shown = true
	client, is := f.API.(*sqs.Client)
	if !is {
		return nil, errors.New("no client")
	}
	_, err := client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: in.QueueUrl, ReceiptHandle: in.ReceiptHandle})
	return &sqs.DeleteMessageOutput{}, err
}

// A message that comes again after it was moved is deleted, and not moved twice.
func TestWhatWasMovedIsNotMovedAgain(t *testing.T) {
	w := start(t)
	w.quarantine(events.ParkExpired, posted("a", 1))
	c := yes(w.command())
	c.API = &forgetful{API: w.Queues.Client(nil)}
	out, code := w.run(t.Context(), c)
	if code != stack.ExitDone || len(w.Queues.Sent(stacktest.EventsURL)) != 1 || len(w.Queues.Sent(stacktest.QuarantineURL)) != 0 {
		t.Errorf("exit %d, %d moved, %d left: %s", code, len(w.Queues.Sent(stacktest.EventsURL)), len(w.Queues.Sent(stacktest.QuarantineURL)), out)
	}
}

// refusing is a consumer that refuses at once again whatever it gets.
type refusing struct {
	API
	w *world
	n int
}

func (r *refusing) SendMessage(ctx context.Context, in *sqs.SendMessageInput, o ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	out, err := r.API.SendMessage(ctx, in, o...)
	r.n++
	r.w.quarantine(events.Skipped, events.Message{ID: fmt.Sprint("again", r.n), Body: *in.MessageBody})
	return out, err
}

// Beside a consumer that refuses the same messages again a run moves each once, and ends.
func TestWhatIsRefusedAgainDoesNotGoRound(t *testing.T) {
	w := start(t)
	w.quarantine(events.Skipped, posted("a", 1), posted("a", 2), posted("b", 1))
	c := yes(w.command())
	c.API = &refusing{API: w.Queues.Client(nil), w: w}
	out, code := w.run(t.Context(), c)
	if n := len(w.Queues.Sent(stacktest.EventsURL)); code != stack.ExitDone || n != 3 || !strings.Contains(out, "Left: 3 copies") {
		t.Errorf("exit %d, moved %d times: %s", code, n, out)
	}
}

// What cannot be done is said in a sentence, and moves nothing.
func TestRefusals(t *testing.T) {
	w := start(t)
	w.fill()
	before := w.Dump()
	for _, row := range []struct {
		name     string
		exitCode int
		change   func(*Command)
	}{
		{"no-reason", stack.ExitUsage, func(c *Command) { c.Reason = []string{"projection-error"} }},
		{"dlq-reason", stack.ExitUsage, func(c *Command) { c.From, c.Reason = "dlq", []string{"conflict"} }},
		{"no-stream", stack.ExitUsage, func(c *Command) { c.Stream = "lodger" }},
		{"limit", stack.ExitUsage, func(c *Command) { c.Limit = -1 }},
		{"rate", stack.ExitUsage, func(c *Command) { c.Rate = 0 }},
		{"no-queue", stack.ExitUsage, func(c *Command) {
			c.Getenv = func(name string) string {
				if name == "QUARANTINE_QUEUE_URL" {
					return ""
				}
				return w.Variables[name]
			}
		}},
		{"same-queue", stack.ExitUsage, func(c *Command) {
			c.Getenv = func(name string) string {
				if name == "QUARANTINE_QUEUE_URL" {
					return stacktest.EventsURL
				}
				return w.Variables[name]
			}
		}},
	} {
		w.shows("error-"+row.name+".golden", row.exitCode, func(c *Command) { c.Yes = true; row.change(c) })
	}
	w.Denies = func(operation string, _ []byte) bool { return operation == "ReceiveMessage" }
	out, code := w.run(t.Context(), yes(w.command()))
	if code != stack.ExitFailed || !strings.Contains(out, "receive from "+stacktest.QuarantineURL) {
		t.Errorf("exit %d: %s", code, out)
	}
	if w.Dump() != before {
		t.Error("something was moved")
	}
}

// A slow pace receives no more than it moves before the others come back.
func TestASlowPaceReceivesLess(t *testing.T) {
	for perSecond, want := range map[float64]int{0.02: 1, 0.1: 6, 1: 10, 500: 10} {
		if got := perReceive(perSecond); got != want {
			t.Errorf("at %v a second %d messages are received at once, want %d", perSecond, got, want)
		}
	}
}

// What is wrong with one of each kind reads as a sentence, with an entity and without, and a long id does not fill the screen.
func TestOneOfEachReadsWell(t *testing.T) {
	for want, m := range map[string]message{
		"not_an_event: no object":                          {detail: "no object", reason: events.NotAnEvent},
		"no_route, a1: no stream takes its type":           {detail: "no stream takes its type", reason: events.NoRoute, decoded: []events.Decoded{{EntityID: "a1"}}},
		"skipped, a1":                                      {reason: events.Skipped, decoded: []events.Decoded{{}, {EntityID: "a1"}}},
		"skipped, " + strings.Repeat("ü", longestID) + "…": {reason: events.Skipped, decoded: []events.Decoded{{EntityID: strings.Repeat("ü", longestID+1)}}},
	} {
		r := Result{DryRun: true}
		r.group(m)
		var out strings.Builder
		if r.printExamples(&out, 0); out.String() != "\none of each:\n  - "+want+"\n" {
			t.Errorf("%s, want %s", out.String(), want)
		}
	}
}

// What a stranger wrote into a mark, a body or an attribute reaches the terminal as text: whoever may send to the events queue can
// bring a message with a mark of his own into the dead-letter queue.
func TestStrangersTextCommandsNoTerminal(t *testing.T) {
	hostile := "\x1b[2J\x07\u202e\u009b31m"
	quoted := `\u001b[2J\u0007\u202e\u009b31m`
	w := start(t)
	body := fmt.Sprintf(`{"event_id":%[1]q,"type":"Posted","entity_id":"%[2]s","seq":1,"source":"%[2]s","data":{}}`, "e1", quoted)
	mark := fmt.Sprintf(`{"reason":"%[1]s","detail":"%[1]s","message_id":"%[1]s","received_at":"2026-02-01T00:00:00Z","queue":"%[1]s"}`, quoted)
	for _, url := range []string{stacktest.QuarantineURL, stacktest.DLQURL} {
		w.dead(url, events.Message{ID: "m1", Body: body, Attributes: map[string]events.Attribute{"inorder": {Type: "String", Text: mark}}})
	}
	for _, change := range []func(*Command){
		func(*Command) {}, asJSON, func(c *Command) { c.From = "dlq" }, func(c *Command) { c.Reason = []string{hostile} }, func(c *Command) { c.Stream = hostile },
		func(c *Command) { c.Entity = hostile },
	} {
		c := w.command()
		change(c)
		out, _ := w.run(w.T.Context(), c)
		if strings.ContainsAny(out, "\x1b\x07\u202e\u009b") {
			t.Errorf("%+v shows %q", c, out)
		}
	}
}
