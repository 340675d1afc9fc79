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
)

// Command is `inorder inspect`.
type Command struct {
	stack.Flags
	stack.Entity
	terminal.Output
	History  int64  `help:"Look at so many numbers of the log up to the cursor." default:"20"`
	Logs     bool   `help:"Add the consumer's log lines about the entity, from CloudWatch Logs."`
	LogGroup string `help:"Where they are (default: the variable CONSUMER_LOG_GROUP, or the stack's output ConsumerLogGroup)." placeholder:"GROUP"`
	Since    string `help:"How far back log lines are looked for, such as 90m or 14d." default:"1d"`

	LogReader LogReader `kong:"-"` // nil: CloudWatch Logs
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
	if err := c.Show(out, p, p.print); err != nil {
		return stack.ExitFailed, err
	}
	return stack.ExitDone, nil
}

func (c *Command) read(ctx context.Context) (*Page, error) {
	at, err := c.Find(ctx, &c.Flags, stack.EntitiesTable, stack.ItemsTable)
	if err != nil {
		return nil, err
	}
	now := c.Time()
	r := reader{store: at.Store(), stream: at.Stream, key: at.Key, now: now, history: c.History}
	p, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, stack.NeverSeen(at.Key)
	}
	return p, c.addLines(ctx, at, p, now)
}

func (c *Command) addLines(ctx context.Context, at *stack.Found, p *Page, now time.Time) error {
	if !c.Logs && c.LogGroup == "" {
		return nil
	}
	group := c.LogGroup
	if group == "" {
		if err := at.Need(stack.ConsumerLogGroup); err != nil {
			return errors.Join(err, stack.Usagef("or name it with --log-group"))
		}
		group = at.Get(stack.ConsumerLogGroup)
	}
	back, err := events.ParseDuration(c.Since)
	if err != nil {
		return stack.Usagef("--since: %v", err)
	}
	client := c.LogReader
	if client == nil {
		client = at.Logs()
	}
	return p.addLines(ctx, client, group, at.Stream, at.Key, now.Add(-back))
}
