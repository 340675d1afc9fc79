//go:build !linux

package cloud

import (
	"os"
	"os/exec"
)

// Mode host is for Linux; what is here serves the SAM CLI, and docker.

func tie(*exec.Cmd)      {}
func ownGroup(*exec.Cmd) {}
func detach(*exec.Cmd)   {}

func launch(cmd *exec.Cmd) error { return cmd.Start() }

func lockThread() {}

func startOf(int) string { return "" }

// exists may be wrong on Windows only, where a folder then stays until somebody removes it.
func exists(pid int) bool {
	process, err := os.FindProcess(pid)
	return err == nil && process != nil
}

func kill(int) {}

func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
