package local

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// BinaryVariable names the dynoxide to start, before any other place is searched.
const BinaryVariable = "DYNOXIDE"

// MissingError says that there is no dynoxide, where it was looked for, and how to get it.
type MissingError struct {
	Named  string   // what [BinaryVariable] names, which is not a program; empty when it names nothing
	Looked []string // the places that were searched, in order
}

func (e *MissingError) Error() string {
	if e.Named != "" {
		return fmt.Sprintf("%s names %s, which is no program that can be run", BinaryVariable, e.Named)
	}
	return fmt.Sprintf("no dynoxide in %s: install it with `make tools`, or name it in %s",
		strings.Join(e.Looked, ", "), BinaryVariable)
}

// find returns the path of the dynoxide to start: the one that is named, else the one that the Makefile installed,
// else the one beside this program, else the one in PATH.
func find() (string, error) {
	if named := os.Getenv(BinaryVariable); named != "" {
		if !runnable(named) {
			return "", &MissingError{Named: named}
		}
		return filepath.Abs(named)
	}
	candidates := places()
	for _, path := range candidates {
		if runnable(path) {
			return path, nil
		}
	}
	if path, err := exec.LookPath(fileName()); err == nil {
		return filepath.Abs(path)
	}
	return "", &MissingError{Looked: append(candidates, "PATH")}
}

func places() []string {
	var found []string
	if here, err := os.Getwd(); err == nil {
		found = inModule(here)
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Dir(self)
		found = append(found, filepath.Join(beside, fileName()), filepath.Join(beside, ".tools", fileName()))
	}
	return found
}

// inModule lists .tools/dynoxide from dir up to the module's root: tests run in their package's folder. Outside a
// module there is none, for a program that lies in some parent folder by chance is not ours to run.
func inModule(dir string) []string {
	var found []string
	for {
		found = append(found, filepath.Join(dir, ".tools", fileName()))
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return found
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir = parent
	}
}

func fileName() string {
	if runtime.GOOS == "windows" {
		return "dynoxide.exe"
	}
	return "dynoxide"
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return false
	}
	return runtime.GOOS == "windows" || info.Mode()&0o111 != 0
}
