package cloud

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Processes are the ids of the processes that run a function of this Cloud, in mode Host. They are children of
// LocalStack's process ("proc(5)", Linux manual page). What has just ended may be among them.
func (c *Cloud) Processes(function string) (ids []int, err error) {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	for _, stat := range all {
		folder := filepath.Dir(stat)
		if c.PID == 0 || parentOf(stat) != c.PID || !runs(folder, function) {
			continue
		}
		id, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// parentOf reads field 4; field 2, the program's name in parentheses, may have blanks inside. 0: it has ended.
func parentOf(stat string) int {
	text, err := os.ReadFile(stat)
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	pid, _ := strconv.Atoi(fields[1])
	return pid
}

func runs(folder, function string) bool {
	environment, err := os.ReadFile(filepath.Join(folder, "environ"))
	return err == nil && bytes.Contains(environment, []byte("AWS_LAMBDA_FUNCTION_NAME="+function+"\x00"))
}
