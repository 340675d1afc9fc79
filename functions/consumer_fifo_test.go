package functions

import (
	"slices"
	"testing"

	awsevents "github.com/aws/aws-lambda-go/events"
)

// Guarantee 5: what comes later in a group must not overtake what comes back.
func TestFIFOGroupStopsAtItsFirstFailure(t *testing.T) {
	b := newBench(t)
	b.loop.ends["far"] = deferral()
	got := b.handle(t, t.Context(),
		inGroup(docSet("far", "a", 9), "ga"), inGroup(docSet("b1", "b", 1), "gb"), inGroup(docSet("a1", "a", 1), "ga"),
		inGroup(record("poison", "]"), "gc"), inGroup(docSet("d1", "d", 1), "ga"), inGroup(docSet("c1", "c", 1), "gc"),
		inGroup(docSet("b2", "b", 2), "gb"))
	if got != failures("far", "a1", "d1") {
		t.Errorf("got %s", got)
	}
	b.want(t, map[string][]string{
		"far": {"deferred"}, "a1": {"deferred"}, "d1": {"deferred"},
		"b1": {"applied"}, "b2": {"applied"}, "poison": {"quarantined"}, "c1": {"applied"},
	})
	if b.total(t, MetricConsumed) != 7 || b.total(t, "events_deferred_total") != 3 {
		t.Errorf("metrics: %s", b.emf)
	}
	slices.Sort(b.loop.calls)
	if want := []string{"a: far", "b: b1", "b: b2", "c: c1"}; !slices.Equal(b.loop.calls, want) {
		t.Errorf("calls %q, want %q: what was not attempted must not reach the loop", b.loop.calls, want)
	}
}

// A copy that is not durable is a failure of its group too.
func TestFIFOGroupStopsAtAFailedCopy(t *testing.T) {
	b := newBench(t)
	b.quarantine.err = errThrottledSend
	got := b.handle(t, t.Context(), inGroup(record("poison", "]"), "g"), inGroup(docSet("m2", "a", 1), "g"))
	if got != failures("poison", "m2") || len(b.loop.calls) > 0 {
		t.Errorf("got %s, calls %q", got, b.loop.calls)
	}
}

// Groups on a standard queue are for fairness between tenants and bind nothing; the same name on two queues is two.
func TestGroupsBindOnOneFIFOQueueOnly(t *testing.T) {
	b := newBench(t)
	b.loop.ends["m1"] = deferral()
	standard := func(r awsevents.SQSMessage) awsevents.SQSMessage {
		r = inGroup(r, "g")
		r.EventSourceARN = standardARN
		return r
	}
	if got := b.handle(t, t.Context(), standard(docSet("m1", "a", 1)), standard(docSet("m2", "b", 1)), inGroup(docSet("m3", "d", 1), "g")); got != failures("m1") {
		t.Errorf("got %s", got)
	}
}
