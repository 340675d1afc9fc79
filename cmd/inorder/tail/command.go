// Package tail shows how a deployment is doing, again and again: what the queues hold, and what is open.
package tail

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"inorder/cmd/inorder/gaps"
	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/terminal"
	"inorder/events"
	"inorder/ordering"
)

// Command is `inorder tail`.
type Command struct {
	stack.Flags
	terminal.Output
	Every time.Duration `help:"How often to look." default:"5s"`
	Once  bool          `help:"Look once, and end."`
}

// Help is shown below the flags.
func (*Command) Help() string {
	return `On a terminal it draws over what it drew before; anywhere else it prints one line each time, with --json one object. Ctrl-C ends it with exit
code 0. Queues whose URLs are not known are left out. Where something cannot be read the rest is shown, and with --once
the exit code is 1.

Each look costs a request per queue, 16 queries of the index of gaps, and one read per 100 entities in it.`
}

// Validate is called by the command line parser.
func (c *Command) Validate() error {
	if c.Every < shortest {
		return fmt.Errorf("--every %s: at least %s", c.Every, shortest)
	}
	return c.Flags.Validate()
}

// shortest is how often a look makes sense: what SQS says is some seconds old anyway.
const shortest = time.Second

// Look is what one look finds, and its JSON form. The gauges have the names that the sweeper's have.
type Look struct {
	At       time.Time         `json:"at"`
	Consumer string            `json:"consumer"`
	Queues   map[string]Depths `json:"queues"` // events, dlq, quarantine, republish and effects, where they can be read

	Gaps       *int     `json:"gaps_open_current,omitempty"` // this and what follows: absent where it cannot be read
	Parked     *int     `json:"events_parked_current,omitempty"`
	Blocked    *int     `json:"entities_blocked_current,omitempty"`
	Owing      *int     `json:"effects_owed_current,omitempty"` // entities whose effects are not all sent
	OldestGap  *Gap     `json:"oldest_gap,omitempty"`           // absent where there is none
	OldestAge  int64    `json:"oldest_gap_age_seconds"`         // 0 where there is none
	OnlyOldest int      `json:"entities_not_read,omitzero"`     // newer ones in the index
	Errors     []string `json:"errors,omitempty"`               // why something is missing
}

// Gap names an entity.
type Gap struct {
	Stream   string `json:"stream"`
	EntityID string `json:"entity_id"`
	Source   string `json:"source,omitempty"`
}

// Run shows one look after the other.
func (c *Command) Run(ctx context.Context, out, notes io.Writer) (exitCode int, err error) {
	w, err := c.watcher(ctx)
	if err != nil {
		return stack.ExitCode(err), err
	}
	w.tellUnknown(notes)
	width := func() int { return c.Columns(out) }
	show := screen{out: out, width: width, every: c.Every, once: c.Once, json: c.JSON}
	for {
		look := w.look(ctx)
		if ctx.Err() != nil && !c.Once {
			return stack.ExitDone, nil // Ctrl-C is how this ends
		}
		if err := show.show(look); err != nil {
			return stack.ExitFailed, err
		}
		if c.Once {
			return onceCode(look), nil
		}
		if !wait(ctx, c.Every) {
			return stack.ExitDone, nil
		}
	}
}

func onceCode(l *Look) int {
	if len(l.Errors) > 0 {
		return stack.ExitFailed
	}
	return stack.ExitDone
}

func wait(ctx context.Context, d time.Duration) (more bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// watcher looks at one deployment.
type watcher struct {
	streams *events.Config
	store   ordering.Upkeep
	sqs     attributer
	urls    map[string]string
	unknown []stack.Resource
	now     func() time.Time
}

func (c *Command) watcher(ctx context.Context) (*watcher, error) {
	connection, streams, err := c.Open(ctx, stack.EntitiesTable)
	if err != nil {
		return nil, err
	}
	w := &watcher{streams: streams, store: connection.Store(), sqs: connection.SQS(), urls: map[string]string{}, now: c.Time}
	for _, q := range queues {
		url := connection.Get(q.resource)
		if w.urls[q.name] = url; url == "" {
			w.unknown = append(w.unknown, q.resource)
			continue
		}
		if err := connection.Need(q.resource); err != nil { // it is there, but no URL
			return nil, err
		}
	}
	return w, nil
}

// tellUnknown says once which queues are left out.
func (w *watcher) tellUnknown(notes io.Writer) {
	if len(w.unknown) == 0 {
		return
	}
	names := make([]string, len(w.unknown))
	for i, r := range w.unknown {
		names[i] = r.Variable() + " (output " + r.Output() + ")"
	}
	fmt.Fprintf(notes, "note: left out are the queues whose URLs are not known: %s\n", strings.Join(names, ", "))
}

// look reads everything that it can.
func (w *watcher) look(ctx context.Context) *Look {
	now := w.now()
	l := &Look{At: now.UTC(), Consumer: w.streams.Consumer}
	var errs []error
	l.Queues, errs = depthsOf(ctx, w.sqs, w.urls)
	for _, err := range errs {
		l.Errors = append(l.Errors, stack.Explain(err))
	}
	open, err := gaps.Read(ctx, w.store, w.streams, "", now)
	if err != nil {
		l.Errors = append(l.Errors, stack.Explain(err))
		return l
	}
	l.add(open)
	return l
}

func (l *Look) add(open *gaps.Open) {
	t := open.Totals()
	l.Gaps, l.Parked, l.Blocked, l.Owing, l.OnlyOldest = &t.Missing, &t.Parked, &t.Blocked, &t.Owing, open.Unread
	if t.Oldest != nil {
		l.OldestGap = &Gap{t.Oldest.Stream, t.Oldest.EntityID, t.Oldest.Source}
		l.OldestAge = int64(t.Age / time.Second)
	}
}
