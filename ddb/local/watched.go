package local

import "os/exec"

// watcher starts a program and a reader of the watcher's own input. That input ends when the process that holds its
// other end closes it or dies, in whatever way; then the reader kills the program. When the program ends first, the
// watcher ends with its status.
const watcher = `
exec 3<&0
"$@" </dev/null 3<&- &
program=$!
{ cat; kill -9 $program; } <&3 >/dev/null 2>&1 &
exec 3<&-
wait $program`

// watched is a command that runs the program under [watcher], and what makes it end: for systems on which a child
// cannot be tied to its parent. The program is in the terminal's process group and so ends with Ctrl-C, too.
func watched(binary string, args ...string) (*exec.Cmd, func() error, error) {
	cmd := exec.Command("/bin/sh", append([]string{"-c", watcher, "sh", binary}, args...)...)
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	return cmd, input.Close, nil
}
