// Package scenario plays the test language of this project: YAML files of messages, faults and expectations, against
// the real consumer code, in virtual time.
package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"

	"inorder/cmd/inorder/backend"
)

// Command is `inorder scenario`.
type Command struct {
	backend.Choice
	Files []string `arg:"" name:"file" help:"Scenario files."`
	JSON  bool     `name:"json" help:"Print one JSON object per file."`
	Cold  bool     `help:"Every invocation begins cold. Expectations of what a warm one costs may then fail."`
	Seed  uint64   `help:"Decides how invocations that run at once interleave." default:"1"`
}

// Validate is called by the command line parser.
func (c *Command) Validate() error { return c.Choice.Validate() }

// Run plays the files. The exit code is 0 when everything holds, 1 when something does not, 2 when a file cannot be
// played; of several files the worst counts.
func (c *Command) Run(ctx context.Context, out, notes io.Writer) (exitCode int, err error) {
	b, err := backend.Open(ctx, c.Choice, notes)
	if err != nil {
		return exitUnplayable, err
	}
	defer func() { _ = b.Close() }() // its data is in memory
	player := &Player{Backend: b, Parallel: b.Parallel(), Seed: c.Seed, Cold: c.Cold}
	results := player.Play(ctx, c.Files)
	if ctx.Err() != nil {
		return exitFailed, errors.New("interrupted")
	}
	for _, r := range results {
		exitCode = max(exitCode, r.exitCode())
		if c.JSON {
			if err := r.writeJSON(out); err != nil {
				return exitFailed, err
			}
			continue
		}
		r.write(out)
	}
	if !c.JSON && len(results) > 1 {
		fmt.Fprintln(out, summary(results))
	}
	return exitCode, nil
}
