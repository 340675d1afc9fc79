package ordering_test

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"inorder/events"
	"inorder/ordering"
	"inorder/ordering/memory"
)

// bench is a stream, its store, and those who work on one entity of it.
type bench struct {
	config *events.Config
	store  *memory.Store
	keeper *ordering.Keeper
	now    time.Time
	key    ordering.Key
}

func newBench(t interface{ Fatal(...any) }, stream string) *bench {
	config, err := events.ParseStreams([]byte("consumer: c\nstreams:\n  - "+stream+"\n"), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{config: config, store: &memory.Store{}, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), key: ordering.Key{Consumer: "c", Stream: "s", ID: "x"}}
	tokens := 0
	b.keeper = &ordering.Keeper{
		Loop: &ordering.Loop{
			Store: b.store, Streams: config, Now: func() time.Time { return b.now },
			NewToken: func() string { tokens++; return strconv.Itoa(tokens) },
		},
		Upkeep: b.store,
	}
	return b
}

func (b *bench) stream() *events.Stream { return b.config.Streams[0] }

// apply lets the loop have events, one by one: what stands between type and data.
func (b *bench) apply(t interface{ Fatal(...any) }, bodies ...string) {
	for _, body := range bodies {
		m := &events.Message{ID: body, Body: `{"event_id":"e` + strconv.Quote(body)[1:] + `,"type":"T","entity_id":"x",` + body + `}`, ReceivedAt: b.now}
		if strings.Contains(body, `"type"`) {
			m.Body = "{" + body + "}"
		}
		d := b.config.Decode(*m, b.now)[0]
		if d.Event == nil {
			t.Fatal(m.Body, d.Refusal)
		}
		b.keeper.Apply(context.Background(), b.key, []ordering.Delivery{{Event: d.Event, Message: m}})
	}
}

func (b *bench) entity(t interface{ Fatal(...any) }) *ordering.Entity {
	e, err := b.store.Entity(context.Background(), b.key)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func seqs(numbers ...int) []string {
	bodies := make([]string, len(numbers))
	for i, n := range numbers {
		bodies[i] = fmt.Sprintf(`"seq":%d,"data":{"n":1}`, n)
	}
	return bodies
}

const (
	stepStream  = "{name: s, types: [T], mode: step, window: 20, projection: {sum: {n: data.n}}}"
	deltaStream = "{name: s, types: [T], mode: delta, window: 20, projection: {sum: {n: data.n}}}"
	anyStream   = "{name: s, types: [T], mode: step, window: 20, start: any, projection: {sum: {n: data.n}}}"
	wholeStream = "{name: s, types: [T], mode: state, clock: entity}"
	partsStream = "{name: s, types: [T], mode: state, clock: attribute}"
	ownsStream  = "{name: s, types: [T], mode: state, clock: source, owns: {crm: [a, b], shop: [c]}}"
)

// TestBootstrap: a snapshot is written where the entity has nothing of its own that it would undo, and kept out where the
// entity is as far, or farther. Done again, and with the answer lost, it changes nothing.
func TestBootstrap(t *testing.T) {
	clock := func(seq int64) string { return events.SeqClock(0, seq) }
	n := func(value string) map[string]any { return map[string]any{"n": events.Number(value)} }
	const written, kept, refused = ordering.SnapshotWritten, ordering.SnapshotKept, ordering.SnapshotRefused
	for _, row := range []struct {
		name, stream string
		before       []string
		snapshot     ordering.Snapshot
		want         ordering.BootstrapVerdict
		applied      int64
		state        string
	}{
		{"step, nobody there", stepStream, nil, ordering.Snapshot{Applied: 5, State: n("50")}, written, 5, "map[n:50]"},
		{"step, only parked", stepStream, seqs(3, 7), ordering.Snapshot{Applied: 5, State: n("50")}, written, 5, "map[n:50]"},
		{"step, parked next in line", stepStream, seqs(3, 6), ordering.Snapshot{Applied: 5, State: n("50")}, written, 5, "map[n:50]"},
		{"step, begun and behind", stepStream, seqs(1, 2), ordering.Snapshot{Applied: 5, State: n("50")}, refused, 2, "map[n:2]"},
		{"step, begun and as far", stepStream, seqs(1, 2), ordering.Snapshot{Applied: 2, State: n("50")}, kept, 2, "map[n:2]"},
		{"step, begun and farther", stepStream, seqs(1, 2, 3), ordering.Snapshot{Applied: 2, State: n("50")}, kept, 3, "map[n:3]"},
		{"step, a newer generation", stepStream, []string{`"seq":1,"generation":4,"data":{"n":1}`}, ordering.Snapshot{Generation: 3, Applied: 9, State: n("50")}, kept, 1, "map[n:1]"},
		{"step, an older generation", stepStream, seqs(1), ordering.Snapshot{Generation: 3, Applied: 9, State: n("50")}, refused, 1, "map[n:1]"},
		{"step, an older generation that waits", stepStream, seqs(3), ordering.Snapshot{Generation: 3, Applied: 9, State: n("50")}, refused, 0, "map[]"},
		{"step, a generation", stepStream, nil, ordering.Snapshot{Generation: 3, Applied: 9, State: n("50")}, written, 9, "map[n:50]"},
		{"step, blocked at its first", stepStream, []string{`"seq":1,"data":{"n":"much"}`}, ordering.Snapshot{Applied: 5, State: n("50")}, written, 5, "map[n:50]"},
		{"step, only a mark", stepStream, []string{`"type":"inorder.mark","stream":"s","entity_id":"x","seq":9`}, ordering.Snapshot{Applied: 5, State: n("50")}, written, 5, "map[n:50]"},
		{"step, parked beyond the window", anyStream, seqs(90), ordering.Snapshot{Applied: 5, State: n("50")}, refused, 0, "map[]"},
		{"step, no baseline yet", anyStream, seqs(90), ordering.Snapshot{Applied: 80, State: n("50")}, written, 80, "map[n:50]"},
		{"step, without a state", stepStream, nil, ordering.Snapshot{Applied: 5}, written, 5, "map[]"},
		{"delta, nobody there", deltaStream, nil, ordering.Snapshot{Applied: 5, State: n("50")}, written, 5, "map[n:50]"},
		{"delta, counted ahead", deltaStream, seqs(7), ordering.Snapshot{Applied: 5, State: n("50")}, refused, 0, "map[n:1]"},
		{"delta, farther", deltaStream, seqs(1, 2, 4), ordering.Snapshot{Applied: 2, State: n("50")}, kept, 2, "map[n:3]"},
		{"whole, nobody there", wholeStream, nil, ordering.Snapshot{Clock: clock(5), State: n("5")}, written, 5, "map[n:5]"},
		{"whole, older", wholeStream, []string{`"seq":3,"data":{"n":3}`}, ordering.Snapshot{Clock: clock(5), State: n("5")}, written, 5, "map[n:5]"},
		{"whole, newer", wholeStream, []string{`"seq":7,"data":{"n":7}`}, ordering.Snapshot{Clock: clock(5), State: n("5")}, kept, 7, "map[n:7]"},
		{"whole, a mark above", wholeStream, []string{`"type":"inorder.mark","stream":"s","entity_id":"x","seq":9`}, ordering.Snapshot{Clock: clock(5), State: n("5")}, written, 5, "map[n:5]"},
		{"parts, nobody there", partsStream, nil, ordering.Snapshot{Clock: clock(5), State: map[string]any{"n": events.Number("5"), "gone": nil}}, written, 5, "map[n:5]"},
		{"parts, only a mark", partsStream, []string{`"type":"inorder.mark","stream":"s","entity_id":"x","seq":4`}, ordering.Snapshot{Clock: clock(5), State: n("5")}, written, 5, "map[n:5]"},
		{"parts, older ones", partsStream, []string{`"seq":3,"data":{"m":3}`}, ordering.Snapshot{Clock: clock(5), State: n("5")}, refused, 3, "map[m:3]"},
		{"owns, nobody there", ownsStream, nil, ordering.Snapshot{Clock: clock(5), Source: "crm", State: map[string]any{"a": "x"}}, written, 5, "map[a:x]"},
		{"owns, another source", ownsStream, []string{`"seq":9,"source":"shop","data":{"c":3}`}, ordering.Snapshot{Clock: clock(5), Source: "crm", State: map[string]any{"a": "x"}}, written, 9, "map[a:x c:3]"},
		{"owns, older", ownsStream, []string{`"seq":3,"source":"crm","data":{"b":3}`}, ordering.Snapshot{Clock: clock(5), Source: "crm", State: map[string]any{"a": "x"}}, written, 5, "map[a:x]"},
		{"owns, newer", ownsStream, []string{`"seq":7,"source":"crm","data":{"b":3}`}, ordering.Snapshot{Clock: clock(5), Source: "crm", State: map[string]any{"a": "x"}}, kept, 7, "map[b:3]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, lossy := range []bool{false, true} {
				b := newBench(t, row.stream)
				b.keeper.Quarantine = copies{}
				b.apply(t, row.before...)
				before := b.entity(t)
				if lossy {
					b.keeper.Store = twice{b.store}
				}
				dry, err := b.keeper.Bootstrap(t.Context(), b.key, b.stream(), row.snapshot, true)
				if err != nil || dry.Verdict != row.want || b.entity(t).Rev != before.Rev {
					t.Fatalf("a dry run: %+v, %v", dry, err)
				}
				done, err := b.keeper.Bootstrap(t.Context(), b.key, b.stream(), row.snapshot, false)
				if err != nil || done.Verdict != row.want || (done.Why == "") != (row.want == written) {
					t.Fatalf("%+v, %v", done, err)
				}
				e := b.entity(t)
				if got := fmt.Sprint(nonNil(e.State)); got != row.state || position(e) != row.applied {
					t.Errorf("it is at %d with %s, want %d with %s", position(e), got, row.applied, row.state)
				}
				if row.want != written {
					if e.Rev != before.Rev {
						t.Error("it was changed")
					}
					continue
				}
				if again, err := b.keeper.Bootstrap(t.Context(), b.key, b.stream(), row.snapshot, false); err != nil || again.Verdict != kept || b.entity(t).Rev != e.Rev {
					t.Errorf("again: %+v, %v", again, err)
				}
			}
		})
	}
}

type copies struct{}

func (copies) Copy(context.Context, ordering.Copy) error { return nil }

func nonNil(state map[string]any) map[string]any { return maps.Clone(state) }

func position(e *ordering.Entity) int64 {
	highest := max(e.Clock, e.Last.Clock)
	for _, clock := range e.Clocks {
		highest = max(highest, clock)
	}
	if _, seq, ok := events.ParseSeqClock(highest); ok && (len(e.Clocks) > 0 || e.Clock != "") {
		return seq
	}
	return e.Applied
}

// TestBootstrapPlacesEffects: what a snapshot holds sends no effects, and what comes after it does.
func TestBootstrapPlacesEffects(t *testing.T) {
	for mode, want := range map[ordering.EffectsMode]bool{ordering.EffectsOn: true, ordering.EffectsHold: true, ordering.EffectsOff: false} {
		b := newBench(t, "{name: s, types: [T], mode: step, effects: true, projection: {sum: {n: data.n}}}")
		b.keeper.EffectsMode = mode
		if _, err := b.keeper.Bootstrap(t.Context(), b.key, b.stream(), ordering.Snapshot{Generation: 2, Applied: 5}, false); err != nil {
			t.Fatal(err)
		}
		at := b.entity(t).Dispatched
		if (at != nil) != want || want && *at != (ordering.Position{Gen: 2, Seq: 5}) {
			t.Errorf("mode %d: _dispatched is %v", mode, at)
		}
	}
}

// TestBootstrapSettlesTheGap: what is parked right behind the snapshot stays in the sweeper's index, to be drained; where
// nothing is left above it the entity leaves the index.
func TestBootstrapSettlesTheGap(t *testing.T) {
	for _, row := range []struct {
		parked  []int
		waiting string
		open    bool
		passed  int
	}{{[]int{3, 5}, "[]", false, 2}, {[]int{3, 6}, "[6]", true, 1}, {[]int{9}, "[9]", true, 0}} {
		b := newBench(t, stepStream)
		b.apply(t, seqs(row.parked...)...)
		done, err := b.keeper.Bootstrap(t.Context(), b.key, b.stream(), ordering.Snapshot{Applied: 5}, false)
		e := b.entity(t)
		if err != nil || fmt.Sprint(e.Waiting) != row.waiting || (e.Gap != nil) != row.open || done.Passed != row.passed {
			t.Errorf("%v: waiting %v, gap %v, %+v, %v", row.parked, e.Waiting, e.Gap, done, err)
		}
	}
}

// TestBootstrapConverges: a consumer that starts from a snapshot, whatever reached it before and comes after, ends where
// one ends that saw the whole history.
func TestBootstrapConverges(t *testing.T) {
	for _, stream := range []string{stepStream, anyStream} {
		rapid.Check(t, func(t *rapid.T) {
			const last = 12
			at := rapid.IntRange(1, last).Draw(t, "at")
			b := newBench(t, stream)
			early := rapid.SliceOfNDistinct(rapid.IntRange(2, last), 0, 5, rapid.ID).Draw(t, "early")
			b.apply(t, seqs(early...)...)
			done, err := b.keeper.Bootstrap(context.Background(), b.key, b.stream(), ordering.Snapshot{
				Applied: int64(at), State: map[string]any{"n": events.Number(strconv.Itoa(at))},
			}, false)
			if err != nil || done.Verdict != ordering.SnapshotWritten {
				t.Fatalf("%+v, %v", done, err)
			}
			all := make([]int, last)
			for i := range all {
				all[i] = i + 1
			}
			b.apply(t, seqs(rapid.Permutation(all).Draw(t, "all")...)...)
			if e := b.entity(t); e.Applied != last || fmt.Sprint(e.State) != "map[n:12]" || e.Gap != nil {
				t.Fatalf("it is at %d with %v, gap %v", e.Applied, e.State, e.Gap)
			}
		})
	}
}

// TestSnapshotsAreChecked: what an event could not write, a snapshot cannot either.
func TestSnapshotsAreChecked(t *testing.T) {
	for _, row := range []struct {
		stream string
		source string
		state  map[string]any
		want   events.Reason
	}{
		{stepStream, "", map[string]any{"n": events.Number("1")}, ""},
		{stepStream, "", map[string]any{"_rev": events.Number("1")}, events.ReservedAttribute},
		{deltaStream, "", map[string]any{"n": events.Number("1e999")}, events.NumberRange},
		{wholeStream, "", map[string]any{"": "x"}, events.ReservedAttribute},
		{ownsStream, "shop", map[string]any{"a": "x"}, events.NotOwner},
		{ownsStream, "crm", map[string]any{"a": "x"}, ""},
	} {
		b := newBench(t, row.stream)
		var got events.Reason
		if refusal := (ordering.Snapshot{Source: row.source, State: row.state}).Check(b.stream()); refusal != nil {
			got = refusal.Reason
		}
		if got != row.want {
			t.Errorf("%v in %s: %q, want %q", row.state, row.stream, got, row.want)
		}
	}
}
