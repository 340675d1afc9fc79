package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"inorder/cmd/inorder/backend"
	"inorder/ddb/local"
)

// folder holds the project's scenarios: the contract's, those of faults seen elsewhere, and our own.
const folder = "../../../events/scenarios"

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
	playAll(t, open(t, ""))
}

// TestEveryScenarioHoldsOnMinidyn gives the consumer a second, independent opinion on what DynamoDB is.
func TestEveryScenarioHoldsOnMinidyn(t *testing.T) {
	playAll(t, open(t, local.Minidyn))
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

func playAll(t *testing.T, b *backend.Backend) {
	var files []string
	for _, path := range scenarioFiles(t) {
		if b.Name() == local.Minidyn {
			if why, ok := notOnMinidyn(path); ok {
				t.Run(label(path), func(t *testing.T) { t.Skip("minidyn lacks " + why) })
				continue
			}
		}
		files = append(files, path)
	}
	player := &Player{Backend: b, Parallel: b.Parallel(), Seed: 1}
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

// What minidyn does otherwise than AWS, by the probe's names where the probe looks at it.
var (
	lackDotted = "dotted names beside their prefix: with _clock there, #n for _clock.name is read as a path into it"
	lackExact  = fmt.Sprintf("%s and %s: numbers are floats", local.ExactAdd, local.ExactIntegers)
	lackLimit  = fmt.Sprintf("%s: an item may be of any size", local.ItemLimit)
)

const lackRemove = "REMOVE beside SET: the attribute stays"

// minidynLacks names the scenarios that rely on it. A scenario that is not named has to hold there as well.
var minidynLacks = map[string]string{
	"field/a-duplicate-is-acknowledged-every-time":            lackDotted,
	"field/a-state-too-large-for-an-item-is-set-aside":        lackLimit,
	"field/an-error-that-is-not-understood-comes-back":        lackDotted,
	"field/parts-that-fit-alone-but-not-together-do-not-loop": lackLimit,
	"own/a-message-that-stands-twice-in-one-batch":            lackDotted,
	"own/a-source-that-deletes-leaves-the-others":             lackRemove,
	"own/crashes-at-every-request-of-a-mixed-batch":           lackDotted,
	"own/empty-maps-and-lists-are-values":                     "empty maps and lists: they come back as another attribute's value",
	"own/every-digit-of-a-number-is-kept":                     lackDotted,
	"own/invocations-at-once-on-every-mode":                   lackDotted,
	"own/sums-of-invocations-at-once":                         lackExact,
	"own/two-events-of-one-position-in-one-batch":             lackDotted,
	"seeds/ambiguous-commit-of-state-and-marker":              lackDotted,
	"seeds/amounts-may-be-decimal-strings":                    lackExact,
	"seeds/attribute-any-order-any-batch-converges":           lackDotted,
	"seeds/attribute-late-status-keeps-the-fresh-name":        lackDotted,
	"seeds/attribute-new-generation-starts-from-nothing":      lackDotted,
	"seeds/attribute-null-removes-and-keeps-its-clock":        lackDotted,
	"seeds/attribute-partly-newer-event-keeps-both-halves":    lackDotted,
	"seeds/crash-state-and-delta-end-as-if-nothing-happened":  lackDotted,
	"seeds/delta-without-sequence-relies-on-the-marker":       lackExact,
	"seeds/error-not-understood-is-never-acked":               lackDotted,
	"seeds/source-event-replaces-what-its-source-owns":        lackRemove,
	"seeds/state-one-batch-one-write-per-entity":              lackDotted,
	"seeds/state-tombstone-cannot-be-undone-by-the-past":      lackDotted,
}

func notOnMinidyn(path string) (why string, lacks bool) {
	why, lacks = minidynLacks[label(path)]
	return why, lacks
}

// What a warm function remembers saves requests, and decides nothing: a cold one ends in the same place.
func TestEveryScenarioHoldsInAColdFunction(t *testing.T) {
	b := open(t, "")
	player := &Player{Backend: b, Parallel: b.Parallel(), Seed: 1, Cold: true}
	for _, r := range player.Play(t.Context(), scenarioFiles(t)) {
		r.Failures = slices.DeleteFunc(r.Failures, func(f Failure) bool { return strings.HasPrefix(f.What, "requests.") })
		_, lacks := notOnMinidyn(r.File)
		if len(r.Failures) > 0 && (b.Name() != local.Minidyn || !lacks) {
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
	for seed := uint64(2); seed < 4; seed++ {
		player := &Player{Backend: b, Parallel: b.Parallel(), Seed: seed}
		for _, r := range player.Play(t.Context(), files) {
			if _, lacks := notOnMinidyn(r.File); !r.OK && !lacks {
				var text strings.Builder
				r.write(&text)
				t.Errorf("play it again with: inorder scenario --seed %d %s\n%s", seed, r.File, text.String())
			}
		}
	}
}
