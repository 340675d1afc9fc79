package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"inorder/cmd/inorder/backend"
	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/ordering"
)

// An outcome is what a play came to.
type outcome struct {
	requests []string // of the step that is made to fail
	answers  string   // what became of the messages in that step, and what was counted
	quiet    string   // what stands when nothing moves any more
	again    string   // and after all messages have come once more
	wrong    string   // what nobody may see, whatever was planted
}

// playWith plays a situation: what stands before the step, the step with its fault, what stands behind it, and whatever
// it takes until nothing moves. Expectations hold where nothing is planted; the requests that they may count do not else.
func playWith(ctx context.Context, b *backend.Backend, tables ddb.Tables, s *situation, p planting) (r outcome) {
	w := newWorld(ctx, b, local.Transport(), tables, s.script, 1)
	planted := &planter{planting: p}
	w.wire.engine, w.wire.queues = way{planted, w.wire.engine}, way{planted, w.wire.queues}
	err := func() error {
		for i, step := range s.script.steps {
			_, expects := step.action.(*expectation)
			switch {
			case i == s.moment:
				if err := w.moment(planted, step); err != nil {
					return err
				}
				r.answers = w.answered()
			case !expects || p.at == 0 || i < s.moment:
				if err := step.action.play(w, step); err != nil {
					return fmt.Errorf("line %d: %w", step.line, err)
				}
			}
		}
		return w.finish(&r)
	}()
	if err != nil {
		r.wrong += err.Error() + "\n"
	}
	if r.requests = planted.requests; p.at > 0 && p.at <= len(s.undisturbed.requests) && !planted.struck {
		r.wrong += "the request that was to fail was not made\n"
	}
	for _, f := range w.failures {
		r.wrong += fmt.Sprintf("line %d, %s: expected %s, got %s\n", f.Line, f.What, f.Expected, f.Actual)
	}
	return r
}

// finish brings the world to rest, and then delivers everything once more.
func (w *world) finish(r *outcome) (err error) {
	if err := w.untilQuiet(); err != nil {
		return err
	}
	if r.quiet, err = w.stands(); err != nil {
		return err
	}
	for ids := range slices.Chunk(w.everSent(), maxBatch) {
		if err := (deliver{ids}).play(w, step{}); err != nil {
			return err
		}
	}
	if err := w.rest(); err != nil {
		return err
	}
	r.again, err = w.stands()
	return err
}

// everSent are the ids of all messages that were ever in the queue, in one order.
func (w *world) everSent() []string {
	var ids []string
	for id := range w.mailbox.latest {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// What it takes until nothing moves: an attempt that was lost on its way is made again after a back-off of at most an hour.
const (
	restRounds = 4
	restPause  = 70 * time.Minute
)

// untilQuiet ends where nothing is open, or where nothing was written although more time has passed than any back-off takes.
func (w *world) untilQuiet() error {
	for round := range restRounds {
		before, _ := w.wire.costs()
		if err := w.rest(); err != nil {
			return err
		}
		marked, err := w.backend.MarkedKeys(w.ctx, w.tables)
		after, _ := w.wire.costs()
		if err != nil || round > 0 && after == before || len(marked) == 0 && len(w.mailbox.waiting) == 0 && len(w.asked()) == 0 {
			return err
		}
		w.clock.set(w.clock.Now().Add(restPause))
	}
	return nil
}

// rest delivers what waits, also what failed too often, sweeps and answers. A sweep is left out where no entity asks for it.
func (w *world) rest() error {
	actions := []action{redrive{"dlq"}, deliverAll{}, relay{mark: true}, deliverAll{}}
	marked, err := w.backend.MarkedKeys(w.ctx, w.tables)
	if err != nil {
		return err
	}
	if len(marked) > 0 {
		actions = slices.Insert(actions, 2, action(sweep{times: 1}))
	}
	for _, a := range actions {
		if err := a.play(w, step{}); err != nil {
			return err
		}
	}
	return nil
}

// moment plays the step that is made to fail.
func (w *world) moment(p *planter, s step) error {
	counted := w.metrics.copy()
	p.watching = true
	err := w.disturbed(p, s)
	p.watching = false
	if p.mishap.kind == death && p.at > 0 {
		w.metrics.restore(counted)
		w.warm, w.sweeper = w.cold(), nil
	}
	return err
}

func (w *world) disturbed(p *planter, s step) error {
	switch a := s.action.(type) {
	case deliver:
		return w.disturbedDelivery(p, a, s)
	case sweep:
		p.rival = func() { w.rivals(w.coldSweeper().Sweep) }
		return a.play(w, s)
	case relay:
		return w.disturbedRelay(p, a, s)
	case skip:
		p.rival = func() { _ = a.play(w, s) }
		if err := a.play(w, s); err != nil && !p.struck {
			return err
		}
		p.watching = false
		return a.play(w, s) // whoever got no answer gives the order again
	}
	return fmt.Errorf("line %d: nobody knows how to make %s fail", s.line, s.verb)
}

// rivals does the work of an invocation that comes between two requests of another.
func (w *world) rivals(work func(context.Context) error) {
	_, ctx, end := w.invocation()
	defer end()
	if err := work(ctx); err != nil {
		w.metrics.fault(fmt.Errorf("the rival, whose requests are all answered: %w", err))
	}
}

func (w *world) disturbedDelivery(p *planter, a deliver, s step) error {
	if p.mishap.kind == death && p.at > 0 {
		const never = 1 << 30
		return crash{a.ids, never}.play(w, s) // the planter kills it
	}
	batch, err := w.mailbox.pick(a.ids)
	if err != nil {
		return err
	}
	acked := map[*message]bool{}
	p.rival = func() {
		w.rivals(func(ctx context.Context) error {
			acked, err = w.invoke(ctx, w.cold(), batch, w.mailbox.receive(batch, w.clock.Now()))
			return err
		})
	}
	if err := a.play(w, s); err != nil {
		return err
	}
	for _, m := range batch { // what either of them acked is gone
		if acked[m] && !m.acked {
			w.mailbox.settle(m, true)
		}
	}
	return nil
}

// disturbedRelay brings back what a relay was answering that died.
func (w *world) disturbedRelay(p *planter, a relay, s step) error {
	asked := slices.Clone(w.asked())
	p.rival = func() {
		open := w.requests
		w.requests = slices.Clone(asked)
		if err := a.play(w, s); err != nil {
			w.metrics.fault(err)
		}
		w.requests = open
	}
	err := a.play(w, s)
	if p.mishap.kind == death && p.at > 0 {
		w.requests = asked
	}
	return err
}

// answered is what the step's invocation said of itself.
func (w *world) answered() string {
	var lines []string
	for id, ended := range w.endings {
		lines = append(lines, id+" ended as "+strings.Join(ended.dispositions, ", "))
	}
	for _, metric := range append(dispositionMetrics(), ordering.MetricDrained, ordering.MetricHealed, ordering.MetricDispatched, ordering.MetricEscalated) {
		lines = append(lines, metric+" "+w.metrics.value(metric).Text('f'))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func dispositionMetrics() (names []string) {
	for _, d := range ordering.Dispositions() {
		names = append(names, d.Metric())
	}
	return names
}

// compareEnds says how a play ended elsewhere than the undisturbed one.
func compareEnds(s *situation, p *planting, r outcome) string {
	wrong := r.wrong
	if p.mishap.isRetried(s.undisturbed.requests, p.at) {
		wrong += differing("when the step had answered, although the request was tried again", s.undisturbed.answers, r.answers)
	}
	wrong += differing("when nothing moved any more", s.undisturbed.quiet, r.quiet)
	return wrong + differing("after everything came once more", s.undisturbed.again, r.again)
}

// differing lists the lines that only one of two texts has.
func differing(when, want, got string) string {
	if want == got {
		return ""
	}
	var text strings.Builder
	text.WriteString(when + "\n")
	wanted, there := strings.Split(want, "\n"), strings.Split(got, "\n")
	for _, line := range wanted {
		if !slices.Contains(there, line) {
			text.WriteString("  - " + line + "\n")
		}
	}
	for _, line := range there {
		if !slices.Contains(wanted, line) {
			text.WriteString("  + " + line + "\n")
		}
	}
	return text.String()
}
