package functions

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// However many goroutines share the pieces, each piece is done once and handed over once, a panic as its own failure, and no more
// of them are at work at a time than may be.
func TestSpreadDoesEachPieceOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, parallel := rapid.IntRange(0, 20).Draw(t, "pieces"), rapid.IntRange(0, 8).Draw(t, "parallel")
		panics := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "panics")
		var working, most atomic.Int64
		done := make([]int, n)
		spread(t.Context(), parallel, n, time.Minute, func(i int) int {
			now := working.Add(1)
			defer working.Add(-1)
			for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
			}
			runtime.Gosched() // or one is done before another begins, and nothing shows
			if panics[i] {
				panic("a piece")
			}
			return i
		}, func(i, result int, panicked error) {
			if done[i]++; panicked == nil && result != i || (panicked != nil) != panics[i] {
				t.Errorf("piece %d came to %d, %v", i, result, panicked)
			}
		})
		for i, times := range done {
			if times != 1 {
				t.Errorf("piece %d was handed over %d times", i, times)
			}
		}
		if most.Load() > int64(max(parallel, 1)) {
			t.Errorf("%d at once, of %d", most.Load(), parallel)
		}
	})
}

// When the time is over nothing more is begun; what is under way has its patience, and what takes longer is never handed over.
func TestSpreadEndsWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		takes := []time.Duration{time.Second, 11 * time.Second, time.Hour, 12 * time.Second, time.Second}
		var begun atomic.Int64
		var came []int
		began := time.Now()
		spread(ctx, 2, len(takes), 2*time.Second, func(i int) int {
			begun.Add(1)
			time.Sleep(takes[i])
			return i
		}, func(i, _ int, _ error) { came = append(came, i) })
		if took := time.Since(began); took != 12*time.Second || begun.Load() != 3 || len(came) != 2 || came[0] != 0 || came[1] != 1 {
			t.Errorf("%d pieces begun, %v handed over, after %s", begun.Load(), came, took)
		}
		time.Sleep(2 * time.Hour)
		if len(came) != 2 {
			t.Errorf("%v handed over", came)
		}
	})
}
