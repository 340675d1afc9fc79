package scenario

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"inorder/cmd/inorder/backend"
	"inorder/ddb/local"
	"inorder/functions/projections"
)

// A Player plays scenario files on one engine.
type Player struct {
	Backend  *backend.Backend
	Parallel int    // scripts at once; at least 1 is taken
	Seed     uint64 // decides how invocations that run at once interleave
	Cold     bool   // every invocation begins without a memory of those before

	// engine carries requests to the engine; nil: as they are. Tests take something out of them that way, and see
	// that the scenarios notice.
	engine http.RoundTripper

	// atMost is how many combinations of a file are played, evenly spread; 0: all. For tests that play everything
	// a second time in another way.
	atMost int

	named  sync.Once
	name   string
	tables atomic.Int64
}

// Play plays files and returns one result for each, in their order, as soon as all are there. Scripts of all files are
// played side by side, each in tables of its own.
func (p *Player) Play(ctx context.Context, paths []string) []Result {
	results := make([]Result, len(paths))
	var jobs []job
	for i, path := range paths {
		results[i] = Result{File: path, Name: nameOf(path)}
		jobs = append(jobs, p.open(&results[i])...)
	}
	p.run(ctx, jobs)
	for i := range results {
		results[i].close()
	}
	return results
}

// A job is one script to play, and what becomes of it.
type job struct {
	script script
	result *Result
	place  int

	failures []Failure
	err      error
}

// open loads a file; one that cannot be played leaves no jobs.
func (p *Player) open(r *Result) []job {
	content, err := os.ReadFile(r.File)
	if err != nil {
		r.Unplayable = err.Error()
		return nil
	}
	f, err := load(content, slices.Collect(mapKeys(projections.All())))
	r.Name, r.Combinations = cmp.Or(f.name, r.Name), len(f.scripts)
	if err != nil {
		r.Unplayable = err.Error()
		return nil
	}
	var jobs []job
	for _, place := range spread(len(f.scripts), p.atMost) {
		jobs = append(jobs, job{script: f.scripts[place], result: r, place: place})
	}
	return jobs
}

// spread picks at most so many of n places, the first and the last among them; 0: all.
func spread(n, atMost int) []int {
	if atMost <= 0 || n <= atMost {
		atMost = n
	}
	places := make([]int, atMost)
	for i := range places {
		places[i] = i * (n - 1) / max(atMost-1, 1)
	}
	return places
}

func mapKeys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name := range m {
			if !yield(name) {
				return
			}
		}
	}
}

// nameOf stands in for the name of a file that cannot be read.
func nameOf(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

func (p *Player) run(ctx context.Context, jobs []job) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range max(1, p.Parallel) {
		workers.Go(func() {
			for at := next.Add(1) - 1; at < int64(len(jobs)); at = next.Add(1) - 1 {
				j := &jobs[at]
				j.failures, j.err = p.play(ctx, j.script, p.Seed+uint64(j.place))
			}
		})
	}
	workers.Wait()
	for _, j := range jobs {
		j.result.Failures = append(j.result.Failures, j.failures...)
		j.result.err = errors.Join(j.result.err, j.err)
	}
}

// play plays one script in a world of its own.
func (p *Player) play(ctx context.Context, s script, seed uint64) ([]Failure, error) {
	p.named.Do(func() { p.name = rand.Text() }) // an engine at an address may be somebody else's, too
	tables, err := p.Backend.CreateTables(ctx, fmt.Sprintf("scenario-%s-%05d", p.name, p.tables.Add(1)))
	if err != nil {
		return nil, err
	}
	engine := p.engine
	if engine == nil {
		engine = local.Transport()
	}
	w := newWorld(ctx, p.Backend, engine, tables, s, seed)
	w.alwaysCold = p.Cold
	w.play()
	return w.failures, p.Backend.DropTables(ctx, tables)
}

// close decides whether the file holds.
func (r *Result) close() {
	if r.err != nil {
		r.Failures = append(r.Failures, Failure{What: "play", Expected: "to the end", Actual: r.err.Error()})
	}
	r.OK = r.Unplayable == "" && len(r.Failures) == 0
}
