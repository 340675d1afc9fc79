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

// planted is a bug that the exploration must find: in a file of the product, in place of some text that stands there once,
// stands another. PLANTED in it is true where this bug is switched on.
type planted struct {
	name      string
	file      string // below ordering
	old, new  string
	situation string // in which it shows
	mishaps   bool   // only where something else goes wrong, too
}

var bugs = []planted{
	{
		"waiting numbers are left out of the run", "step.go",
		"waits := in.base.Waiting.Has(n)\n",
		"waits := in.base.Waiting.Has(n) && !PLANTED\n",
		"step", false,
	},
	{
		"the condition of the write is left out", "memory/store.go",
		"return now.Exists == prev.Exists && ",
		"return PLANTED || now.Exists == prev.Exists && ",
		"step", false,
	},
	{
		"the condition is taken from a new look, not from what was decided on", "swap.go",
		"	return l.landed(ctx, key, next, l.Store.Swap(ctx, key, prev, next, nil))",
		"	if PLANTED {\n		if prev, err = l.Store.Entity(ctx, key); err != nil {\n			return nil, false, err\n		}\n		next.Rev = prev.Rev + 1\n	}\n" +
			"	return l.landed(ctx, key, next, l.Store.Swap(ctx, key, prev, next, nil))",
		"step", false,
	},
	{
		"messages are acknowledged before the write", "step_loop.go",
		"	return r.move(ctx, base, plan)\n",
		"	if PLANTED {\n		for j, o := range plan.landed {\n			j.decide(o)\n		}\n	}\n	return r.move(ctx, base, plan)\n",
		"step", true,
	},
	{
		"the gap attributes are cleared while something is owed", "gap.go",
		"if !e.openGap() && !e.OwesEffects() && ",
		"if !e.openGap() && (PLANTED || !e.OwesEffects()) && ",
		"effects from the log", false,
	},
	{
		"the write is skipped for a batch that only parked", "step_loop.go",
		"	case !plan.moves:\n",
		"	case !plan.moves || PLANTED && plan.next.Applied == r.entity.Applied:\n",
		"step", false,
	},
	{
		"the log row of a parked event is left out", "step_loop.go",
		"	case len(plan.puts) > 0:\n",
		"	case len(plan.puts) > 0 && !PLANTED:\n",
		"step", false,
	},
	{
		"_dispatched moves before the effects are sent", "effects.go",
		"		unsent, sendErr := r.send(ctx, due)\n",
		"		if PLANTED {\n			if e, err = r.moveDispatched(ctx, e, Position{e.Gen, last}); err != nil {\n				return e, err\n			}\n		}\n" +
			"		unsent, sendErr := r.send(ctx, due)\n",
		"effects from the log", false,
	},
	{
		"messages are acknowledged though their effects could not be sent", "step_loop.go",
		"			if unsent != nil && (",
		"			if !PLANTED && unsent != nil && (",
		"effects from the log", true,
	},
	{
		"a new generation forgets what was parked", "step_loop.go",
		"	for numbers := range slices.Chunk(r.entity.Waiting, leftoversAtOnce) {\n",
		"	for numbers := range slices.Chunk(r.entity.Waiting, leftoversAtOnce) {\n		if PLANTED {\n			break\n		}\n",
		"a new life", false,
	},
	{
		"a new generation forgets what is owed", "step_loop.go",
		"	if r.owes(r.entity) {\n",
		"	if r.owes(r.entity) && !PLANTED {\n",
		"a new life, while the old one goes on", false,
	},
	{
		"a delta counts a number that it has ahead of its cursor", "delta.go",
		"case n <= effective || base.Ahead.Has(n):",
		"case n <= effective || base.Ahead.Has(n) && !PLANTED:",
		"delta", false,
	},
	{
		"catching up forgets the numbers above", "gap.go",
		"	c.Ahead = c.Ahead.Above(c.Applied)\n",
		"	if c.Ahead = c.Ahead.Above(c.Applied); PLANTED {\n		c.Ahead = nil\n	}\n",
		"delta, a gap", true,
	},
	{
		"catching up does not compare the cursor", "memory/store.go",
		"now.Gen == at.Gen && now.Applied == at.Applied, next)",
		"now.Gen == at.Gen && (PLANTED || now.Applied == at.Applied), next)",
		"delta, catching up", false,
	},
	{
		"the expiry of parked events is written over what moved meanwhile", "tend.go",
		"	now, landed, err := r.landed(ctx, r.key, next, r.Upkeep.DropRows(",
		"	if PLANTED {\n		if now, err := r.Store.Entity(ctx, r.key); err == nil {\n			r.entity, next.Rev = now, now.Rev+1\n		}\n	}\n" +
			"	now, landed, err := r.landed(ctx, r.key, next, r.Upkeep.DropRows(",
		"what waits too long", false,
	},
	{
		"parked events expire without a copy", "tend.go",
		"			if err := r.Quarantine.Copy(ctx, row.copyAs(expired)); err != nil {\n",
		"			if err := r.Quarantine.Copy(ctx, row.copyAs(expired)); err != nil && !PLANTED {\n",
		"what waits too long", true,
	},
	{
		"a skip forgets what it passed", "skip_step.go",
		"		next.remember(lost)\n",
		"		if !PLANTED {\n			next.remember(lost)\n		}\n",
		"an operator skips", false,
	},
	{
		"a skip of what a delta lacks forgets it", "skip.go",
		"		after.remember(r)\n",
		"		if !PLANTED {\n			after.remember(r)\n		}\n",
		"an operator skips what a delta lacks", false,
	},
	{
		"a blocked event has no copy in quarantine", "step_loop.go",
		"	if err := r.sendCopies(ctx, plan); err != nil {\n",
		"	if err := r.sendCopies(ctx, plan); err != nil && !PLANTED {\n",
		"a projection that fails for a while", true,
	},
	{
		"a copy of a parked event is acknowledged without a write", "step.go",
		"|| p.judgedAhead(in) ||",
		"|| p.judgedAhead(in) && !PLANTED ||",
		"what waits too long, and comes again", false,
	},
	{
		"a copy in quarantine counts though somebody wrote meanwhile", "tend.go",
		"	for r.lost < maxRounds {\n		for _, row := range old {\n			if row.Gen != r.entity.Gen || !r.entity.Waiting.Has(row.Seq) {\n" +
			"				return nil // somebody else was faster\n			}\n		}\n		rows, err := r.copyOld(ctx, old)\n",
		"	var rows []Row\n	var err error\n	for r.lost < maxRounds {\n		for _, row := range old {\n			if row.Gen != r.entity.Gen || !r.entity.Waiting.Has(row.Seq) {\n" +
			"				return nil // somebody else was faster\n			}\n		}\n		if !PLANTED || rows == nil {\n			rows, err = r.copyOld(ctx, old)\n		}\n",
		"what waits too long, and is redriven at once", false,
	},
	{
		"what an operator passes is copied once, whoever wrote meanwhile", "step_loop.go",
		"	if r.through > 0 {\n",
		"	if r.through > 0 && !PLANTED {\n",
		"an operator skips what is blocked", false,
	},
	{
		"what waits in the new life is taken for a leftover of the old one", "step_loop.go",
		"if r.entity = settled; settled.Gen != ended {",
		"if r.entity = settled; settled.Gen != ended && !PLANTED {",
		"a new life, while the old one goes on", false,
	},
	{
		"rows are trusted that were read before a race was lost", "step_loop.go",
		"	r.rows, r.readFrom, r.readTo = ",
		"	if PLANTED {\n		return\n	}\n	r.rows, r.readFrom, r.readTo = ",
		"what waits too long, and comes again", false,
	},
	{
		"the original of a skipped number is a duplicate", "step.go",
		"case within(base.Skipped, n):",
		"case within(base.Skipped, n) && !PLANTED:",
		"an operator skips", false,
	},
	{
		"a void that expired is not remembered", "step_fold.go",
		"	if row.Void == events.Expired {\n",
		"	if row.Void == events.Expired && !PLANTED {\n",
		"numbers that expired", false,
	},
	{
		"the sweeper asks for nothing", "sweep.go",
		"	case Escalate:\n		return r.escalate(ctx)\n",
		"	case Escalate:\n		if PLANTED {\n			return nil\n		}\n		return r.escalate(ctx)\n",
		"two sweepers", false,
	},
	{
		"the index keeps an entity in which nothing is open", "gap.go",
		"		e.Gap, e.Shown = nil, nil\n		return\n",
		"		if !PLANTED {\n			e.Gap, e.Shown = nil, nil\n			return\n		}\n",
		"step", false,
	},
}

// TestPlantedBugs guards the exploration itself: each bug is found when it is planted, and nothing is where none is. The
// product's sources have no switch: the bugs are laid over them for one build of this test (go help build, -overlay).
func TestPlantedBugs(t *testing.T) {
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
		steps = append(steps, stepsIn(out))
		t.Logf("planted: %s\n%s", bug.name, out)
	}
	if len(steps) == len(bugs) {
		t.Logf("proof: %d of %d planted bugs found, shortest trace %d steps, longest %d; none where none is planted",
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
