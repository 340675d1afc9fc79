package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// kept are the results of this commit, one file each, so that hours of work do not end with the terminal.
type kept struct {
	commit string // as git describes it
	folder string
}

const keptIn = ".proof"

// changed ends the name of a commit on which something was changed and not committed.
const changed = "-dirty"

// openKept finds what has held already. Where something is changed and not committed, nothing has.
func openKept(ctx context.Context) (*kept, error) {
	k := &kept{commit: commit(ctx)}
	k.folder = filepath.Join(keptIn, k.commit)
	if strings.HasSuffix(k.commit, changed) {
		if err := os.RemoveAll(k.folder); err != nil {
			return nil, err
		}
	}
	return k, os.MkdirAll(k.folder, 0o755)
}

// commit names what is proved. A file that git does not know is a change, for it may be code; the page is none, for each run
// writes it. Without git nobody knows.
func commit(ctx context.Context) string {
	name, err := git(ctx, "describe", "--always")
	if err != nil {
		return "unknown" + changed
	}
	changes, err := git(ctx, "status", "--porcelain", "--", ".", ":(exclude)"+page)
	if err != nil || changes != "" {
		return name + changed
	}
	return name
}

func git(ctx context.Context, arguments ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", arguments...).Output()
	return strings.TrimSpace(string(out)), err
}

// still reports whether what is proved is what it was at the beginning: somebody may go on working while this runs.
func (k *kept) still(ctx context.Context) bool { return k != nil && commit(ctx) == k.commit }

// ended names the commit when all is done.
func (k *kept) ended(ctx context.Context) string {
	if !k.still(ctx) {
		return k.commit + " (changed while this ran)"
	}
	return k.commit
}

func (k *kept) file(command string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, command)
	return filepath.Join(k.folder, name+".json")
}

// of returns the result of a proof that held before, with the same command.
func (k *kept) of(p proof) (r result, done bool) {
	if k == nil {
		return r, false
	}
	text, err := os.ReadFile(k.file(p.shell()))
	if errors.Is(err, fs.ErrNotExist) {
		return r, false
	}
	return r, err == nil && json.Unmarshal(text, &r) == nil && r.Held && r.Command == p.shell()
}

// keep remembers a result. Where that fails, the next run does it again.
func (k *kept) keep(r result) {
	if k == nil {
		return
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(k.file(r.Command), text, 0o644)
	}
	if err != nil {
		fmt.Println("  cannot keep this result:", err)
	}
}
