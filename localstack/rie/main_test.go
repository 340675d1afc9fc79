package rie

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// emulatorVariable names the emulator's binary.
const emulatorVariable = "INORDER_RIE"

// builtVersion is what the functions are built to say of themselves.
const builtVersion = "v1.2.3-under-the-emulator"

// function is one of the three, by the name of its folder.
type function string

const (
	consumer function = "consumer"
	sweeper  function = "sweeper"
	relay    function = "relay"
)

var functionNames = []function{consumer, sweeper, relay}

// builds is the folder of all builds, one per function.
var builds string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "inorder-functions-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		builds = dir
		return m.Run()
	}())
}

// emulatorBinary is the emulator that the tests run on. One that was asked for and is not there is a failure.
func emulatorBinary(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the functions are built for Linux, so they run under the emulator on Linux only")
	}
	named := os.Getenv(emulatorVariable)
	if named == "" {
		t.Skip(emulatorVariable + " names no runtime interface emulator: `make tools` installs it into .tools/, and `make unit` names it")
	}
	if _, err := exec.LookPath(named); err != nil {
		t.Fatalf("%s: %v", emulatorVariable, err)
	}
	return named
}

var built = map[function]func() (string, error){
	consumer: sync.OnceValues(func() (string, error) { return build("Consumer", consumer) }),
	sweeper:  sync.OnceValues(func() (string, error) { return build("Sweeper", sweeper) }),
	relay:    sync.OnceValues(func() (string, error) { return build("Relay", relay) }),
}

// artifacts is the folder of a function as it is deployed: the binary and streams.yaml beside it.
func artifacts(t *testing.T, name function) string {
	t.Helper()
	dir, err := built[name]()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// build does what `sam build` does for a function of the template.
func build(logicalName string, name function) (string, error) {
	dir := filepath.Join(builds, string(name))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	machine := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	command := exec.Command("make", "-C", filepath.Join("..", ".."), "build-"+logicalName+"Function",
		"ARTIFACTS_DIR="+dir, "ARCHITECTURE="+machine, "VERSION="+builtVersion)
	command.Env = withoutMake(os.Environ())
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the %s: %w\n%s", name, err, out)
	}
	return dir, nil
}

// withoutMake takes out what a make that runs these tests tells a make of its own.
func withoutMake(environment []string) (rest []string) {
	for _, variable := range environment {
		if name, _, _ := strings.Cut(variable, "="); name != "MAKEFLAGS" && name != "MAKELEVEL" && name != "MFLAGS" {
			rest = append(rest, variable)
		}
	}
	return rest
}
