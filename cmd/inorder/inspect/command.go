// Package inspect shows all that is known of one entity on one page: what support asks for.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/terminal"
	"inorder/events"
	"inorder/ordering"
)

// Command is `inorder inspect`.
type Command struct {
	stack.Flags
	stack.Entity
	History  int64  `help:"Look at so many numbers of the log up to the cursor." default:"20"`
	Logs     bool   `help:"Add the consumer's log lines about the entity, from CloudWatch Logs."`
	LogGroup string `help:"Where they are (default: the variable CONSUMER_LOG_GROUP, or the stack's output ConsumerLogGroup)." placeholder:"GROUP"`
	Since    string `help:"How far back log lines are looked for, such as 90m or 14d." default:"1d"`
	JSON     bool   `name:"json" help:"Print one JSON object."`

	Now       func() time.Time `kong:"-"` // nil: the wall clock
	Width     int              `kong:"-"` // 0: the terminal's
	LogReader LogReader        `kong:"-"` // nil: CloudWatch Logs
}

// Help is shown below the flags.
func (*Command) Help() string {
	return `Shows the state, how far it has come, the last event with its times, what is parked, missing, blocked, owed or
skipped, and a timeline from the log where there is one: with log: all, or effects, every event of the last park_ttl,
otherwise those that had to wait. It shows no event's data, only the state.

The exit code is 1 where the entity was never seen. It costs a few read units; --logs is charged by CloudWatch for the
data that it scans, so keep --since short where the log group is large.`
}

// Validate is called by the command line parser.
func (c *Command) Validate() error {
	if c.History < 0 {
		return fmt.Errorf("--history %d: a number from 0 on", c.History)
	}
	if _, err := events.ParseDuration(c.Since); err != nil {
		return fmt.Errorf("--since: %w", err)
	}
	return c.Flags.Validate()
}

// Run shows the page.
func (c *Command) Run(ctx context.Context, out, _ io.Writer) (exitCode int, err error) {
	p, err := c.read(ctx)
	if err != nil {
		return stack.ExitCode(err), err
	}
	if c.JSON {
		err = terminal.JSON(out, p)
	} else {
		width := c.Width
		if width == 0 {
			width = terminal.Width(out)
		}
		printer{out, width, p}.print()
	}
	if err != nil {
		return stack.ExitFailed, err
	}
	return stack.ExitDone, nil
}

func (c *Command) read(ctx context.Context) (*Page, error) {
	connection, err := c.Connect(ctx, stack.EntitiesTable, stack.ItemsTable)
	if err != nil {
		return nil, err
	}
	streams, err := connection.Streams()
	if err != nil {
		return nil, err
	}
	stream, key, err := c.In(streams)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if c.Now != nil {
		now = c.Now()
	}
	r := reader{store: connection.Store(), stream: stream, key: key, now: now, history: c.History}
	p, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, stack.NeverSeen(key)
	}
	return p, c.addLines(ctx, connection, p, stream, key, now)
}

func (c *Command) addLines(ctx context.Context, connection *stack.Connection, p *Page, stream *events.Stream, key ordering.Key, now time.Time) error {
	if !c.Logs && c.LogGroup == "" {
		return nil
	}
	group := c.LogGroup
	if group == "" {
		if err := connection.Need(stack.ConsumerLogGroup); err != nil {
			return errors.Join(err, stack.Usagef("or name it with --log-group"))
		}
		group = connection.Get(stack.ConsumerLogGroup)
	}
	back, err := events.ParseDuration(c.Since)
	if err != nil {
		return stack.Usagef("--since: %v", err)
	}
	client := c.LogReader
	if client == nil {
		client = connection.Logs()
	}
	return p.addLines(ctx, client, group, stream, key, now.Add(-back))
}
