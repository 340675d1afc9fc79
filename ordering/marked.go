package ordering

import (
	"context"
	"errors"
	"fmt"

	"inorder/events"
)

// applyMarked is a delta stream without a sequence: the marker alone tells events apart, and goes with the addition in
// one transaction.
func (l *Loop) applyMarked(ctx context.Context, key Key, s *events.Stream, jobs []*job) {
	amounts := deltaAmount{}
	for _, j := range jobs {
		read, refusal := appendDelta(nil, s, j.Event)
		if refusal != nil {
			j.decide(quarantined(refusal))
			continue
		}
		amounts[j] = read
	}
	for round := 0; firstOpen(jobs) != nil; round++ {
		if ctx.Err() != nil {
			giveUp(jobs, ctx.Err())
			return
		}
		if round >= maxRounds+len(jobs) {
			giveUp(jobs, errBusy)
			return
		}
		chunk := open(jobs)
		chunk = chunk[:min(len(chunk), MaxMarkers)]
		l.addMarked(ctx, key, s, chunk, amounts)
		if !chunk[0].decided {
			l.wait(ctx, round)
		}
	}
}

// addMarked makes one try at a transaction: it decides all of the chunk, or at least what stands in its way, or leaves
// it as it is for another round where someone else holds the item.
func (l *Loop) addMarked(ctx context.Context, key Key, s *events.Stream, chunk []*job, amounts deltaAmount) {
	var sums tally
	for _, j := range chunk {
		if err := sums.try(amounts[j]); err != nil {
			l.addCarefully(ctx, key, s, chunk, amounts)
			return
		}
		sums.take()
	}
	token := l.NewToken()
	err := l.Store.AddMarked(ctx, key, sums.numbers(), lastOf(chunk[len(chunk)-1].Delivery, l.Now()), l.markers(key, chunk, token))
	lost := (*LostError)(nil)
	switch {
	case err == nil:
		decideAll(chunk, Outcome{Disposition: Applied})
	case errors.As(err, &lost):
		for _, marker := range lost.Seen {
			if marker.Token == token {
				decideAll(chunk, Outcome{Disposition: Applied}) // one transaction: a trace of one is a trace of all
				return
			}
		}
		for i, marker := range lost.Seen {
			chunk[i].decide(atMarker(chunk[i].Event, marker))
		}
	case errors.Is(err, ErrContended):
	case errors.Is(err, ErrNumberRange):
		l.addCarefully(ctx, key, s, chunk, amounts)
	case errors.Is(err, ErrTooLarge) && len(chunk) == 1:
		chunk[0].decide(quarantined(&events.Refusal{Reason: events.TooLarge, Detail: "the entity would be larger than an item of the table may be (400 KB)"}))
	case errors.Is(err, ErrTooLarge):
		l.addCarefully(ctx, key, s, chunk, amounts)
	default:
		giveUp(chunk, fmt.Errorf("add to %s of stream %s: %w", quoteID(key.ID), s.Name, err))
	}
}

// addCarefully adds one by one what the database refused to add together, so that only what does not fit is refused.
func (l *Loop) addCarefully(ctx context.Context, key Key, s *events.Stream, chunk []*job, amounts deltaAmount) {
	if len(chunk) > 1 {
		for _, j := range chunk {
			l.addMarked(ctx, key, s, []*job{j}, amounts)
		}
		return
	}
	chunk[0].decide(quarantined(&events.Refusal{Reason: events.NumberRange, Detail: "the sum would not fit into a number of the table: 38 digits, exponent -130 to 125"}))
}

func decideAll(jobs []*job, o Outcome) {
	for _, j := range jobs {
		j.decide(o)
	}
}
