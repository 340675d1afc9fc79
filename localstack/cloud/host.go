package cloud

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// host is a LocalStack without Docker: one Python process, which takes its functions and its DynamoDB along when it ends.
type host struct {
	pid     int
	started string
	logFile string
}

func (c *Cloud) startHost(ctx context.Context, root string, port int, o Options) error {
	python, err := tool("LocalStack", root, LocalStackVariable, "localstack", "bin", "python")
	if err != nil {
		return err
	}
	dynoxide, err := tool("dynoxide", root, DynoxideVariable, "dynoxide")
	if err != nil {
		return err
	}
	if err := inPath("setpriv"); err != nil {
		return fmt.Errorf("%w: it comes with util-linux, and ties the functions' lives to LocalStack's", err)
	}
	version, err := exec.CommandContext(ctx, dynoxide, "--version").Output()
	if err != nil {
		return fmt.Errorf("ask %s for its version: %w", dynoxide, err)
	}
	c.How = "without Docker: functions are processes, DynamoDB is " + strings.TrimSpace(string(version))
	args := []string{
		filepath.Join(root, "localstack", "host", "host.py"), "--folder", c.folder, "--port", strconv.Itoa(port), "--dynoxide", dynoxide,
	}
	if o.Direct {
		args = append(args, "--direct")
	}
	cmd := exec.Command(python, args...)
	cmd.Env, cmd.Dir = hostEnvironment(os.Environ(), c.folder), c.folder
	return c.spawnHost(cmd, o.Detached)
}

func (c *Cloud) spawnHost(cmd *exec.Cmd, detached bool) error {
	log, err := os.OpenFile(filepath.Join(c.folder, logName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if detached {
		detach(cmd)
	} else {
		tie(cmd)
	}
	if err := launch(cmd); err != nil {
		return fmt.Errorf("start LocalStack: %w", err)
	}
	c.PID, c.Started = cmd.Process.Pid, startOf(cmd.Process.Pid)
	c.engine = &host{pid: c.PID, started: c.Started, logFile: log.Name()}
	return nil
}

// hostEnvironment is what LocalStack may know of the user's environment: it reads some hundred variables, with names as
// common as DEBUG, and which of them are good for us host.py says. Its libraries keep caches in the user's home: here that is
// the cloud's folder.
func hostEnvironment(all []string, folder string) []string {
	environment := []string{"HOME=" + folder, "PYTHONDONTWRITEBYTECODE=1", "NO_PROXY=127.0.0.1,localhost"}
	for _, one := range all {
		switch name, _, _ := strings.Cut(one, "="); name {
		case "PATH", "LANG", "LC_ALL":
			environment = append(environment, one)
		}
	}
	return environment
}

func (h *host) alive() bool { return h.started != "" && startOf(h.pid) == h.started }

// ready looks for what LocalStack says when it listens, in the log that is this one's alone.
func (h *host) ready() bool { return strings.Contains("\n"+h.log(), "\nReady.") }

const (
	goneTimeout = time.Minute // a killed process is gone in milliseconds
	gonePoll    = 5 * time.Millisecond
)

// stop kills: there is nothing to save. The kernel kills what the host has started before the host itself is gone.
func (h *host) stop() error {
	if !h.alive() {
		return nil
	}
	kill(h.pid)
	for deadline := time.Now().Add(goneTimeout); h.alive(); time.Sleep(gonePoll) {
		if time.Now().After(deadline) {
			return fmt.Errorf("LocalStack, process %d, does not end", h.pid)
		}
	}
	return nil
}

func (h *host) log() string {
	text, err := os.ReadFile(h.logFile)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

var errEnded = errors.New("LocalStack ended before it answered")
