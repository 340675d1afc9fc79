package simulation

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"inorder/functions/projections"
)

var (
	seeds = flag.Uint64("seeds", 24, "how many seeds to play")
	from  = flag.Uint64("from", 1, "the first of them")
	seed  = flag.Uint64("seed", 0, "play this one seed")
	only  = flag.String("only", "", "of its elements play only these")
	trace = flag.Bool("trace", false, "print what happens")
)

// inEarnest is how many seeds make a run that is to prove something: then everything must have happened.
const inEarnest = 500

func init() {
	projections.Register(trail, trailing(func() bool { return true })) // for the operator's commands, which only look at events
}

// Convergence, StepOrder, DeltaSum, NoLostWakeup, NoSilentLoss, EffectOrder, OneEscalation, Conservation, AckIdempotence
// and Frugality: whatever goes wrong, and in whatever order, every life ends where its producer meant it to.
func TestSimulation(t *testing.T) {
	g := newGround(t)
	if *seed != 0 {
		if *trace {
			g.trace = os.Stdout
		}
		var elements []string
		if *only != "" {
			elements = strings.Split(*only, ",")
		}
		_, faults := g.play(t, *seed, elements)
		for _, fault := range faults {
			t.Error(fault)
		}
		return
	}
	all := tally{}
	var next atomic.Uint64
	next.Store(*from)
	var mu sync.Mutex
	var failed atomic.Bool
	var players sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		players.Go(func() {
			for s := next.Add(1) - 1; s < *from+*seeds && !failed.Load(); s = next.Add(1) - 1 {
				count, faults := g.play(t, s, nil)
				mu.Lock()
				all.add(count)
				if len(faults) > 0 && !failed.Swap(true) {
					g.report(t, s, faults)
				}
				mu.Unlock()
			}
		})
	}
	players.Wait()
	if never := all.tame(); *seeds >= inEarnest && !t.Failed() && len(never) > 0 {
		t.Errorf("in all these lives there never was: %s", strings.Join(never, ", "))
	}
	if !t.Failed() {
		t.Logf("proof: %s; the ten properties hold", all)
		t.Logf("that is: %v", map[string]int(all))
	}
}

// A seed that is played again is the same life, request by request: in memory, and on either engine.
func TestASeedIsOneLife(t *testing.T) {
	g := newGround(t)
	for _, s := range []uint64{5, 7, engineEvery, engineEvery * minidynEvery} {
		var lives [2]string
		for i := range lives {
			var told strings.Builder
			g.trace = &told
			g.play(t, s, nil)
			lives[i] = told.String()
		}
		for _, other := range lives[1:] {
			if at := difference(lives[0], other); at != "" {
				t.Errorf("seed %d goes another way: %s", s, at)
			}
		}
	}
}

func difference(a, b string) string {
	first, second := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(first), len(second)) {
		if first[i] != second[i] {
			return fmt.Sprintf("line %d\n%s\n%s", i, first[i], second[i])
		}
	}
	if len(first) != len(second) {
		return fmt.Sprintf("%d lines and %d", len(first), len(second))
	}
	return ""
}

// report says what is wrong with a seed, and what of it suffices.
func (g *ground) report(t *testing.T, s uint64, faults []string) {
	t.Helper()
	t.Errorf("seed %d: %s\nreplay: %s", s, strings.Join(faults, "\n"), command(s, nil))
	if rest, faults := g.smallest(t, s, faults); len(faults) > 0 {
		t.Errorf("%d of its elements suffice: %s\nreplay: %s", len(rest), strings.Join(faults, "\n"), command(s, rest))
	}
}

func command(s uint64, only []string) string {
	text := fmt.Sprintf("go test ./cmd/inorder/simulation -run '^TestSimulation$' -args -seed %d -trace", s)
	if only != nil {
		text += " -only " + cmp.Or(strings.Join(only, ","), "none")
	}
	return text
}

// smallest is a part of a life that fails in the same property, and of which nothing can be left out.
func (g *ground) smallest(t *testing.T, s uint64, faults []string) (rest, still []string) {
	property := propertyOf(faults[0])
	fails := func(only []string) bool {
		_, faults := g.play(t, s, only)
		for _, fault := range faults {
			if propertyOf(fault) == property {
				still = faults
				return true
			}
		}
		return false
	}
	rest = shrink(newLife(s, nil).elements, func(only []string) bool {
		before := still
		if fails(only) {
			return true
		}
		still = before
		return false
	})
	return rest, still
}

func propertyOf(fault string) string {
	property, _, _ := strings.Cut(fault, ":")
	return property
}
