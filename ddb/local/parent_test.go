package local

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// childVariable makes the test binary start a dynoxide, tell its endpoint and wait to be killed.
const childVariable = "INORDER_LOCAL_TEST_CHILD"

// goneTimeout is far more than anything here takes to go: only a test that fails waits so long.
const goneTimeout = time.Minute

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		holdAnEngine()
	}
	os.Exit(m.Run())
}

func holdAnEngine() {
	engine, err := Start(context.Background(), Dynoxide)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(engine.Endpoint)
	select {}
}

// L3: a dynoxide ends when its parent is killed, which has no chance to do anything about it.
func TestAKilledParentLeavesNoDynoxide(t *testing.T) {
	binary := testBinary(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), childVariable+"=1", BinaryVariable+"="+binary)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	endpoint, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	endpoint = strings.TrimSpace(endpoint)
	if !answers(t.Context(), endpoint) {
		t.Fatalf("the child's engine does not answer: %s", endpoint)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	gone(t, endpoint)
}

// L3 where the kernel does not tie a child to its parent: what ends a watched program is the end of the pipe that the
// parent holds, which the kernel closes for whoever dies.
func TestAWatchedProgramEndsWithThePipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no shell on Windows")
	}
	binary := testBinary(t)
	var c *child
	var endpoint string
	for range portAttempts {
		var err error
		if c, endpoint, err = startWatched(t, binary); err == nil {
			break
		}
		t.Log(err)
	}
	if err := c.end(); err != nil {
		t.Fatal(err)
	}
	gone(t, endpoint)
}

func startWatched(t *testing.T, binary string) (*child, string, error) {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	cmd, quit, err := watched(binary, "--port", fmt.Sprint(port))
	if err != nil {
		t.Fatal(err)
	}
	c, err := spawn(program{engine: Dynoxide, ready: "listening on"}, cmd, quit)
	if err != nil {
		t.Fatal(err)
	}
	endpoint := fmt.Sprintf("http://127.0.0.1:%d", port)
	return c, endpoint, c.await(t.Context(), endpoint)
}

func TestAWatcherEndsWithItsProgram(t *testing.T) {
	cmd, quit, err := watched(script(t, "exit 3"))
	if err != nil {
		t.Skip(err)
	}
	c, err := spawn(program{engine: Dynoxide, ready: "listening on"}, cmd, quit)
	if err != nil {
		t.Skip(err)
	}
	select {
	case <-c.exited:
	case <-time.After(goneTimeout):
		t.Fatal("the watcher goes on")
	}
	if c.err == nil || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("the watcher does not hand on the status: %v", c.err)
	}
}

// gone fails the test when something still answers after a while: killing takes the kernel a moment.
func gone(t *testing.T, endpoint string) {
	t.Helper()
	for deadline := time.Now().Add(goneTimeout); time.Now().Before(deadline); time.Sleep(startPoll) {
		if !answers(t.Context(), endpoint) {
			return
		}
	}
	t.Errorf("%s still answers", endpoint)
}
