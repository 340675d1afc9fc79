//go:build !linux

package local

import (
	"os/exec"
	"runtime"
)

// tied is a command whose process ends with this one: where there is a shell, through [watched]. Windows has none;
// there an engine whose parent was killed stays until the user ends it.
func tied(binary string, args ...string) (cmd *exec.Cmd, quit func() error, err error) {
	if runtime.GOOS == "windows" {
		cmd = exec.Command(binary, args...)
		return cmd, func() error { return cmd.Process.Kill() }, nil
	}
	return watched(binary, args...)
}
