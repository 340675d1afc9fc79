package explore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPlantedBugs guards the exploration itself: each bug is found when it is planted, by the property that it breaks, and
// nothing is where none is. A panic does not count: it tells of the planted text, and not of what the exploration looks for.
// The product's sources have no switch: the bugs are laid over them for one build of this test (go help build, -overlay).
func TestPlantedBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it builds programs of its own, without the race detector")
	}
	binary := buildPlanted(t)
	clean := map[string]bool{}
	for _, bug := range bugs {
		place := fmt.Sprintf("%s, with mishaps: %t", bug.situation, bug.mishaps)
		if clean[place] {
			continue
		}
		clean[place] = true
		if found, out := explorePlanted(t, binary, planted{situation: bug.situation, mishaps: bug.mishaps}); found {
			t.Errorf("%s: without a bug there is a fault:\n%s", place, out)
		}
	}
	steps := []int{}
	for _, bug := range bugs {
		found, out := explorePlanted(t, binary, bug)
		if !found {
			t.Errorf("%s: not found in %q", bug.name, bug.situation)
			continue
		}
		if fault, _, _ := strings.Cut(out, "\n"); strings.Contains(fault, panicMark) || !strings.Contains(fault, bug.finds) {
			t.Errorf("%s: found is not %q, but\n%s", bug.name, bug.finds, out)
			continue
		}
		steps = append(steps, stepsIn(out))
		t.Logf("planted: %s\n%s", bug.name, out)
	}
	if len(steps) == len(bugs) {
		t.Logf("proof: %d of %d planted bugs found, each by its property, shortest trace %d steps, longest %d; none where none is planted",
			len(steps), len(bugs), slices.Min(steps), slices.Max(steps))
	}
}

// buildPlanted builds this test, once, over sources that hold all bugs, each behind a switch.
func buildPlanted(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	overlay := map[string]string{}
	lay := func(file, text string) {
		path, err := filepath.Abs(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		instead := filepath.Join(folder, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(instead, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[path] = instead
	}
	for file, text := range plantedSources(t) {
		lay(file, text)
	}
	for _, pkg := range []string{"ordering", "memory"} {
		lay(filepath.Join(strings.TrimPrefix(pkg, "ordering"), "planted.go"),
			"package "+pkg+"\n\nimport \"os\"\n\nvar planted = os.Getenv(\"PLANTED\")\n")
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	listed, binary := filepath.Join(folder, "overlay.json"), filepath.Join(folder, "explore.test")
	if err := os.WriteFile(listed, list, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", listed, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("the bugs do not compile: %v\n%s", err, out)
	}
	return binary
}

// plantedSources are the files that hold bugs.
func plantedSources(t *testing.T) map[string]string {
	t.Helper()
	sources := map[string]string{}
	for _, bug := range bugs {
		if sources[bug.file] == "" {
			text, err := os.ReadFile(filepath.Join("..", bug.file))
			if err != nil {
				t.Fatal(err)
			}
			sources[bug.file] = string(text)
		}
		if n := strings.Count(sources[bug.file], bug.old); n != 1 {
			t.Fatalf("the bug %q cannot be planted: %s has its text %d times, not once:\n%s", bug.name, bug.file, n, bug.old)
		}
		guarded := strings.ReplaceAll(bug.new, "PLANTED", fmt.Sprintf("(planted == %q)", bug.name))
		sources[bug.file] = strings.Replace(sources[bug.file], bug.old, guarded, 1)
	}
	return sources
}

// explorePlanted explores one situation with one bug, or with none.
func explorePlanted(t *testing.T, binary string, bug planted) (found bool, out string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), binary, "-test.run=^TestExploration$", "-states", strconv.Itoa(*plantedStates),
		"-situation", bug.situation, fmt.Sprintf("-mishaps=%t", bug.mishaps))
	c.Env = append(os.Environ(), "PLANTED="+bug.name)
	var text bytes.Buffer
	c.Stdout, c.Stderr = &text, &text
	err := c.Run()
	exit := (*exec.ExitError)(nil)
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err != nil && !strings.Contains(text.String(), faultMark) {
		t.Fatalf("%s: it ended without a fault that it found: %v\n%s", bug.name, err, &text)
	}
	return err != nil, transcriptIn(text.String())
}

// transcriptIn cuts what tests print around a transcript.
func transcriptIn(out string) string {
	_, out, _ = strings.Cut(out, faultMark)
	out, _, _ = strings.Cut(out, "\nFAIL")
	lines := strings.Split(out, "\n")
	for i := range lines {
		lines[i] = "  " + strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

var numbered = regexp.MustCompile(`(?m)^ *([0-9]+) `)

// stepsIn is the length of a transcript.
func stepsIn(out string) (steps int) {
	for _, line := range numbered.FindAllStringSubmatch(out, -1) {
		steps, _ = strconv.Atoi(line[1])
	}
	return steps
}
