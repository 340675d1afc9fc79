package ordering

import (
	"context"
	"errors"
	"fmt"

	"inorder/events"
)

// markersOf returns the events whose markers go with a write, and those for which it has no room and that follow
// alone. The events that the write applies come first: none of them may be without its marker.
func markersOf(s *events.Stream, jobs []*job, landed verdicts) (carried, later []*job) {
	if !s.Marker {
		return nil, nil
	}
	applied, rest := splitBy(jobs, func(j *job) bool { return landed[j].Disposition == Applied })
	coalesced, _ := splitBy(rest, func(j *job) bool { return landed[j].Disposition == Coalesced })
	carried = append(applied, coalesced...)
	if len(carried) > MaxMarkers {
		carried, later = carried[:MaxMarkers], carried[MaxMarkers:]
	}
	return carried, later
}

func (l *Loop) markers(key Key, jobs []*job, token string) []Marker {
	markers := make([]Marker, len(jobs))
	for i, j := range jobs {
		markers[i] = Marker{
			Consumer: key.Consumer, Source: j.Event.Source, EventID: j.Event.ID, Fingerprint: j.Event.Fingerprint(),
			MessageID: j.Message.ID, Token: token,
			ExpiresAt: l.Now().Add(j.Event.Stream.MarkerTTL),
		}
	}
	return markers
}

// writeLoneMarker remembers an event that changes nothing, and decides what it is.
func (l *Loop) writeLoneMarker(ctx context.Context, key Key, j *job, o Outcome) {
	token := l.NewToken()
	marker := l.markers(key, []*job{j}, token)[0]
	err := l.Store.PutMarker(ctx, marker)
	for round := 1; errors.Is(err, ErrContended) && round < maxRounds && ctx.Err() == nil; round++ {
		l.wait(ctx, round)
		err = l.Store.PutMarker(ctx, marker)
	}
	lost := (*LostError)(nil)
	switch {
	case err == nil:
		j.decide(o)
	case errors.As(err, &lost) && lost.Seen[0].Token == token:
		j.decide(o)
	case errors.As(err, &lost):
		j.decide(atMarker(j.Event, lost.Seen[0]))
	default:
		giveUp([]*job{j}, fmt.Errorf("mark event %s of stream %s: %w", quoteID(j.Event.ID), j.Event.Stream.Name, err))
	}
}

// atMarker judges an event whose marker is there, whatever its TTL says.
func atMarker(e *events.Event, m Marker) Outcome {
	if m.Fingerprint == e.Fingerprint() {
		return Outcome{Disposition: Duplicate}
	}
	return Outcome{Disposition: Conflict, Reason: events.Conflict, Detail: "its id is used by an event with other content"}
}
