package simulation

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"inorder/cmd/inorder/backend"
	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/functions"
	"inorder/functions/projections"
	"inorder/ordering"
)

var (
	seeds = flag.Uint64("seeds", 60, "how many seeds to play")
	from  = flag.Uint64("from", 1, "the first of them")
	seed  = flag.Uint64("seed", 0, "play this one seed")
	only  = flag.String("only", "", "of its elements play only these")
	trace = flag.Bool("trace", false, "print what happens")
)

// engineEvery: one life in so many plays on the engine, where a request takes a hundred times as long.
const engineEvery = 8

func init() {
	projections.Register(trail, trailing(func() bool { return true })) // for the operator's commands, which only look at events
}

// Convergence, StepOrder, DeltaSum, NoLostWakeup, NoSilentLoss, EffectOrder, OneEscalation, Conservation, AckIdempotence
// and Frugality: whatever goes wrong, and in whatever order, every life ends where its producer meant it to.
func TestSimulation(t *testing.T) {
	g := newGround(t)
	if *seed != 0 {
		g.trace = *trace
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
	if never := all.tame(); *seeds >= 500 && !t.Failed() && len(never) > 0 {
		t.Errorf("in all these lives there never was: %s", strings.Join(never, ", "))
	}
	if !t.Failed() {
		t.Logf("proof: %s; the ten properties hold", all)
		t.Logf("that is: %v", map[string]int(all))
	}
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
		text += " -only " + strings.Join(only, ",")
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

func newGround(t *testing.T) *ground {
	t.Helper()
	engine := local.ForTest(t, local.Dynoxide)
	b, err := backend.Open(t.Context(), backend.Choice{Endpoint: engine.Endpoint}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	// As on Lambda, but without the pauses, which are drawn by chance.
	options := func(w *world) ddb.ClientOptions { return ddb.ClientOptions{Transport: w, MaxPause: time.Nanosecond} }
	return &ground{
		engine: b, folder: t.TempDir(),
		client: func(w *world) *ddb.Store {
			return &ddb.Store{API: ddb.NewClient(engine.Config(), options(w)), Tables: w.tables}
		},
		outbox: func(w *world, name string) *ddb.Outbox {
			n := 0
			return &ddb.Outbox{
				API: ddb.NewClient(engine.Config(), options(w)), Table: w.outboxTable, Now: time.Now,
				Wait:     func(ctx context.Context, round int) { pause(ctx, time.Duration(round+1)*time.Millisecond) },
				NewToken: func() string { n++; return fmt.Sprint(name, "-", n) },
			}
		},
	}
}

// play plays one life, in a bubble of its own, and says what is wrong at its end.
func (g *ground) play(t *testing.T, s uint64, only []string) (count tally, faults []string) {
	l := newLife(s, only)
	f := newFerry()
	defer f.close()
	w := newWorld(l, g, f)
	w.file = filepath.Join(g.folder, fmt.Sprintf("%d-%d.yaml", s, files.Add(1)))
	w.must(os.WriteFile(w.file, []byte(l.text), 0o600))
	defer os.Remove(w.file)
	if l.onEngine {
		defer w.tablesFor()()
	}
	synctest.Test(t, func(*testing.T) { w.play() })
	w.countEnd()
	return w.count, w.faults
}

var files atomic.Int64

// tablesFor creates the tables of a life, and returns how they are dropped.
func (w *world) tablesFor() (drop func()) {
	ctx, b := context.Background(), w.engine
	name := fmt.Sprintf("life-%d-%d", w.seed, files.Add(1))
	var err error
	w.tables, err = b.CreateTables(ctx, name)
	w.must(err)
	w.outboxTable = name + "-outbox"
	w.must(b.CreateOutbox(ctx, w.outboxTable))
	return func() {
		w.must(b.DropTables(ctx, w.tables))
		w.must(b.DropOutbox(ctx, w.outboxTable))
	}
}

var _ ordering.Upkeep = view{}

// countEnd counts what a life leaves behind.
func (w *world) countEnd() {
	w.count[seedsPlayed] = 1
	if w.onEngine {
		w.count[onEngine] = 1
	}
	w.count["effects"] = len(w.queues.Sent(backend.EffectsURL))
	for _, m := range w.queues.Sent(backend.QuarantineURL) {
		mark, _ := functions.MarkOf(m)
		w.count["quarantine: "+string(mark.Reason)]++
	}
}
