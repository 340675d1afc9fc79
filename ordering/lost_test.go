package ordering_test

import (
	"context"
	"testing"

	"inorder/events"
	"inorder/ordering"
	"inorder/ordering/memory"
)

// twice is a store whose every write takes effect, and is then made again, as the SDK does when the answer to the
// first was lost on its way.
type twice struct{ *memory.Store }

func (s twice) Swap(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, markers []ordering.Marker) error {
	_ = s.Store.Swap(ctx, key, prev, next, markers)
	return s.Store.Swap(ctx, key, prev, next, markers)
}

func (s twice) PutNewer(ctx context.Context, key ordering.Key, next *ordering.Entity, markers []ordering.Marker) error {
	_ = s.Store.PutNewer(ctx, key, next, markers)
	return s.Store.PutNewer(ctx, key, next, markers)
}

func (s twice) Merge(ctx context.Context, key ordering.Key, merge ordering.Merge, markers []ordering.Marker) error {
	_ = s.Store.Merge(ctx, key, merge, markers)
	return s.Store.Merge(ctx, key, merge, markers)
}

func (s twice) Add(ctx context.Context, key ordering.Key, a ordering.Addition) (*ordering.Entity, error) {
	_, _ = s.Store.Add(ctx, key, a)
	return s.Store.Add(ctx, key, a)
}

func (s twice) AddMarked(ctx context.Context, key ordering.Key, amounts map[string]events.Number, last ordering.Last, markers []ordering.Marker) error {
	_ = s.Store.AddMarked(ctx, key, amounts, last, markers)
	return s.Store.AddMarked(ctx, key, amounts, last, markers)
}

func (s twice) PutMarker(ctx context.Context, m ordering.Marker) error {
	_ = s.Store.PutMarker(ctx, m)
	return s.Store.PutMarker(ctx, m)
}

func (s twice) PutRow(ctx context.Context, key ordering.Key, row ordering.Row) error {
	_ = s.Store.PutRow(ctx, key, row)
	return s.Store.PutRow(ctx, key, row)
}

// TestOwnWritesAreRecognised: a write that took effect and was reported as lost is one's own, and neither a duplicate
// nor a conflict.
func TestOwnWritesAreRecognised(t *testing.T) {
	for _, tt := range []struct {
		stream string
		bodies []string
		want   []ordering.Disposition
	}{
		{"{name: s, types: [T], mode: state, clock: entity}", []string{`"seq":1`}, []ordering.Disposition{ordering.Applied}},
		{"{name: s, types: [T], mode: state, clock: entity, dedup: marker}", []string{`"seq":1`, `"seq":2`}, []ordering.Disposition{ordering.Coalesced, ordering.Applied}},
		{"{name: s, types: [T], mode: state, clock: attribute}", []string{`"seq":1`}, []ordering.Disposition{ordering.Applied}},
		{"{name: s, types: [T], mode: state, clock: attribute, dedup: marker}", []string{`"seq":1`}, []ordering.Disposition{ordering.Applied}},
		{"{name: s, types: [T], mode: step, effects: true, projection: {sum: {n: data.n}}}", []string{`"seq":3`, `"seq":1`}, []ordering.Disposition{ordering.Parked, ordering.Applied}},
		{"{name: s, types: [T], mode: delta, projection: {sum: {n: data.n}}}", []string{`"seq":1`}, []ordering.Disposition{ordering.Applied}},
		{"{name: s, types: [T], mode: delta, projection: {sum: {n: data.n}}}", []string{`"seq":2`, `"seq":4`}, []ordering.Disposition{ordering.Applied, ordering.Applied}},
		{"{name: s, types: [T], mode: delta, order: {by: none}, projection: {sum: {n: data.n}}}", []string{`"seq":1`, `"seq":2`}, []ordering.Disposition{ordering.Applied, ordering.Applied}},
	} {
		p := &transcript{now: begin}
		p.stream(tt.stream)
		p.loop.Store = twice{p.store}
		var batch []ordering.Delivery
		for i, seq := range tt.bodies {
			id := string(rune('a' + i))
			m := &events.Message{ID: "m" + id, ReceiveCount: 1, Body: `{"event_id":"` + id + `","type":"T","entity_id":"x",` + seq + `,"data":{"n":1}}`}
			batch = append(batch, ordering.Delivery{Event: p.config.Decode(*m, begin)[0].Event, Message: m})
		}
		for i, o := range p.loop.Apply(context.Background(), p.key, batch).Outcomes {
			if o.Disposition != tt.want[i] {
				t.Errorf("%s: event %d is %v, want %v (%v)", tt.stream, i, o.Disposition, tt.want[i], o.Err)
			}
		}
	}
}

// TestWindowIsCountedFromTheFreshCursor: an event that seems beyond the window of a cached entity may lie within it.
func TestWindowIsCountedFromTheFreshCursor(t *testing.T) {
	for _, mode := range []string{"step", "delta"} {
		p := &transcript{now: begin}
		p.stream("{name: s, types: [T], mode: " + mode + ", window: 3, projection: {sum: {n: data.n}}}")
		other := *p.loop
		other.Cache = ordering.NewCache(10)
		one := func(l *ordering.Loop, seq string) ordering.Disposition {
			m := &events.Message{ID: "m" + seq, Body: `{"event_id":"` + seq + `","type":"T","entity_id":"x","seq":` + seq + `,"data":{"n":1}}`}
			d := []ordering.Delivery{{Event: p.config.Decode(*m, begin)[0].Event, Message: m}}
			return l.Apply(context.Background(), p.key, d).Outcomes[0].Disposition
		}
		one(p.loop, "1")
		one(p.loop, "9") // sent back, but known: nothing will have to be written for a number below it
		one(&other, "2")
		one(&other, "3")
		if got := one(p.loop, "5"); got == ordering.Deferred {
			t.Errorf("%s: number 5 of window 3 after cursor 3 is %v, judged from a cached cursor", mode, got)
		}
		if got := one(p.loop, "8"); got != ordering.Deferred {
			t.Errorf("%s: number 8 of window 3 after cursor 3 is %v", mode, got)
		}
	}
}
