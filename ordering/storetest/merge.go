package storetest

import (
	"errors"
	"fmt"

	"inorder/events"
	"inorder/ordering"
)

// part changes one attribute under its own clock.
func part(name string, seq int64, value any) ordering.Part {
	return ordering.Part{Name: name, Clock: clock(seq), Set: map[string]any{name: value}}
}

func mergeOf(parts ...ordering.Part) ordering.Merge { return ordering.Merge{Parts: parts} }

func (s *suite) merge(key ordering.Key, m ordering.Merge) error {
	return s.store.Merge(s.ctx, key, m, nil)
}

func mergeCreates(s *suite) {
	key := s.key()
	m := mergeOf(part("a", 5, "x"), ordering.Part{Name: "b", Clock: clock(5), Remove: []string{"b"}})
	m.Floor, m.Last = clock(0), last("e5")
	s.ok(s.merge(key, m))
	s.unchanged(key, &ordering.Entity{
		Exists: true, Rev: 1, State: map[string]any{"a": "x"}, Last: last("e5"),
		StateMarks: ordering.StateMarks{Clock: clock(0), Clocks: map[string]string{"a": clock(5), "b": clock(5)}},
	})
	s.ok(s.merge(key, ordering.Merge{Floor: clock(0), Parts: []ordering.Part{part("b", 6, nil)}}))
	e := s.entity(key)
	if b, has := e.State["b"]; !has || b != nil || e.Rev != 2 || e.Clock != clock(0) {
		s.Fatalf("after a second merge: %+v", e)
	}
}

func mergeAllOrNothing(s *suite) {
	key := s.key()
	s.ok(s.merge(key, mergeOf(part("a", 5, "a5"), part("b", 3, "b3"))))
	was := s.entity(key)

	s.lostTo(key, s.merge(key, mergeOf(part("a", 4, "a4"), part("b", 4, "b4"))))
	s.lostTo(key, s.merge(key, mergeOf(part("a", 5, "other"))))
	s.unchanged(key, was)

	s.ok(s.merge(key, mergeOf(part("b", 4, "b4"), part("c", 4, "c4"))))
	s.sameState(s.entity(key).State, map[string]any{"a": "a5", "b": "b4", "c": "c4"})

	remove := ordering.Part{Name: "a", Clock: clock(6), Remove: []string{"a"}}
	s.ok(s.merge(key, mergeOf(remove)))
	s.lostTo(key, s.merge(key, mergeOf(part("a", 5, "back")))) // the clock of what is gone stays
}

func mergeFloor(s *suite) {
	key := s.key()
	in := func(gen int64, seq int64) ordering.Merge {
		return ordering.Merge{Floor: events.SeqClock(gen, 0), Parts: []ordering.Part{{
			Name: "a", Clock: events.SeqClock(gen, seq), Set: map[string]any{"a": "x"},
		}}}
	}
	s.ok(s.merge(key, in(2, 5)))
	was := s.entity(key)
	s.lostTo(key, s.merge(key, in(1, 9))) // an older life
	s.lostTo(key, s.merge(key, in(3, 1))) // a newer one begins with a put or a swap
	s.unchanged(key, was)

	tomb := *was
	tomb.Clock = events.SeqClock(2, 8) // everything up to 8 is deleted
	s.swap(key, tomb)
	s.lostTo(key, s.merge(key, in(2, 7)))
	s.lostTo(key, s.merge(key, in(2, 8)))
	s.ok(s.merge(key, in(2, 9)))
	if e := s.entity(key); e.Clock != tomb.Clock {
		s.Fatalf("a merge moved the floor to %q", e.Clock)
	}

	marked := s.key() // heard of only: it has no clock to be from the floor on
	s.swap(marked, ordering.Entity{StateMarks: ordering.StateMarks{Marks: map[string]string{"": clock(9)}}})
	s.lostTo(marked, s.merge(marked, in(2, 5)))
}

func mergeWholeClock(s *suite) {
	key := s.key()
	s.swap(key, ordering.Entity{StateMarks: ordering.StateMarks{Clock: clock(8)}})
	s.lostTo(key, s.merge(key, mergeOf(part("a", 7, "x"))))
	s.lostTo(key, s.merge(key, mergeOf(part("a", 9, "x"), part("b", 8, "x"))))
	s.ok(s.merge(key, mergeOf(part("a", 9, "x"))))
	if e := s.entity(key); e.Clock != clock(8) || e.Clocks["a"] != clock(9) {
		s.Fatalf("clocks after the merge: %q, %v", e.Clock, e.Clocks)
	}

	marked := s.key()
	s.swap(marked, ordering.Entity{StateMarks: ordering.StateMarks{Marks: map[string]string{"": clock(9)}}})
	s.ok(s.merge(marked, mergeOf(part("a", 1, "x"))))
}

func mergeTombs(s *suite) {
	key := s.key()
	crm := ordering.Part{Name: "crm", Clock: clock(5), Set: map[string]any{"name": "Ann", "email": "a@x"}}
	billing := ordering.Part{Name: "billing", Clock: clock(5), Set: map[string]any{"plan": "pro"}}
	s.ok(s.merge(key, mergeOf(crm)))
	s.ok(s.merge(key, mergeOf(billing)))

	gone := func(source string, attributes ...string) ordering.Part {
		return ordering.Part{Name: source, Clock: clock(6), Remove: attributes, Tomb: true}
	}
	s.ok(s.merge(key, mergeOf(gone("crm", "name", "email"))))
	s.ok(s.merge(key, mergeOf(gone("billing", "plan"))))
	if e := s.entity(key); !sameSet(e.Tombs, []string{"billing", "crm"}) || len(e.State) != 0 {
		s.Fatalf("two sources deleted: %+v", e)
	}
	crm.Clock = clock(7)
	shop := ordering.Part{Name: "shop", Clock: clock(7), Remove: []string{"cart"}, Tomb: true}
	s.ok(s.merge(key, mergeOf(crm, shop)))
	if e := s.entity(key); !sameSet(e.Tombs, []string{"billing", "shop"}) || e.State["name"] != "Ann" {
		s.Fatalf("one is back: %+v", e)
	}
	s.swap(key, *s.entity(key)) // tombs go through a swap as they are
	if e := s.entity(key); !sameSet(e.Tombs, []string{"billing", "shop"}) {
		s.Fatalf("after a swap: %q", e.Tombs)
	}
}

func mergeMaxParts(s *suite) {
	parts := func(seq int64) []ordering.Part {
		list := make([]ordering.Part, ordering.MaxMergeParts)
		for i := range list {
			list[i] = part(fmt.Sprintf("an attribute with a longer name than most have, number %02d", i), seq, "x")
		}
		return list
	}
	key := s.key()
	s.ok(s.merge(key, ordering.Merge{Floor: clock(0), Parts: parts(1), Last: last("e1")}))
	s.ok(s.merge(key, ordering.Merge{Floor: clock(0), Parts: parts(2), Last: last("e2")}))
	s.lostTo(key, s.merge(key, ordering.Merge{Floor: clock(0), Parts: parts(2), Last: last("e2")}))
}

func mergeTooComplex(s *suite) {
	key := s.key()
	all := make(map[string]any, 1000)
	for i := range 1000 {
		all[fmt.Sprintf("attribute-%04d", i)] = "x"
	}
	err := s.merge(key, mergeOf(ordering.Part{Name: "crm", Clock: clock(5), Set: all}))
	if err == nil { // a store without that limit
		s.sameState(s.entity(key).State, all)
		return
	}
	if !errors.Is(err, ordering.ErrTooComplex) {
		s.Fatalf("got the error %v, want ErrTooComplex", err)
	}
	s.unchanged(key, &ordering.Entity{})
}

func mergeLast(s *suite) {
	key := s.key()
	m := mergeOf(part("a", 5, "x"))
	m.Last = last("e5")
	s.ok(s.merge(key, m))
	m = mergeOf(part("a", 6, "x"))
	m.Last = ordering.Last{EventID: "e6", MessageID: "m6"}
	s.ok(s.merge(key, m))
	if got := s.entity(key).Last; !sameLast(got, m.Last) {
		s.Fatalf("last event %+v, want %+v", got, m.Last)
	}
}
