package cloud

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// tie makes the kernel kill the process when the thread that started it ends, and so when this process ends, SIGKILL
// included. Ctrl-C in a terminal reaches this process only, which then stops what it has started in good order.
func tie(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// ownGroup keeps Ctrl-C away from the process.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// detach makes the process live on when this one and its terminal are gone.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// launch starts the process on a thread of its own, which then waits for it: see tie.
func launch(cmd *exec.Cmd) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // so that it is no zombie; how it ended, its log says
		}
	}()
	return <-started
}

// lockThread is for whoever starts a process that tie ties: its thread must live as long as the process.
func lockThread() { runtime.LockOSThread() }

// startOf is when a process started, in a unit of the kernel's; empty where there is none or it has ended
// ("proc_pid_stat(5)", Linux manual page: state is field 3, num_threads 20 and starttime 22). A zombie has ended when the
// last of its threads has: until then it holds its ports.
func startOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field is the program's name in parentheses, which may have both, and blanks, inside.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 || fields[0] == "X" || fields[0] == "Z" && fields[17] == "1" {
		return ""
	}
	return fields[19]
}

// exists tells whether there is a process of that number, whosever it is.
func exists(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) } // fails where it has just ended, which is what is wanted

// killGroup is for a process that tie has given a group of its own: what it started ends too.
func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
