package ordering

import (
	"context"
	"errors"
)

// swap is a compare-and-set that recognises its own write where only the answer was lost: by the SDK's own retry,
// which then sees the condition fail, or for good. It returns the entity as it is now.
func (l *Loop) swap(ctx context.Context, key Key, prev, next *Entity) (now *Entity, landed bool, err error) {
	err = l.Store.Swap(ctx, key, prev, next, nil)
	if err == nil {
		return next, true, nil
	}
	lost := (*LostError)(nil)
	if errors.As(err, &lost) && lost.Now != nil {
		return lost.Now, lost.Now.Token == next.Token, nil
	}
	if nothingWritten(err) {
		return nil, false, err
	}
	now, readErr := l.Store.Entity(ctx, key) // the outcome is unknown
	if readErr == nil && now.Token == next.Token {
		return now, true, nil
	}
	return nil, false, err
}
