package functions

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"inorder/events"
	"inorder/ordering"
)

var errThrottledSend = errors.New("throttled")

func applied(batch []ordering.Delivery) ordering.Report {
	out := make([]ordering.Outcome, len(batch))
	for i := range out {
		out[i].Disposition = ordering.Applied
	}
	return ordering.Report{Outcomes: out}
}

// Guarantee 2: an ack before the copy loses the only evidence when the second queue is down.
func TestCopyIsDurableBeforeTheAck(t *testing.T) {
	b := newBench(t)
	b.loop.ends["rival"] = ordering.Outcome{Disposition: ordering.Conflict, Reason: "conflict", Stored: "0000000000.0000000000000000001"}
	b.quarantine.err = errThrottledSend
	poison, rival := record("poison", "{{"), docSet("rival", "a", 1)
	if got := b.handle(t, t.Context(), poison, rival, docSet("m3", "b", 1)); got != failures("poison", "rival") {
		t.Errorf("got %s", got)
	}
	b.want(t, map[string][]string{"poison": {"deferred"}, "rival": {"deferred"}, "m3": {"applied"}})
	for metric, want := range map[string]float64{
		MetricConsumed: 3, "events_deferred_total": 2, "events_quarantined_total": 0, "events_conflict_total": 0, "events_applied_total": 1,
	} {
		if got := b.total(t, metric); got != want {
			t.Errorf("%s %v, want %v", metric, got, want)
		}
	}
	b.quarantine.err = nil
	if got := b.handle(t, t.Context(), poison, rival); got != failures() {
		t.Errorf("got %s", got)
	}
	b.want(t, map[string][]string{"poison": {"quarantined"}, "rival": {"conflict"}})
	if len(b.quarantine.copies) != 2 {
		t.Errorf("%d copies, want 2", len(b.quarantine.copies))
	}
}

// Guarantee 1: a panic in the copy is that copy's failure.
func TestPanicInACopyDefersItsMessage(t *testing.T) {
	b := newBench(t)
	b.quarantine.copy = func(_ context.Context, c ordering.Copy) error {
		if c.Delivery.Message.ID == "p1" {
			_ = []int{}[len(c.Delivery.Message.ID)]
		}
		return nil
	}
	if got := b.handle(t, t.Context(), record("p1", "{{"), record("p2", "{{")); got != failures("p1") {
		t.Errorf("got %s", got)
	}
	if !strings.Contains(b.logs.String(), "panic runtime error: index out of range [2] with length 0 at inorder/functions.") {
		t.Errorf("logs: %s", b.logs)
	}
}

// The loop ends Margin before Lambda's deadline, what was not started is deferred, and what is done counts.
func TestOutOfTimeDefersWhatIsNotDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.Parallel, b.Margin = 1, 4*time.Second
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		b.loop.apply = func(ctx context.Context, key ordering.Key, batch []ordering.Delivery) ordering.Report {
			if deadline, _ := ctx.Deadline(); deadline.Sub(begin) != 16*time.Second {
				t.Errorf("the loop has until %v, want 16s", deadline.Sub(begin))
			}
			time.Sleep(10 * time.Second) // the second one is at work when its time ends, and finishes late
			return applied(batch)
		}
		got := b.handle(t, ctx, docSet("m1", "a", 1), docSet("m2", "b", 1), docSet("m3", "c", 1))
		if got != failures("m2", "m3") || time.Since(begin) != 17*time.Second {
			t.Errorf("got %s after %v; the stragglers have a quarter of the margin", got, time.Since(begin))
		}
		if b.total(t, MetricConsumed) != 3 || b.total(t, "events_deferred_total") != 2 {
			t.Errorf("metrics: %s", b.emf)
		}
		time.Sleep(time.Hour) // the straggler ends without harm
	})
}

// Lambda's default timeout, 3 s, is as long as the margin of a started consumer: it still judges, and says what is wrong.
func TestShortTimeoutIsUsedAndTold(t *testing.T) {
	for _, tt := range []struct {
		timeout, loop time.Duration
		told          int
	}{
		{3 * time.Second, 2250 * time.Millisecond, 1},
		{5 * time.Second, 3750 * time.Millisecond, 1},
		{6 * time.Second, 4500 * time.Millisecond, 0},
		{12 * time.Second, 9 * time.Second, 0},
		{30 * time.Second, 27 * time.Second, 0},
	} {
		t.Run(tt.timeout.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.Margin = margin
				begin := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), tt.timeout)
				defer cancel()
				b.loop.apply = func(ctx context.Context, _ ordering.Key, batch []ordering.Delivery) ordering.Report {
					if deadline, _ := ctx.Deadline(); deadline.Sub(begin) != tt.loop {
						t.Errorf("the loop has until %v, want %v", deadline.Sub(begin), tt.loop)
					}
					return applied(batch)
				}
				if got := b.handle(t, ctx, docSet("m1", "a", 1)); got != failures() {
					t.Errorf("got %s", got)
				}
				logs := b.logs.String()
				if strings.Count(logs, `"level":"ERROR"`) != tt.told || strings.Count(logs, "the function's timeout is too short") != tt.told {
					t.Errorf("logs: %s", logs)
				}
			})
		})
	}
}

// Guarantee 7: a projection that never returns costs its own message and neither the answer nor the metrics.
func TestStuckLoopStillGetsAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.Margin = 4 * time.Second
		free := make(chan struct{})
		defer close(free)
		loop := &stuckLoop{free: free, stuck: "a"}
		b.Loop = loop
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if got := b.handle(t, ctx, docSet("m1", "a", 1), docSet("m2", "b", 1), record("poison", "{{")); got != failures("m1") {
			t.Errorf("got %s", got)
		}
		if ctx.Err() != nil {
			t.Error("the answer came after the deadline")
		}
		b.want(t, map[string][]string{"m1": {"deferred"}, "m2": {"applied"}, "poison": {"quarantined"}})
		if b.total(t, MetricConsumed) != 3 {
			t.Errorf("metrics: %s", b.emf)
		}
	})
}

type stuckLoop struct {
	free  chan struct{}
	stuck string
}

func (s *stuckLoop) Apply(_ context.Context, key ordering.Key, batch []ordering.Delivery) ordering.Report {
	if key.ID == s.stuck {
		<-s.free
	}
	return applied(batch)
}

// A copy that hangs is not durable when the answer is due.
func TestStuckCopyDefers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.Margin = 4 * time.Second
		free := make(chan struct{})
		defer close(free)
		b.quarantine.copy = func(context.Context, ordering.Copy) error { <-free; return nil }
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if got := b.handle(t, ctx, record("poison", "{{"), docSet("m2", "b", 1)); got != failures("poison") || ctx.Err() != nil {
			t.Errorf("got %s, %v", got, ctx.Err())
		}
	})
}

// Without time nothing is judged, and all of it comes back.
func TestNoTimeAtAll(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := b.handle(t, ctx, docSet("m1", "a", 1), record("poison", "{{")); got != failures("m1", "poison") {
		t.Errorf("got %s", got)
	}
	if len(b.loop.calls) > 0 || len(b.quarantine.copies) > 0 {
		t.Errorf("calls %q, copies %v", b.loop.calls, b.quarantine.copies)
	}
}

// Guarantee 7: whatever panics outside of all isolation, the counters are out before the function dies.
func TestMetricsAreFlushedWhenTheHandlerPanics(t *testing.T) {
	b := newBench(t)
	b.Observe = func(_ events.Message, _ []ordering.Outcome) { panic("bug") }
	func() {
		defer func() { _ = recover() }()
		b.handle(t, t.Context(), docSet("m1", "a", 1))
	}()
	if b.total(t, MetricConsumed) != 1 {
		t.Errorf("metrics: %s", b.emf)
	}
}
