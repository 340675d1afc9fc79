package functions

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// spread does n pieces of work, at most parallel at once, and hands each result to done, one after the other in the
// caller's goroutine. A panic is the failure of its own piece, handed over as panicked; no other
// place of this package starts goroutines. Once ctx ends nothing more is started, and what runs has patience left to finish; what is not
// done then is never handed over, even where it ends later.
//
// A goroutine does one piece after the other: the SDK's calls are so deep that a new stack would be copied five times for each.
func spread[T any](ctx context.Context, parallel, n int, patience time.Duration, work func(i int) T, done func(i int, result T, panicked error)) {
	results := make(chan finished[T], n) // whoever is too late must not hang
	var taken atomic.Int64
	var busy sync.WaitGroup
	for range min(max(parallel, 1), n) {
		busy.Go(func() {
			for ctx.Err() == nil {
				i := int(taken.Add(1)) - 1
				if i >= n {
					return
				}
				f := finished[T]{i: i}
				f.result, f.panicked = guarded(work, i)
				results <- f
			}
		})
	}
	go func() {
		busy.Wait()
		close(results)
	}()
	tooLate := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(patience, func() { close(tooLate) }) })
	defer stop()
	for {
		select {
		case f, more := <-results:
			if !more {
				return
			}
			done(f.i, f.result, f.panicked)
		case <-tooLate:
			return
		}
	}
}

// finished is a piece of work that is done.
type finished[T any] struct {
	i        int
	result   T
	panicked error
}

func guarded[T any](work func(i int) T, i int) (result T, panicked error) {
	defer recovered(&panicked)
	return work(i), nil
}
