package ddb

import (
	"context"
	"fmt"
)

// bookmarkAfter is the one attribute of a bookmark. There is no TTL: it is read every minute, and one per consumer.
const bookmarkAfter = "after"

// Bookmark reads where a consumer's sweeper stopped.
func (s *Store) Bookmark(ctx context.Context, consumer string) (after string, err error) {
	it, err := s.get(ctx, s.Tables.Items, bookmarkKey(consumer))
	if err != nil {
		return "", fmt.Errorf("read the bookmark of %s: %w", consumer, err)
	}
	r := &itemReader{item: it}
	return r.text(bookmarkAfter), r.err
}

// MoveBookmark moves it, or takes it out. A condition that fails is no error: another sweeper moved it, or it was this
// very request, in a try whose answer was lost.
func (s *Store) MoveBookmark(ctx context.Context, consumer, from, to string) error {
	if from == to {
		return nil
	}
	var err error
	if to == "" {
		_, err = s.API.DeleteItem(ctx, s.Tables.bookmarkDelete(consumer, from))
	} else {
		_, err = s.API.PutItem(ctx, putInput(s.Tables.bookmarkPut(consumer, from, to)))
	}
	if _, lost := failedItems(err); lost || err == nil {
		return nil
	}
	return fmt.Errorf("move the bookmark of %s: %w", consumer, described(err))
}
