package storetest

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"pgregory.net/rapid"

	"inorder/events"
	"inorder/ordering"
)

// keysInjective: entities whose identities look alike are not the same.
func keysInjective(s *suite) {
	run := s.unique()
	keys := []ordering.Key{
		{Stream: "s", ID: "a/b"},
		{Stream: "s/a", ID: "b"},
		{Stream: "s", ID: "a%2Fb"},
		{Stream: "s", ID: "a%2fb"},
		{Stream: "s", ID: "a%252Fb"},
		{Stream: "s", ID: "a b"},
		{Stream: "s", ID: "A b"},
		{Stream: "s", ID: "a b "},
		{Stream: "s", ID: "é"},
		{Stream: "s", ID: "e\u0301"},
		{Stream: "s", ID: "a"},
		{Stream: "s", ID: "a", PerSource: true},
		{Stream: "s", ID: "a", PerSource: true, Source: "b"},
		{Stream: "s", ID: "a", PerSource: true, Source: "b/"},
		{Stream: "s", ID: "a/", PerSource: true, Source: "b"},
		{Stream: "%", ID: "a", PerSource: true, Source: "b"},
		{Stream: "", ID: "a", PerSource: true, Source: "b"},
	}
	for i, key := range keys {
		key.Consumer = run
		s.ok(s.store.Swap(s.ctx, key, &ordering.Entity{}, cursorEntity(1, int64(i+1)), nil))
	}
	for i, key := range keys {
		key.Consumer = run
		if got := s.entity(key).Applied; got != int64(i+1) {
			s.Errorf("%+v holds the entity of %+v", key, keys[got-1])
		}
	}
}

func numbersExact(s *suite) {
	state := map[string]any{}
	for i, n := range []string{
		"0", "-0", "1", "-1.5", "0.1", "1E+5", "1e-5", "100", "1.10", "9007199254740993", "-9223372036854775808",
		"0.30000000000000004", "12345678901234567890123456789012345678", "0.00000000000000000000000000000000000001",
		"9.9999999999999999999999999999999999999E+125", "-1E-130", "3.0000000000000000000000000000000000000000000000",
	} {
		state[fmt.Sprint("n", i)] = events.Number(n)
	}
	got := s.swap(s.key(), ordering.Entity{State: state})
	s.sameState(got.State, state)
}

// roundTrip stores entities of every shape that a decision may make.
func roundTrip(s *suite) {
	rapid.Check(s.T, func(rt *rapid.T) {
		e := entities.Draw(rt, "entity")
		key := s.key()
		if err := s.store.Swap(s.ctx, key, &ordering.Entity{}, e, nil); err != nil {
			rt.Fatal(err)
		}
		got, err := s.store.Entity(s.ctx, key)
		if err != nil {
			rt.Fatal(err)
		}
		s.same(got, e)
	})
}

var (
	words   = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", " ", "_x", "a.b", "#0", "select", "ä", "\x00"}))
	names   = rapid.StringMatching(`[a-zA-Z0-9.:#é $-]{1,20}`)
	decimal = rapid.StringMatching(`-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?`)
	clocks  = rapid.Custom(func(t *rapid.T) string {
		return events.SeqClock(rapid.Int64Range(0, 9_999_999_999).Draw(t, "gen"), rapid.Int64Min(1).Draw(t, "seq"))
	})
	instants = rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")).UTC()
	})
	entities = rapid.OneOf(rapid.Custom(stateEntity), rapid.Custom(cursoredEntity))
)

func values(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 6
		if depth == 0 {
			kinds = 4
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return words.Draw(t, "string")
		case 3:
			return events.Number(decimal.Draw(t, "number"))
		case 4:
			return rapid.SliceOfN(values(depth-1), 0, 3).Draw(t, "list")
		default:
			return rapid.MapOfN(names, values(depth-1), 0, 3).Draw(t, "map")
		}
	})
}

func lasts(t *rapid.T) ordering.Last {
	return ordering.Last{
		EventID: words.Draw(t, "event id"), Source: words.Draw(t, "source"), Fingerprint: words.Draw(t, "fingerprint"),
		Type: words.Draw(t, "type"), Clock: words.Draw(t, "clock"), PublishedAt: instants.Draw(t, "published"),
		ReceivedAt: instants.Draw(t, "received"), MessageID: words.Draw(t, "message id"),
		ReceiveCount: rapid.IntRange(0, 1000).Draw(t, "receive count"),
	}
}

func stateEntity(t *rapid.T) *ordering.Entity {
	e := &ordering.Entity{Exists: true, Rev: 1, Last: lasts(t), Token: words.Draw(t, "token")}
	e.State = rapid.MapOfN(names, values(3), 0, 5).Draw(t, "state")
	switch rapid.SampledFrom([]events.ClockKind{events.ClockEntity, events.ClockAttribute, events.ClockSource}).Draw(t, "clock kind") {
	case events.ClockEntity:
		e.Clock = clocks.Draw(t, "clock")
		if rapid.Bool().Draw(t, "deleted") {
			e.Tombs = []string{""}
		}
	case events.ClockAttribute:
		e.Clock = clocks.Draw(t, "floor")
		e.Clocks = rapid.MapOfN(rapid.OneOf(names, rapid.Just("")), clocks, 1, 5).Draw(t, "clocks")
	case events.ClockSource:
		e.Clocks = rapid.MapOfN(words, clocks, 1, 5).Draw(t, "clocks")
		for source := range maps.Keys(e.Clocks) {
			if rapid.Bool().Draw(t, "tomb") {
				e.Tombs = append(e.Tombs, source)
			}
		}
	}
	if rapid.Bool().Draw(t, "marked") {
		e.Gap = gaps(t)
		if len(e.Clocks) > 0 && e.Clock == "" {
			e.Marks = rapid.MapOfN(words, clocks, 1, 3).Draw(t, "marks")
		} else {
			e.Marks = map[string]string{"": clocks.Draw(t, "mark")}
		}
		if rapid.Bool().Draw(t, "heard of only") {
			e.Clock, e.Clocks, e.Tombs = "", nil, nil
		}
	}
	return e
}

func gaps(t *rapid.T) *ordering.Gap {
	return &ordering.Gap{
		Since: instants.Draw(t, "since"), Escalations: rapid.IntRange(0, 9).Draw(t, "escalations"),
		EscalateAt: instants.Draw(t, "escalate at"),
	}
}

func cursoredEntity(t *rapid.T) *ordering.Entity {
	e := &ordering.Entity{Exists: true, Rev: 1, Last: lasts(t), Token: words.Draw(t, "token")}
	e.State = rapid.MapOfN(names, values(3), 0, 5).Draw(t, "state")
	applied := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 1<<62)).Draw(t, "applied")
	lowest := applied + rapid.OneOf(rapid.Int64Range(1, 9), rapid.Int64Range(1, 1<<61)).Draw(t, "lowest")
	some := func(label string) (numbers ordering.Numbers) {
		for _, n := range rapid.SliceOfN(rapid.Int64Range(0, 2000), 0, 9).Draw(t, label) {
			numbers = numbers.With(lowest + n)
		}
		return numbers
	}
	e.Cursor = ordering.Cursor{
		Gen: rapid.Int64Range(0, 9_999_999_999).Draw(t, "gen"), Applied: applied,
		MaxSeen: rapid.Int64Min(0).Draw(t, "max seen"),
		Waiting: some("waiting"), Ahead: some("ahead"), Blocked: rapid.Int64Min(0).Draw(t, "blocked"),
	}
	for _, n := range some("shown") {
		e.Shown = append(e.Shown, ordering.Witness{Seq: n, At: instants.Draw(t, "shown at")})
	}
	for _, n := range some("skipped") {
		e.Skipped = append(e.Skipped, ordering.Range{First: n, Last: n + rapid.Int64Range(0, 3).Draw(t, "more")})
	}
	if rapid.Bool().Draw(t, "has effects") {
		e.Dispatched = &ordering.Position{Gen: e.Gen, Seq: applied}
		for range rapid.IntRange(0, 3).Draw(t, "owed") {
			e.Owed = append(e.Owed, ordering.Effect{
				Consumer: "c", Stream: "s", EntityID: words.Draw(t, "id"), Generation: e.Gen, Seq: applied,
				PublishedAt: words.Draw(t, "published"), Data: values(2).Draw(t, "data"),
			})
		}
	}
	if rapid.Bool().Draw(t, "gap") {
		e.Gap = gaps(t)
	}
	if rapid.Bool().Draw(t, "parked") {
		e.Park.Since = instants.Draw(t, "parked since")
	}
	if rapid.Bool().Draw(t, "has rows") {
		e.Park.Look = instants.Draw(t, "look at")
	}
	return e
}

// big is a state that no item can hold.
func big() map[string]any { return map[string]any{"big": strings.Repeat("x", 410<<10)} }

func tooLarge(s *suite) {
	key := s.key()
	next := cursorEntity(1, 3)
	next.State = big()
	s.is(s.store.Swap(s.ctx, key, &ordering.Entity{}, next, nil), ordering.ErrTooLarge)
	s.unchanged(key, &ordering.Entity{})

	put := &ordering.Entity{Exists: true, State: big(), StateMarks: ordering.StateMarks{Clock: clock(3)}}
	s.is(s.store.PutNewer(s.ctx, key, put, nil), ordering.ErrTooLarge)
	s.unchanged(key, &ordering.Entity{})
}

func tooLargeMerge(s *suite) {
	key, half := s.key(), strings.Repeat("x", 250<<10)
	s.ok(s.merge(key, mergeOf(part("a", 1, half))))
	was := s.entity(key)
	s.is(s.merge(key, mergeOf(part("b", 2, half))), ordering.ErrTooLarge)
	s.unchanged(key, was)
}

func tooLargeRow(s *suite) {
	key, r := s.key(), row(7)
	r.Message.Body = noise(600_000)
	s.is(s.store.PutRow(s.ctx, key, r), ordering.ErrTooLarge)
	s.rows(key, 0, 1, 9)

	r.Message.Body = strings.Repeat("x", 600_000) // the same length, but it compresses
	s.putRow(key, r)
}

func tooLargeMarked(s *suite) {
	key, marker := s.key(), s.marker()
	next := cursorEntity(1, 3)
	next.State = big()
	s.is(s.store.Swap(s.ctx, key, &ordering.Entity{}, next, []ordering.Marker{marker}), ordering.ErrTooLarge)

	half := strings.Repeat("x", 250<<10)
	s.ok(s.merge(key, mergeOf(part("a", 1, half))))
	was := s.entity(key)
	s.is(s.store.Merge(s.ctx, key, mergeOf(part("b", 2, half)), []ordering.Marker{marker}), ordering.ErrTooLarge)
	s.unchanged(key, was)
	s.present(marker, false)
}
