package scenario

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"inorder/cmd/inorder/backend"
	"inorder/ddb"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// A world is what one script is played in: fresh tables, empty queues, a clock at its beginning, and one function.
type world struct {
	ctx     context.Context // a world lives as long as the play of one script
	script  script
	seed    uint64
	backend *backend.Backend
	tables  ddb.Tables
	clock   clock
	queues  *backend.Queues
	wire    *wire
	mailbox *mailbox
	metrics counters

	client *sqs.Client // of the queues, over the wire
	look   *ddb.Store  // reads that are neither counted nor made to fail

	warm     *functions.Consumer
	sweeper  *functions.Sweeper // the warm one; nil before the first sweep
	outbox   *outbox
	requests []events.Message // republish requests that were taken out of their queue, and not answered
	rules    []*rule          // for the next invocation

	alwaysCold bool
	failures   []Failure

	observed sync.Mutex
	endings  map[string]ending // of the last delivery, by the file's id
}

func newWorld(ctx context.Context, b *backend.Backend, engine http.RoundTripper, tables ddb.Tables, s script, seed uint64) *world {
	w := &world{
		ctx: ctx, script: s, seed: seed, backend: b, tables: tables,
		clock:   clock{at: epoch},
		mailbox: newMailbox(s.fifo, s.maxReceive),
		look:    b.Store(tables, nil),
		outbox:  &outbox{streams: s.streams},
		endings: map[string]ending{},
	}
	w.queues = &backend.Queues{Now: w.clock.Now}
	w.wire = &wire{engine: engine, queues: w.queues}
	w.client = w.queues.Client(w.wire)
	w.warm = w.cold()
	return w
}

// parts are those of every function here. They do one thing after the other and never pause, unlike those on Lambda:
// requests come in the same order whenever the script is played, and no real time passes.
func (w *world) parts() functions.Parts {
	p := w.backend.Parts(w.script.streams, w.tables, w.wire, w.client, w.clock.Now)
	p.Parallel, p.RowsAtOnce, p.Wait = 1, 1, func(context.Context, int) {}
	p.Metrics = &w.metrics
	return p
}

// cold is a consumer that remembers nothing.
func (w *world) cold() *functions.Consumer {
	p := w.parts()
	p.Observe = w.observe
	return functions.NewConsumer(p)
}

// consumer is the one that the next delivery comes to.
func (w *world) consumer() *functions.Consumer {
	if w.alwaysCold {
		w.warm = w.cold()
	}
	return w.warm
}

// An ending is how the events of a message ended, and why those that are deferred are.
type ending struct{ dispositions, reasons []string }

func (e ending) String() string {
	if len(e.dispositions) == 0 {
		return "no answer yet"
	}
	return strings.Join(append([]string{strings.Join(e.dispositions, ", ")}, e.reasons...), "\n")
}

// observe notes how the events of a message ended.
func (w *world) observe(m events.Message, outcomes []ordering.Outcome) {
	var ended ending
	for _, o := range outcomes {
		ended.dispositions = append(ended.dispositions, o.Disposition.String())
		if o.Err != nil {
			ended.reasons = append(ended.reasons, o.Err.Error())
		}
	}
	w.observed.Lock()
	defer w.observed.Unlock()
	w.endings[w.mailbox.byID[m.ID]] = ended
}

// fail notes what does not hold.
func (w *world) fail(s step, what, expected, actual string) {
	w.failures = append(w.failures, Failure{
		Line: s.line, Step: s.number, Matrix: w.script.combination.report(),
		What: what, Expected: expected, Actual: actual, combination: w.script.combination.String(),
	})
}

// play carries out every step, to the end or to the first one that cannot be carried out.
func (w *world) play() {
	for _, s := range w.script.steps {
		if err := s.action.play(w, s); err != nil {
			w.fail(s, s.verb, "to be carried out", err.Error())
			return
		}
		for _, err := range w.metrics.takeFaults() {
			w.fail(s, "metrics", "lines in embedded metric format", err.Error())
		}
	}
}
