package scenario

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// longestLoad is far more than any file takes to be read, and less than a person waits.
const longestLoad = 30 * time.Second

// FuzzScenario: whatever a file says, it is read as scripts or refused with complaints, each with words and on a line that
// the file has; never a panic, and never a long wait.
func FuzzScenario(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(folder, "*", "[c-e]*.yaml"))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	more, err := filepath.Glob("testdata/unplayable/*.yaml")
	if err != nil || len(more) == 0 {
		f.Fatal(more, err)
	}
	for _, path := range append(more, files...) {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(content) < 1500 { // the shorter, the faster
			f.Add(string(content))
		}
	}
	f.Fuzz(func(t *testing.T, content string) {
		began := time.Now()
		read, err := load([]byte(content), nil)
		if took := time.Since(began); took > longestLoad {
			t.Fatalf("%s", took)
		}
		if err == nil {
			if len(read.scripts) == 0 || len(read.scripts) > maxCombinations || read.scripts[0].streams == nil {
				t.Fatalf("%+v", read)
			}
			return
		}
		checkComplaints(t, err, 1+strings.Count(content, "\n")+strings.Count(content, "\r"))
		if r := (Result{Unplayable: err.Error()}); r.exitCode() != exitUnplayable {
			t.Fatalf("exit code %d", r.exitCode())
		}
	})
}

func checkComplaints(t *testing.T, err error, lines int) {
	t.Helper()
	var all unplayableError
	if !errors.As(err, &all) || len(all) == 0 {
		t.Fatalf("%T without a complaint", err)
	}
	for _, one := range all {
		if one.text == "" || one.line < 0 || one.line > lines {
			t.Fatalf("line %d of %d: %q", one.line, lines, one.text)
		}
	}
}
