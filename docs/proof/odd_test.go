package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOutputWithoutANewline hides neither that a test was skipped nor what it did.
func TestOutputWithoutANewline(t *testing.T) {
	said := []string{
		"proof: 5 things--- PASS: TestA (0.00s)", "words--- SKIP: TestB (0.00s)", "--- SKIP: TestC (0.00s)",
		"    --- SKIP: TestA/part (0.00s)", "words    --- SKIP: TestA/part/inner (0.00s)",
	}
	if got := skips(said); !slices.Equal(got, []string{"TestB", "TestC"}) {
		t.Errorf("skipped: %q", got)
	}
	if got := figures(said); !slices.Equal(got, []string{"5 things"}) {
		t.Errorf("figures: %q", got)
	}
}

// TestAVeryLongLine does not keep the lines behind it from being heard.
func TestAVeryLongLine(t *testing.T) {
	text := "first\n" + strings.Repeat("x", 5*longestLine+7) + "\n--- SKIP: TestA (0.00s)\nno newline"
	lines := slices.Collect(linesOf(strings.NewReader(text)))
	if len(lines) != 4 || lines[0] != "first" || !strings.HasPrefix(lines[1], "xxx") || lines[2] != "--- SKIP: TestA (0.00s)" || lines[3] != "no newline" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

// TestAFuzzTargetHasLongerWhereItsTimeWasShort, but not for ever, and a number of inputs is no time.
func TestAFuzzTargetHasLongerWhereItsTimeWasShort(t *testing.T) {
	p := proof{fuzz: "5s"}
	had := []string{p.fuzz}
	for p.longer() {
		had = append(had, p.fuzz)
	}
	if !slices.Equal(had, []string{"5s", "20s", "1m20s"}) {
		t.Errorf("it had %q", had)
	}
	if p = (proof{fuzz: "2000x"}); p.longer() {
		t.Errorf("2000 inputs became %s", p.fuzz)
	}
}

// TestAFuzzTargetThatCameToNothingIsTriedLonger, also where Go calls the end of its time a failure; one that found an input is not.
func TestAFuzzTargetThatCameToNothingIsTriedLonger(t *testing.T) {
	for _, tt := range []struct {
		said        string
		err         error
		held, early bool
	}{
		{"fuzz: elapsed: 5s, execs: 70 (14/sec)", nil, true, false},
		{"fuzz: elapsed: 5s, gathering baseline coverage: 66/334 completed", nil, false, true},
		{"--- FAIL: FuzzIt (5.01s)\n    context deadline exceeded", os.ErrInvalid, false, true},
		{"fuzz: elapsed: 5s, execs: 70 (14/sec)\n    context deadline exceeded", os.ErrInvalid, true, false},
		{"    Failing input written to testdata", os.ErrInvalid, false, false},
	} {
		r := result{said: strings.Split(tt.said, "\n")}
		proof{fuzz: "5s"}.judge(&r, tt.err)
		if r.Held != tt.held || r.early != tt.early {
			t.Errorf("%q: held %t, to be tried longer %t", tt.said, r.Held, r.early)
		}
	}
}

// TestWhatIsChangedIsNoCommit: a result counts again only where all is as it was, files that git does not know included. The page
// is written by each run.
func TestWhatIsChangedIsNoCommit(t *testing.T) {
	t.Chdir(t.TempDir())
	if got := commit(t.Context()); got != "unknown-dirty" {
		t.Errorf("without a repository: %s", got)
	}
	write(t, "code.go", "package m\n")
	for _, arguments := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=m", "-c", "user.email=m@example.com", "commit", "-qm", "m"}} {
		if out, err := exec.Command("git", arguments...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", arguments[0], err, out)
		}
	}
	k, err := openKept(t.Context())
	if err != nil || strings.HasSuffix(k.commit, changed) {
		t.Fatalf("%+v, %v", k, err)
	}
	write(t, ".git/info/exclude", "/.proof/\n")
	if err := os.MkdirAll(filepath.Dir(page), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, page, "# Proof\n")
	if !k.still(t.Context()) {
		t.Error("the page counts as a change")
	}
	write(t, "new_test.go", "package m\n")
	if k.still(t.Context()) || k.ended(t.Context()) == k.commit {
		t.Error("a new file does not count as a change")
	}
}
