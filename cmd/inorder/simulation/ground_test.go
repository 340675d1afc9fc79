package simulation

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"inorder/cmd/inorder/backend"
	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/ordering"
)

// A ground is where lives play: engines that they share, and a folder for what the operator's commands read.
type ground struct {
	sites  map[string]*site // by the engine's name
	folder string
	trace  io.Writer // nil: nobody wants to know what happens
	lives  atomic.Int64
	// plant, where it is set, puts a fault between the functions and their store in memory.
	plant func(ordering.Upkeep) ordering.Upkeep
}

// A site is an engine.
type site struct {
	backend *backend.Backend
	reach   aws.Config
	alone   *sync.Mutex // where it stands one life at a time
	scans   bool        // where its index is not to be trusted
}

func newGround(t *testing.T) *ground {
	t.Helper()
	for _, name := range []string{"AWS_CA_BUNDLE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		t.Setenv(name, "") // the operator's commands read them, which costs more than what they do here
	}
	g := &ground{folder: t.TempDir(), sites: map[string]*site{}}
	for _, name := range []string{local.Dynoxide, local.Minidyn} {
		engine := local.ForTest(t, name)
		b, err := backend.Open(t.Context(), backend.Choice{Endpoint: engine.Endpoint}, t.Output())
		if err != nil {
			t.Fatal(err)
		}
		g.sites[name] = &site{backend: b, reach: engine.Config()}
	}
	// Its tables stand in a map that nothing guards, and its index forgets an item when an update brings another one in.
	g.sites[local.Minidyn].alone, g.sites[local.Minidyn].scans = new(sync.Mutex), true
	return g
}

// options are those of a client on Lambda, but without the pauses, which are drawn by chance.
func (w *world) options() ddb.ClientOptions {
	return ddb.ClientOptions{Transport: w, MaxPause: time.Nanosecond}
}

// store is the functions' way to the engine.
func (w *world) store() ordering.Upkeep {
	s := &ddb.Store{API: ddb.NewClient(w.reach, w.options()), Tables: w.tables}
	if w.scans {
		return scanning{s, w}
	}
	return s
}

// outbox is a producer's way to its table, or the relay's.
func (w *world) outbox(name string) *ddb.Outbox {
	n := 0
	return &ddb.Outbox{
		API: ddb.NewClient(w.reach, w.options()), Table: w.outboxTable, Now: time.Now,
		Wait:     func(ctx context.Context, round int) { pause(ctx, time.Duration(round+1)*time.Millisecond) },
		NewToken: func() string { n++; return fmt.Sprint(name, "-", n) },
	}
}

// scanning lists the entities of the index by what the table says.
type scanning struct {
	ordering.Upkeep
	w *world
}

func (s scanning) Marked(ctx context.Context, shard int, _ time.Time, visit func([]ordering.Marked) bool) error {
	if shard > 0 {
		return nil
	}
	var keys []string
	var err error
	u := turn{op: "scan", lane: commonLane, effect: func() {
		s.w.ferry.over(func() { keys, err = s.w.backend.MarkedKeys(context.Background(), s.w.tables) })
	}}
	if fate := threadOf(ctx).pass(ctx, u); fate.spoils() {
		return fmt.Errorf("%w: %s", errLost, fate)
	}
	page := make([]ordering.Marked, len(keys))
	for i, pk := range keys {
		page[i].PK = pk
		if page[i].Key, err = ddb.ParseEntityPK(pk); err != nil {
			return err
		}
	}
	if len(page) > 0 {
		visit(page)
	}
	return err
}

// play plays one life, in a bubble of its own, and says what is wrong at its end.
func (g *ground) play(t *testing.T, s uint64, only []string) (count tally, faults []string) {
	l := newLife(s, only)
	f := newFerry()
	defer f.close()
	w := newWorld(l, g, f)
	w.file = filepath.Join(g.folder, fmt.Sprintf("%d-%d.yaml", s, g.lives.Add(1)))
	w.must(os.WriteFile(w.file, []byte(l.text), 0o600))
	defer os.Remove(w.file)
	if w.site != nil {
		if w.alone != nil {
			w.alone.Lock()
			defer w.alone.Unlock()
		}
		defer w.createTables()()
	}
	synctest.Test(t, func(*testing.T) { w.play() })
	w.countEnd()
	return w.count, w.faults
}

// createTables creates the tables of a life, and returns how they are dropped.
func (w *world) createTables() (drop func()) {
	ctx := context.Background()
	name := fmt.Sprintf("life-%d-%d", w.seed, w.lives.Add(1))
	var err error
	w.tables, err = w.backend.CreateTables(ctx, name)
	w.must(err)
	w.outboxTable = name + "-outbox"
	w.must(w.backend.CreateOutbox(ctx, w.outboxTable))
	return func() {
		w.must(w.backend.DropTables(ctx, w.tables))
		w.must(w.backend.DropOutbox(ctx, w.outboxTable))
	}
}

// countEnd counts what a life leaves behind.
func (w *world) countEnd() {
	w.count[seedsPlayed] = 1
	if w.engine != "" {
		w.count["on "+w.engine] = 1
	}
	w.count["effects"] = len(w.queues.Sent(backend.EffectsURL))
	for _, reason := range w.copied {
		w.count["quarantine: "+string(reason)]++
	}
}

var _ ordering.Upkeep = view{}
