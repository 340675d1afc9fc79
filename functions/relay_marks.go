package functions

import (
	"context"
	"errors"
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

// relayNote is a relay's message to itself: look again, after the delay, whether the row with this number is still the newest
// one of its history. If so its event might be lost, and no other would show it.
//
// That the relay sends to the queue that triggers it makes no loop, which Lambda would stop: handling a note sends nothing
// back there.
type relayNote struct {
	Type       string `json:"type"` // NoteType
	Stream     string `json:"stream"`
	EntityID   string `json:"entity_id"`
	Source     string `json:"source"`
	Generation int64  `json:"generation"`
	Seq        int64  `json:"seq"`
}

func (r *Relay) noteOf(key ddb.OutboxKey, at ordering.Position) outgoing {
	body := written(relayNote{NoteType, key.Stream, key.EntityID, key.Source, at.Gen, at.Seq})
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

// look answers a note: with a mark to send, or nil. Nobody's word is taken for a number above the head: a mark of it would
// have the consumer wait for events that do not exist, or begin a life that does not.
//
// Under `clock: source` producers share one history and each has a newest event of its own, of which the head does not
// tell; there every note up to the head becomes a mark, which tells nothing new where the event arrived.
func (r *Relay) look(ctx context.Context, n relayNote) (*events.MarkEvent, error) {
	s := r.streams.Stream(n.Stream)
	if s == nil || s.Order.By != events.BySeq {
		r.log.LogAttrs(ctx, slog.LevelWarn, "a note about a stream that streams.yaml no longer has, or no longer numbers", slog.String("stream", n.Stream))
		return nil, nil
	}
	key := outboxKey(s, n.EntityID, n.Source)
	if err := key.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", errBadMessage, err)
	}
	head, found, err := r.outbox.Head(ctx, key)
	if err != nil || !found {
		return nil, err
	}
	at := ordering.Position{Gen: n.Generation, Seq: n.Seq}
	newest := at == head || s.Clock == events.ClockSource && at.Gen == head.Gen && at.Seq < head.Seq
	if !newest {
		return nil, nil
	}
	return &events.MarkEvent{
		Type: events.MarkType, Stream: n.Stream, EntityID: n.EntityID, Source: n.Source, Generation: n.Generation, Seq: n.Seq,
	}, nil
}

// Marks tells the consumer of numbers that exist: one event for each, whose Type it sets. Who calls it knows these heads.
// All are tried; the error joins those that failed.
func (r *Relay) Marks(ctx context.Context, marks []events.MarkEvent) error {
	return errors.Join(r.marks(ctx, marks)...)
}

// marks says of each mark what became of it. Their order does not matter, so one that fails holds up no other.
func (r *Relay) marks(ctx context.Context, marks []events.MarkEvent) []error {
	errs := make([]error, len(marks))
	var places []int
	var messages []outgoing
	for i, m := range marks {
		message, err := r.mark(m)
		if err != nil {
			errs[i] = err
			continue
		}
		places, messages = append(places, i), append(messages, message)
	}
	for i, err := range r.events.sendEach(ctx, messages) {
		if err == nil {
			r.count(MetricMarksSent, r.streams.Stream(marks[places[i]].Stream), 1)
			continue
		}
		errs[places[i]] = fmt.Errorf("send a mark for %s: %w", messages[i].entity, err)
	}
	return errs
}

func (r *Relay) mark(m events.MarkEvent) (outgoing, error) {
	s := r.streams.Stream(m.Stream)
	if s == nil {
		return outgoing{}, fmt.Errorf("%w %q", errNoStream, m.Stream)
	}
	key := outboxKey(s, m.EntityID, m.Source)
	if err := key.Check(); err != nil {
		return outgoing{}, err
	}
	m.Type = events.MarkType
	pk := ddb.OutboxPK(key)
	return outgoing{body: written(m), entity: pk, dedup: hashed(pk, m.Type, m.Generation, m.Seq, m.Source)}, nil
}
