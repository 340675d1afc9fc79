package functions

import (
	"context"
	"time"
)

// spread does n pieces of work, at most parallel at once, and hands each result to done, one after the other in the
// caller's goroutine. A panic is the failure of its own piece, handed over as panicked; no other
// place of this package starts goroutines. Once ctx ends nothing more is started, and what runs has patience left to finish; what is not
// done then is never handed over, even where it ends later.
func spread[T any](ctx context.Context, parallel, n int, patience time.Duration, work func(i int) T, done func(i int, result T, panicked error)) {
	type finished struct {
		i        int
		result   T
		panicked error
	}
	results := make(chan finished, n) // whoever is too late must not hang
	slots := make(chan struct{}, max(parallel, 1))
	started := 0
	for i := range n {
		if !take(ctx, slots) {
			break
		}
		started++
		go func() {
			defer func() { <-slots }()
			f := finished{i: i}
			f.result, f.panicked = guarded(work, i)
			results <- f
		}()
	}
	tooLate := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(patience, func() { close(tooLate) }) })
	defer stop()
	for range started {
		select {
		case f := <-results:
			done(f.i, f.result, f.panicked)
		case <-tooLate:
			return
		}
	}
}

func guarded[T any](work func(i int) T, i int) (result T, panicked error) {
	defer recovered(&panicked)
	return work(i), nil
}

// take waits for a free slot; false once ctx has ended.
func take(ctx context.Context, slots chan<- struct{}) bool {
	select {
	case slots <- struct{}{}:
		return ctx.Err() == nil // where both are ready, select picks at random
	case <-ctx.Done():
		return false
	}
}
