package ordering

import (
	"context"
	"errors"
)

// swap is a compare-and-set that recognises its own write where only the answer was lost: by the SDK's own retry,
// which then sees the condition fail, or for good. It returns the entity as it is now.
func (l *Loop) swap(ctx context.Context, key Key, prev, next *Entity) (now *Entity, landed bool, err error) {
	return l.landed(ctx, key, next, l.Store.Swap(ctx, key, prev, next, nil))
}

// landed tells from a write's answer, or from a look where there is none, whether next is there.
func (l *Loop) landed(ctx context.Context, key Key, next *Entity, err error) (now *Entity, landed bool, _ error) {
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
