package storetest

import (
	"fmt"
	"strings"

	"inorder/ordering"
)

func sameMarker(a, b ordering.Marker) bool {
	if !a.ExpiresAt.Equal(b.ExpiresAt) {
		return false
	}
	a.ExpiresAt = b.ExpiresAt
	return a == b
}

// seen fails the test at once unless exactly these markers were told, by their places.
func (s *suite) seen(lost *ordering.LostError, want map[int]ordering.Marker) {
	s.Helper()
	if len(lost.Seen) != len(want) {
		s.Fatalf("markers seen: %+v, want %+v", lost.Seen, want)
	}
	for place, marker := range want {
		if !sameMarker(lost.Seen[place], marker) {
			s.Fatalf("marker %d: %+v, want %+v", place, lost.Seen[place], marker)
		}
	}
}

// present fails the test at once unless the marker is stored as told, or is not.
func (s *suite) present(marker ordering.Marker, want bool) {
	s.Helper()
	err := s.store.PutMarker(s.ctx, marker)
	if want {
		s.seen(s.lost(err), map[int]ordering.Marker{0: marker})
		return
	}
	s.ok(err)
}

func markersWithWrite(s *suite) {
	for name, write := range map[string]func(ordering.Key, ...ordering.Marker) error{
		"Swap": func(key ordering.Key, m ...ordering.Marker) error {
			return s.store.Swap(s.ctx, key, &ordering.Entity{}, cursorEntity(1, 3), m)
		},
		"PutNewer": func(key ordering.Key, m ...ordering.Marker) error {
			next := &ordering.Entity{Exists: true, StateMarks: ordering.StateMarks{Clock: clock(3)}}
			return s.store.PutNewer(s.ctx, key, next, m)
		},
		"Merge": func(key ordering.Key, m ...ordering.Marker) error {
			return s.store.Merge(s.ctx, key, mergeOf(part("a", 3, "x")), m)
		},
	} {
		key, one, two := s.key(), s.marker(), s.marker()
		if err := write(key, one, two); err != nil {
			s.Fatalf("%s: %v", name, err)
		}
		if !s.entity(key).Exists {
			s.Fatalf("%s with markers wrote no entity", name)
		}
		s.present(one, true)
		s.present(two, true)
	}
}

func markersByPlace(s *suite) {
	key, there := s.key(), s.marker()
	s.ok(s.store.PutMarker(s.ctx, there))
	was := s.swap(key, *cursorEntity(1, 3))

	again := there
	again.Fingerprint, again.MessageID, again.Token = "f2", "m2", "t9"
	err := s.store.Swap(s.ctx, key, was, cursorEntity(2, 4), []ordering.Marker{s.marker(), again, s.marker()})
	lost := s.lost(err)
	if lost.Now != nil {
		s.Fatalf("the entity's own condition held, and the error tells %+v", lost.Now)
	}
	s.seen(lost, map[int]ordering.Marker{1: there})
	s.unchanged(key, was)
}

func markersAtomic(s *suite) {
	key, marker := s.key(), s.marker()
	was := s.swap(key, *cursorEntity(1, 3))
	old := *was
	old.Rev = 9
	s.lostTo(key, s.store.Swap(s.ctx, key, &old, cursorEntity(10, 4), []ordering.Marker{marker}))
	s.unchanged(key, was)
	s.present(marker, false)

	state := s.key()
	s.ok(s.merge(state, mergeOf(part("a", 5, "x"))))
	marker = s.marker()
	s.lostTo(state, s.store.Merge(s.ctx, state, mergeOf(part("a", 4, "y")), []ordering.Marker{marker}))
	s.present(marker, false)

	marker = s.marker()
	put := &ordering.Entity{Exists: true, StateMarks: ordering.StateMarks{Clock: clock(3)}}
	whole := s.key()
	s.ok(s.store.PutNewer(s.ctx, whole, put, nil))
	s.lostTo(whole, s.store.PutNewer(s.ctx, whole, put, []ordering.Marker{marker}))
	s.present(marker, false)
}

func markerAlone(s *suite) {
	marker := s.marker()
	s.ok(s.store.PutMarker(s.ctx, marker))
	other := marker
	other.Fingerprint = "f2"
	s.seen(s.lost(s.store.PutMarker(s.ctx, other)), map[int]ordering.Marker{0: marker})
}

// An event's identity is (consumer, source, event id), whatever characters they hold and however long they are.
func markersApart(s *suite) {
	run, long := s.unique(), strings.Repeat("ä/%", 1000)
	markers := []ordering.Marker{
		{Source: run, EventID: "a/b"},
		{Source: run + "/a", EventID: "b"},
		{Source: run, EventID: "a%2Fb"},
		{Source: "", EventID: run},
		{Source: run, EventID: ""},
		{Source: run, EventID: "%"},
		{Source: run, EventID: long},
		{Source: run, EventID: long + "/"},
		{Source: run + "/", EventID: long},
		{Source: long, EventID: run},
		{Source: long + "/" + run, EventID: ""},
		{Source: run, EventID: "seen"},
		{Source: "seen", EventID: run},
	}
	for i, m := range markers {
		for _, consumer := range []string{"c", "c/" + run} {
			m.Consumer, m.MessageID, m.Token = consumer, "m", fmt.Sprint("t", i)
			s.ok(s.store.PutMarker(s.ctx, m))
		}
	}
	for i, m := range markers {
		m.Consumer, m.MessageID, m.Token = "c", "m", fmt.Sprint("t", i)
		s.present(m, true)
	}
}

func markersMax(s *suite) {
	key := s.key()
	markers := make([]ordering.Marker, ordering.MaxMarkers)
	for i := range markers {
		markers[i] = s.marker()
	}
	s.ok(s.store.Swap(s.ctx, key, &ordering.Entity{}, cursorEntity(1, 3), markers))
	s.present(markers[len(markers)-1], true)
}

func parallelMarkers(s *suite) {
	key, marker := s.key(), s.marker()
	won := s.parallel(8, func(int) error { return s.addMarked(key, "1", marker) })
	if won != 1 {
		s.Fatalf("one event was added %d times", won)
	}
	s.seats(s.entity(key), "1")

	alone := s.marker()
	if won := s.parallel(8, func(int) error { return s.store.PutMarker(s.ctx, alone) }); won != 1 {
		s.Fatalf("one marker was written %d times", won)
	}
}
