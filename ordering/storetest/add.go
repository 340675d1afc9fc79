package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"inorder/events"
	"inorder/ordering"
)

func addition(amount string, numbers ...int64) ordering.Addition {
	return ordering.Addition{
		Numbers: numbers, Amounts: map[string]events.Number{"seats": events.Number(amount)},
		Last: last(fmt.Sprint("e", numbers[len(numbers)-1])), Token: fmt.Sprint("t", numbers),
	}
}

// add adds and returns the entity, which must be the one that is stored.
func (s *suite) add(key ordering.Key, a ordering.Addition) *ordering.Entity {
	s.Helper()
	e, err := s.store.Add(s.ctx, key, a)
	s.ok(err)
	s.unchanged(key, e)
	return e
}

func (s *suite) addLoses(key ordering.Key, a ordering.Addition) {
	s.Helper()
	was := s.entity(key)
	_, err := s.store.Add(s.ctx, key, a)
	s.lostTo(key, err)
	s.unchanged(key, was)
}

func (s *suite) seats(e *ordering.Entity, want string) {
	s.Helper()
	if got, ok := e.State["seats"].(events.Number); !ok || !sameNumber(got, events.Number(want)) {
		s.Fatalf("seats %v, want %s", e.State["seats"], want)
	}
}

func addCreates(s *suite) {
	key := s.key()
	a := addition("3", 2, 5)
	a.Gen = 4
	e := s.add(key, a)
	s.same(e, &ordering.Entity{
		Exists: true, Rev: 1, State: map[string]any{"seats": events.Number("3")}, Last: a.Last,
		Token: a.Token, Cursor: ordering.Cursor{Gen: 4, Ahead: ordering.Numbers{2, 5}},
	})
	next := ordering.Addition{
		Gen: 4, Numbers: []int64{1}, Token: "t", Last: ordering.Last{EventID: "e1"},
		Amounts: map[string]events.Number{"seats": "-1", "other": "7"},
	}
	e = s.add(key, next)
	s.seats(e, "2")
	s.same(e, &ordering.Entity{
		Exists: true, Rev: 2, Last: next.Last,
		State: map[string]any{"seats": events.Number("2"), "other": events.Number("7")},
		Token: "t", Cursor: ordering.Cursor{Gen: 4, Ahead: ordering.Numbers{1, 2, 5}},
	})
}

func addExact(s *suite) {
	for name, c := range map[string]struct{ first, then, sum string }{
		"tenths":     {"0.1", "0.2", "0.3"},
		"2^53 + 1":   {"9007199254740992", "1", "9007199254740993"},
		"38 digits":  {"12345678901234567890123456789012345677", "1", "12345678901234567890123456789012345678"},
		"far apart":  {"1e20", "1e-15", "100000000000000000000.000000000000001"},
		"exponents":  {"1E+2", "-1e2", "0"},
		"tiny":       {"1e-130", "1e-130", "2e-130"},
		"huge":       {"9e125", "-8e125", "1e125"},
		"zeros":      {"1.500", "0.500", "2"},
		"minus zero": {"-0", "0.0", "0"},
	} {
		key := s.key()
		s.add(key, addition(c.first, 1))
		e := s.add(key, addition(c.then, 2))
		if got, _ := e.State["seats"].(events.Number); !sameNumber(got, events.Number(c.sum)) {
			s.Errorf("%s: %s + %s is %s here", name, c.first, c.then, got)
		}
	}
	key := s.key() // numbers that a float cannot tell apart
	s.add(key, addition("1", 1<<62))
	s.add(key, addition("1", 1<<62+1))
	s.addLoses(key, addition("1", 1<<62+1))
}

func addCounted(s *suite) {
	key := s.key()
	s.add(key, addition("1", 3, 5))
	s.addLoses(key, addition("1", 5))
	s.addLoses(key, addition("1", 4, 5, 6))
	s.seats(s.add(key, addition("1", 4)), "2")
}

func addCursor(s *suite) {
	key := s.key()
	s.swap(key, *cursorEntity(1, 3))
	s.addLoses(key, addition("1", 3))
	s.addLoses(key, addition("1", 2, 9))
	e := s.add(key, addition("1", 4))
	if e.Applied != 3 || e.Rev != 2 {
		s.Fatalf("cursor %d and revision %d, want 3 and 2", e.Applied, e.Rev)
	}
}

func addGeneration(s *suite) {
	key := s.key()
	a := addition("1", 1)
	a.Gen = 2
	s.add(key, a)
	for _, gen := range []int64{1, 3} {
		a := addition("1", 2)
		a.Gen = gen
		s.addLoses(key, a)
	}
}

func addMax(s *suite) {
	key := s.key()
	numbers := func(from int64) []int64 {
		list := make([]int64, ordering.MaxAddNumbers)
		for i := range list {
			list[i] = from + int64(i)*2
		}
		return list
	}
	s.add(key, addition("1", numbers(1)...))
	a := addition("1", numbers(1<<52)...)
	a.GapSince = start
	e := s.add(key, a)
	if len(e.Ahead) != 2*ordering.MaxAddNumbers {
		s.Fatalf("%d numbers ahead, want %d", len(e.Ahead), 2*ordering.MaxAddNumbers)
	}
	s.addLoses(key, addition("1", append(numbers(2)[1:], 1<<52+178)...))
}

func addGap(s *suite) {
	key := s.key()
	if e := s.add(key, addition("1", 2)); e.Gap != nil {
		s.Fatalf("a gap that nobody asked for: %+v", e.Gap)
	}
	for i, since := range []time.Time{start.Add(time.Second), start.Add(time.Hour)} {
		a := addition("1", int64(i)+4)
		a.GapSince = since
		e := s.add(key, a)
		if !sameGap(e.Gap, &ordering.Gap{Since: start.Add(time.Second)}) {
			s.Fatalf("the gap after the addition %d: %+v", i, e.Gap)
		}
	}
}

func addRange(s *suite) {
	for _, c := range [][2]string{{"9e125", "9e125"}, {"1e40", "1e-40"}, {"12345678901234567890123456789012345678", "0.1"}} {
		key := s.key()
		was := s.add(key, addition(c[0], 1))
		_, err := s.store.Add(s.ctx, key, addition(c[1], 2))
		s.is(err, ordering.ErrNumberRange)
		s.unchanged(key, was)
	}
	key := s.key()
	_, err := s.store.Add(s.ctx, key, addition("1e126", 1))
	s.is(err, ordering.ErrNumberRange)
	s.unchanged(key, &ordering.Entity{})
}

func catchUp(s *suite) {
	key := s.key()
	at := s.add(key, addition("1", 1, 2, 4))
	e, err := s.store.CatchUp(s.ctx, key, at, 2, time.Time{}, "t-up")
	s.ok(err)
	s.unchanged(key, e)
	want := *at
	want.Applied, want.Ahead, want.Rev, want.Token = 2, ordering.Numbers{4}, 2, "t-up"
	s.same(e, &want)

	s.add(key, addition("1", 3))
	e, err = s.store.CatchUp(s.ctx, key, s.entity(key), 4, time.Time{}, "t-all")
	s.ok(err)
	if e.Applied != 4 || len(e.Ahead) != 0 {
		s.Fatalf("cursor %d with %v ahead, want 4 and none", e.Applied, e.Ahead)
	}
	s.addLoses(key, addition("1", 4))
	s.add(key, addition("1", 5))
}

// catchUpGap: a cursor that moves makes attempts start again, and what gap remains as old as the caller says.
func catchUpGap(s *suite) {
	key := s.key()
	gap := addition("1", 1, 2, 9)
	gap.GapSince = time.Unix(100, 0).UTC()
	s.add(key, gap)
	tried := *s.entity(key)
	tried.Gap = &ordering.Gap{Since: time.Unix(100, 0).UTC(), Escalations: 3, EscalateAt: time.Unix(200, 0).UTC()}
	s.swap(key, tried)
	e, err := s.store.CatchUp(s.ctx, key, s.entity(key), 1, time.Time{}, "t1")
	s.ok(err)
	if e.Gap == nil || *e.Gap != (ordering.Gap{Since: time.Unix(100, 0).UTC()}) {
		s.Fatalf("caught up, the gap is %+v", e.Gap)
	}
	e, err = s.store.CatchUp(s.ctx, key, e, 2, time.Unix(300, 0).UTC(), "t2")
	s.ok(err)
	if e.Gap == nil || *e.Gap != (ordering.Gap{Since: time.Unix(300, 0).UTC()}) {
		s.Fatalf("caught up with another age, the gap is %+v", e.Gap)
	}
}

// witnesses: those who showed a gap are added without a look, and leave when the cursor passes them.
func witnesses(s *suite) {
	key := s.key()
	for i, n := range []int64{3, 7, 5} {
		a := addition("1", n)
		a.GapSince, a.Shown = start, &ordering.Witness{Seq: n, At: start.Add(time.Duration(i))}
		s.add(key, a)
	}
	s.add(key, addition("1", 1, 2))
	e, err := s.store.CatchUp(s.ctx, key, s.entity(key), 3, start.Add(time.Hour), "t1")
	s.ok(err)
	s.unchanged(key, e)
	if want := []ordering.Witness{{Seq: 5, At: start.Add(2)}, {Seq: 7, At: start.Add(1)}}; !slices.EqualFunc(e.Shown, want, sameWitness) {
		s.Fatalf("left are %v, want %v", e.Shown, want)
	}
}

func catchUpUndisturbed(s *suite) {
	key := s.key()
	at := s.add(key, addition("1", 1, 2))
	s.add(key, addition("1", 3, 9))
	e, err := s.store.CatchUp(s.ctx, key, at, 2, time.Time{}, "t-up")
	s.ok(err)
	if e.Token != "t-up" || !sameCursor(e.Cursor, ordering.Cursor{Applied: 2, Ahead: ordering.Numbers{3, 9}}) {
		s.Fatalf("after catching up beside an addition: %+v", e.Cursor)
	}
	s.seats(e, "2")
}

func catchUpLoses(s *suite) {
	key := s.key()
	at := s.add(key, addition("1", 1, 2, 3))
	_, err := s.store.CatchUp(s.ctx, key, at, 2, time.Time{}, "t1")
	s.ok(err)
	_, err = s.store.CatchUp(s.ctx, key, at, 3, time.Time{}, "t2")
	s.lostTo(key, err)

	other := *s.entity(key)
	other.Gen, other.Applied = 1, 1
	s.swap(key, other)
	at = s.entity(key)
	was := *at
	was.Gen = 0
	_, err = s.store.CatchUp(s.ctx, key, &was, 3, time.Time{}, "t3")
	s.lostTo(key, err)

	_, err = s.store.CatchUp(s.ctx, s.key(), at, 3, time.Time{}, "t4")
	if gone := s.lost(err); gone.Now == nil || gone.Now.Exists {
		s.Fatalf("an entity that is not there was caught up with: %+v", gone)
	}
}

func parallelAdds(s *suite) {
	key := s.key()
	const adds = 8
	won := s.parallel(adds, func(i int) error {
		_, err := s.store.Add(s.ctx, key, addition("1", int64(i)*2+1, int64(i)*2+2))
		return err
	})
	if won != adds {
		s.Fatalf("%d of %d additions of different numbers were made", won, adds)
	}
	s.seats(s.entity(key), "8")

	won = s.parallel(adds, func(int) error {
		_, err := s.store.Add(s.ctx, key, addition("1", 99))
		return err
	})
	if won != 1 {
		s.Fatalf("one number was counted %d times", won)
	}
	s.seats(s.entity(key), "9")
}

func (s *suite) addMarked(key ordering.Key, amount string, markers ...ordering.Marker) error {
	return s.store.AddMarked(s.ctx, key, map[string]events.Number{"seats": events.Number(amount)}, last("e1"), markers)
}

func addMarked(s *suite) {
	key := s.key()
	one, two, three := s.marker(), s.marker(), s.marker()
	s.ok(s.addMarked(key, "5", one, two))
	s.same(s.entity(key), &ordering.Entity{
		Exists: true, Rev: 1, State: map[string]any{"seats": events.Number("5")}, Last: last("e1"),
	})
	s.ok(s.addMarked(key, "0.5", three))
	was := s.entity(key)
	s.seats(was, "5.5")

	lost := s.lost(s.addMarked(key, "1", s.marker(), two))
	if lost.Now != nil || !sameMarker(lost.Seen[1], two) {
		s.Fatalf("lost to a marker in place 1: %+v", lost)
	}
	s.unchanged(key, was)
}

func addMarkedRange(s *suite) {
	key := s.key()
	s.ok(s.addMarked(key, "9e125", s.marker()))
	was, marker := s.entity(key), s.marker()
	s.is(s.addMarked(key, "9e125", marker), ordering.ErrNumberRange)
	s.unchanged(key, was)
	s.ok(s.store.PutMarker(s.ctx, marker)) // it was not written either
	if err := s.addMarked(s.key(), "1", marker); !errors.As(err, new(*ordering.LostError)) {
		s.Fatalf("got %v, want the marker that is there now", err)
	}
}
