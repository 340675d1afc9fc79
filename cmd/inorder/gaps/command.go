// Package gaps lists what the sweeper must look at: numbers that are missing, events that are blocked, effects that are
// owed.
package gaps

import (
	"context"
	"fmt"
	"io"
	"time"

	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/terminal"
	"inorder/ddb"
)

// Command is `inorder gaps`.
type Command struct {
	stack.Flags
	terminal.Output
	Stream string `help:"Only this stream's." placeholder:"NAME"`
	Limit  int    `help:"Show so many, the oldest; 0: all." default:"50"`
}

// Help is shown below the flags.
func (*Command) Help() string {
	return `Lists the entities that have an open gap, or anything else that the sweeper must look at, oldest first, and ends
with what they look like taken together. The exit code is 0 when nothing is open, 1 when something is.

It reads the index of gaps and the entities in it, 100 at a time, and at most 1 MB of the table itself, where it needs
to know how many entities have no gap.`
}

// Validate is called by the command line parser.
func (c *Command) Validate() error {
	if c.Limit < 0 {
		return fmt.Errorf("--limit %d: 0 shows all", c.Limit)
	}
	return c.Flags.Validate()
}

// Result is what --json prints.
type Result struct {
	Consumer       string    `json:"consumer"`
	At             time.Time `json:"at"`
	Open           int       `json:"open"` // gaps has the oldest --limit of them
	Gaps           []Gap     `json:"gaps"`
	NotRead        int       `json:"not_read,omitzero"`        // further entities of the index, newer than the oldest 10,000
	OtherConsumers int       `json:"other_consumers,omitzero"` // entities of others in the same index
	NoKeys         int       `json:"no_keys,omitzero"`         // entries that are no entity's
	Hints          []Hint    `json:"hints"`

	lacking int // of the open ones lack a number; the others are blocked, or owe something
}

// Run lists the gaps.
func (c *Command) Run(ctx context.Context, out, _ io.Writer) (exitCode int, err error) {
	r, err := c.read(ctx)
	if err != nil {
		return stack.ExitCode(err), err
	}
	if c.Limit > 0 && len(r.Gaps) > c.Limit {
		r.Gaps = r.Gaps[:c.Limit]
	}
	if err = c.Show(out, r, r.print); err != nil || r.Open > 0 {
		return stack.ExitFailed, err
	}
	return stack.ExitDone, nil
}

func (c *Command) read(ctx context.Context) (*Result, error) {
	connection, streams, err := c.Open(ctx, stack.EntitiesTable)
	if err != nil {
		return nil, err
	}
	if err := stack.CheckStream(streams, c.Stream); err != nil {
		return nil, err
	}
	now := c.Time()
	open, err := Read(ctx, connection.Store(), streams, c.Stream, now)
	if err != nil {
		return nil, err
	}
	page := onePage(ctx, connection.Scan(connection.Get(stack.EntitiesTable)), streams.Consumer)
	hints, err := diagnose(open.Gaps, page)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Consumer: streams.Consumer, At: now.UTC(), Open: len(open.Gaps) + open.Unread, Gaps: open.Gaps, Hints: hints,
		NotRead: open.Unread, OtherConsumers: open.Others, NoKeys: open.NoKeys, lacking: open.Totals().Missing + open.Unread,
	}
	return r, nil
}

// sampled is how many items of the table are looked at to learn how many entities have no gap.
const sampled = 1000

// onePage reads a page of the table, once, for whichever stream asks.
func onePage(ctx context.Context, scan *ddb.Scan, consumer string) func(stream string) ([]ddb.Presence, error) {
	var page []ddb.Presence
	read := false
	return func(stream string) ([]ddb.Presence, error) {
		if !read {
			var err error
			if page, err = scan.Sample(ctx, consumer, sampled); err != nil {
				return nil, err
			}
			read = true
		}
		var of []ddb.Presence
		for _, p := range page {
			if p.Key.Stream == stream {
				of = append(of, p)
			}
		}
		return of, nil
	}
}
