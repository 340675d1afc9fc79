package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"inorder/ddb/local"
)

// The goals of decoding, routing and deciding: "at most 3 µs and 12 allocations per event".
const (
	wantMicroseconds = 3
	wantAllocations  = 12
)

// decide runs the benchmark that package ordering has of its own.
func decide(ctx context.Context, b *bench) (result, error) {
	r := result{Tables: []table{{
		Title: "Decode, route, decide",
		Text:  "From a message's body to the plan of its entity's next write, without the write: `go test ./ordering -bench BenchmarkDecide`.",
		Head:  []string{"", "µs per event", "allocations per event"},
	}}}
	out, err := b.gotest(ctx, "./ordering", "-run", "^$", "-bench", "^BenchmarkDecide", "-benchmem", "-count", "5", "-benchtime", fmt.Sprint(b.n(1000), "ms"))
	if err != nil {
		return r, err
	}
	names, micros, allocations := parseBenchmarks(out)
	for _, name := range names {
		us, allocs := spreadOf(micros[name]), spreadOf(allocations[name])
		r.Tables[0].Rows = append(r.Tables[0].Rows, []string{name, us.with(), short(allocs.Median)})
		r.Goals = append(r.Goals, atMost("decode, route, decide: µs per event", name, wantMicroseconds, us, whyDecide),
			atMost("decode, route, decide: allocations per event", name, wantAllocations, allocs, whyDecide))
	}
	return r, nil
}

const whyDecide = "it depends on the machine; two thirds of it go into reading a body of some 350 bytes, strictly, and into its fingerprint, as " +
	"a profile of `BenchmarkDecide` shows"

var benchmarkLine = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// parseBenchmarks reads what `go test -bench` prints. Where a benchmark reports its own numbers per event, these count.
func parseBenchmarks(out string) (names []string, micros, allocations map[string][]float64) {
	micros, allocations = map[string][]float64{}, map[string][]float64{}
	for _, line := range benchmarkLine.FindAllStringSubmatch(out, -1) {
		_, name, _ := strings.Cut(line[1], "/")
		if name == "" {
			name = line[1]
		}
		values := map[string]float64{}
		fields := strings.Fields(line[2])
		for i := 0; i+1 < len(fields); i += 2 {
			values[fields[i+1]], _ = strconv.ParseFloat(fields[i], 64)
		}
		if micros[name] == nil {
			names = append(names, name)
		}
		micros[name] = append(micros[name], either(values, "ns/event", "ns/op")/1000)
		allocations[name] = append(allocations[name], either(values, "allocs/event", "allocs/op"))
	}
	return names, micros, allocations
}

func either(values map[string]float64, first, second string) float64 {
	if v, ok := values[first]; ok {
		return v
	}
	return values[second]
}

// upkeep is what the tests of the sweeper and of cold starts measure.
func upkeep(ctx context.Context, b *bench) (result, error) {
	t := table{
		Title: "Sweeps and cold starts",
		Text: "`make bench-sweep` and `make bench-cold` measure these alone. A cold start is timed under AWS's runtime interface emulator, the " +
			"median of all starts; on Lambda there is more: a new environment, TLS, and as much of a processor as the memory size buys.",
		Head: []string{"", "measured"},
	}
	b.say("one sweep")
	out, err := b.gotest(ctx, "./functions", "-run", "^TestSweepCost$", "-count=1", "-v", "-args", "-swept-rows", fmt.Sprint(b.n(100_000)))
	if err != nil {
		return result{}, err
	}
	t.Rows = append(t.Rows, parseSweep(out)...)
	b.say("cold starts")
	if out, err = b.gotest(ctx, "./localstack/rie", "-run", "^TestColdStart$", "-count=1", "-v", "-args", "-cold-starts", fmt.Sprint(b.n(20))); err != nil {
		return result{}, err
	}
	t.Rows = append(t.Rows, parseColdStarts(out)...)
	return result{Tables: []table{t}}, nil
}

var sweepLine = regexp.MustCompile(`sweep_cost_test\.go:\d+: (.*)`)

func parseSweep(out string) (rows [][]string) {
	for _, line := range sweepLine.FindAllStringSubmatch(out, -1) {
		rows = append(rows, []string{"a sweep", line[1]})
	}
	if rows == nil {
		return [][]string{{"a sweep", notRun}}
	}
	return rows
}

// coldLine is a row of the test's table: the function, its size, and shortest, median and longest of each of five times.
var coldLine = regexp.MustCompile(`(?m)^ *(consumer|sweeper|relay) +([0-9.]+)((?: +[0-9.]+){15})$`)

func parseColdStarts(out string) (rows [][]string) {
	for _, line := range coldLine.FindAllStringSubmatch(out, -1) {
		times := strings.Fields(line[3])
		rows = append(rows, []string{"a cold start of the " + line[1], fmt.Sprintf(
			"zip %s MB; from the start of the process to its first request %s ms, first invocation %s ms, a warm one %s ms",
			line[2], times[1], times[7], times[10])})
	}
	if rows == nil {
		return [][]string{{"cold starts", notRun}}
	}
	return rows
}

func (b *bench) gotest(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test"}, args...)...)
	cmd.Dir, cmd.Env = b.folder, append(os.Environ(), local.EngineVariable+"="+local.Dynoxide)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go test %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}
