// Command benchmarks measures the handlers on the local engine, against what one would use instead, and writes
// docs/benchmarks.md with its pictures. `make bench` runs it.
//
// A machine is noisy, so nearly everything that has a goal is a ratio: both sides run in turns within the same minutes,
// several rounds, of which the median counts and the lowest and the highest are told. What each part came to is kept in
// results.json, so that a part can be measured by itself and the page is made anew of all of them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"inorder/ddb/local"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

// part is one thing that is measured.
type part struct {
	name, about string
	run         func(ctx context.Context, b *bench) (result, error)
}

var parts = []part{
	{"throughput", "consumer and raw loop", throughput},
	{"hot", "one hot entity", hot},
	{"decide", "decode, route, decide", decide},
	{"units", "write units per event", units},
	{"powertools", "Powertools for AWS Lambda (TypeScript)", powertools},
	{"latency", "parked → drained, gap → healed", latency},
	{"reorder", "disorder", reorder},
	{"growth", "more entities, larger batches, more instances", growth},
	{"upkeep", "sweeps and cold starts", upkeep},
}

// bench is what the parts share.
type bench struct {
	*world
	rounds int
	scale  float64
	out    io.Writer
	folder string // the project's
	note   string
	brief  bool // of each row of sizes only the first and the last; for a test
}

// n is a number of events, or whatever else makes a run long, at the scale that was asked for.
func (b *bench) n(full int) int { return max(int(float64(full)*b.scale), 1) }

// sizes are all of some, or two.
func sizes[T any](b *bench, all ...T) []T {
	if b.brief {
		return []T{all[0], all[len(all)-1]}
	}
	return all
}

// few is a number of rounds for what has many rows.
func (b *bench) few() int { return min(b.rounds, 3) }

// say shows what is under way.
func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.out, "    "+format+"\n", args...) }

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("benchmarks", flag.ContinueOnError)
	chosen := flags.String("parts", "all", "which to measure, with commas between, or none to draw the page again: "+strings.Join(names(), ", "))
	rounds := flags.Int("rounds", 7, "rounds of what is measured in turns")
	scale := flags.Float64("scale", 1, "of all sizes: 0.1 is a tenth")
	note := flags.String("note", "", "what the page is to say of this run, such as what else ran meanwhile")
	keep := flags.Bool("write", true, "write results.json, the page and its pictures")
	if err := flags.Parse(args); err != nil {
		return err
	}
	which, err := choose(*chosen)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	folder, err := projectFolder()
	if err != nil {
		return err
	}
	b := &bench{rounds: *rounds, scale: *scale, out: out, folder: folder, note: *note}
	measured, err := b.all(ctx, which)
	if err != nil || !*keep {
		return err
	}
	return update(folder, measured)
}

func names() (all []string) {
	for _, p := range parts {
		all = append(all, p.name)
	}
	return all
}

func choose(list string) (which []part, err error) {
	switch list {
	case "all":
		return parts, nil
	case "none":
		return nil, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		at := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if at < 0 {
			return nil, fmt.Errorf("no part %q: there are %s", name, strings.Join(names(), ", "))
		}
		which = append(which, parts[at])
	}
	return which, nil
}

// all measures parts, each on an engine of its own, and prints what they come to.
func (b *bench) all(ctx context.Context, which []part) (measured []result, err error) {
	for i, p := range which {
		fmt.Fprintf(b.out, "%d of %d: %s\n", i+1, len(which), p.about)
		start := time.Now()
		r, err := b.one(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		r.Took = time.Since(start).Round(time.Second).String()
		fmt.Fprintf(b.out, "%s took %s\n", p.name, r.Took)
		measured = append(measured, r)
		show(b.out, r)
	}
	return measured, nil
}

func (b *bench) one(ctx context.Context, p part) (r result, err error) {
	engine, err := local.Start(ctx, local.Dynoxide)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	b.world = &world{engine: engine}
	if r, err = p.run(ctx, b); err != nil {
		return r, err
	}
	r.Part, r.On, r.Date, r.Note = p.name, thisMachine(ctx, engine), time.Now().UTC().Format(time.DateOnly), b.note
	if b.scale != 1 {
		r.Size = fmt.Sprintf("all sizes times %g", b.scale)
	}
	return r, nil
}

// projectFolder is where go.mod is.
func projectFolder() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("run this inside of the project")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}
