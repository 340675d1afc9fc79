package rie

import (
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// spawn starts a process that is asked to end when this one ends, in whatever way, and returns what ends it before that;
// ending it twice is fine. The emulator then kills its function, which is in a process group of its own. Linux ties the signal to the thread that
// forked, so that thread waits for the process.
func spawn(command *exec.Cmd) (exited <-chan struct{}, stop func(*testing.T), err error) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	started, gone := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer close(gone)
		err := command.Start()
		started <- err
		if err == nil {
			_ = command.Wait() // its end is what is asked for, not its status
		}
	}()
	return gone, func(t *testing.T) { end(t, command, gone) }, <-started
}

func end(t *testing.T, command *exec.Cmd, gone <-chan struct{}) {
	_ = command.Process.Signal(syscall.SIGTERM) // fails only when it has just ended
	select {
	case <-gone:
	case <-time.After(patience):
		t.Errorf("%s does not end", command.Path)
		_ = command.Process.Kill()
		<-gone
	}
}
