package rie

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
)

// times are durations of one kind.
type times []time.Duration

func (t times) sorted() times { return slices.Sorted(slices.Values(t)) }

func (t times) median() time.Duration { return t.sorted()[len(t)/2] }

func (t times) longest() time.Duration { return slices.Max(t) }

// String is the shortest, the median and the longest, in milliseconds.
func (t times) String() string {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return fmt.Sprintf("%5.1f %5.1f %6.1f", ms(slices.Min(t)), ms(t.median()), ms(t.longest()))
}

// printTable writes what was measured, and beside it what the project aims for and whether it is so.
func printTable(w io.Writer, starts int, all []*measured) {
	const row = "%-9s %8s  %-19s  %-19s  %-19s  %-19s  %s\n"
	fmt.Fprintf(w, "\n%d starts of each function on %s, %d CPUs; times in milliseconds: shortest, median, longest\n\n",
		starts, runtime.GOARCH, runtime.NumCPU())
	fmt.Fprintf(w, row, "function", "zip MB", "init", "init, own clock", "first invoke", "warm invoke", "cold, as a whole")
	for _, m := range all {
		fmt.Fprintf(w, row, m.name, megabytes(m.zipBytes), m.init, m.ownInit, m.first, m.warm, m.whole)
	}
	fmt.Fprintf(w, "\n%-9s %8s  %s\n", "goal", "< "+megabytes(zipGoalBytes), fmt.Sprintf("< %d", initGoal.Milliseconds()))
	for _, m := range all {
		fmt.Fprintf(w, "%-9s %8s  %s\n", m.name, met(m.zipBytes < zipGoalBytes, true),
			met(m.init.median() < initGoal, m.init.longest() < initGoal))
	}
	fmt.Fprint(w, explanation)
}

func met(usually, always bool) string {
	switch {
	case usually && always:
		return "yes"
	case usually:
		return "yes by the median, no by the longest"
	}
	return "no"
}

func megabytes(n int) string { return fmt.Sprintf("%.2f", float64(n)/1e6) }

const explanation = `
init: from the start of the process to its first request for an invocation, as the runtime interface emulator logs it
(INIT REPORT; the "Init Duration" of its REPORT line is something else); "own clock" is the same against a runtime API
that does nothing but note the time. A first invocation opens the connections, to services on this machine without TLS.
On Lambda there is more: the download of the zip, a new environment, TLS, and as much of a CPU as the memory size buys.

`
