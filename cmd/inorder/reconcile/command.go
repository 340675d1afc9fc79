// Package reconcile compares the entities with what they should be: a file of truth, or what another consumer has made
// of the same events.
package reconcile

import (
	"context"
	"fmt"
	"io"
	"time"

	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/terminal"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// Command is `inorder reconcile`.
type Command struct {
	stack.Flags
	terminal.Output
	Truth        string  `help:"File of what should be: JSON lines, or a list." placeholder:"FILE"`
	Partial      bool    `help:"The file does not hold all entities: those that it lacks are fine, and no table is scanned."`
	Against      string  `help:"Compare with the entities of another consumer." placeholder:"CONSUMER"`
	AgainstTable string  `help:"Its entities table (default: the same)." placeholder:"TABLE"`
	Stream       string  `help:"Only this stream's." placeholder:"NAME"`
	Limit        int     `help:"List so many mismatches; 0: all. All are counted." default:"100"`
	Parallel     int     `help:"Segments of a table that are scanned side by side." default:"1"`
	Rate         float64 `help:"Read units a second that a scan may use; 0: as many as it gets." default:"0"`
	Emit         bool    `help:"Print the number of mismatches also as a metric (CloudWatch Embedded Metric Format, one line)."`
}

// Help is shown below the flags.
func (*Command) Help() string {
	return `Each line of the file is an entity:

  {"stream":"ledger","entity_id":"a1","state":{"balance":30.5},"applied":8}

state is compared whole, numbers exactly and by value (1.0 is 1); null means that there must be none, and without it
only applied is compared, the number up to which all is applied. source stands where each source has its own history.
Entities of the streams in the file that the file lacks are mismatches, too, unless it is --partial.

What is still under way is a mismatch as well: look with inorder tail whether the queues are empty, or count what stays
after a second run. The exit code is 0 where nothing differs, 1 where something does.

Cost: one read unit per 4 KB of each entity that is compared, on both sides. Finding entities that the other side lacks
scans the whole table, other consumers' items too: half a read unit per 4 KB, 131,000 units per GB. --rate keeps a
scan from taking what the consumer needs of a table with provisioned capacity.`
}

// Validate is called by the command line parser.
func (c *Command) Validate() error {
	switch {
	case (c.Truth == "") == (c.Against == ""):
		return stack.Usagef("compare with what? Say --truth FILE or --against CONSUMER, one of them")
	case c.Truth != "" && c.AgainstTable != "":
		return stack.Usagef("--against-table goes with --against")
	case c.Against != "" && c.Partial:
		return stack.Usagef("--partial goes with --truth")
	case c.Emit && c.JSON:
		return stack.Usagef("--emit and --json would both print to standard output: run it with one of them (the count of --json is the metric)")
	case c.Limit < 0:
		return fmt.Errorf("--limit %d: 0 lists all", c.Limit)
	case c.Parallel < 1 || c.Parallel > maxParallel:
		return fmt.Errorf("--parallel %d: 1 to %d", c.Parallel, maxParallel)
	case c.Rate < 0:
		return fmt.Errorf("--rate %v: a number of read units a second", c.Rate)
	}
	return c.Flags.Validate()
}

// maxParallel is more than one person's connection takes.
const maxParallel = 64

// Result is what --json prints.
type Result struct {
	Consumer   string       `json:"consumer"`
	With       string       `json:"with"` // the file, or the other consumer
	At         time.Time    `json:"at"`
	Compared   int          `json:"compared"`  // entities
	Differing  int          `json:"differing"` // entities with a mismatch
	Count      int          `json:"count"`     // mismatches has the first --limit of them
	Counts     map[Kind]int `json:"counts"`
	Mismatches []Mismatch   `json:"mismatches"`
}

// Run compares.
func (c *Command) Run(ctx context.Context, out, notes io.Writer) (exitCode int, err error) {
	r, err := c.compare(ctx, notes)
	if err != nil {
		return stack.ExitCode(err), err
	}
	if err := c.show(r, out); err != nil {
		return stack.ExitFailed, err
	}
	if r.Count > 0 {
		return stack.ExitFailed, nil
	}
	return stack.ExitDone, nil
}

func (c *Command) compare(ctx context.Context, notes io.Writer) (*Result, error) {
	connection, streams, err := c.Open(ctx, stack.EntitiesTable)
	if err != nil {
		return nil, err
	}
	if err := stack.CheckStream(streams, c.Stream); err != nil {
		return nil, err
	}
	cmp := &comparison{
		streams: streams, only: c.Stream, here: connection.Store(), parallel: c.Parallel, rate: c.Rate, progress: progress(notes),
	}
	r := &Result{Consumer: streams.Consumer, With: c.Truth + c.Against, At: c.Time().UTC(), Counts: map[Kind]int{}}
	if c.Truth != "" {
		err = c.withTruth(ctx, connection, streams, cmp)
	} else {
		err = c.withConsumer(ctx, connection, streams, cmp)
	}
	if err != nil {
		return nil, err
	}
	r.Compared, r.Differing, r.Mismatches = cmp.compared, cmp.differing, cmp.sorted()
	r.Count = len(r.Mismatches)
	for _, m := range r.Mismatches {
		r.Counts[m.Kind]++
	}
	return r, nil
}

func (c *Command) withTruth(ctx context.Context, connection *stack.Connection, streams *events.Config, cmp *comparison) error {
	t, err := readTruth(c.Truth, streams)
	if err != nil {
		return err
	}
	if c.Partial {
		return cmp.withTruth(ctx, t, nil)
	}
	return cmp.withTruth(ctx, t, connection.Scan(connection.Get(stack.EntitiesTable)))
}

func (c *Command) withConsumer(ctx context.Context, connection *stack.Connection, streams *events.Config, cmp *comparison) error {
	table := connection.Get(stack.EntitiesTable)
	if c.AgainstTable != "" && c.AgainstTable != table {
		return cmp.withConsumer(ctx, c.Against, connection.Scan(table), connection.Scan(c.AgainstTable), connection.StoreOf(c.AgainstTable))
	}
	if c.Against == streams.Consumer {
		return stack.Usagef("--against %s: that is this consumer itself; name another one, or its table with --against-table", terminal.Escape(c.Against))
	}
	return cmp.withConsumer(ctx, c.Against, connection.Scan(table), nil, connection.Store())
}

// noted is after how many entities a terminal is told how far it has come.
const noted = 10_000

func progress(notes io.Writer) func(compared int) {
	if terminal.Width(notes) == 0 {
		return func(int) {}
	}
	next := noted
	return func(compared int) {
		if compared >= next {
			_, _ = fmt.Fprintf(notes, "%d entities compared\n", compared)
			next = compared + noted
		}
	}
}

func (c *Command) show(r *Result, out io.Writer) error {
	if c.Limit > 0 && len(r.Mismatches) > c.Limit {
		r.Mismatches = r.Mismatches[:c.Limit]
	}
	if err := c.Show(out, r, r.print); err != nil || !c.Emit {
		return err
	}
	metrics := functions.NewMetrics(out, r.Consumer, c.Time)
	metrics.Count(ordering.MetricMismatches, "", int64(r.Count)) // none is no document
	return metrics.Flush()
}
