package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// atRoot goes to the top of the module, from where the program is run.
func atRoot(t *testing.T) {
	t.Helper()
	t.Chdir(filepath.Join("..", ".."))
}

// TestEveryProofIsThere guards against a proof that runs nothing: go test is content with a name that no test has.
func TestEveryProofIsThere(t *testing.T) {
	atRoot(t)
	all, err := proofs(false, "1s")
	if err != nil || len(all) < 3 {
		t.Fatalf("%d proofs, %v", len(all), err)
	}
	names := map[string]bool{}
	for _, p := range all {
		if names[p.name] {
			t.Errorf("two proofs are named %s", p.name)
		}
		names[p.name] = true
		if p.fuzz != "" {
			continue // they were found in the source
		}
		source, err := exec.Command("grep", "-rhoE", "--include=*_test.go", `^func Test\w+`, p.pkg).Output()
		for _, wanted := range testNames(p.run) {
			if err != nil || !slices.Contains(strings.Split(string(source), "\n"), "func "+wanted) {
				t.Errorf("%s: there is no %s in %s", p.name, wanted, p.pkg)
			}
		}
	}
}

// testNames are the names that ^TestA$ or ^TestB(C|D)$ stands for.
func testNames(expression string) (names []string) {
	before, choices, some := strings.Cut(strings.Trim(expression, "^$"), "(")
	if !some {
		return []string{before}
	}
	for choice := range strings.SplitSeq(strings.TrimSuffix(choices, ")"), "|") {
		names = append(names, before+choice)
	}
	return names
}

// TestWhatCountsAsHeld: a command that fails, one that was skipped and one that says nothing are none.
func TestWhatCountsAsHeld(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it builds modules of its own")
	}
	for _, tt := range []struct {
		name, test string
		held       bool
		figures    int
	}{
		{"says what it did", `t.Log("proof: 1,000 states")`, true, 1},
		{"fails after it said so", `t.Log("proof: 1,000 states"); t.Fail()`, false, 1},
		{"skipped", `t.Skip("no engine")`, false, 0},
		{"a part of it skipped", `t.Log("proof: 2 of 3"); t.Run("third", func(t *testing.T) { t.Skip("known") })`, true, 1},
		{"another beside it skipped", `t.Log("proof: 1 of 2") }; func TestToo(t *testing.T) { t.Skip("no engine")`, false, 1},
		{"does not compile", `nonsense`, false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "go.mod"), "module m\n\ngo 1.26\n")
			write(t, filepath.Join(dir, "m_test.go"), "package m\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) { "+tt.test+" }\n")
			t.Chdir(dir)
			r := proof{name: tt.name, pkg: ".", run: "^Test(It|Too)$"}.prove(context.Background())
			if r.Held != tt.held || len(r.Figures) != tt.figures {
				t.Errorf("held %t, figures %q:\n%s", r.Held, r.Figures, strings.Join(r.said, "\n"))
			}
		})
	}
}

// TestWhatAFuzzTargetShows: an input that breaks a target is a failure, and the end of its time is none.
func TestWhatAFuzzTargetShows(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it builds modules of its own")
	}
	for _, tt := range []struct {
		name, body string
		held       bool
	}{
		{"nothing breaks it", ``, true},
		{"something does", `if len(b) > 0 { t.Fatal("broken") }`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "go.mod"), "module m\n\ngo 1.26\n")
			write(t, filepath.Join(dir, "m_test.go"), "package m\n\nimport \"testing\"\n\nfunc FuzzIt(f *testing.F) { f.Add([]byte(nil)); f.Fuzz(func(t *testing.T, b []byte) { "+tt.body+" }) }\n")
			t.Chdir(dir)
			targets, err := fuzzTargets(".")
			if err != nil || len(targets) != 1 {
				t.Fatal(targets, err)
			}
			targets[0].fuzz = "2000x"
			if r := targets[0].prove(context.Background()); r.Held != tt.held {
				t.Errorf("held %t, figures %q:\n%s", r.Held, r.Figures, strings.Join(r.said, "\n"))
			}
		})
	}
}

// TestKeptResults: only what held at this commit, by the same command, is not done again.
func TestKeptResults(t *testing.T) {
	k := &kept{commit: "c", folder: t.TempDir()}
	p := proof{pkg: "./x", run: "^TestX$", args: []string{"-n", "5"}}
	k.keep(result{Name: "x", Command: p.shell(), Held: true, Figures: []string{"5"}})
	if r, done := k.of(p); !done || r.Figures[0] != "5" {
		t.Errorf("kept %+v, %t", r, done)
	}
	larger := p
	larger.args = []string{"-n", "50"}
	if _, done := k.of(larger); done {
		t.Error("a result of another size was taken")
	}
	if _, done := (*kept)(nil).of(p); done {
		t.Error("a run that keeps nothing took something")
	}
}

// TestTheTableTellsOfAFailure, and a run that ended early did not hold.
func TestTheTableTellsOfAFailure(t *testing.T) {
	results := []result{{Name: "one", Held: true, Figures: []string{"1", "2"}}, {Name: "two", Holds: "it holds"}}
	if text := table(results, true); !strings.Contains(text, "| two | FAILED: it holds |") || !strings.Contains(text, "1<br>2") {
		t.Error(text)
	}
	if held(results, 2) || held(results[:1], 2) || !held(results[:1], 1) {
		t.Error("what failed or did not run counts as held")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
