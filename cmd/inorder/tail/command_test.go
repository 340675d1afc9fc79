package tail

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

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

// trouble has some of everything, and an id that would like to command the terminal.
func (w *world) trouble(id string) {
	w.T.Helper()
	quoted, err := json.Marshal(id)
	if err != nil {
		w.T.Fatal(err)
	}
	for _, seq := range []int{1, 3, 5, 6} {
		w.Consume(w.Streams, began, fmt.Sprintf(`{"event_id":"e%d","type":"Posted","entity_id":%s,"seq":%d,"data":{"n":1}}`, seq, quoted, seq))
	}
	w.Consume(w.Streams, began, `{"event_id":"b","type":"Posted","entity_id":"b1","seq":1,"data":{"n":"much"}}`, `no JSON`)
	w.Consume(w.Streams, began, `{"event_id":"s","type":"SeatsAdded","entity_id":"s1","seq":2,"data":{"n":1}}`)
	key := ordering.Key{Consumer: "billing", Stream: "mail", ID: "m1"}
	owing := &ordering.Entity{Exists: true, Rev: 1, Cursor: ordering.Cursor{
		Applied: 5, Dispatched: &ordering.Position{Seq: 3}, Gap: &ordering.Gap{Since: began},
	}}
	if err := w.Store.Swap(w.T.Context(), key, &ordering.Entity{}, owing, nil); err != nil {
		w.T.Fatal(err)
	}
	w.send(stacktest.EventsURL, 3)
}

func (w *world) send(url string, n int) {
	w.T.Helper()
	for range n {
		_, err := w.Queues.Client(nil).SendMessage(w.T.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(url), MessageBody: aws.String("{}")})
		if err != nil {
			w.T.Fatal(err)
		}
	}
}

func (w *world) command() *Command {
	return &Command{
		Flags: w.Flags(), Every: time.Second, Once: true,
		Output: terminal.Output{Now: func() time.Time { return began.Add(2*time.Hour + 5*time.Minute) }},
	}
}

func (w *world) shows(name string, exitCode int, change func(*Command)) {
	w.T.Helper()
	c := w.command()
	change(c)
	out, code := w.Reads(c)
	w.Shows(name, exitCode, out, code)
}

func TestAllIsWell(t *testing.T) {
	w := start(t)
	w.shows("empty.golden", stack.ExitDone, func(*Command) {})
	w.shows("empty.json", stack.ExitDone, func(c *Command) { c.JSON = true })
}

func TestTrouble(t *testing.T) {
	w := start(t)
	w.trouble("a1")
	w.shows("trouble.golden", stack.ExitDone, func(*Command) {})
	w.shows("trouble.json", stack.ExitDone, func(c *Command) { c.JSON = true })
}

// A stranger's id neither breaks a line nor reaches the terminal as it is.
func TestWideIds(t *testing.T) {
	w := start(t)
	w.trouble("\x1b[2J" + strings.Repeat("口座", 60))
	w.shows("wide.golden", stack.ExitDone, func(c *Command) { c.Width = 60 })
	w.shows("wide.json", stack.ExitDone, func(c *Command) { c.JSON = true })
}

// What is not known is left out and named once; what cannot be read is an error, and all else is shown.
func TestWhatIsNotKnownOrCannotBeRead(t *testing.T) {
	w := start(t)
	w.trouble("a1")
	delete(w.Variables, "DLQ_URL")
	w.shows("without-a-queue.golden", stack.ExitDone, func(*Command) {})
	w.Variables["DLQ_URL"] = "dlq"
	w.shows("error-no-url.golden", stack.ExitUsage, func(*Command) {})
	delete(w.Variables, "DLQ_URL")
	w.Variables["ENTITIES_TABLE"] = ""
	w.shows("error-no-table.golden", stack.ExitUsage, func(*Command) {})
}

type deaf struct{ attributer }

func (d deaf) GetQueueAttributes(ctx context.Context, in *sqs.GetQueueAttributesInput, options ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error) {
	if strings.HasSuffix(*in.QueueUrl, "quarantine") {
		return nil, errors.New("access\ndenied")
	}
	return d.attributer.GetQueueAttributes(ctx, in, options...)
}

// One queue that cannot be read takes nothing from the others.
func TestAQueueThatCannotBeReadIsAnErrorOfItsOwn(t *testing.T) {
	w := start(t)
	watcher, err := w.command().watcher(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	watcher.sqs = deaf{watcher.sqs}
	l := watcher.look(t.Context())
	if len(l.Queues) != 4 || len(l.Errors) != 1 || l.Gaps == nil || onceCode(l) != stack.ExitFailed {
		t.Errorf("%+v", l)
	}
	watcher.store = nil
	var b bytes.Buffer
	file := func() int { return 0 }
	for _, s := range []screen{{out: &b, width: file, once: true}, {out: &b, width: file}} {
		if err := s.show(&Look{At: began, Consumer: "billing", Errors: l.Errors}); err != nil {
			t.Error(err)
		}
	}
	golden.Check(t, "error-all.golden", b.String())
}

// frames counts what is written, and ends the command after some of it.
type frames struct {
	bytes.Buffer
	left int
	then func(left int)
}

func (f *frames) Write(p []byte) (int, error) {
	f.left--
	f.then(f.left)
	return f.Buffer.Write(p)
}

// Again and again: one line each where nobody draws, and over the last frame on a terminal, until Ctrl-C, which is no
// failure.
func TestItGoesOnUntilItIsInterrupted(t *testing.T) {
	w := start(t)
	w.trouble("a1")
	for name, change := range map[string]func(*Command){
		"lines.golden":    func(*Command) {},
		"terminal.golden": func(c *Command) { c.Width = 60 },
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		out := &frames{left: 3, then: func(left int) {
			w.send(stacktest.DLQURL, 2)
			if left == 0 {
				interrupt()
			}
		}}
		c := w.command()
		change(c)
		c.Once, c.Every = false, time.Millisecond
		if code, err := c.Run(ctx, out, t.Output()); code != stack.ExitDone || err != nil {
			t.Errorf("%s: exit %d, %v", name, code, err)
		}
		golden.Check(t, name, strings.ReplaceAll(out.String(), "\x1b", "ESC"))
		w.Queues.Empty(stacktest.DLQURL)
	}
}

func TestTooOftenIsRefused(t *testing.T) {
	c := &Command{Every: 999 * time.Millisecond}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "at least 1s") {
		t.Error(err)
	}
}

// A look that Ctrl-C broke off is not shown: what it could not read is no trouble of the deployment.
func TestALookThatWasBrokenOffIsNotShown(t *testing.T) {
	w := start(t)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	c := w.command()
	c.Once = false
	var b bytes.Buffer
	if code, err := c.Run(ctx, &b, &b); code != stack.ExitDone || err != nil || b.Len() > 0 {
		t.Errorf("exit %d, %v: %s", code, err, b.String())
	}
}
