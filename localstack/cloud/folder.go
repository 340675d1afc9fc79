package cloud

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// logName is the file in a Cloud's folder that has what LocalStack says.
const logName = "log"

// Folder is the project's own place for clouds, which git ignores.
func Folder() (string, error) {
	root, err := projectRoot()
	return filepath.Join(root, ".cloud"), err
}

// runPrefix and the number of the process that made it are the name of a folder that nobody named.
const runPrefix = "run-"

func (c *Cloud) makeFolder(root string) (err error) {
	if c.folder != "" {
		if c.folder, err = filepath.Abs(c.folder); err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(c.folder, stateName)); err == nil {
			return fmt.Errorf("%s has a cloud already: stop that first, with `make cloud-down`", c.folder)
		}
		return os.MkdirAll(c.folder, 0o755)
	}
	above := filepath.Join(root, ".cloud")
	if err := os.MkdirAll(above, 0o755); err != nil {
		return err
	}
	c.folder, err = os.MkdirTemp(above, fmt.Sprintf("%s%d-", runPrefix, os.Getpid()))
	return errors.Join(err, removeLeft(above))
}

// removeLeft removes the folders of processes that were killed and so could not do it themselves.
func removeLeft(above string) error {
	folders, err := filepath.Glob(filepath.Join(above, runPrefix+"*"))
	if err != nil {
		return err
	}
	var failed error
	for _, folder := range folders {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), runPrefix), "-")
		if pid, err := strconv.Atoi(number); err == nil && !exists(pid) {
			failed = errors.Join(failed, os.RemoveAll(folder))
		}
	}
	return failed
}

// pickPort returns a port that is free now. One that was asked for by number and is taken is an error: another program
// would answer in LocalStack's place.
func pickPort(asked int) (int, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(asked)))
	if err != nil {
		return 0, fmt.Errorf("port %d is not free: %w", asked, err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return port, listener.Close()
}
