package memory

import (
	"bytes"
	"compress/gzip"
	"context"
	"slices"
	"time"

	"inorder/ordering"
)

// PutRow implements ordering.Store.
func (s *Store) PutRow(_ context.Context, key ordering.Key, row ordering.Row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	at := rowKey{key, row.Gen, row.Seq}
	if there, taken := s.rows[at]; taken {
		return &ordering.TakenError{Row: there}
	}
	if len(row.Message.Body) > maxItem && compressed(row.Message.Body) > maxItem {
		return ordering.ErrTooLarge
	}
	if s.rows == nil {
		s.rows = map[rowKey]ordering.Row{}
	}
	row.ExpiresAt = row.ExpiresAt.Truncate(time.Second)
	s.rows[at] = row
	return nil
}

// ExtendRow implements ordering.Store.
func (s *Store) ExtendRow(_ context.Context, key ordering.Key, row ordering.Row, until time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	at := rowKey{key, row.Gen, row.Seq}
	there := s.rows[at]
	if !sameRow(there, row) {
		return &ordering.TakenError{Row: there}
	}
	there.ExpiresAt = until.Truncate(time.Second)
	s.rows[at] = there
	return nil
}

// sameRow tells whether there is a row, still the one that was read. A number is never 0.
func sameRow(there, read ordering.Row) bool {
	return there.Seq != 0 && there.ExpiresAt.Equal(read.ExpiresAt.Truncate(time.Second)) && there.Void == read.Void &&
		there.EventID == read.EventID && there.Source == read.Source && there.Fingerprint == read.Fingerprint
}

// Rows implements ordering.Store.
func (s *Store) Rows(_ context.Context, key ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rows []ordering.Row
	for at, row := range s.rows {
		if at.entity == key && at.gen == gen && first <= at.seq && at.seq <= last {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b ordering.Row) int { return int(a.Seq - b.Seq) })
	return rows, nil
}

// compressed is the size of a body as a log row keeps it.
func compressed(body string) int {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write([]byte(body))
	_ = z.Close()
	return out.Len()
}
