// Package redrive moves messages from the quarantine or the dead-letter queue back to the events queue.
package redrive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/time/rate"

	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/terminal"
	"inorder/events"
)

// Command is `inorder redrive`. SQS's own StartMessageMoveTask knows no filter, and moves from dead-letter queues only,
// which the quarantine queue is not.
type Command struct {
	stack.Flags
	terminal.Output
	From   string   `enum:"quarantine,dlq" default:"quarantine" help:"The queue to take them from: quarantine or dlq." placeholder:"QUEUE"`
	Reason []string `help:"Only those that are in quarantine for this reason; several with commas." placeholder:"REASON"`
	Stream string   `help:"Only those of this stream." placeholder:"NAME"`
	Entity string   `help:"Only those of the entity with this id." placeholder:"ID"`
	Limit  int      `help:"Move so many at most; 0: no limit." default:"0"`
	Rate   float64  `help:"Messages per second, so that the consumer keeps up." default:"100"`
	Yes    bool     `help:"Move them. Without it nothing is moved: they are counted."`

	API API `kong:"-"` // nil: the real client
}

// Help is shown below the flags.
func (*Command) Help() string {
	return `Counts the messages by reason and stream, and with --yes moves them: each is sent to the events queue as it first
came, byte for byte and without quarantine's mark, and then deleted. A crash in between leaves a duplicate, never a loss.
Ctrl-C ends it after the current message; the same command goes on with the rest.

Looking at a message receives it, which hides it for as long as the command runs (10 minutes at most where it dies), and
counts as a receive. All that stays is shown again at the end. Counts of SQS itself are approximate.`
}

// minRate keeps the wait between two messages well below the time for which they are hidden.
const minRate = 0.02

// Validate is called by the command line parser.
func (c *Command) Validate() error {
	switch {
	case c.Limit < 0:
		return fmt.Errorf("--limit %d: 0 moves all", c.Limit)
	case c.Rate < minRate:
		return fmt.Errorf("--rate %v: at least %v messages per second", c.Rate, minRate)
	case c.From == "dlq" && len(c.Reason) > 0:
		return errors.New("--reason: only the quarantine knows reasons; a dead-letter queue has what failed without one")
	}
	for _, reason := range c.Reason {
		if !slices.Contains(reasons, events.Reason(reason)) {
			return fmt.Errorf("--reason %s: there are %s", terminal.Escape(reason), join(reasons))
		}
	}
	return c.Flags.Validate()
}

var reasons = []events.Reason{
	events.NotJSON, events.NotAnEvent, events.NoRoute, events.NoEntityID, events.BadEntityID, events.BadOrderKey,
	events.BadEventID, events.ReservedAttribute, events.NotOwner, events.NumberRange, events.TooLarge, events.TooDeep,
	events.FutureTime, events.Conflict, events.ParkExpired, events.OldGeneration, events.ProjectionError, events.Skipped,
}

func join(all []events.Reason) string {
	texts := make([]string, len(all))
	for i, r := range all {
		texts[i] = string(r)
	}
	return strings.Join(texts, ", ")
}

// Run moves the messages, or counts them.
func (c *Command) Run(ctx context.Context, out, notes io.Writer) (exitCode int, err error) {
	r, err := c.redrive(ctx, notes)
	if r == nil {
		return stack.ExitCode(err), err
	}
	err = errors.Join(err, c.Show(out, r, r.print)) // with an error, too: what is moved is moved
	if err != nil || r.Interrupted || len(r.Refused) > 0 {
		return max(stack.ExitCode(err), stack.ExitFailed), err
	}
	return stack.ExitDone, nil
}

func (c *Command) redrive(ctx context.Context, notes io.Writer) (*Result, error) {
	queue := stack.QuarantineQueue
	if c.From == "dlq" {
		queue = stack.DLQ
	}
	connection, streams, err := c.Open(ctx, queue, stack.EventsQueue)
	if err != nil {
		return nil, err
	}
	if connection.Get(queue) == connection.Get(stack.EventsQueue) {
		return nil, stack.Usagef("%s and %s are the same: nothing to move", queue, stack.EventsQueue)
	}
	if err := stack.CheckStream(streams, c.Stream); err != nil {
		return nil, err
	}
	api := c.API
	if api == nil {
		api = connection.SQS()
	}
	from := &source{api, connection.Get(queue)}
	d, err := from.depth(ctx)
	if err != nil {
		return nil, err
	}
	r := &Result{
		DryRun: !c.Yes, From: c.From, About: d.visible, Elsewhere: d.hidden, Limit: c.Limit,
		Groups: []*Group{}, Refused: []Refused{}, Hints: []Hint{},
	}
	m := c.mover(from, &target{api, connection.Get(stack.EventsQueue)}, streams, r)
	progress := c.progress(d.visible, notes)
	m.moved = func() { progress.Add(1) }
	err = m.run(ctx)
	progress.End()
	r.finish(d, from.fifo())
	return r, err
}

func (c *Command) mover(from *source, to *target, streams *events.Config, r *Result) *mover {
	f := filter{stream: c.Stream, entity: c.Entity}
	for _, reason := range c.Reason {
		f.reasons = append(f.reasons, events.Reason(reason))
	}
	return &mover{
		from: from, to: to, streams: streams, filter: f, moves: c.Yes, limit: c.Limit, now: c.Time,
		pace: rate.NewLimiter(rate.Limit(c.Rate), 1), most: perReceive(c.Rate),
		seen: map[string]fate{}, sent: map[[sha256.Size]byte]bool{}, held: map[string]string{}, Result: r,
	}
}

// perReceive is how many messages are received at once: no more than are moved in a minute, so that none comes back before
// its turn.
func perReceive(perSecond float64) int { return int(min(max(1, perSecond*60), atOnce)) }

// progress shows on a terminal how many messages are moved.
func (c *Command) progress(about int, notes io.Writer) *terminal.Progress {
	if !c.Yes {
		return nil
	}
	if c.Limit > 0 {
		about = min(about, c.Limit)
	}
	return terminal.NewProgress(notes, about, "messages moved")
}
