package scenario

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"inorder/cmd/inorder/backend"
	"inorder/ddb/local"
	"inorder/events"
	"inorder/functions/projections"
)

// folder holds the project's scenarios: the contract's, those of faults seen elsewhere, and our own.
const folder = "../../../events/scenarios"

// perFile is not all of them by default, for with the race detector they would take most of the time. All of them are
// played without it, by a test of the whole program.
var perFile = flag.Int("combinations", 3, "how many combinations of a scenario's matrix to play, evenly spread; 0: all")

// So many are played where not the file is tried, but a cold function or the player, and another engine.
const (
	onceMore = 2
	justOne  = 1
)

func scenarioFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.yaml"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d scenarios in %s, %v: they have moved", len(files), folder, err)
	}
	return files
}

// TestEveryScenarioHolds plays the scenarios on the default engine, dynoxide where it is to be had.
func TestEveryScenarioHolds(t *testing.T) {
	playAll(t, open(t, ""), *perFile)
}

// TestEveryScenarioHoldsOnMinidyn gives the consumer a second, independent opinion on what DynamoDB is.
func TestEveryScenarioHoldsOnMinidyn(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thing at a time, which the race detector has no need to see")
	}
	playAll(t, open(t, local.Minidyn), justOne)
}

func open(t *testing.T, engine string) *backend.Backend {
	t.Helper()
	b, err := backend.Open(t.Context(), backend.Choice{Engine: engine}, t.Output())
	if missing := (*local.MissingError)(nil); errors.As(err, &missing) && os.Getenv(local.EngineVariable) != local.Dynoxide {
		t.Skip(err) // as local.ForTest has it: only where it was asked for, a missing engine is a failure
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func playAll(t *testing.T, b *backend.Backend, atMost int) {
	t.Helper()
	var files []string
	missing := lacks(t, b)
	for _, path := range scenarioFiles(t) {
		if why := missing(path); why != "" {
			t.Run(label(path), func(t *testing.T) { t.Skip("minidyn lacks " + why) })
			continue
		}
		files = append(files, path)
	}
	player := &Player{Backend: b, Parallel: b.Parallel(), Seed: 1, atMost: atMost}
	for _, r := range player.Play(context.WithoutCancel(t.Context()), files) {
		t.Run(label(r.File), func(t *testing.T) {
			if !r.OK {
				var text strings.Builder
				r.write(&text)
				t.Error(text.String())
			}
		})
	}
}

func label(path string) string {
	return filepath.Join(filepath.Base(filepath.Dir(path)), strings.TrimSuffix(filepath.Base(path), ".yaml"))
}

// lackExact is in the probe's words.
var lackExact = fmt.Sprintf("%s and %s: numbers are floats", local.ExactAdd, local.ExactIntegers)

// lackIndex: an UpdateItem that brings an item into an index puts it in the place of another one. A delta's addition is
// such an update.
const lackIndex = "an index that keeps its entries when an update adds one"

// minidynLacks names the scenarios that rely on it. Those that rely on dotted names are told by their streams. Any other
// scenario has to hold there as well.
var minidynLacks = map[string]string{
	"own/sums-of-invocations-at-once":                                lackExact,
	"seeds/amounts-may-be-decimal-strings":                           lackExact,
	"seeds/delta-without-sequence-relies-on-the-marker":              lackExact,
	"seeds/gap-never-existed-is-passed-where-the-producer-proves-it": lackIndex,
	"seeds/gap-of-a-refused-event-is-asked-for":                      lackIndex,
	"seeds/gap-one-escalation-however-many-sweeps-overlap":           lackIndex,
	"seeds/skip-refuses-to-go-beyond-what-is-known":                  lackIndex,
}

// dotted are the clocks that are kept under dotted names, beside their prefix.
var dotted = []events.ClockKind{events.ClockAttribute, events.ClockSource}

func loadFile(path string) (*file, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return load(content, slices.Collect(mapKeys(projections.All())))
}

func usesDottedNames(t *testing.T, path string) bool {
	t.Helper()
	f, err := loadFile(path)
	if err != nil {
		return false // whoever plays it says so
	}
	return slices.ContainsFunc(f.scripts, func(s script) bool {
		return slices.ContainsFunc(s.streams.Streams, func(s *events.Stream) bool { return slices.Contains(dotted, s.Clock) })
	})
}

// lacks says what a scenario relies on and the engine does not have; empty: nothing. Only minidyn may lack anything.
func lacks(t *testing.T, b *backend.Backend) func(path string) string {
	t.Helper()
	if b.Name() != local.Minidyn {
		return func(string) string { return "" }
	}
	findings, err := local.ForTest(t, local.Minidyn).Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return func(path string) string {
		if why, ok := minidynLacks[label(path)]; ok {
			return why
		}
		if usesDottedNames(t, path) {
			return findings.Missing(local.DottedNames)
		}
		return ""
	}
}

// What a warm function remembers saves requests, and decides nothing: a cold one ends in the same place.
func TestEveryScenarioHoldsInAColdFunction(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thing at a time, which the race detector has no need to see")
	}
	b := open(t, "")
	missing := lacks(t, b)
	player := &Player{Backend: b, Parallel: b.Parallel(), Seed: 1, Cold: true, atMost: onceMore}
	for _, r := range player.Play(t.Context(), scenarioFiles(t)) {
		r.Failures = slices.DeleteFunc(r.Failures, func(f Failure) bool { return strings.HasPrefix(f.What, "requests.") })
		if len(r.Failures) > 0 && missing(r.File) == "" {
			var text strings.Builder
			r.write(&text)
			t.Errorf("play it again with --cold:\n%s", text.String())
		}
	}
}

func TestMinidynLacksNoScenarioThatIsGone(t *testing.T) {
	there := map[string]bool{}
	for _, path := range scenarioFiles(t) {
		there[label(path)] = true
		if _, named := minidynLacks[label(path)]; named && usesDottedNames(t, path) {
			t.Errorf("%s need not be named: its streams tell", label(path))
		}
	}
	for name := range minidynLacks {
		if !there[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

// The interleaving of invocations is a choice; no expectation may depend on it.
func TestScenariosOfInvocationsAtOnceHoldInAnyOrder(t *testing.T) {
	var files []string
	for _, path := range scenarioFiles(t) {
		if strings.Contains(path, "concurrent") || strings.Contains(path, "at-once") {
			files = append(files, path)
		}
	}
	b := open(t, "")
	missing := lacks(t, b)
	for seed := uint64(2); seed < 4; seed++ {
		player := &Player{Backend: b, Parallel: b.Parallel(), Seed: seed}
		for _, r := range player.Play(t.Context(), files) {
			if !r.OK && missing(r.File) == "" {
				var text strings.Builder
				r.write(&text)
				t.Errorf("play it again with: inorder scenario --seed %d %s\n%s", seed, r.File, text.String())
			}
		}
	}
}
