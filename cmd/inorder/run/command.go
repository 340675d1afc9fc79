// Package run consumes messages from files as the function would consume them from a queue, and shows what becomes of
// them.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/term"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/terminal"
	"inorder/events"
	"inorder/functions"
	"inorder/functions/projections"
)

// Command is `inorder run`.
type Command struct {
	backend.Choice
	Files    []string `arg:"" optional:"" name:"file" help:"Files of messages; - or none: standard input."`
	Streams  string   `help:"What each type of event means." default:"events/streams.yaml" placeholder:"FILE"`
	Batch    int      `help:"Messages per invocation." default:"10"`
	Receives int      `help:"How often a message that comes back is delivered at most." default:"5"`
	JSON     bool     `name:"json" help:"Print one JSON object."`

	In  io.Reader        `kong:"-"` // nil: standard input
	Now func() time.Time `kong:"-"` // nil: the wall clock
}

// Help is shown below the flags.
func (*Command) Help() string {
	return `Each line is a message: a body, or a whole SQS record, as Lambda or as ReceiveMessage has it.
A file may also be one JSON text over several lines, such as {"Records": [...]}.`
}

// Validate is called by the command line parser.
func (c *Command) Validate() error {
	switch {
	case c.Batch < 1 || c.Batch > maxBatch:
		return fmt.Errorf("--batch %d: an invocation takes 1 to %d messages", c.Batch, maxBatch)
	case c.Receives < 1:
		return fmt.Errorf("--receives %d: a message is delivered once at least", c.Receives)
	}
	return c.Choice.Validate()
}

// maxBatch is Lambda's own limit for a standard queue.
const maxBatch = 10_000

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// Run consumes the messages. The exit code is 0 when each has come to its end, 1 when some still come back after their
// last receive, 2 when there is nothing to begin with.
func (c *Command) Run(ctx context.Context, out, notes io.Writer) (exitCode int, err error) {
	in, now := c.In, c.Now
	if in == nil {
		in = os.Stdin
	}
	if now == nil {
		now = time.Now
	}
	streams, err := c.streams()
	if err != nil {
		return exitUsage, err
	}
	if len(c.Files) == 0 && isTerminal(in) {
		return exitUsage, errors.New("there is nothing to read: name files of messages, or pipe messages in")
	}
	all, err := readAll(c.Files, in, now())
	if err != nil {
		return exitUsage, err
	}
	b, err := backend.Open(ctx, c.Choice, notes)
	if err != nil {
		return exitUsage, err
	}
	defer func() { _ = b.Close() }() // its data is in memory
	report, err := c.consume(ctx, b, streams, all, notes, now)
	if err != nil {
		return exitFailed, err
	}
	if err := c.show(report, out); err != nil {
		return exitFailed, err
	}
	if len(report.Deferred) > 0 {
		return exitFailed, nil
	}
	return exitDone, nil
}

func (c *Command) streams() (*events.Config, error) {
	text, err := os.ReadFile(c.Streams)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s: say with --streams FILE what each type of event means", c.Streams)
	}
	if err != nil {
		return nil, err
	}
	options := events.Options{Projections: slices.Collect(maps.Keys(projections.All()))}
	streams, err := events.ParseStreams(text, options)
	if err != nil {
		return nil, fmt.Errorf("%s has faults:\n%w", c.Streams, err)
	}
	return streams, nil
}

func (c *Command) consume(ctx context.Context, b *backend.Backend, streams *events.Config, all []*message, notes io.Writer, now func() time.Time) (*Report, error) {
	tables, err := b.CreateTables(ctx, "inorder-run-"+now().UTC().Format("20060102T150405.000000000"))
	if err != nil {
		return nil, err
	}
	queues := &backend.Queues{Now: now}
	bar := progress(len(all), notes)
	q := &queue{streams: streams, batch: c.Batch, receives: c.Receives, done: bar.Add}
	parts := b.Parts(streams, tables, nil, queues.Client(nil), now)
	parts.Observe = q.observe
	q.consumer = functions.NewConsumer(parts)
	err = q.consume(ctx, all)
	bar.End()
	if err != nil {
		return nil, err
	}
	report, err := newReport(ctx, streams, b.Store(tables, nil), queues, all)
	return report, errors.Join(err, b.DropTables(ctx, tables))
}

// longInput is from how many messages on a terminal shows how far it has come.
const longInput = 500

// progress shows on a terminal how many messages have come to their end.
func progress(messages int, notes io.Writer) *terminal.Progress {
	if messages < longInput {
		return nil
	}
	return terminal.NewProgress(notes, messages, "messages")
}

func (c *Command) show(r *Report, out io.Writer) error {
	if c.JSON {
		text, err := json.Marshal(r, jsontext.WithIndent("  "), json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s\n", text)
		return err
	}
	printer{out: out, width: terminal.Width(out)}.print(r)
	return nil
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
