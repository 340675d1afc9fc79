package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"inorder/localstack/cloud"
)

// What `make cloud-up cloud-deploy cloud-down` do, and what they tell a newcomer to do next: each command that they print
// is run as it stands there, and shows what it promises.
func TestUpDeployPlayDown(t *testing.T) {
	if !cloud.Asked() {
		t.Skip(cloud.NotAsked)
	}
	p := play{t: t, folder: filepath.Join(t.TempDir(), "up")}
	t.Cleanup(func() { p.localstack("down") })
	if said := p.localstack("up", "--mode", os.Getenv(cloud.ModeVariable)); !strings.Contains(said, "make cloud-deploy") {
		t.Errorf("up says nothing of what to do next: %s", said)
	}
	said := p.localstack("deploy")
	told := regexp.MustCompile(`(?m)^  ((?:go run|sed|make) .+)$`).FindAllStringSubmatch(said, -1)
	for _, next := range []struct{ command, shows string }{
		{"send events/samples/plan-changed.json", "inspect subscription sub_1"},
		{"inspect subscription sub_1", "basic"},
		{"step-with-its-predecessor-missing.json", "inspect ledger acc_2"},
		{"gaps", "1 open gap"},
		{"tail", "acc_2"},
		{"step-that-was-missing.json", "sent "},
		{"inspect ledger acc_2", "119.99"},
		{"sed s/acc_2/acc_9/g", "inspect ledger acc_9"},
		{"skip ledger acc_9", "given up for good: 1"},
		{"quarantine-no-route.json", "redrive"},
		{"redrive", "no_route"},
		{"make cloud-deploy", ""},
		{"deploy --set LogLevel=info", ""},
		{"make cloud-down", ""},
	} {
		if len(told) == 0 || !strings.Contains(told[0][1], next.command) {
			t.Fatalf("%q does not come next in %s", next.command, said)
		}
		if next.shows != "" {
			p.shows(told[0][1], next.shows)
		}
		told = told[1:]
	}
	if len(told) != 0 {
		t.Errorf("printed and not tried: %q", told)
	}
	p.localstack("deploy", "--set", "LogLevel=info")
	if said := p.localstack("down"); !strings.Contains(said, "stopped") {
		t.Errorf("down says %s", said)
	}
}

// play is a newcomer with a cloud in a folder of their own.
type play struct {
	t      *testing.T
	folder string
}

// localstack runs this command, and fails the test where it fails.
func (p *play) localstack(args ...string) string {
	p.t.Helper()
	var out, notes bytes.Buffer
	if code := localstack(context.Background(), append(args, "--folder", p.folder), &out, &notes); code != 0 {
		p.t.Fatalf("%v: exit code %d\n%s%s", args, code, out.String(), notes.String())
	}
	return out.String()
}

// run runs a command as it was printed; the folder is what differs from the newcomer's.
func (p *play) run(command string) string {
	p.t.Helper()
	command = strings.Replace(command, "go run ./localstack send", "go run ./localstack send --folder "+p.folder, 1)
	command = strings.Replace(command, "inorder tail", "inorder tail --once", 1)
	c := exec.Command("bash", "-c", command)
	c.Dir = ".."
	out, err := c.CombinedOutput()
	if code := c.ProcessState.ExitCode(); command == "" || err != nil && code != 1 { // 1: something was found
		p.t.Fatalf("%q: %v\n%s", command, err, out)
	}
	return string(out)
}

// shows repeats a command until it shows what is on its way.
func (p *play) shows(command, want string) {
	p.t.Helper()
	said := ""
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		if said = p.run(command); strings.Contains(said, want) {
			return
		}
	}
	p.t.Errorf("%q does not show %q, but\n%s", command, want, said)
}
