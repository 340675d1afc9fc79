package scenario

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"inorder/cmd/inorder/backend"
	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/events"
	"inorder/functions/projections"
	"inorder/ordering"
)

var (
	everyFault = flag.Int("every", 101, "TestFaultMatrix: of how many faults one is planted; 1: all of them")
	onlyFault  = flag.String("cell", "", "TestFaultMatrix: only these faults, as a failure names them: SITUATION/REQUEST/FAULT, or what such names begin with")
)

// A situation is a scenario whose one step, the one behind `reset`, is made to fail in every way, at every request.
type situation struct {
	name   string
	script script
	moment int // the place of that step

	undisturbed outcome
}

// A planting is one mishap at one request of a situation: one play.
type planting struct {
	of     *situation
	at     int // which request, from 1; 0: none
	mishap mishap

	wrong string // empty: it ended as the undisturbed play does
}

func (p *planting) String() string {
	return fmt.Sprintf("%s/%d/%s", p.of.name, p.at, p.mishap)
}

// TestFaultMatrix plays each situation undisturbed and counts its requests, to DynamoDB and to SQS. Then it plays it again
// for every request and every fault: the request fails before it took effect, or after, once or from there on, in each way
// in which AWS fails; another function does the same work first; the process dies. Afterwards what is in the queues is
// delivered, sweeps run and the relay answers until nothing moves, and everything must stand where the undisturbed play
// left it. In the end all messages come once more, which must change nothing (NoSilentLoss, AckIdempotence, EffectOrder).
func TestFaultMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thing at a time, which the race detector has no need to see")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // what the SDK throws away takes a tenth of the time otherwise
	b := open(t, "")
	situations := readSituations(t, b)
	each(t, b, situations, func(on *bench, s *situation) { s.undisturbed = on.attempt(t.Context(), s, planting{}) })
	situations = slices.DeleteFunc(situations, func(s *situation) bool { return fails(t, b, s) })
	var all []*planting
	for _, s := range situations {
		all = append(all, plantings(s)...)
	}
	chosen := choose(all)
	each(t, b, chosen, func(on *bench, p *planting) { p.wrong = compareEnds(p.of, p, on.attempt(t.Context(), p.of, *p)) })
	t.Log("\n" + tableOf(situations, chosen))
	summarise(t, situations, chosen)
}

// fails reports whether a situation cannot be had on an engine: minidyn's index loses entries. On any other it must.
func fails(t *testing.T, b *backend.Backend, s *situation) bool {
	t.Helper()
	wrong := s.undisturbed.wrong
	switch {
	case wrong != "" && b.Name() == local.Minidyn:
		t.Logf("%s is left out: even undisturbed minidyn has it otherwise", s.name)
	case wrong != "":
		t.Fatalf("%s, with no fault at all:\n%s", s.name, wrong)
	}
	return wrong != ""
}

// choose takes what the flags say of all plantings, evenly spread over the situations.
func choose(all []*planting) (chosen []*planting) {
	for i, p := range all {
		if *onlyFault == "" && i%*everyFault == 0 || *onlyFault != "" && strings.HasPrefix(p.String()+"/", *onlyFault+"/") {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

// shardsFailIn is the situation in which each of the index's sixteen shards fails to be read. They are read alike, so that
// in others the first one does.
const shardsFailIn = "sweep-asks"

// plantings are all mishaps of a situation that there can be.
func plantings(s *situation) (all []*planting) {
	requests := s.undisturbed.requests
	for i, operation := range requests {
		if i > 0 && operation == indexQuery && requests[i-1] == indexQuery && s.name != shardsFailIn {
			continue
		}
		for _, m := range mishaps {
			if m.startsAt(operation) {
				all = append(all, &planting{of: s, at: i + 1, mishap: m})
			}
		}
	}
	// It dies after its last request, and before it answers.
	return append(all, &planting{of: s, at: len(requests) + 1, mishap: mishap{kind: death}})
}

func summarise(t *testing.T, situations []*situation, chosen []*planting) {
	t.Helper()
	requests, equal := 0, 0
	for _, s := range situations {
		requests += len(s.undisturbed.requests)
	}
	shown := 0
	for _, p := range chosen {
		if p.wrong == "" {
			equal++
			continue
		}
		if t.Fail(); shown < maxDescribed {
			t.Logf("go test ./cmd/inorder/scenario -run '^TestFaultMatrix$' -v -args -cell %s\n%s", p, p.wrong)
			shown++
		}
	}
	if len(chosen) == 0 {
		t.Fatalf("no fault is called %s", *onlyFault)
	}
	t.Logf("proof: %d situations of %d requests, %d faults planted, %d ends equal to the undisturbed one",
		len(situations), requests, len(chosen), equal)
}

// maxDescribed is how many ends that are wrong are described. The table counts the others.
const maxDescribed = 20

// each hands the elements out to as many workers as the engine stands, each with a bench of its own.
func each[T any](t *testing.T, engine *backend.Backend, all []T, do func(*bench, T)) {
	t.Helper()
	var next atomic.Int64
	var wait sync.WaitGroup
	for n := range engine.Parallel() {
		tables, err := engine.CreateTables(t.Context(), fmt.Sprintf("%s-%d", t.Name(), n))
		if err != nil {
			t.Fatal(err)
		}
		on := &bench{engine, tables}
		wait.Go(func() {
			for at := next.Add(1) - 1; at < int64(len(all)); at = next.Add(1) - 1 {
				do(on, all[at])
			}
			if err := engine.DropTables(t.Context(), on.tables); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

func readSituations(t *testing.T, b *backend.Backend) (all []*situation) {
	t.Helper()
	missing := lacks(t, b)
	for _, path := range glob(t, "testdata/faults/*.yaml") {
		if *onlyFault != "" && !strings.HasPrefix(*onlyFault+"/", situationName(path)+"/") {
			continue
		}
		if why := missing(path); why != "" {
			t.Logf("%s is left out: the engine lacks %s", situationName(path), why)
			continue
		}
		all = append(all, readSituation(t, path))
	}
	return all
}

func situationName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".yaml") }

func readSituation(t *testing.T, path string) *situation {
	t.Helper()
	f, err := loadFile(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	s := &situation{name: situationName(path), script: f.scripts[0]}
	s.moment = 1 + slices.IndexFunc(s.script.steps, func(s step) bool { return s.action == reset{} })
	if len(f.scripts) != 1 || s.moment == 0 || s.moment == len(s.script.steps) {
		t.Fatalf("%s is not one script with a step behind `reset`", path)
	}
	return s
}

// A bench is tables that one play after the other uses.
type bench struct {
	backend *backend.Backend
	tables  ddb.Tables
}

// attempt plays a situation with a mishap, and leaves the tables empty. What is wrong already without a comparison is in
// the outcome.
func (b *bench) attempt(ctx context.Context, s *situation, p planting) outcome {
	r := playWith(ctx, b.backend, b.tables, s, p)
	if err := b.clear(ctx); err != nil {
		r.wrong += err.Error() + "\n"
	}
	return r
}

// clear takes less time than other tables would. An index of minidyn keeps what was deleted.
func (b *bench) clear(ctx context.Context) (err error) {
	if b.backend.Name() != local.Minidyn {
		return b.backend.EmptyTables(ctx, b.tables)
	}
	if err = b.backend.DropTables(ctx, b.tables); err == nil {
		b.tables, err = b.backend.CreateTables(ctx, fmt.Sprint("faults-", cleared.Add(1)))
	}
	return err
}

var cleared atomic.Int64

// told-twice has two effects of each step, told-at-length one, of which an entity has room for two.
func init() {
	tell := func(effects ...any) ordering.Projector {
		return func(_ map[string]any, e *events.Event) (map[string]any, []any, error) {
			return map[string]any{"last": e.Data()["amount"]}, effects, nil
		}
	}
	projections.Register("told-twice", tell("first", "second"))
	projections.Register("told-at-length", tell(strings.Repeat("x", 150_000)))
}
