package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// L1: the named one or none.
func TestANamedDynoxideThatIsNoProgramIsAnError(t *testing.T) {
	t.Setenv(EngineVariable, "")
	t.Setenv(BinaryVariable, filepath.Join(t.TempDir(), "none"))
	for _, name := range []string{"", Dynoxide} {
		_, err := Start(t.Context(), name)
		if missing := (*MissingError)(nil); !errors.As(err, &missing) || missing.Named == "" {
			t.Errorf("Start(%q): %v", name, err)
		}
	}
}

// L1: what INORDER_ENGINE asks for is not replaced, and the message names the command that installs it.
func TestWithoutDynoxideAnAskedForOneIsAnError(t *testing.T) {
	t.Setenv(EngineVariable, Dynoxide)
	nowhere(t)
	_, err := Start(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "`make tools`") {
		t.Errorf("got %v", err)
	}
}

func TestWithoutDynoxideTheDefaultIsMinidynAndSaysSo(t *testing.T) {
	t.Setenv(EngineVariable, "")
	nowhere(t)
	engine := ForTest(t, "")
	if engine.Name != Minidyn || !strings.Contains(engine.Note, "`make tools`") {
		t.Errorf("got %+v", engine)
	}
}

func TestAnUnknownEngineIsAnError(t *testing.T) {
	if _, err := Start(t.Context(), "dynalite"); err == nil {
		t.Error("started")
	}
}

func TestWhereDynoxideIsLookedFor(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "ddb", "local")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := inModule(deep); got != nil {
		t.Errorf("outside a module: %v", got)
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := inModule(deep)
	if len(got) != 3 || got[2] != filepath.Join(root, ".tools", fileName()) {
		t.Errorf("in a module: %v", got)
	}
}

func TestAFolderOrATextIsNoProgram(t *testing.T) {
	dir := t.TempDir()
	plainText := filepath.Join(dir, "text")
	if err := os.WriteFile(plainText, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, plainText, filepath.Join(dir, "none")} {
		if runnable(path) {
			t.Errorf("%s is taken for a program", path)
		}
	}
}

// nowhere makes sure that find finds nothing.
func nowhere(t *testing.T) {
	t.Helper()
	t.Setenv(BinaryVariable, "")
	t.Setenv("PATH", "")
	t.Chdir(t.TempDir())
}
