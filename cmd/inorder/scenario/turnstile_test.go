package scenario

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// interleave lets invocations make some requests each and returns in which order they were let through.
func interleave(seed uint64, invocations, requests int) []string {
	turns := newTurnstile(invocations, seed)
	var mu sync.Mutex
	var order []string
	var wait sync.WaitGroup
	for place := range invocations {
		wait.Go(func() {
			defer turns.leave()
			for n := range requests + place { // they do not all end at once
				turns.enter(place)
				mu.Lock()
				order = append(order, fmt.Sprintf("%d.%d", place, n))
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return order
}

func TestASeedFixesTheInterleaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		different := map[string]bool{}
		for seed := range uint64(20) {
			first := interleave(seed, 3, 4)
			if again := interleave(seed, 3, 4); !slices.Equal(first, again) {
				t.Fatalf("seed %d: %v, then %v", seed, first, again)
			}
			if len(first) != 4+5+6 {
				t.Fatalf("seed %d: %d requests", seed, len(first))
			}
			different[fmt.Sprint(first)] = true
		}
		if len(different) < 15 {
			t.Errorf("20 seeds give %d interleavings", len(different))
		}
	})
}

// However long some have waited, a slow one that moves keeps its turn.
func TestPatienceIsForStandstill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurnstile(2, 1)
		slow := make(chan int)
		go func() {
			defer turns.leave()
			turns.enter(0)
			slow <- 0
		}()
		go func() {
			defer turns.leave()
			for n := range 10 {
				time.Sleep(patience - time.Second) // of work
				turns.mu.Lock()
				turns.moves++ // as others do that come and go
				if _, waits := turns.waiting[0]; !waits {
					t.Errorf("after %d pieces of work the other one has passed", n+1)
				}
				turns.mu.Unlock()
			}
		}()
		<-slow
	})
}

// An invocation that waits for another one, and not at the turnstile, must not hold up everything for ever.
func TestAnInvocationThatWaitsElsewhereIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		turns := newTurnstile(2, 1)
		lock := make(chan struct{}, 1) // a mutex stops synctest's clock
		var wait sync.WaitGroup
		for place := range 2 {
			wait.Go(func() {
				defer turns.leave()
				lock <- struct{}{}
				defer func() { <-lock }()
				turns.enter(place)
			})
		}
		wait.Wait()
	})
}
