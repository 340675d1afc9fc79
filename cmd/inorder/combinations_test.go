package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"inorder/ddb/local"
)

// Every combination of every scenario's matrix holds. The player's own tests play a few of each with the race detector,
// under which a request costs several times as much; here the program plays them all as it is built for its users.
func TestEveryCombinationOfTheScenariosHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("all combinations take half a minute")
	}
	files, err := filepath.Glob(filepath.Join(root, "events", "scenarios", "*", "*.yaml"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d scenarios, %v: they have moved", len(files), err)
	}
	engine := local.ForTest(t, local.Dynoxide)
	args := append([]string{"run", ".", "scenario", "--endpoint", engine.Endpoint}, files...)
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
