package cloud

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// The modes.
const (
	Auto   = "auto" // Docker where an engine answers, else Host
	Docker = "docker"
	Host   = "host"
)

// ModeVariable names the mode where Options does not, and asks the tests that need a Cloud to run.
const ModeVariable = "INORDER_CLOUD"

func choose(ctx context.Context, mode string) (string, error) {
	if mode == "" {
		mode = os.Getenv(ModeVariable)
	}
	return decide(mode, runtime.GOOS, func() error { return dockerAnswers(ctx) })
}

func decide(mode, system string, docker func() error) (string, error) {
	switch mode {
	case "", Auto:
		err := docker()
		switch {
		case err == nil:
			return Docker, nil
		case system == "linux":
			return Host, nil
		}
		return "", fmt.Errorf("start Docker, and try again: %w. Without it functions would be processes of this machine, "+
			"and they are Linux programs", err)
	case Docker:
		if err := docker(); err != nil {
			return "", fmt.Errorf("start Docker, or take CLOUD=host on Linux: %w", err)
		}
		return Docker, nil
	case Host:
		if system != "linux" {
			return "", fmt.Errorf("CLOUD=host does not work on %s: functions would be processes of this machine, and they are "+
				"Linux programs. Start Docker and take CLOUD=docker", system)
		}
		return Host, nil
	}
	return "", fmt.Errorf("no mode %q: there are %s, %s and %s", mode, Auto, Docker, Host)
}

// Fits says why a Cloud that runs is not what was asked for; nil where it is. Auto is whatever runs.
func (c *Cloud) Fits(mode string) error {
	if mode == "" || mode == Auto || mode == c.Mode {
		return nil
	}
	return fmt.Errorf("CLOUD=%s was asked for, and what runs here is another: %s. `make cloud-down` stops it, and forgets what it kept; "+
		"`make cloud-up CLOUD=%s` then starts the one that you want. Or leave CLOUD away, and go on with the one that runs", mode, c, mode)
}

// answerTimeout is for an engine that hangs; one that is there answers at once.
const answerTimeout = 10 * time.Second

// dockerAnswers asks for the engine, and for the plug-in that reads compose.yaml.
func dockerAnswers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	for _, question := range []string{"version", "compose version"} {
		if _, err := exec.CommandContext(ctx, "docker", strings.Fields(question)...).Output(); err != nil {
			return fmt.Errorf("`docker %s` fails: %s", question, reason(err))
		}
	}
	return nil
}

// reason is the first line that a command wrote to standard error, or why it did not start.
func reason(err error) string {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		if line, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n"); line != "" {
			return line
		}
	}
	return err.Error()
}
