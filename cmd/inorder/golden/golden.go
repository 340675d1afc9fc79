// Package golden compares what a command prints with a file that a person has read. With -update a test writes its files
// anew, to be read again in the diff.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TB is what Check needs of testing.TB.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Check compares got with a file of the package's testdata folder.
func Check(t TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatalf("%v", err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatalf("%v", err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with -update, and read it)", err)
	}
	if !bytes.Equal(want, []byte(got)) {
		t.Errorf("%s differs (write it anew with -update):\n%s", path, got)
	}
}
