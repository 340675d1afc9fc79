package ordering_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"inorder/events"
	"inorder/ordering"
	"inorder/ordering/memory"
)

// apply delivers events, each "seq amount", in one batch.
func (p *transcript) apply(loop *ordering.Loop, numbers ...[2]string) []ordering.Outcome {
	var batch []ordering.Delivery
	for _, n := range numbers {
		m := &events.Message{ID: "m" + n[0], Body: fmt.Sprintf(`{"event_id":"%s","type":"T","entity_id":"x","seq":%s,"data":{"n":%s}}`, n[0], n[0], n[1]), ReceivedAt: begin}
		batch = append(batch, ordering.Delivery{Event: p.config.Decode(*m, begin)[0].Event, Message: m})
	}
	return loop.Apply(context.Background(), p.key, batch).Outcomes
}

// TestLongDrainEndsAtAFailingRow: a drain takes several compare-and-sets, and the first row of a later one fails. The
// entity says that it is blocked, and the row has its copy in quarantine.
func TestLongDrainEndsAtAFailingRow(t *testing.T) {
	p := &transcript{now: begin}
	p.stream("{name: s, types: [T], mode: step, projection: {sum: {n: data.n}}}")
	var waiting [][2]string
	for n := 2; n <= 401; n++ {
		waiting = append(waiting, [2]string{fmt.Sprint(n), "1"})
	}
	waiting = append(waiting, [2]string{"402", `"words"`})
	p.apply(p.loop, waiting...)
	p.apply(p.loop, [2]string{"1", "1"})
	e := p.store.All()[p.key]
	if e.Applied != 401 || e.Blocked != 402 || e.State["n"] != events.Number("401") {
		t.Errorf("at %d, blocked at %d, with %v", e.Applied, e.Blocked, e.State)
	}
	if fmt.Sprint(p.copies) != "[m402 (projection_error)]" {
		t.Errorf("in quarantine: %v", p.copies)
	}
}

// TestALongDrainGoesOnBehindAShortRun: where there is room for one event at a time, and the first of them is the one that
// was brought, what waits behind it runs in the same invocation all the same.
func TestALongDrainGoesOnBehindAShortRun(t *testing.T) {
	p := &transcript{now: begin}
	p.stream("{name: s, types: [T], mode: step, effects: true, projection: tally}")
	p.loop.Projections = map[string]ordering.Projector{"tally": func(map[string]any, *events.Event) (map[string]any, []any, error) {
		return nil, []any{strings.Repeat("x", 1500)}, nil
	}}
	p.store.MaxItem = 3000
	p.apply(p.loop, [2]string{"2", "1"}, [2]string{"3", "1"})
	p.apply(p.loop, [2]string{"1", "1"})
	if e := p.store.All()[p.key]; e.Applied != 3 || e.Gap != nil || len(e.Owed) > 0 {
		t.Errorf("at %d, owed %d, %+v", e.Applied, len(e.Owed), e.Gap)
	}
}

// TestSumsAreRefusedOnAFreshRead: what does not fit a sum as a warm function remembers it may fit the sum as it is.
func TestSumsAreRefusedOnAFreshRead(t *testing.T) {
	p := &transcript{now: begin}
	p.stream("{name: s, types: [T], mode: delta, projection: {sum: {n: data.n}}}")
	other := *p.loop
	other.Cache = ordering.NewCache(10)
	p.apply(p.loop, [2]string{"1", "12345678901234567890123456789012345678"})
	p.apply(&other, [2]string{"2", "-12345678901234567890123456789012345678"})
	if got := p.apply(p.loop, [2]string{"3", "0.5"})[0]; got.Disposition != ordering.Applied {
		t.Errorf("it is %v (%s)", got.Disposition, got.Reason)
	}
	if e := p.store.All()[p.key]; e.State["n"] != events.Number("0.5") || e.Effective() != 3 {
		t.Errorf("the sum is %v at %d", e.State["n"], e.Effective())
	}
}

// panicking is a store that cannot log.
type panicking struct{ *memory.Store }

func (panicking) PutRow(context.Context, ordering.Key, ordering.Row) error { panic("out of order") }

// TestPanicWhileLoggingDefersItsEntity: rows are logged side by side, where the handler's recovery does not reach.
func TestPanicWhileLoggingDefersItsEntity(t *testing.T) {
	p := &transcript{now: begin}
	p.stream("{name: s, types: [T], mode: step, projection: {sum: {n: data.n}}}")
	p.loop.Store, p.loop.RowsAtOnce = panicking{p.store}, 4
	for _, o := range p.apply(p.loop, [2]string{"2", "1"}, [2]string{"3", "1"}) {
		if o.Disposition != ordering.Deferred || o.Err == nil {
			t.Errorf("%v: %v", o.Disposition, o.Err)
		}
	}
}

// TestManyCopiesOfARefusedEvent share its fate at once: judged one by one they would outlast the invocation.
func TestManyCopiesOfARefusedEvent(t *testing.T) {
	p := &transcript{now: begin}
	p.stream("{name: s, types: [T], mode: delta, projection: {sum: {n: data.n}}}")
	copies := make([][2]string, 3000)
	for i := range copies {
		copies[i] = [2]string{"1", "1e300"}
	}
	tokens := p.tokens
	for _, o := range p.apply(p.loop, copies...) {
		if o.Disposition != ordering.Quarantined || o.Reason != events.NumberRange {
			t.Fatalf("a copy is %v (%s)", o.Disposition, o.Reason)
		}
	}
	if rounds := p.tokens - tokens; rounds > 3 {
		t.Errorf("they took %d rounds", rounds)
	}
}
