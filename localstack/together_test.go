package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"inorder/localstack/cloud"
)

// However many start a cloud at once, one is started; the others wait and find it. It is the one that `down` stops.
func TestUpAndUpAtOnce(t *testing.T) {
	u := newUser(t)
	var all sync.WaitGroup
	said := make([]string, 4)
	for i := range said {
		all.Go(func() {
			code := 0
			if code, said[i] = u.says("up", "--mode", "host"); code != 0 {
				t.Errorf("exit code %d: %s", code, said[i])
			}
		})
	}
	all.Wait()
	if n := strings.Count(strings.Join(said, ""), "it runs already: LocalStack 0.0.1"); n != len(said)-1 || len(u.localStacks()) != 1 {
		t.Errorf("%d LocalStacks were started, and %d found one:\n%s", len(u.localStacks()), n, strings.Join(said, "---\n"))
	}
	if code, said := u.says("down"); code != 0 || !strings.Contains(said, "stopped") {
		t.Errorf("down: %d, %s", code, said)
	}
	for _, pid := range u.localStacks() {
		if alive(pid) {
			t.Errorf("process %d still runs", pid)
		}
	}
}

func alive(pid int) bool {
	_, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe")
	return err == nil
}

// While somebody deploys, `down` and another `deploy` wait and say for whom, and `up` and `status` do not need to.
func TestWhileSomebodyDeploys(t *testing.T) {
	u := newUser(t)
	u.says("up", "--mode", "host")
	unlock, err := cloud.Lock(t.Context(), u.folder, "deploy --stack inorder", nil)
	if err != nil {
		t.Fatal(err)
	}
	busy := "process " + strconv.Itoa(os.Getpid()) + " is at `deploy --stack inorder` here"
	if code, said := u.says("up"); code != 0 || !strings.HasPrefix(said, "it runs already") {
		t.Errorf("up: %d, %s", code, said)
	}
	if code, said := u.says("status"); code != 0 || !strings.HasPrefix(said, busy+"\nLocalStack 0.0.1 ") {
		t.Errorf("status: %d, %s", code, said)
	}
	var waiting sync.WaitGroup
	var notes [2]guarded
	// A parameter that there is not ends the deployment before it builds, whichever of the two goes first.
	for i, args := range [][]string{{"down"}, {"deploy", "--set", "Nope=1"}} {
		waiting.Go(func() { localstack(t.Context(), append(args, "--folder", u.folder), &notes[i], &notes[i]) })
		eventually(t, args[0]+" says for whom it waits", func() bool { return notes[i].String() == busy+": waiting for its end; Ctrl-C gives up\n" })
	}
	if code, said := u.says("status"); code != 0 {
		t.Errorf("it did not wait: %s", said)
	}
	if code, _ := u.says("down", "--nonsense"); code != 2 {
		t.Errorf("nonsense: %d", code)
	}
	stop := u.localStacks()[0]
	unlock()
	waiting.Wait()
	if alive(stop) {
		t.Error("it still runs")
	}
}

// What runs in another mode than was asked for is not taken for it, and stays.
func TestAnotherModeRuns(t *testing.T) {
	u := newUser(t)
	u.says("up", "--mode", "host")
	for _, args := range [][]string{{"up", "--mode", "docker"}, {"deploy", "--mode", "docker"}} {
		if code, said := u.says(args...); code != 1 || !strings.Contains(said, "CLOUD=docker was asked for, and what runs here is another: LocalStack 0.0.1 without Docker") {
			t.Errorf("%v: %d, %s", args, code, said)
		}
	}
	t.Setenv("CLOUD", "docker") // as `make cloud-deploy CLOUD=docker` once did, whose command then deployed to the host
	if code, said := u.says("deploy"); code != 1 || !strings.Contains(said, "CLOUD=docker was asked for") {
		t.Errorf("by the variable: %d, %s", code, said)
	}
	if code, said := u.says("status"); code != 0 {
		t.Errorf("it is gone: %s", said)
	}
}

// One that has died is told at once by whoever needs it, with its last words, and `down up` starts anew.
func TestOneThatDied(t *testing.T) {
	u := newUser(t)
	u.says("up", "--mode", "host")
	process, err := os.FindProcess(u.localStacks()[0])
	must(err)
	must(process.Kill())
	eventually(t, "it has died", func() bool {
		_, err := cloud.Open(u.folder, nil)
		return err != nil
	})
	for _, args := range [][]string{{"status"}, {"deploy"}, {"up"}, {"send", "-"}} {
		if code, said := u.says(args...); code != 1 || !strings.Contains(said, "has ended by itself") || !strings.Contains(said, "Ready.") {
			t.Errorf("%v: %d, %s", args, code, said)
		}
	}
	for _, args := range [][]string{{"down"}, {"up", "--mode", "host"}, {"status"}} {
		if code, said := u.says(args...); code != 0 {
			t.Errorf("%v: %d, %s", args, code, said)
		}
	}
}

// guarded is a buffer that is read while somebody writes.
type guarded struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (g *guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.Write(p)
}

func (g *guarded) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.String()
}
