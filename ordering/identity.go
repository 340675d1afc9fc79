package ordering

import (
	"strings"
	"time"

	"inorder/events"
)

// same reports whether an event is the one that is remembered: its id, of its source, with its content. Where ids are
// absent the position, which the caller has compared, is the identity.
func same(e *events.Event, id, source, fingerprint string) bool {
	return e.ID == id && e.Source == source && e.Fingerprint() == fingerprint
}

func (l *Last) is(e *events.Event) bool { return same(e, l.EventID, l.Source, l.Fingerprint) }

func (r *Row) is(e *events.Event) bool {
	return r.Void == "" && same(e, r.EventID, r.Source, r.Fingerprint)
}

// known reports whether there is anything to compare with.
func (l *Last) known() bool { return l.Fingerprint != "" }

// atTie judges an event whose position is held already: by itself, by another, or by someone who is forgotten.
func atTie(e *events.Event, holder Last) Outcome {
	if !holder.known() || holder.is(e) {
		return Outcome{Disposition: Duplicate}
	}
	return Outcome{Disposition: Conflict, Reason: events.Conflict, Detail: "its position is held by " + rivalOf(e, holder.EventID, holder.Source)}
}

// rivalOf tells an event from the one that was there first by what differs: the id, or else the source, or else the content.
func rivalOf(e *events.Event, id, source string) string {
	switch {
	case id != e.ID && id == "":
		return "an event without an id"
	case id != e.ID:
		return "event " + quoteID(id)
	case source != e.Source:
		return "an event of the same id from " + named(source) + "; its own is from " + named(e.Source)
	case id == "":
		return "an event without an id and with other content"
	default:
		return "an event of the same id with other content"
	}
}

func named(source string) string {
	if source == "" {
		return "no source"
	}
	return "source " + quoteID(source)
}

func quoteID(id string) string {
	if id == "" {
		return "without an id"
	}
	if len(id) > 120 {
		id = id[:120] + "…"
	}
	return `"` + id + `"`
}

func lastOf(d Delivery, now time.Time) Last {
	return Last{
		EventID: strings.Clone(d.Event.ID), Source: strings.Clone(d.Event.Source), // parts of a body that must not be kept
		Fingerprint: d.Event.Fingerprint(), Type: strings.Clone(d.Event.Type),
		PublishedAt: d.Event.PublishedAt, ReceivedAt: d.Message.ReceivedAt, AppliedAt: now,
		MessageID: d.Message.ID, ReceiveCount: d.Message.ReceiveCount,
	}
}

// restartMargin is how much later an event with an old number must have been published to look like a restarted
// sequence: more than clocks of producers differ, less than a restart is worth waiting for.
const restartMargin = 5 * time.Minute

// restarted reports whether a number that is old was published clearly later than what is stored.
func restarted(e *events.Event, last Last) bool {
	return e.Stream.Order.By == events.BySeq && !e.PublishedAt.IsZero() && !last.PublishedAt.IsZero() &&
		e.PublishedAt.Sub(last.PublishedAt) > restartMargin
}

// ownValue copies a value out of the message that it was decoded from: an entity in the cache must not keep whole
// bodies alive.
func ownValue(value any) any {
	switch v := value.(type) {
	case string:
		return strings.Clone(v)
	case events.Number:
		return events.Number(strings.Clone(string(v)))
	case []any:
		own := make([]any, len(v))
		for i, element := range v {
			own[i] = ownValue(element)
		}
		return own
	case map[string]any:
		own := make(map[string]any, len(v))
		for name, element := range v {
			own[strings.Clone(name)] = ownValue(element)
		}
		return own
	default:
		return v
	}
}
