package storetest

import (
	"fmt"
	"sync"
	"time"

	"inorder/events"
	"inorder/ordering"
)

func absentIsZero(s *suite) {
	s.same(s.entity(s.key()), &ordering.Entity{})
}

func swapCreatesOnce(s *suite) {
	key := s.key()
	first := cursorEntity(1, 3)
	s.ok(s.store.Swap(s.ctx, key, &ordering.Entity{}, first, nil))
	s.unchanged(key, first)

	err := s.store.Swap(s.ctx, key, &ordering.Entity{}, cursorEntity(1, 9), nil)
	s.lostTo(key, err)
	s.unchanged(key, first)
}

func swapComparesRevision(s *suite) {
	key := s.key()
	first := s.swap(key, *cursorEntity(1, 3))
	second := s.swap(key, *cursorEntity(2, 4))

	s.lostTo(key, s.store.Swap(s.ctx, key, first, cursorEntity(2, 9), nil))
	s.unchanged(key, second)

	gone := s.lost(s.store.Swap(s.ctx, s.key(), first, cursorEntity(2, 9), nil))
	if gone.Now == nil {
		s.Fatal("what is not there is told as the zero entity, not as none")
	}
	s.same(gone.Now, &ordering.Entity{})
}

// With `clock: entity` a PutNewer has no revision, so the same one may come again with another clock.
func swapComparesClock(s *suite) {
	key := s.key()
	old := s.swap(key, ordering.Entity{StateMarks: ordering.StateMarks{Clock: clock(3)}})
	put := &ordering.Entity{Exists: true, StateMarks: ordering.StateMarks{Clock: clock(4)}}
	s.ok(s.store.PutNewer(s.ctx, key, put, nil))
	again := s.swap(key, ordering.Entity{StateMarks: ordering.StateMarks{Clock: clock(4)}})
	if again.Rev != old.Rev {
		s.Fatalf("revision %d after a put, want %d again", again.Rev, old.Rev)
	}
	next := *old
	next.Rev++
	s.lostTo(key, s.store.Swap(s.ctx, key, old, &next, nil))

	unmarked := &ordering.Entity{Exists: true, StateMarks: ordering.StateMarks{Clock: clock(3)}}
	s.lostTo(key, s.store.Swap(s.ctx, key, unmarked, &next, nil))
}

func swapReplaces(s *suite) {
	key := s.key()
	full := *cursorEntity(1, 3)
	full.State = map[string]any{"a": events.Number("1"), "b": "x"}
	full.Last = last("e1")
	full.Waiting, full.MaxSeen = ordering.Numbers{5, 9}, 9
	full.Dispatched, full.Owed = &ordering.Position{Seq: 2}, []ordering.Effect{{EventID: "e1", Seq: 3}}
	full.Skipped = []ordering.Range{{First: 1, Last: 1}, {First: 2, Last: 3}}
	full.Gap = &ordering.Gap{Since: start, Escalations: 2, EscalateAt: start.Add(time.Hour)}
	full.Shown = []ordering.Witness{{Seq: 5, At: start}, {Seq: 9, At: start.Add(1)}}
	s.swap(key, full)

	bare := s.swap(key, *cursorEntity(2, 3))
	s.same(bare, cursorEntity(2, 3))
}

func putNewerHigher(s *suite) {
	key := s.key()
	at := func(seq int64) *ordering.Entity {
		return &ordering.Entity{
			Exists: true, State: map[string]any{"seq": events.Number(fmt.Sprint(seq))},
			StateMarks: ordering.StateMarks{Clock: clock(seq)},
		}
	}
	put := func(seq int64) error { return s.store.PutNewer(s.ctx, key, at(seq), nil) }
	s.ok(put(8))
	s.lostTo(key, put(7))
	s.lostTo(key, put(8))
	s.unchanged(key, at(8))
	s.ok(put(9))
	s.unchanged(key, at(9))
}

// A mark that is higher stays, until what it tells of comes; one that is not is forgotten.
func putNewerMarked(s *suite) {
	marks := func(gen, seq int64) map[string]string { return map[string]string{"": events.SeqClock(gen, seq)} }
	for _, was := range []ordering.StateMarks{
		{Marks: marks(1, 9)}, // heard of only: it has no clock yet
		{Clock: events.SeqClock(1, 3), Marks: marks(1, 9)},
		{Clock: events.SeqClock(0, 12), Marks: marks(1, 9)},
	} {
		for _, c := range []struct {
			gen, seq int64
			higher   bool // than the mark, or equal
		}{{1, 8, false}, {1, 9, true}, {1, 10, true}, {0, 99, false}, {2, 1, true}, {2, 10, true}} {
			key := s.key()
			marked := s.swap(key, ordering.Entity{StateMarks: was})
			s.sameMarks(marked, was)
			put := &ordering.Entity{Exists: true, StateMarks: ordering.StateMarks{Clock: events.SeqClock(c.gen, c.seq)}}
			err := s.store.PutNewer(s.ctx, key, put, nil)
			if c.higher {
				s.ok(err)
				s.unchanged(key, put)
				continue
			}
			s.lostTo(key, err)
			s.unchanged(key, marked)
		}
	}
}

// An entity that has no more than a mark is swapped by its revision, and comes from nothing only once.
func swapOfAMark(s *suite) {
	key := s.key()
	heard := ordering.Entity{
		StateMarks: ordering.StateMarks{Marks: map[string]string{"": events.SeqClock(0, 0)}},
		Cursor:     ordering.Cursor{Gap: &ordering.Gap{Since: start}},
	}
	was := s.swap(key, heard)
	next := *was
	next.Rev, next.Marks = 2, map[string]string{"": events.SeqClock(3, 7)}
	s.ok(s.store.Swap(s.ctx, key, was, &next, nil))
	s.unchanged(key, &next)
	s.lostTo(key, s.store.Swap(s.ctx, key, was, &next, nil))
	s.lostTo(key, s.store.Swap(s.ctx, key, &ordering.Entity{}, &next, nil))

	come := ordering.Entity{StateMarks: ordering.StateMarks{Clock: events.SeqClock(3, 7)}}
	s.sameMarks(s.swap(key, come), come.StateMarks)
}

// The marks of sources stand beside each other, under whatever names.
func marksComeBack(s *suite) {
	marks := map[string]string{"crm": clock(9), "": clock(7), "a.b": clock(1), "max_seen": "2026-01-01T00:00:00.000000000Z|e|s"}
	key := s.key()
	s.sameMarks(s.swap(key, ordering.Entity{StateMarks: ordering.StateMarks{Marks: marks}}), ordering.StateMarks{Marks: marks})

	s.ok(s.merge(key, mergeOf(part("a", 5, "x")))) // which leaves them
	s.sameMarks(s.entity(key), ordering.StateMarks{Clocks: map[string]string{"a": clock(5)}, Marks: marks})

	parked := *cursorEntity(1, 3)
	parked.Gen, parked.MaxSeen = 2, 9
	parked.Park = ordering.Park{Since: start.Add(time.Nanosecond), Look: start.Add(time.Hour)}
	s.same(s.swap(s.key(), parked), &parked)
}

func parallelSwaps(s *suite) {
	key := s.key()
	was := s.swap(key, *cursorEntity(1, 0))
	won := s.parallel(8, func(i int) error { return s.store.Swap(s.ctx, key, was, cursorEntity(2, int64(i+1)), nil) })
	if won != 1 || s.entity(key).Rev != 2 {
		s.Fatalf("%d swaps won, revision %d", won, s.entity(key).Rev)
	}
}

// What was passed in may change afterwards, and so may what was returned.
func nothingKept(s *suite) {
	key := s.key()
	next := cursorEntity(1, 3)
	next.State = map[string]any{"list": []any{"a"}, "map": map[string]any{"k": "v"}}
	next.Waiting = ordering.Numbers{5}
	s.ok(s.store.Swap(s.ctx, key, &ordering.Entity{}, next, nil))
	spoil := func(e *ordering.Entity) {
		e.State["list"].([]any)[0] = "spoilt"
		e.State["map"].(map[string]any)["k"] = "spoilt"
		e.State["new"] = "spoilt"
		e.Waiting[0] = 99
	}
	spoil(next)
	read := s.entity(key)
	if read.State["list"].([]any)[0] != "a" || read.Waiting[0] != 5 {
		s.Fatal("the store kept what it was given")
	}
	spoil(read)
	again := s.entity(key)
	if len(again.State) != 2 || again.State["map"].(map[string]any)["k"] != "v" {
		s.Fatal("the store gave away what it keeps")
	}
}

func twoConsumers(s *suite) {
	id, eventID := s.unique(), s.unique()
	var wg sync.WaitGroup
	for _, consumer := range []string{"one", "two"} {
		wg.Go(func() {
			key := ordering.Key{Consumer: consumer, Stream: "stream", ID: id}
			marker := ordering.Marker{Consumer: consumer, Source: "shop", EventID: eventID, Fingerprint: consumer}
			row := ordering.Row{Seq: 2, EventID: eventID, Source: "shop", Fingerprint: consumer, ReceivedAt: start}
			next := cursorEntity(1, 3)
			next.Last.Fingerprint = consumer
			next.Gap = &ordering.Gap{Since: start}
			if err := s.store.Swap(s.ctx, key, &ordering.Entity{}, next, []ordering.Marker{marker}); err != nil {
				s.Error(err)
			}
			if err := s.store.PutRow(s.ctx, key, row); err != nil {
				s.Error(err)
			}
		})
	}
	wg.Wait()
	for _, consumer := range []string{"one", "two"} {
		key := ordering.Key{Consumer: consumer, Stream: "stream", ID: id}
		rows, err := s.store.Rows(s.ctx, key, 0, 1, 9)
		s.ok(err)
		if len(rows) != 1 || rows[0].Fingerprint != consumer || s.entity(key).Last.Fingerprint != consumer {
			s.Fatalf("consumer %s sees what is not its own", consumer)
		}
	}
}

// cursorEntity is a step or delta entity.
func cursorEntity(rev, applied int64) *ordering.Entity {
	return &ordering.Entity{Exists: true, Rev: rev, Token: fmt.Sprint("t", rev), Cursor: ordering.Cursor{Applied: applied}}
}

func last(eventID string) ordering.Last {
	return ordering.Last{
		EventID: eventID, Source: "shop", Fingerprint: "f-" + eventID, Type: "Changed", Clock: clock(7),
		PublishedAt: start, ReceivedAt: start.Add(time.Nanosecond), AppliedAt: start.Add(time.Minute),
		MessageID: "m-" + eventID, ReceiveCount: 3,
	}
}
