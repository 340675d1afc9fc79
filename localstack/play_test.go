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
	told := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^([a-z ]+?)  +(go run \./.+|make .+)$`).FindAllStringSubmatch(said, -1) {
		told[line[1]] = line[2]
	}
	p.run(told["send to it"])
	p.shows(told["look"], "basic")
	p.run(told["make a gap"])
	p.shows(told["see it"], "acc_2")
	p.shows(told["watch"]+" --once", "acc_2")
	p.run(told["give it up"])
	p.run(told["send poison"])
	p.shows(told["see why"], "no_route")
	if said := p.localstack("deploy"); !strings.Contains(said, told["watch"]) { // "deploy changes"
		t.Errorf("the second deployment says %s", said)
	}
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
	if strings.HasPrefix(command, "go run ./localstack ") {
		command += " --folder " + p.folder
	}
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
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		if said = p.run(command); strings.Contains(said, want) {
			return
		}
	}
	p.t.Errorf("%q does not show %q, but\n%s", command, want, said)
}
