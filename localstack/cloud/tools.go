package cloud

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// The variables that name tools. Without them the ones that `make tools` installs into .tools/ are taken.
const (
	LocalStackVariable = "INORDER_LOCALSTACK" // the virtual environment of host/requirements.txt
	SAMVariable        = "INORDER_SAM"        // the virtual environment of sam/requirements.txt
	DynoxideVariable   = "DYNOXIDE"           // the program
)

// MissingError says which tool is missing, and how to get it.
type MissingError struct {
	What     string
	Path     string // where it should be
	Variable string // names another place; empty where only PATH counts
}

func (e *MissingError) Error() string {
	if e.Variable == "" {
		return fmt.Sprintf("%s is not in PATH", e.What)
	}
	return fmt.Sprintf("no %s at %s: install it with `make tools`, or name it in %s", e.What, e.Path, e.Variable)
}

// tool is a file in the folder that a variable names, else in the one that `make tools` installs.
func tool(what, root, variable, installed string, inside ...string) (string, error) {
	folder := os.Getenv(variable)
	if folder == "" {
		folder = filepath.Join(root, ".tools", installed)
	}
	path, err := filepath.Abs(filepath.Join(append([]string{folder}, inside...)...))
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return "", &MissingError{What: what, Path: path, Variable: variable}
	}
	return path, nil
}

func inPath(program string) error {
	if _, err := exec.LookPath(program); err != nil {
		return &MissingError{What: program}
	}
	return nil
}

// projectRoot is the folder with go.mod, from the working directory upwards: tests run in their package's folder.
func projectRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(filepath.Join(folder, "go.mod"))
		if err == nil {
			return folder, nil
		}
		if parent := filepath.Dir(folder); errors.Is(err, fs.ErrNotExist) && parent != folder {
			folder = parent
			continue
		}
		return "", errors.New("this works inside the project's folder only: there is no go.mod here or above")
	}
}
