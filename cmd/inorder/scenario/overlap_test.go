package scenario

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"inorder/cmd/inorder/backend"
	"inorder/ddb/local"
	"inorder/functions"
	"inorder/ordering"
)

// overlap is what the language has no word for: deliveries, scheduled runs, the relay and an operator, all at once.
type overlap struct {
	batches [][]string
	sweeps  int
	skip    *skip // nil: nobody skips
}

func (a overlap) play(w *world, s step) error {
	var work []func(context.Context)
	var batch []*message
	acked := make([]map[*message]bool, len(a.batches))
	errs := make([]error, len(a.batches)+1)
	for n, ids := range a.batches {
		picked, err := w.mailbox.pick(ids)
		if err != nil {
			return err
		}
		batch = append(batch, picked...)
		event := w.mailbox.receive(picked, w.clock.Now())
		work = append(work, func(ctx context.Context) { acked[n], errs[n] = w.invoke(ctx, w.cold(), picked, event) })
	}
	for range a.sweeps {
		work = append(work, func(ctx context.Context) {
			if err := w.coldSweeper().Sweep(ctx); err != nil {
				w.metrics.fault(fmt.Errorf("sweep: %w", err))
			}
		})
	}
	if a.skip != nil {
		key, stream := w.key(a.skip.name), w.script.streams.Stream(a.skip.name.stream)
		work = append(work, func(ctx context.Context) {
			_, err := functions.NewKeeper(backend.SweeperParts(w.parts())).Skip(ctx, key, stream, ordering.Skip{Through: a.skip.through, Reason: a.skip.reason})
			if !errors.Is(err, ordering.ErrBeyondKnown) {
				errs[len(a.batches)] = err
			}
		})
	}
	w.atOnce(s, work)
	gone := map[*message]bool{}
	for _, some := range acked {
		for m, ok := range some {
			gone[m] = gone[m] || ok
		}
	}
	w.settle(batch, gone)
	return errors.Join(errs...)
}

// fault notes what went wrong where no expectation looks.
func (c *counters) fault(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, err)
}

// Sweeps, deliveries and an operator may meet at any request, and each of these scripts ends in the same place however
// they do. In each `concurrent` also runs two sweeps, and the skip that stands before it.
func TestSweepsDeliveriesAndAnOperatorMayOverlap(t *testing.T) {
	b := open(t, "")
	missing := lacks(t, b)
	player := &Player{Backend: b, Parallel: 1}
	for _, path := range glob(t, "testdata/overlap/*.yaml") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			if why := missing(path); why != "" {
				t.Skip(why)
			}
			t.Parallel()
			for seed := range uint64(overlaps) {
				for _, s := range overlapping(t, path) {
					failures, err := player.play(t.Context(), s, seed)
					if err != nil || len(failures) > 0 {
						t.Fatalf("seed %d, %s: %v\n%+v", seed, s.combination, err, failures)
					}
				}
			}
		})
	}
}

// Random scripts, too, end where they must when a sweep runs beside whatever runs at once in them.
func TestRandomScriptsEndThereWithSweepsBesides(t *testing.T) {
	player := &Player{Backend: open(t, local.Dynoxide)}
	for n := *randomFirst; n < *randomFirst+uint64(*randomScripts)/2; n++ {
		f, err := load([]byte(randomScript(n)), nil)
		if err != nil {
			t.Fatal(err)
		}
		s := f.scripts[0]
		for i := range s.steps {
			if c, is := s.steps[i].action.(concurrent); is {
				s.steps[i].action = overlap{batches: c.batches, sweeps: 1}
			}
		}
		if failures, err := player.play(t.Context(), s, n); err != nil || len(failures) > 0 {
			t.Errorf("play it again with -run RandomScripts -random 2 -random-first %d: %v\n%+v\n%s", n, err, failures, randomScript(n))
		}
	}
}

// overlaps is how many ways to meet are tried of each script; where a mutant has to be noticed, four times as many.
const overlaps = 8

func overlapping(t *testing.T, path string) []script {
	t.Helper()
	f, err := loadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.scripts {
		for i := range s.steps {
			c, is := s.steps[i].action.(concurrent)
			if !is {
				continue
			}
			all := overlap{batches: c.batches, sweeps: 2}
			if before, is := s.steps[i-1].action.(skip); is {
				all.skip = &before
				s.steps[i-1].action = reset{}
			}
			s.steps[i].action = all
		}
	}
	return f.scripts
}
