// Package republish asks the producer, by hand, to send some numbers of an entity again.
package republish

import (
	"context"
	"errors"
	"fmt"
	"io"

	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/terminal"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// Command is `inorder republish`.
type Command struct {
	stack.Flags
	stack.Entity
	terminal.Output
	Ranges string `help:"Which numbers (default: all that are missing now)." placeholder:"7,9-11"`
	Force  bool   `help:"Ask for --ranges even where they are here, or nobody has heard of them."`
	DryRun bool   `help:"Print the request and do not send it."`
}

// Help is shown below the flags.
func (*Command) Help() string {
	return `Sends the request that the sweeper would send, at once and without --yes, for it changes no table and copies are
harmless; --dry-run only shows it. It leaves its attempts and their pauses as they are: the request
says attempt 0. The producer sends the events again, or says that they are gone; inorder inspect shows what came.

It asks for what is missing, as the entity says at this moment, and never for more than the stream's window. What is
here already is refused without --force: its copies would be duplicates.`
}

// Validate is called by the command line parser.
func (c *Command) Validate() error {
	if _, err := parseRanges(c.Ranges); err != nil {
		return err
	}
	if c.Force && c.Ranges == "" {
		return errors.New("--force needs --ranges: without them only what is missing is asked for")
	}
	return c.Flags.Validate()
}

// Result is what --json prints.
type Result struct {
	DryRun   bool                      `json:"dry_run"`
	Sent     int                       `json:"sent"`     // of the requests, in their order
	Requests []events.RepublishRequest `json:"requests"` // empty where nothing is missing

	key     ordering.Key
	attempt int // of the sweeper's, so far
}

// Run sends the requests.
func (c *Command) Run(ctx context.Context, out, _ io.Writer) (exitCode int, err error) {
	r, err := c.ask(ctx)
	if r == nil {
		return stack.ExitCode(err), err
	}
	err = errors.Join(err, c.Show(out, r, r.print))
	return stack.ExitCode(err), err
}

func (c *Command) ask(ctx context.Context) (*Result, error) {
	at, err := c.Find(ctx, &c.Flags, stack.EntitiesTable, stack.RepublishQueue)
	if err != nil {
		return nil, err
	}
	if at.Stream.Order.By != events.BySeq {
		return nil, stack.Usagef("stream %s is not ordered by seq: its events have no numbers to ask for", at.Stream.Name)
	}
	entity, err := at.Store().Entity(ctx, at.Key)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", stack.NameOf(at.Key), err)
	}
	if !entity.Exists && !c.Force {
		return nil, stack.NeverSeen(at.Key)
	}
	requests, err := c.requests(at.Stream, at.Key, entity)
	if err != nil {
		return nil, err
	}
	r := &Result{DryRun: c.DryRun, Requests: requests, key: at.Key, attempt: entity.Attempts()}
	if c.DryRun {
		return r, nil
	}
	return r, r.send(ctx, &functions.Republish{SQS: at.SQS(), URL: at.Get(stack.RepublishQueue)})
}

// requests are those for what is missing, or for what was asked for.
func (c *Command) requests(s *events.Stream, key ordering.Key, e *ordering.Entity) ([]events.RepublishRequest, error) {
	template := events.RepublishRequest{
		Consumer: key.Consumer, Stream: key.Stream, EntityID: key.ID, Source: key.Source, Generation: e.Gen,
		RequestedAt: events.FormatInstant(c.Time()),
	}
	missing := ordering.RequestsFor(template, e, s)
	asked, err := parseRanges(c.Ranges)
	if err != nil {
		return nil, stack.Usagef("%v", err)
	}
	if len(asked) == 0 {
		return append([]events.RepublishRequest{}, missing...), nil
	}
	w := wish{stream: s, entity: e, key: key, missing: missing, asked: asked}
	if err := w.withinWindow(); err != nil {
		return nil, err
	}
	if !c.Force {
		if err := w.onlyMissing(); err != nil {
			return nil, err
		}
	}
	return w.requests(template)
}

// send stops at the first request that cannot be sent: those before it are on their way.
func (r *Result) send(ctx context.Context, to *functions.Republish) error {
	for _, request := range r.Requests {
		if err := to.Request(ctx, []events.RepublishRequest{request}); err != nil {
			return fmt.Errorf("ask for numbers of %s: %w", stack.NameOf(r.key), err)
		}
		r.Sent++
	}
	return nil
}

// print shows each request as the message that it is.
func (r *Result) print(out io.Writer, width int) {
	name := stack.NameOf(r.key)
	if len(r.Requests) == 0 {
		fmt.Fprintf(out, "nothing is missing of %s, so nothing is asked for\n", name)
		return
	}
	for i, request := range r.Requests {
		verb := "asked for"
		switch {
		case r.DryRun:
			verb = "would ask for"
		case i >= r.Sent:
			verb = "could not ask for"
		}
		of := name
		if request.Source != r.key.Source { // of a state entity whose sources have clocks of their own
			of += " of source " + terminal.Escape(request.Source)
		}
		fmt.Fprintf(out, "%s %s of %s: %s\n", verb, terminal.Count(terminal.Numbers(request.Ranges), "number"), of, terminal.Ranges(request.Ranges, width > 0))
		_ = terminal.JSONLine(out, request) // a terminal that is gone is no error, as with every other line
	}
	if r.attempt > 0 {
		fmt.Fprintf(out, "The sweeper asked %s before this, and goes on at its own pace.\n", terminal.Times(r.attempt))
	}
	if r.DryRun {
		fmt.Fprintln(out, "Nothing was sent. To send it, leave --dry-run out.")
	}
}
