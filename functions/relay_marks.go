package functions

import (
	"context"
	"fmt"
	"log/slog"
	"math"

	"github.com/go-json-experiment/json"

	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

// NoteType tells a relay's note to itself from a republish request, which has no type.
const NoteType = "inorder.note"

// note is a relay's message to itself: look again, after the delay, whether the row with this number is still the newest
// one of its history. If so its event might be lost, and no other would show it.
//
// That the relay sends to the queue that triggers it makes no loop, which Lambda would stop: handling a note sends nothing
// back there.
type note struct {
	Type       string `json:"type"` // NoteType
	Stream     string `json:"stream"`
	EntityID   string `json:"entity_id"`
	Source     string `json:"source"`
	Generation int64  `json:"generation"`
	Seq        int64  `json:"seq"`
}

func (r *Relay) note(key ddb.OutboxKey, at ordering.Position) outgoing {
	body := written(note{NoteType, key.Stream, key.EntityID, key.Source, at.Gen, at.Seq})
	return outgoing{body: body, delaySeconds: int32(math.Ceil(r.markDelay.Seconds()))}
}

// written is a control message as JSON. Its fields are text and numbers only, which can always be written.
func written(message any) string {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	return sendable(string(text))
}

// look answers a note. Under `clock: source` producers share one history and each has a newest event of its own, of
// which the head does not tell; there every note becomes a mark, which tells nothing new where the event arrived.
func (r *Relay) look(ctx context.Context, n note) error {
	s := r.streams.Stream(n.Stream)
	if s == nil || s.Order.By != events.BySeq {
		r.log.LogAttrs(ctx, slog.LevelWarn, "a note about a stream that streams.yaml no longer has, or no longer numbers", slog.String("stream", n.Stream))
		return nil
	}
	key := outboxKey(s, n.EntityID, n.Source)
	if err := key.Check(); err != nil || n.Seq < 1 {
		return fmt.Errorf("%w: a note about nothing: %w", errBadMessage, err)
	}
	head, found, err := r.outbox.Head(ctx, key)
	if err != nil || !found {
		return err
	}
	at := ordering.Position{Gen: n.Generation, Seq: n.Seq}
	if isBefore(at, head) && s.Clock != events.ClockSource {
		return nil
	}
	return r.Marks(ctx, []events.MarkEvent{{
		Stream: n.Stream, EntityID: n.EntityID, Source: n.Source, Generation: n.Generation, Seq: n.Seq,
	}})
}

// Marks tells the consumer of numbers that exist: one event for each, whose Type it sets. Who calls it knows these
// heads; notes call it where a row is still the newest.
func (r *Relay) Marks(ctx context.Context, marks []events.MarkEvent) error {
	messages, streams := make([]outgoing, len(marks)), make([]*events.Stream, len(marks))
	for i, m := range marks {
		s := r.streams.Stream(m.Stream)
		if s == nil {
			return fmt.Errorf("%w %q", errNoStream, m.Stream)
		}
		key := outboxKey(s, m.EntityID, m.Source)
		if err := key.Check(); err != nil {
			return err
		}
		m.Type = events.MarkType
		pk := ddb.OutboxPK(key)
		messages[i] = outgoing{body: written(m), entity: pk, dedup: hashed(pk, m.Type, m.Generation, m.Seq, m.Source)}
		streams[i] = s
	}
	_, err := r.events.sendAll(ctx, messages, func(i int, err error) {
		streams[i] = nil
		r.tellRefused(ctx, "a mark", messages[i], err)
	})
	if err != nil {
		return fmt.Errorf("send marks: %w", err)
	}
	for _, s := range streams {
		if s != nil {
			r.count(MetricMarksSent, s, 1)
		}
	}
	return nil
}

func (r *Relay) tellRefused(ctx context.Context, what string, m outgoing, err error) {
	r.count(MetricRelayFailures, nil, 1)
	r.log.LogAttrs(ctx, slog.LevelError, what+" cannot be sent and was passed", slog.String("history", m.entity), slog.String("error", err.Error()))
}
