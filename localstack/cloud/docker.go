package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// container is a LocalStack in Docker, as compose.yaml says.
type container struct {
	project string // compose's name for it
	folder  string
	compose string // the file
	port    int
	guard   io.Closer    // what the guard listens to; nil for a detached one
	guarded func() error // waits for the guard's end
}

// guard ends the container when its own input ends: when the process that holds the other end closes it or dies, in
// whatever way. What it starts, containers, the engine would keep.
const guard = `cat >/dev/null; exec "$@" >/dev/null 2>&1`

func (c *Cloud) startDocker(ctx context.Context, root string, port int, detached bool) error {
	d := &container{
		project: fmt.Sprintf("inorder-%d", port), folder: c.folder, port: port,
		compose: filepath.Join(root, "localstack", "compose.yaml"),
	}
	c.Project, c.Compose, c.engine, c.How = d.project, d.compose, d, "in Docker: functions are containers"
	if !detached {
		if err := d.startGuard(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(c.folder, "volume"), 0o755); err != nil { // else the engine makes it, as root
		return err
	}
	// The image is fetched by this, the first time.
	if out, err := d.run(ctx, "up", "--detach", "--quiet-pull"); err != nil {
		return fmt.Errorf("docker compose up: %w: %s", err, out)
	}
	return nil
}

func (d *container) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "docker", append([]string{"compose", "--project-name", d.project, "--file", d.compose}, args...)...)
	cmd.Env = append(os.Environ(), "CLOUD_PORT="+strconv.Itoa(d.port), "CLOUD_VOLUME="+filepath.Join(d.folder, "volume"))
	return cmd
}

func (d *container) run(ctx context.Context, args ...string) (string, error) {
	out, err := d.command(ctx, args...).CombinedOutput()
	return string(bytes.TrimSpace(out)), err
}

// stopSeconds is the time that LocalStack gets to remove its functions' containers, which are not compose's.
const stopSeconds = 20

var down = []string{"down", "--volumes", "--remove-orphans", "--timeout", strconv.Itoa(stopSeconds)}

func (d *container) startGuard() error {
	ending := d.command(context.Background(), down...)
	cmd := exec.Command("/bin/sh", append([]string{"-c", guard, "sh"}, ending.Args...)...)
	cmd.Env = ending.Env
	ownGroup(cmd)
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	d.guard, d.guarded = input, cmd.Wait
	return nil
}

// alive cannot be told without asking the engine each time, and an answer of LocalStack says more.
func (d *container) alive() bool { return true }

// ready: the engine starts no container whose port is taken.
func (d *container) ready() bool { return true }

func (d *container) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*stopSeconds*time.Second)
	defer cancel()
	// What LocalStack wrote belongs to root; where this fails, removing the folder says so. The long name of -T has changed.
	_, _ = d.run(ctx, "exec", "-T", "localstack", "sh", "-c", "rm -rf /var/lib/localstack/*")
	if d.guard == nil {
		if out, err := d.run(ctx, down...); err != nil {
			return fmt.Errorf("docker compose down: %w: %s", err, out)
		}
		return nil
	}
	closed, waited := d.guard.Close(), d.guarded()
	d.guard = nil // a second stop asks again, and finds nothing
	return errors.Join(closed, waited)
}

func (d *container) log() string {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	out, err := d.run(ctx, "logs", "--no-color")
	if err != nil {
		return strings.TrimSpace(out + "\n" + err.Error())
	}
	return out
}
