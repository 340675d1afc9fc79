package e2e

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"inorder/localstack/cloud"
)

// answer is what a command printed.
type answer struct {
	command, out, notes string
	code                int
}

const anyCode = -1

// run runs `inorder` as an operator of this stack does, and expects an exit code.
func (s *stack) run(t testing.TB, code int, args ...string) answer {
	t.Helper()
	args = append(args, "--stack", s.name, "--endpoint", here.cloud.Address, "--region", cloud.Region)
	command := exec.CommandContext(t.Context(), here.inorder, args...)
	command.Dir = projectRoot
	var out, notes bytes.Buffer
	command.Stdout, command.Stderr = &out, &notes
	err := command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	a := answer{strings.Join(args, " "), out.String(), notes.String(), command.ProcessState.ExitCode()}
	if code != anyCode && a.code != code {
		t.Errorf("inorder %s: exit code %d, want %d\n%s%s", a.command, a.code, code, a.out, a.notes)
	}
	return a
}

// has expects texts in what was printed.
func (a answer) has(t testing.TB, texts ...string) answer {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.out, text) {
			t.Errorf("inorder %s: no %q in\n%s%s", a.command, text, a.out, a.notes)
		}
	}
	return a
}
