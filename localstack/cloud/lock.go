package cloud

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// Lock makes sure that one process at a time changes the Cloud of a folder: starts it, deploys to it, stops it. Who comes
// second is told who holds it, and waits. The kernel takes the lock from a process that dies.
//
// It is a file beside the folder, which Stop removes. The file stays: to remove it would take it from under whoever waits.
func Lock(ctx context.Context, folder, doing string, progress io.Writer) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return nil, err
	}
	file := flock.New(lockFile(folder))
	held, err := file.TryLock()
	if err == nil && !held {
		fmt.Fprintf(progress, "%s: waiting for its end; Ctrl-C gives up\n", holder(folder))
		err = wait(ctx, file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", holder(folder), err)
	}
	note(file.Path(), fmt.Sprintf("%d %s\n", os.Getpid(), doing))
	return func() {
		note(file.Path(), "")
		_ = file.Close() // which unlocks it, and so does the end of this process
	}, nil
}

// wait leaves it to the kernel who comes next: those who ask again and again overtake each other, and an `up` that is overtaken by
// `down` starts what was just stopped.
func wait(ctx context.Context, file *flock.Flock) error {
	locked := make(chan error, 1)
	go func() { locked <- file.Lock() }()
	select {
	case err := <-locked:
		return err
	case <-ctx.Done():
		go func() { // it is not wanted any more, and the others want it
			if err := <-locked; err == nil {
				_ = file.Close()
			}
		}()
		return ctx.Err()
	}
}

func lockFile(folder string) string { return folder + ".lock" }

// note is for people: without it the lock holds all the same.
func note(file, text string) { _ = os.WriteFile(file, []byte(text), 0o600) }

// Busy says who changes the Cloud of a folder just now; empty where nobody does.
func Busy(folder string) string {
	text, _ := os.ReadFile(lockFile(folder))
	number, doing, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	pid, err := strconv.Atoi(number)
	if err != nil || !exists(pid) { // one that was killed has left its note
		return ""
	}
	return fmt.Sprintf("process %d is at `%s` here", pid, doing)
}

// holder is Busy for whoever met a lock.
func holder(folder string) string {
	if who := Busy(folder); who != "" {
		return who
	}
	return "another process changes the cloud in " + folder
}
