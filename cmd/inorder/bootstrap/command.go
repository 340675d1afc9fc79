// Package bootstrap gives entities the cursors and states of a snapshot, for a consumer that starts late or moves over.
package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/terminal"
	"inorder/events"
	"inorder/ordering"
)

// Command is `inorder bootstrap`.
type Command struct {
	stack.Flags
	terminal.Output
	File string `arg:"" help:"Snapshot, one JSON object a line."`
	Yes  bool   `help:"Write. Without it nothing is changed."`
}

// Help is shown below the flags.
func (*Command) Help() string {
	return `Each line is an entity: stream, entity_id, state, and how far the state is:

  step, delta    "applied": the last number that it holds; "generation" where there are some
  state by seq   "seq" of the newest event that it holds; "generation"
  state by time, text or hex   "clock": the order key of that event; by time also its "event_id" and "source"

with "source" where each source has a history, or attributes, of its own. The whole file is checked before anything is
written.

An entity is written where there is none, or where its events are only parked so far; those that the snapshot holds stop
waiting. A newer state stays. What the snapshot holds sends no effects. To run it again changes nothing.`
}

// Result is what --json prints.
type Result struct {
	DryRun  bool      `json:"dry_run"` // nothing was written
	File    string    `json:"file"`
	Lines   int       `json:"lines"` // entities in the file
	Written int       `json:"written"`
	Kept    int       `json:"kept"`    // they are as far already, or farther
	Refused []Refused `json:"refused"` // they have begun something that the snapshot would undo
	Passed  int       `json:"passed"`  // parked events that are in the snapshot
	Ready   int       `json:"ready"`   // entities whose parked events are next now: the sweeper runs them

	complete bool // all of the file was looked at
}

// Refused is a line that was not written.
type Refused struct {
	Line     int    `json:"line"`
	Stream   string `json:"stream"`
	EntityID string `json:"entity_id"`
	Source   string `json:"source,omitempty"`
	Why      string `json:"why"`
}

// Run writes the snapshot, or says what it would write.
func (c *Command) Run(ctx context.Context, out, notes io.Writer) (exitCode int, err error) {
	r, err := c.bootstrap(ctx, notes)
	if r == nil {
		return stack.ExitCode(err), err
	}
	r.complete = err == nil
	err = errors.Join(err, c.Show(out, r, r.print)) // with an error, too: what is written is written
	if err != nil || len(r.Refused) > 0 {
		return stack.ExitFailed, err
	}
	return stack.ExitDone, nil
}

func (c *Command) bootstrap(ctx context.Context, notes io.Writer) (*Result, error) {
	connection, streams, err := c.Open(ctx, stack.EntitiesTable, stack.ItemsTable)
	if err != nil {
		return nil, err
	}
	keeper, err := connection.Keeper(streams, &events.Stream{}, c.Time) // it sends nothing, so it needs no queue
	if err != nil {
		return nil, err
	}
	entities, err := check(c.File, streams)
	if err != nil {
		return nil, err
	}
	w := &writer{
		keeper: keeper, dryRun: !c.Yes, progress: progress(entities, notes),
		Result: &Result{DryRun: !c.Yes, File: c.File, Lines: entities, Refused: []Refused{}},
	}
	err = w.writeAll(ctx, c.File, streams)
	w.progress.End()
	w.sort()
	if err != nil && c.Yes {
		err = fmt.Errorf("%w (what is written stays written: run it again for the rest)", err)
	}
	return w.Result, err
}

// atOnce is how many entities are written side by side: they wait for the database, not for a processor.
const atOnce = 16

// writer takes the lines of a file that was checked.
type writer struct {
	keeper   *ordering.Keeper
	dryRun   bool
	progress *terminal.Progress

	mu sync.Mutex
	*Result
}

// errEnough ends the reading of a file.
var errEnough = errors.New("enough")

// writeAll reads the file again, so that it need not be held, and stops at the first fault of the database.
func (w *writer) writeAll(ctx context.Context, path string, streams *events.Config) error {
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	readErr := each(path, func(text string, number int) error {
		l, err := parse(streams, text, number)
		if err != nil {
			return fmt.Errorf("%s was changed meanwhile: line %d: %w", path, number, err)
		}
		if working.Err() != nil {
			return errEnough
		}
		group.Go(func() error { return w.write(working, l) })
		return nil
	})
	if errors.Is(readErr, errEnough) {
		readErr = nil // the group, or ctx, says why
	}
	if err := errors.Join(readErr, group.Wait()); err != nil {
		return err
	}
	return ctx.Err()
}

func (w *writer) write(ctx context.Context, l *line) error {
	done, err := w.keeper.Bootstrap(ctx, l.key, l.stream, l.snapshot, w.dryRun)
	if err != nil {
		return fmt.Errorf("line %d: %w", l.number, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.progress.Add(1)
	switch done.Verdict {
	case ordering.SnapshotWritten:
		w.Written++
		w.Passed += done.Passed
		if done.Entity.Waiting.Has(done.Entity.Applied + 1) {
			w.Ready++
		}
	case ordering.SnapshotKept:
		w.Kept++
	case ordering.SnapshotRefused:
		source := l.key.Source + l.snapshot.Source // one of them, or none
		w.Refused = append(w.Refused, Refused{l.number, l.key.Stream, l.key.ID, source, done.Why})
	}
	return nil
}

// longFile is from how many entities on a terminal shows how far it has come.
const longFile = 500

func progress(entities int, notes io.Writer) *terminal.Progress {
	if entities < longFile {
		return nil
	}
	return terminal.NewProgress(notes, entities, "entities")
}
