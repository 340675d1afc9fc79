package local

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// L2: an engine answers when Start returns, and is gone when Close returns.
func TestEnginesStartAndStop(t *testing.T) {
	for _, name := range []string{Dynoxide, Minidyn} {
		t.Run(name, func(t *testing.T) {
			engine := ForTest(t, name)
			if engine.Name != name || engine.Version == "" || engine.Note != "" {
				t.Errorf("got %+v", engine)
			}
			b := bench{db: engine.Client(), table: "test-table"}
			if err := b.create(t.Context()); err != nil {
				t.Errorf("does not answer: %v", err)
			}
			for range 2 {
				if err := engine.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}
			if err := b.create(t.Context()); err == nil {
				t.Error("answers after Close")
			}
		})
	}
}

func TestTwoEnginesShareNothing(t *testing.T) {
	for _, name := range []string{Dynoxide, Minidyn} {
		t.Run(name, func(t *testing.T) {
			one, other := ForTest(t, name), ForTest(t, name)
			b := bench{db: one.Client(), table: "test-table"}
			if err := b.create(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.db = other.Client()
			if err := b.create(t.Context()); err != nil {
				t.Errorf("the second engine knows the first one's table: %v", err)
			}
		})
	}
}

func TestCloseTellsOfAnEngineThatEndedByItself(t *testing.T) {
	c, err := spawn(program{engine: Dynoxide}, exec.Command(script(t, "echo out of luck >&2; exit 3")), func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	<-c.exited
	if err := c.end(); err == nil || !strings.Contains(err.Error(), "ended by itself: exit status 3: out of luck") {
		t.Errorf("got %v", err)
	}
}

func TestStartGivesUpOnAProgramThatIsNoEngine(t *testing.T) {
	binary := script(t, `case "$1" in --version) echo dynoxide 0.0.0;; *) echo no memory left >&2; exit 3;; esac`)
	_, err := startDynoxide(t.Context(), binary)
	if err == nil || !strings.Contains(err.Error(), "no memory left") {
		t.Errorf("the error does not hold its last words: %v", err)
	}
}

func TestViaSeesEveryRequest(t *testing.T) {
	engine := ForTest(t, Minidyn)
	var seen atomic.Int64
	client := engine.Client(Via(roundTrip(func(r *http.Request) (*http.Response, error) {
		seen.Add(1)
		return Transport().RoundTrip(r)
	})))
	b := bench{db: client, table: "test-table"}
	if err := b.create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen.Load() != 2 { // CreateTable, DescribeTable
		t.Errorf("saw %d requests", seen.Load())
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestMinidynVersionIsTheModules(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`truora/minidyn v` + regexp.QuoteMeta(minidynVersion) + `\s`).Match(mod) {
		t.Errorf("go.mod has another minidyn than %s", minidynVersion)
	}
}

// testBinary is the dynoxide that the tests run on, under ForTest's rules where there is none.
func testBinary(t *testing.T) string {
	t.Helper()
	ForTest(t, Dynoxide)
	binary, err := find()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// script is a program for the shell.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dynoxide")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		t.Skip("no shell")
	}
	return path
}
