package scenario

import (
	"fmt"
	"slices"
	"sync"
	"testing"
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
}

// An invocation that waits for another one, and not at the turnstile, must not hold up everything for ever.
func TestAnInvocationThatWaitsElsewhereIsNotWaitedForForEver(t *testing.T) {
	turns := newTurnstile(2, 1)
	var lock sync.Mutex
	var wait sync.WaitGroup
	for place := range 2 {
		wait.Go(func() {
			defer turns.leave()
			lock.Lock()
			defer lock.Unlock()
			turns.enter(place)
		})
	}
	wait.Wait()
}
