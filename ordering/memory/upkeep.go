package memory

import (
	"context"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"inorder/ordering"
)

// shards and pageSize are small, so that little suffices to have several.
const (
	shards   = 4
	pageSize = 3
)

// Shards implements ordering.Upkeep.
func (s *Store) Shards() int { return shards }

// Marked implements ordering.Upkeep. The store may be used while a page is visited.
func (s *Store) Marked(_ context.Context, shard int, from time.Time, visit func(page []ordering.Marked) (more bool)) error {
	list := s.marked(shard)
	first, _ := slices.BinarySearchFunc(list, from, func(m ordering.Marked, from time.Time) int { return m.Since.Compare(from) })
	for page := range slices.Chunk(slices.Concat(list[first:], list[:first]), pageSize) {
		if !visit(page) {
			return nil
		}
	}
	return nil
}

func (s *Store) marked(shard int) (list []ordering.Marked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, e := range s.entities {
		pk := pkOf(key)
		if e.Gap != nil && shardOf(pk) == shard {
			list = append(list, ordering.Marked{PK: pk, Key: key, Since: e.Gap.Since})
		}
	}
	slices.SortFunc(list, func(a, b ordering.Marked) int {
		if c := a.Since.Compare(b.Since); c != 0 {
			return c
		}
		return strings.Compare(a.PK, b.PK)
	})
	return list
}

// pkOf shows a key much like the database does; nobody reads it back.
func pkOf(key ordering.Key) string {
	parts := []string{key.Consumer, key.Stream, key.ID}
	if key.PerSource {
		parts = append(parts, key.Source)
	}
	return strings.Join(parts, "/")
}

func shardOf(pk string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(pk))
	return int(h.Sum32() % shards)
}

// Entities implements ordering.Upkeep.
func (s *Store) Entities(_ context.Context, keys []ordering.Key) ([]ordering.EntityRead, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reads := make([]ordering.EntityRead, len(keys))
	for i, key := range keys {
		reads[i].Entity = s.entity(key)
	}
	return reads, nil
}

// RowHeads implements ordering.Upkeep.
func (s *Store) RowHeads(ctx context.Context, key ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	rows, err := s.Rows(ctx, key, gen, first, last)
	for i, row := range rows {
		rows[i].Message = ordering.Row{}.Message
		rows[i].Message.ID, rows[i].Message.ReceivedAt = row.Message.ID, row.ReceivedAt
	}
	return rows, err
}

// DropRows implements ordering.Upkeep.
func (s *Store) DropRows(_ context.Context, key ordering.Key, prev, next *ordering.Entity, rows []ordering.Row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := map[rowKey]bool{}
	for _, row := range rows {
		at[rowKey{key, row.Gen, row.Seq}] = true
	}
	if len(rows) > ordering.MaxDropRows || len(at) < len(rows) {
		return ordering.ErrInvalid
	}
	s.writes += len(rows)
	for _, row := range rows {
		there := s.rows[rowKey{key, row.Gen, row.Seq}]
		if s.isAt(key, prev) && !sameRow(there, row) { // an entity that has moved is told first
			s.writes++
			return &ordering.TakenError{Row: there}
		}
	}
	err := s.swap(key, prev, next, nil)
	if err == nil {
		maps.DeleteFunc(s.rows, func(k rowKey, _ ordering.Row) bool { return at[k] })
	}
	return err
}

// SwapAudited implements ordering.Upkeep.
func (s *Store) SwapAudited(_ context.Context, key ordering.Key, prev, next *ordering.Entity, audit ordering.Audit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if err := s.swap(key, prev, next, nil); err != nil {
		return err
	}
	if s.audits == nil {
		s.audits = map[ordering.Key][]ordering.Audit{}
	}
	for taken(s.audits[key], audit.At) {
		audit.At = audit.At.Add(time.Nanosecond)
	}
	s.audits[key] = append(s.audits[key], cloneAudit(audit))
	slices.SortFunc(s.audits[key], func(a, b ordering.Audit) int { return a.At.Compare(b.At) })
	return nil
}

func taken(audits []ordering.Audit, at time.Time) bool {
	return slices.ContainsFunc(audits, func(a ordering.Audit) bool { return a.At.Equal(at) })
}

func cloneAudit(a ordering.Audit) ordering.Audit {
	a.Applied, a.Lost, a.Passed = slices.Clone(a.Applied), slices.Clone(a.Lost), slices.Clone(a.Passed)
	return a
}

// Audits implements ordering.Upkeep.
func (s *Store) Audits(_ context.Context, key ordering.Key) ([]ordering.Audit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var audits []ordering.Audit
	for _, a := range s.audits[key] {
		audits = append(audits, cloneAudit(a))
	}
	return audits, nil
}

// Bookmark implements ordering.Upkeep.
func (s *Store) Bookmark(_ context.Context, consumer string) (after string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bookmarks[consumer], nil
}

// MoveBookmark implements ordering.Upkeep.
func (s *Store) MoveBookmark(_ context.Context, consumer, from, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if from == to {
		return nil
	}
	s.writes++
	if s.bookmarks[consumer] != from {
		return nil
	}
	if s.bookmarks == nil {
		s.bookmarks = map[string]string{}
	}
	s.bookmarks[consumer] = to
	return nil
}

// Expire deletes the rows and markers that are past their expiry, as the database does some time later.
func (s *Store) Expire(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.rows, func(_ rowKey, row ordering.Row) bool { return row.ExpiresAt.Before(now) })
	maps.DeleteFunc(s.marks, func(_ markerKey, m ordering.Marker) bool { return m.ExpiresAt.Before(now) })
}
