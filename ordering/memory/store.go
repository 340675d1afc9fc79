// Package memory is a Store in memory: a fake with the whole contract, for tests and simulations. Everything is under
// one lock, so each call is atomic.
package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/apd/v3"

	"inorder/events"
	"inorder/ordering"
)

// Store keeps everything in maps. The zero value is ready.
type Store struct {
	MaxItem int // bytes of an item; 0: as many as the database takes

	mu        sync.Mutex
	entities  map[ordering.Key]*ordering.Entity
	rows      map[rowKey]ordering.Row
	marks     map[markerKey]ordering.Marker
	audits    map[ordering.Key][]ordering.Audit // each oldest first
	bookmarks map[string]string
	writes    int
}

type rowKey struct {
	entity   ordering.Key
	gen, seq int64
}

type markerKey struct{ consumer, source, id string }

var _ ordering.Upkeep = (*Store)(nil)

// Clone returns a store that holds the same and goes its own way. What is stored is never changed in place, so it is
// shared.
func (s *Store) Clone() *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	audits := make(map[ordering.Key][]ordering.Audit, len(s.audits))
	for key, list := range s.audits {
		audits[key] = slices.Clone(list)
	}
	return &Store{
		MaxItem: s.MaxItem, entities: maps.Clone(s.entities), rows: maps.Clone(s.rows), marks: maps.Clone(s.marks),
		audits: audits, bookmarks: maps.Clone(s.bookmarks), writes: s.writes,
	}
}

// All returns all entities, for a test's last look.
func (s *Store) All() map[ordering.Key]*ordering.Entity {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.entities)
}

// Writes counts the items put, updated or deleted, failed ones included.
func (s *Store) Writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// Entity implements ordering.Store.
func (s *Store) Entity(_ context.Context, key ordering.Key) (*ordering.Entity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entity(key), nil
}

func (s *Store) entity(key ordering.Key) *ordering.Entity {
	if e := s.entities[key]; e != nil {
		return clone(e)
	}
	return &ordering.Entity{}
}

// write replaces an entity, and puts markers with it, if holds says so of what is there and no marker is taken.
func (s *Store) write(key ordering.Key, markers []ordering.Marker, holds bool, next *ordering.Entity) error {
	s.writes += 1 + len(markers)
	lost := &ordering.LostError{Seen: map[int]ordering.Marker{}}
	for i, m := range markers {
		if seen, taken := s.marks[markerKey{m.Consumer, m.Source, m.EventID}]; taken {
			lost.Seen[i] = seen
		}
	}
	if !holds {
		lost.Now = s.entity(key)
	}
	if lost.Now != nil || len(lost.Seen) > 0 {
		return lost
	}
	if s.marks == nil {
		s.marks = map[markerKey]ordering.Marker{}
	}
	for _, m := range markers {
		m.ExpiresAt = m.ExpiresAt.Truncate(time.Second)
		s.marks[markerKey{m.Consumer, m.Source, m.EventID}] = m
	}
	if s.entities == nil {
		s.entities = map[ordering.Key]*ordering.Entity{}
	}
	s.entities[key] = clone(next)
	return nil
}

// clone copies an entity the way that storing it would: nobody shares anything with what is stored.
func clone(e *ordering.Entity) *ordering.Entity {
	c := *e
	c.State = deepCopy(e.State).(map[string]any)
	c.Clocks, c.Marks = maps.Clone(e.Clocks), maps.Clone(e.Marks)
	c.Tombs = slices.Clone(e.Tombs)
	c.Waiting, c.Ahead = slices.Clone(e.Waiting), slices.Clone(e.Ahead)
	c.Owed, c.Skipped = slices.Clone(e.Owed), slices.Clone(e.Skipped)
	return &c
}

func deepCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, element := range v {
			out[name] = deepCopy(element)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = deepCopy(element)
		}
		return out
	default:
		return v
	}
}

// maxItem is the size of an item at which ErrTooLarge is returned (Amazon DynamoDB Developer Guide, "Quotas in Amazon
// DynamoDB", items). The measure here is JSON's, near enough for tests.
const maxItem = 400 << 10

func (s *Store) tooLarge(v any) bool {
	text, err := json.Marshal(v)
	return err == nil && len(text) > cmp.Or(s.MaxItem, maxItem)
}

// Swap implements ordering.Store.
func (s *Store) Swap(_ context.Context, key ordering.Key, prev, next *ordering.Entity, markers []ordering.Marker) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.swap(key, prev, next, markers)
}

func (s *Store) swap(key ordering.Key, prev, next *ordering.Entity, markers []ordering.Marker) error {
	if s.tooLarge([]any{next.State, next.Last, next.Owed}) {
		return ordering.ErrTooLarge
	}
	return s.write(key, markers, s.isAt(key, prev), next)
}

func (s *Store) isAt(key ordering.Key, prev *ordering.Entity) bool {
	now := s.entity(key)
	return now.Exists == prev.Exists && (!prev.Exists || now.Rev == prev.Rev && now.Clock == prev.Clock)
}

// PutNewer implements ordering.Store.
func (s *Store) PutNewer(_ context.Context, key ordering.Key, next *ordering.Entity, markers []ordering.Marker) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tooLarge(next.State) {
		return ordering.ErrTooLarge
	}
	now := s.entity(key)
	holds := !now.Exists || now.Clock < next.Clock
	for _, mark := range now.Marks {
		holds = holds && mark <= next.Clock
	}
	return s.write(key, markers, holds, next)
}

// Merge implements ordering.Store.
func (s *Store) Merge(_ context.Context, key ordering.Key, merge ordering.Merge, markers []ordering.Marker) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.entity(key)
	next := clone(now)
	next.Exists, next.Rev, next.Last, next.Token = true, now.Rev+1, merge.Last, merge.Token
	if next.Clocks == nil {
		next.Clocks = map[string]string{}
	}
	if next.Clock == "" {
		next.Clock = merge.Floor
	}
	holds := !now.Exists || now.Clock >= merge.Floor
	for _, p := range merge.Parts {
		holds = holds && now.Clocks[p.Name] < p.Clock && now.Clock < p.Clock
		next.Clocks[p.Name] = p.Clock
		maps.Copy(next.State, p.Set)
		for _, name := range p.Remove {
			delete(next.State, name)
		}
		next.Tombs = slices.DeleteFunc(next.Tombs, func(name string) bool { return name == p.Name })
		if p.Tomb {
			next.Tombs = append(next.Tombs, p.Name)
		}
	}
	if s.tooLarge(next.State) {
		return ordering.ErrTooLarge
	}
	return s.write(key, markers, holds, next)
}

// Add implements ordering.Store.
func (s *Store) Add(_ context.Context, key ordering.Key, a ordering.Addition) (*ordering.Entity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(a.Numbers) == 0 || len(a.Numbers) > ordering.MaxAddNumbers {
		return nil, ordering.ErrInvalid
	}
	now := s.entity(key)
	holds := !now.Exists || now.Gen == a.Gen && now.Applied < a.Numbers[0] &&
		!slices.ContainsFunc(a.Numbers, now.Ahead.Has)
	next := clone(now)
	next.Exists, next.Rev, next.Gen, next.Last, next.Token = true, now.Rev+1, a.Gen, a.Last, a.Token
	next.Ahead = next.Ahead.With(a.Numbers...)
	if a.Shown != nil && !slices.Contains(now.Shown, *a.Shown) {
		next.Shown = append(slices.Clone(now.Shown), *a.Shown)
		slices.SortFunc(next.Shown, func(a, b ordering.Witness) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), a.At.Compare(b.At)) })
	}
	if next.Gap == nil && !a.GapSince.IsZero() {
		next.Gap = &ordering.Gap{Since: a.GapSince}
	}
	if err := sum(next.State, a.Amounts); err != nil {
		return nil, err
	}
	if s.tooLarge([]any{next.State, next.Last}) {
		return nil, ordering.ErrTooLarge
	}
	if err := s.write(key, nil, holds, next); err != nil {
		return nil, err
	}
	return s.entity(key), nil
}

// CatchUp implements ordering.Store.
func (s *Store) CatchUp(_ context.Context, key ordering.Key, at *ordering.Entity, through int64, gapSince time.Time, token string) (*ordering.Entity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.entity(key)
	next := clone(now)
	next.Rev, next.Applied, next.Ahead, next.Token = now.Rev+1, through, now.Ahead.Above(through), token
	passed := func(w ordering.Witness) bool { return w.Seq <= through && slices.Contains(at.Shown, w) }
	next.Shown = slices.DeleteFunc(slices.Clone(now.Shown), passed)
	if gap := now.Gap; gap != nil {
		next.Gap = &ordering.Gap{Since: gap.Since}
		if !gapSince.IsZero() {
			next.Gap.Since = gapSince
		}
	}
	if err := s.write(key, nil, now.Exists && now.Gen == at.Gen && now.Applied == at.Applied, next); err != nil {
		return nil, err
	}
	return s.entity(key), nil
}

// AddMarked implements ordering.Store.
func (s *Store) AddMarked(_ context.Context, key ordering.Key, amounts map[string]events.Number, last ordering.Last, markers []ordering.Marker) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.entity(key)
	next := clone(now)
	next.Exists, next.Rev, next.Last = true, now.Rev+1, last
	if err := sum(next.State, amounts); err != nil {
		return err
	}
	if s.tooLarge([]any{next.State, last}) {
		return ordering.ErrTooLarge
	}
	return s.write(key, markers, true, next)
}

// sum adds as the database does: exactly, or not at all.
func sum(state map[string]any, amounts map[string]events.Number) error {
	for name, amount := range amounts {
		var total, held, more apd.Decimal
		if before, has := state[name].(events.Number); has {
			if _, _, err := held.SetString(string(before)); err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
		}
		if _, _, err := more.SetString(string(amount)); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if _, err := apd.BaseContext.Add(&total, &held, &more); err != nil {
			return fmt.Errorf("add %s: %w", name, err)
		}
		total.Reduce(&total)
		if total.NumDigits() > 38 || int64(total.Exponent)+total.NumDigits()-1 > 125 {
			return ordering.ErrNumberRange
		}
		state[name] = events.Number(total.Text('f'))
	}
	return nil
}

// PutMarker implements ordering.Store.
func (s *Store) PutMarker(_ context.Context, m ordering.Marker) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	at := markerKey{m.Consumer, m.Source, m.EventID}
	if seen, taken := s.marks[at]; taken {
		return &ordering.LostError{Seen: map[int]ordering.Marker{0: seen}}
	}
	if s.marks == nil {
		s.marks = map[markerKey]ordering.Marker{}
	}
	m.ExpiresAt = m.ExpiresAt.Truncate(time.Second)
	s.marks[at] = m
	return nil
}
