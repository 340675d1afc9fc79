package local

import (
	"os/exec"
	"syscall"
)

// tied is a command whose process the kernel kills when the thread that started it ends, and so when this process
// ends, SIGKILL included (PR_SET_PDEATHSIG). It has a process group of its own: Ctrl-C in a terminal reaches this
// process, which may still need its store to end in good order.
func tied(binary string, args ...string) (cmd *exec.Cmd, quit func() error, err error) {
	cmd = exec.Command(binary, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return cmd, func() error { return cmd.Process.Kill() }, nil
}
