package ordering

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"
	"pgregory.net/rapid"

	"inorder/events"
)

var someNow = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func configOf(t *testing.T, text string) *events.Config {
	t.Helper()
	config, err := events.ParseStreams([]byte("consumer: c\nstreams:\n  - "+text+"\n"), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func stepJob(t interface{ Fatalf(string, ...any) }, config *events.Config, generation, seq int64, id string) *job {
	body := fmt.Sprintf(`{"event_id":"%s","type":"T","entity_id":"x","generation":%d,"seq":%d,"data":{"n":%d}}`, id, generation, seq, seq)
	m := &events.Message{ID: id, Body: body, ReceivedAt: someNow}
	d := config.Decode(*m, someNow)[0]
	if d.Event == nil {
		t.Fatalf("%s: %+v", body, d.Refusal)
	}
	return &job{Delivery: Delivery{Event: d.Event, Message: m}, out: &Outcome{}}
}

// TestStepPlan checks every decision on a random entity, batch and log: the invariants that DESIGN's protocol rests on.
func TestStepPlan(t *testing.T) {
	const window = 8
	config := configOf(t, "{name: s, types: [T], mode: step, window: 8, projection: {sum: {n: data.n}}}")
	rapid.Check(t, func(t *rapid.T) {
		cursor := rapid.Int64Range(0, 20).Draw(t, "cursor")
		entity := &Entity{Exists: true, Rev: 5, Cursor: Cursor{Applied: cursor, MaxSeen: cursor}}
		logged := map[int64]Row{}
		for _, n := range rapid.SliceOfDistinct(rapid.Int64Range(cursor+2, cursor+window), rapid.ID).Draw(t, "waiting") {
			entity.Waiting = entity.Waiting.With(n)
			j := stepJob(t, config, 0, n, fmt.Sprint("e", n))
			logged[n] = Row{Seq: n, EventID: j.Event.ID, Fingerprint: j.Event.Fingerprint(), Message: *j.Message}
		}
		var jobs []*job
		for i, n := range rapid.SliceOf(rapid.Int64Range(1, 40)).Draw(t, "batch") {
			id := fmt.Sprint("e", n)
			if rapid.IntRange(0, 5).Draw(t, "rival") == 0 {
				id = fmt.Sprint("rival", i)
			}
			jobs = append(jobs, stepJob(t, config, 0, n, id))
		}
		decode := func(r Row) (*events.Event, error) { return stepJob(t, config, 0, r.Seq, r.EventID).Event, nil }
		in := stepInput{stream: config.Streams[0], decode: decode, prev: entity, base: entity, jobs: jobs, now: someNow, token: "t", logged: map[int64]Row{}}
		p := planStep(in)
		if p.read != nil {
			in.logged, in.readFrom, in.readTo = logged, p.read.First, p.read.Last
			p = planStep(in)
		}
		for len(p.puts) > 0 { // what the loop does: log, then decide again
			for _, j := range p.puts {
				if row, taken := logged[j.Event.Seq]; taken {
					in.logged[j.Event.Seq] = row
				} else {
					in.logged[j.Event.Seq] = Row{Seq: j.Event.Seq, EventID: j.Event.ID, Fingerprint: j.Event.Fingerprint(), Message: *j.Message}
				}
			}
			p = planStep(in)
		}
		checkStepPlan(t, in, p, window)
	})
}

func checkStepPlan(t *rapid.T, in stepInput, p stepPlan, window int64) {
	if p.read != nil {
		t.Fatalf("the plan asks for rows that it has: %+v", *p.read)
	}
	if p.next.Applied < in.base.Applied {
		t.Fatalf("the cursor goes back from %d to %d", in.base.Applied, p.next.Applied)
	}
	for n := in.base.Applied + 1; n <= p.next.Applied; n++ {
		if p.ran[n] == nil || p.ran[n].Seq != n {
			t.Fatalf("the cursor passed %d, and %v ran", n, p.ran[n])
		}
	}
	if p.next.Waiting.Has(p.next.Applied + 1) {
		t.Fatalf("the run stops at %d before a number that waits", p.next.Applied)
	}
	for _, n := range p.next.Waiting {
		if _, has := in.logged[n]; !has && !in.base.Waiting.Has(n) {
			t.Fatalf("number %d waits without a row", n)
		}
		if n > in.base.Applied+window {
			t.Fatalf("number %d waits beyond the window", n)
		}
	}
	for _, n := range in.base.Waiting {
		if n > p.next.Applied && !p.next.Waiting.Has(n) {
			t.Fatalf("number %d waited and is forgotten", n)
		}
	}
	for _, j := range in.jobs {
		final, isFinal := p.final[j]
		landed, isLanded := p.landed[j]
		if isFinal == isLanded {
			t.Fatalf("number %d has verdicts %v and %v", j.Event.Seq, final, landed)
		}
		if landed.Disposition == Applied && (j.Event.Seq > p.next.Applied || j.Event.Seq <= in.base.Applied) {
			t.Fatalf("number %d is applied, and the cursor went from %d to %d", j.Event.Seq, in.base.Applied, p.next.Applied)
		}
		if landed.Disposition == Applied && p.ran[j.Event.Seq] != j.Event {
			t.Fatalf("number %d is applied, and another event ran", j.Event.Seq)
		}
		if (landed.Disposition == Parked || landed.Disposition == Duplicate) && !p.moves {
			t.Fatalf("number %d is %v without a write", j.Event.Seq, landed.Disposition)
		}
	}
	if open := p.next.Gap != nil; open != (p.next.Highest() > p.next.Applied) {
		t.Fatalf("in the sweeper's index: %v, with cursor %d and highest number %d", open, p.next.Applied, p.next.Highest())
	}
}

// TestDeltaPlan adds random batches to a random entity: what is counted is counted once, whichever way is taken.
func TestDeltaPlan(t *testing.T) {
	config := configOf(t, "{name: s, types: [T], mode: delta, window: 30, projection: {sum: {n: data.n}}}")
	rapid.Check(t, func(t *rapid.T) {
		entity, counted := &Entity{}, map[int64]bool{}
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			var jobs []*job
			for _, n := range rapid.SliceOfNDistinct(rapid.Int64Range(1, 25), 1, 10, rapid.ID).Draw(t, "batch") {
				jobs = append(jobs, stepJob(t, config, 0, n, fmt.Sprint("e", n)))
			}
			in := deltaInput{stream: config.Streams[0], prev: entity, base: entity, jobs: jobs, now: someNow, token: "t", letAdd: rapid.Bool().Draw(t, "letAdd")}
			p := planDelta(in)
			for _, j := range jobs {
				o, landed := p.landed[j]
				if landed != !counted[j.Event.Seq] {
					t.Fatalf("number %d, counted %v, gets %v", j.Event.Seq, counted[j.Event.Seq], o)
				}
				counted[j.Event.Seq] = true
			}
			entity = afterDelta(t, in, p)
		}
		var sum int64
		for n := range counted {
			sum += n
		}
		if got := entity.State["n"]; got != events.Number(fmt.Sprint(sum)) {
			t.Fatalf("the sum is %v, want %d", got, sum)
		}
		all := Numbers{}.With(slices.Collect(maps.Keys(counted))...)
		if want := all.Through(0); entity.Effective() != want {
			t.Fatalf("the effective cursor is %d, want %d", entity.Effective(), want)
		}
	})
}

// afterDelta is what a store would hold after the plan.
func afterDelta(t *rapid.T, in deltaInput, p deltaPlan) *Entity {
	switch {
	case len(p.adds) > 0:
		next := *in.base
		next.Exists, next.State = true, maps.Clone(in.base.State)
		if next.State == nil {
			next.State = map[string]any{}
		}
		for _, chunk := range p.adds {
			a, err := p.addition(in, chunk)
			if err != nil {
				t.Fatal(err)
			}
			next.Ahead = next.Ahead.With(a.Numbers...)
			for name, added := range a.Amounts {
				d, _ := parseAmount(added)
				sums := tally{state: next.State}
				if err := sums.try([]amount{{name, *d}}); err != nil {
					t.Fatal(err)
				}
				sums.take()
				next.State = sums.next()
			}
			if a.GapSince.IsZero() && next.openGap() {
				t.Fatalf("an addition that leaves a gap does not show it: %+v", a)
			}
			if !a.GapSince.IsZero() && next.Gap == nil {
				next.Gap = &Gap{Since: a.GapSince}
			}
		}
		return &next
	case p.next != nil:
		return p.next
	default:
		return in.prev
	}
}

// TestAmounts: what is an amount, and what it adds up to, exactly.
func TestAmounts(t *testing.T) {
	for _, tt := range []struct {
		a, b any
		want string // the sum, or an error's text
	}{
		{events.Number("0.1"), events.Number("0.2"), "0.3"},
		{"0.10", events.Number("0.2"), "0.3"},
		{events.Number("9007199254740992"), events.Number("1"), "9007199254740993"},
		{events.Number("1e3"), "-1000", "0"},
		{events.Number("1E125"), events.Number("0"), "1E+125"},
		{events.Number("1E126"), events.Number("0"), errNumberRange.Error()},
		{events.Number("1E-130"), events.Number("0"), "1E-130"},
		{events.Number("1E-131"), events.Number("0"), errNumberRange.Error()},
		{events.Number("12345678901234567890123456789012345678"), events.Number("0.1"), errNumberRange.Error()},
		{events.Number("1e999999999999"), events.Number("0"), errNumberRange.Error()},
		{"twelve", events.Number("0"), errNotANumber.Error()},
		{"NaN", events.Number("0"), errNotANumber.Error()},
		{"Infinity", events.Number("0"), errNotANumber.Error()},
		{"", events.Number("0"), errNotANumber.Error()},
		{" 1", events.Number("0"), errNotANumber.Error()},
		{"+1", events.Number("0"), errNotANumber.Error()},
		{"5.", events.Number("0"), errNotANumber.Error()},
		{".5", events.Number("0"), errNotANumber.Error()},
		{"007.50", events.Number("0"), "7.5"},
		{"1e3", events.Number("0"), "1000"},
		{nil, events.Number("0"), errNotANumber.Error()},
		{true, events.Number("0"), errNotANumber.Error()},
		{map[string]any{}, events.Number("0"), errNotANumber.Error()},
	} {
		if got := sumText(tt.a, tt.b); got != tt.want {
			t.Errorf("%v + %v = %s, want %s", tt.a, tt.b, got, tt.want)
		}
	}
}

func sumText(a, b any) string {
	x, err := parseAmount(a)
	if err != nil {
		return err.Error()
	}
	y, err := parseAmount(b)
	if err != nil {
		return err.Error()
	}
	var sum apd.Decimal
	if err := add(&sum, x, y); err != nil {
		return err.Error()
	}
	return string(numberOf(&sum))
}

// The table takes 32 levels and no more, of what an event says as of what a state holds.
func TestTheTableTakesSomeLevels(t *testing.T) {
	config := configOf(t, "{name: s, types: [T], mode: state, clock: entity}")
	for _, form := range [][2]string{{"[", "]"}, {`{"k":`, "}"}} {
		for levels, want := range map[int]bool{1: true, maxDepth - 1: true, maxDepth: false, maxDepth + 1: false} {
			value := strings.Repeat(form[0], levels) + "7" + strings.Repeat(form[1], levels)
			m := events.Message{Body: `{"event_id":"e","type":"T","entity_id":"x","seq":1,"data":{"a":` + value + `}}`}
			e := config.Decode(m, someNow)[0].Event
			said, held := refuseState(config.Streams[0], e), refuseAttribute("a", e.Data()["a"])
			if (said == nil) != want || (held == nil) != want {
				t.Errorf("%d levels of %s: %v of an event, %v of a state", levels, form[0], said, held)
			}
		}
	}
}
