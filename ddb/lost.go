package ddb

import (
	"context"

	"inorder/ordering"
)

// lost makes a *LostError of failed conditions: the entity is in place 0, the markers are behind it.
func (s *Store) lost(ctx context.Context, key ordering.Key, markers []ordering.Marker, err error) error {
	found, ok := failedItems(err)
	if !ok {
		return described(err)
	}
	lost := &ordering.LostError{Seen: make(map[int]ordering.Marker)}
	if it, failed := found[0]; failed {
		now, err := s.now(ctx, key, it)
		if err != nil {
			return err
		}
		lost.Now = now
	}
	for i, m := range markers {
		if it, failed := found[i+1]; failed {
			if err := s.seen(ctx, lost, i, m, it); err != nil {
				return err
			}
		}
	}
	return lost
}

// moved makes a *LostError of an entity's failed condition.
func (s *Store) moved(ctx context.Context, key ordering.Key, it item) error {
	now, err := s.now(ctx, key, it)
	if err != nil {
		return err
	}
	return &ordering.LostError{Now: now}
}

// now decodes the item that a failed condition returned. Where none came, the entity is gone, or the engine does not
// return items of a transaction's puts: a read tells.
func (s *Store) now(ctx context.Context, key ordering.Key, it item) (*ordering.Entity, error) {
	if len(it) == 0 {
		return s.readEntity(ctx, key)
	}
	return decodeEntity(it)
}

// seen adds a marker that is there to what was lost. Where no item came, a read tells, as in now.
func (s *Store) seen(ctx context.Context, lost *ordering.LostError, place int, m ordering.Marker, it item) error {
	if len(it) == 0 {
		var err error
		if it, err = s.get(ctx, s.Tables.Items, markerKey(m)); err != nil {
			return err
		}
	}
	found, err := decodeMarker(it, m)
	if err != nil {
		return err
	}
	lost.Seen[place] = found
	return nil
}
