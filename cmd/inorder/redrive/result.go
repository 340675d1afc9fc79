package redrive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"inorder/events"
)

// Result is what --json prints.
type Result struct {
	DryRun bool   `json:"dry_run"` // nothing was moved
	From   string `json:"from"`

	About     int `json:"about"`               // messages that SQS says the queue has; approximate
	Elsewhere int `json:"elsewhere"`           // and those that somebody else holds at this moment; approximate
	Looked    int `json:"looked"`              // messages that were looked at
	Matching  int `json:"matching"`            // of them, those that are meant
	Moved     int `json:"moved"`               // of them, those that are in the events queue now
	Again     int `json:"again,omitzero"`      // of what was moved, copies that came back or lay there twice: they stay
	StoppedAt int `json:"stopped_at,omitzero"` // more than these are not looked at in one run
	Limit     int `json:"limit,omitzero"`

	Interrupted bool      `json:"interrupted"`
	Groups      []*Group  `json:"groups"`  // those that are meant
	Refused     []Refused `json:"refused"` // by SQS; they stay
	Hints       []Hint    `json:"hints"`
}

// Group is the messages of one reason and stream.
type Group struct {
	Reason   events.Reason `json:"reason,omitempty"` // empty where quarantine left no mark
	Stream   string        `json:"stream,omitempty"` // empty where no stream takes them
	Messages int           `json:"messages"`
	Moved    int           `json:"moved"`
	Example  string        `json:"example,omitempty"` // the entity of one of them, and what is wrong with it
	named    bool          // the entity is in it
}

// Refused is a message that SQS does not take.
type Refused struct {
	MessageID string `json:"message_id"`
	Error     string `json:"error"`
}

// Hint is what somebody should know before more is done.
type Hint struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

func (r *Result) group(m message) *Group {
	stream := m.streams()
	for _, g := range r.Groups {
		if g.Reason == m.reason && g.Stream == stream {
			return g
		}
	}
	g := &Group{Reason: m.reason, Stream: stream, Example: m.example(), named: m.entity() != ""}
	r.Groups = append(r.Groups, g)
	return g
}

// finish puts the groups in order and adds what has to be known about them.
func (r *Result) finish(d depth, fifo bool) {
	slices.SortFunc(r.Groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(b.Messages, a.Messages), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Stream, b.Stream))
	})
	for _, g := range r.Groups {
		r.hint(string(g.Reason), outlook[g.Reason])
	}
	var shape []string
	for _, g := range r.Groups {
		if shapeReasons[g.Reason] && !slices.Contains(shape, string(g.Reason)) {
			shape = append(shape, string(g.Reason))
		}
	}
	if len(shape) > 0 {
		r.hint("shape", fmt.Sprintf("%s: they come back to quarantine, unless streams.yaml or the consumer has changed since.", strings.Join(shape, ", ")))
	}
	if fifo {
		r.hint("fifo", "A FIFO queue hands out each group in order, so what lies behind a message that stays was not looked at.")
	}
	if d.receives > 0 {
		// "maxReceiveCount is the number of times a consumer can receive a message from a source queue before it is
		// moved to a dead-letter queue": "Using dead-letter queues in Amazon SQS", Amazon SQS Developer Guide. Whoever
		// looks is a consumer, too.
		r.hint("receives", fmt.Sprintf("This queue has a dead-letter queue of its own: each look counts as a receive, and a message with more than %d is moved away.", d.receives))
	}
	if d.hidden > 0 {
		r.hint("elsewhere", fmt.Sprintf("Somebody else holds about %d of its messages at this moment; they were not looked at.", d.hidden))
	}
}

func (r *Result) hint(kind, text string) {
	if text != "" && !slices.ContainsFunc(r.Hints, func(h Hint) bool { return h.Kind == kind }) {
		r.Hints = append(r.Hints, Hint{kind, text})
	}
}

// outlook is what will become of the messages of a reason, where that is not what the operator hopes for.
var outlook = map[events.Reason]string{
	events.Conflict:        "conflict: another event holds their place. They are refused again, or dropped as duplicates or stale once the entity is past it.",
	events.Skipped:         "skipped: their numbers were passed as lost. They come back to quarantine.",
	events.OldGeneration:   "old_generation: a newer generation has begun. They are dropped as stale.",
	events.ProjectionError: "projection_error: they run if the projection takes them by now; otherwise another copy comes here.",
}

// shapeReasons are those that lie in the message itself.
var shapeReasons = map[events.Reason]bool{
	events.NotJSON: true, events.NotAnEvent: true, events.NoRoute: true, events.NoEntityID: true, events.BadEntityID: true,
	events.BadOrderKey: true, events.BadEventID: true, events.ReservedAttribute: true, events.NotOwner: true,
	events.TooLarge: true, events.TooDeep: true,
}
