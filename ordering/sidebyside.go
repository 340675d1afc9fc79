package ordering

import (
	"fmt"

	"golang.org/x/sync/errgroup"
)

// sideBySide does work for each item, at most so many at once, and returns the first error. With one at once the order is
// kept, and the first error ends it. A panic is the error of its item: the handler's own recovery does not reach other
// goroutines.
func sideBySide[T any](atOnce int, items []T, work func(T) error) error {
	if atOnce <= 1 {
		for _, item := range items {
			if err := work(item); err != nil {
				return err
			}
		}
		return nil
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, item := range items {
		group.Go(func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("panic in work that was done side by side: %s", panicText(p))
				}
			}()
			return work(item)
		})
	}
	return group.Wait()
}
