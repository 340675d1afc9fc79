package cloud

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"
)

// The processes of a function are those of this LocalStack alone, and of this function, whose name may be the beginning of another's.
func TestProcessesOfAFunction(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked up in Linux's /proc")
	}
	run := func(function string) int {
		command := exec.Command("sleep", "60")
		command.Env = []string{"AWS_LAMBDA_FUNCTION_NAME=" + function}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
		return command.Process.Pid
	}
	ours := []int{run("stack-relay"), run("stack-relay")}
	run("stack-relay-2")
	mine, other := &Cloud{state: state{PID: os.Getpid()}}, &Cloud{state: state{PID: ours[0]}}
	slices.Sort(ours)
	var got []int
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end) && len(got) < len(ours); { // until both are what they are to be
		var err error
		if got, err = mine.Processes("stack-relay"); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Sort(got); !slices.Equal(got, ours) {
		t.Errorf("%v, want %v", got, ours)
	}
	for _, c := range []*Cloud{other, {}} {
		if got, err := c.Processes("stack-relay"); err != nil || len(got) > 0 {
			t.Errorf("another one's: %v, %v", got, err)
		}
	}
}
