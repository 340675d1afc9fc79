package storetest

import (
	"fmt"
	"time"

	"inorder/ordering"
)

// marked returns which of these entities the gaps index shows, each with its entry, and fails the test at once where one
// stands there twice, a page is empty, or a shard is not in the order of time.
func (s *suite) marked(keys ...ordering.Key) map[ordering.Key]ordering.Marked {
	s.Helper()
	return s.markedFrom(time.Time{}, keys...)
}

// markedFrom does so from an instant on, and round to it again.
func (s *suite) markedFrom(from time.Time, keys ...ordering.Key) map[ordering.Key]ordering.Marked {
	s.Helper()
	found := map[ordering.Key]ordering.Marked{}
	for shard := range s.store.Shards() {
		before := from
		s.ok(s.store.Marked(s.ctx, shard, from, func(page []ordering.Marked) bool {
			if len(page) == 0 {
				s.Fatal("an empty page")
			}
			for _, m := range page {
				again := m.Since.Before(from) && !before.Before(from) // it has gone round
				if m.Since.Before(before) && !again || before.Before(from) && !m.Since.Before(from) {
					s.Fatalf("from %s on %s of %s comes behind one of %s", from, m.PK, m.Since, before)
				}
				before = m.Since
				if _, twice := found[m.Key]; twice && m.Key != (ordering.Key{}) {
					s.Fatalf("%s is there twice", m.PK)
				}
				found[m.Key] = m
			}
			return true
		}))
	}
	asked := map[ordering.Key]ordering.Marked{}
	for _, key := range keys {
		if m, ok := found[key]; ok {
			asked[key] = m
		}
	}
	return asked
}

// gapped is an entity of which something has been missing since so many nanoseconds.
func gapped(nanos int) ordering.Entity {
	e := *cursorEntity(1, 3)
	e.Gap = &ordering.Gap{Since: start.Add(time.Duration(nanos))}
	return e
}

func markedOldestFirst(s *suite) {
	var keys []ordering.Key
	for i := range 40 {
		key := s.key()
		if i%2 == 1 {
			key.PerSource, key.Source = true, "a/b"
		}
		keys = append(keys, key)
		s.swap(key, gapped(1000-i*7%40))
	}
	got := s.marked(keys...)
	for i, key := range keys {
		if m, ok := got[key]; !ok || m.PK == "" || !m.Since.Equal(start.Add(time.Duration(1000-i*7%40))) {
			s.Fatalf("entity %d: %+v", i, m)
		}
	}
}

// A sweeper that could not list all goes on where it stopped, and the others have their turn after those.
func markedGoRound(s *suite) {
	var keys []ordering.Key
	for i := range 40 {
		key := s.key()
		keys = append(keys, key)
		s.swap(key, gapped(2000+i))
	}
	for _, nanos := range []int{1, 2000, 2020, 2039, 2040} {
		if got := s.markedFrom(start.Add(time.Duration(nanos)), keys...); len(got) != len(keys) {
			s.Fatalf("from %d on, of %d entities: %d", nanos, len(keys), len(got))
		}
	}
}

func markedOnly(s *suite) {
	open, shut := s.key(), s.key()
	s.swap(open, gapped(1))
	s.swap(shut, *cursorEntity(1, 3))
	if got := s.marked(open, shut); len(got) != 1 || got[open].PK == "" {
		s.Fatalf("of one entity with a gap and one without: %v", got)
	}
}

func markedLeaves(s *suite) {
	swapped, put := s.key(), s.key()
	s.swap(swapped, gapped(1))
	s.swap(put, ordering.Entity{
		StateMarks: ordering.StateMarks{Marks: map[string]string{"": clock(7)}}, Cursor: ordering.Cursor{Gap: &ordering.Gap{Since: start}},
	})
	if got := s.marked(swapped, put); len(got) != 2 {
		s.Fatalf("of two entities with a gap: %v", got)
	}
	s.swap(swapped, *cursorEntity(2, 3))
	s.ok(s.store.PutNewer(s.ctx, put, &ordering.Entity{Exists: true, StateMarks: ordering.StateMarks{Clock: clock(7)}}, nil))
	if got := s.marked(swapped, put); len(got) != 0 {
		s.Fatalf("of two entities without a gap: %v", got)
	}
}

// The sweeper reads and writes entities while it looks at a page, and stops when its time is up.
func markedStops(s *suite) {
	for range 20 {
		s.swap(s.key(), gapped(1))
	}
	for shard := range s.store.Shards() {
		for _, from := range []time.Time{{}, start.Add(1), start.Add(-1)} {
			visits := 0
			s.ok(s.store.Marked(s.ctx, shard, from, func(page []ordering.Marked) bool {
				visits++
				s.entity(page[0].Key)
				return false
			}))
			if visits > 1 {
				s.Fatalf("shard %d went on %d times", shard, visits-1)
			}
		}
	}
}

func entitiesInOrder(s *suite) {
	var keys []ordering.Key
	want := map[ordering.Key]*ordering.Entity{}
	for i := range 230 { // of which a batch takes 100
		key := s.key()
		want[key] = &ordering.Entity{}
		if i%3 != 0 {
			want[key] = cursorEntity(1, int64(i))
			s.ok(s.store.Swap(s.ctx, key, &ordering.Entity{}, want[key], nil))
		}
		keys = append(keys, key)
		keys = append(keys, keys[i]) // once more, an older one
	}
	reads, err := s.store.Entities(s.ctx, keys)
	s.ok(err)
	if len(reads) != len(keys) {
		s.Fatalf("%d entities of %d keys", len(reads), len(keys))
	}
	for i, read := range reads {
		s.ok(read.Err)
		s.same(read.Entity, want[keys[i]])
	}
	none, err := s.store.Entities(s.ctx, nil)
	if s.ok(err); len(none) != 0 {
		s.Fatalf("of no keys: %v", none)
	}
}

func bookmarkMoves(s *suite) {
	consumer, other := s.unique(), s.unique()
	s.swap(ordering.Key{Consumer: consumer, Stream: "s", ID: "a"}, *cursorEntity(1, 3))
	at := func(consumer, want string) {
		s.Helper()
		got, err := s.store.Bookmark(s.ctx, consumer)
		if s.ok(err); got != want {
			s.Fatalf("the bookmark of %s is %q, want %q", consumer, got, want)
		}
	}
	for i, move := range []struct{ from, to, then string }{
		{"x", "y", ""}, // there is none to move
		{"", "a/b", "a/b"},
		{"", "c", "a/b"}, // another sweeper's is there
		{"x", "", "a/b"},
		{"a/b", "a/b", "a/b"},
		{"a/b", "c", "c"},
		{"c", "", ""},
		{"c", "d", ""},
		{"", "", ""},
		{"", fmt.Sprint("again ", consumer), fmt.Sprint("again ", consumer)},
	} {
		if err := s.store.MoveBookmark(s.ctx, consumer, move.from, move.to); err != nil {
			s.Fatalf("move %d: %v", i, err)
		}
		at(consumer, move.then)
	}
	at(other, "")
	at(consumer+"/s", "")
	s.ok(s.store.MoveBookmark(s.ctx, consumer+"/s/a", "", "elsewhere")) // which reads like the entity's key
	at(consumer, fmt.Sprint("again ", consumer))
	s.rows(ordering.Key{Consumer: consumer, Stream: "s", ID: "a"}, 0, 0, 1<<62)
}
