package ordering

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"inorder/events"
)

// Escalation is one attempt at closing a gap, recorded before it is made.
type Escalation struct {
	Requests []events.RepublishRequest // what is missing; not empty
	Attempt  int
	Age      time.Duration // of the gap
	Waiting  int           // events that are logged or counted above it
	Sent     bool          // false: it was past the stream's attempts and only alarms, or Err says why not
	Err      error
}

// escalate asks the producer for what is missing. The attempt is on record before the request leaves, so that of
// several sweepers one asks; a crash in between, or a request that fails, costs a back-off and no more.
func (r *sweepRun) escalate(ctx context.Context) error {
	now, attempt := r.Now(), r.entity.Attempts()+1
	requests := r.requests(attempt, now)
	next, age := *r.entity, now.Sub(r.entity.GapSince())
	if r.stream.Mode == events.Delta {
		next.catchUp() // from here on its lag tells that the cursor moved
	}
	next.settleGap(r.entity, now)
	gap := *next.Gap
	gap.Escalations, gap.EscalateAt = attempt, now.Add(BackOff(r.stream, attempt))
	next.Gap = &gap
	if landed, err := r.put(ctx, &next); err != nil || !landed {
		return err
	}
	e := &Escalation{Requests: requests, Attempt: attempt, Age: age, Waiting: len(next.Waiting) + len(next.Ahead)}
	r.out.Escalation = e
	if attempt > r.stream.GapAttempts {
		return nil
	}
	if err := r.Requests.Request(ctx, requests); err != nil {
		r.takeBack(ctx, attempt)
		e.Err = fmt.Errorf("ask for what is missing of %s of stream %s: %w", quoteID(r.key.ID), r.stream.Name, err)
		return nil // told with the escalation
	}
	e.Sent = true
	r.report.ofStream(MetricEscalated, r.stream, 1)
	return nil
}

// takeBack makes an attempt that reached nobody count for none; its back-off stays. It is no harm where it is lost.
func (r *sweepRun) takeBack(ctx context.Context, attempt int) {
	next := *r.entity
	if next.Gap == nil || next.Attempts() != attempt {
		return
	}
	gap := *next.Gap
	gap.Escalations--
	next.Gap = &gap
	_, _ = r.put(ctx, &next)
}

// maxRequestRanges is how many ranges one request names: a message of some 40 KB. What is more goes into another one.
const maxRequestRanges = 1000

// requests are the republish requests for what is missing, with exact ranges.
func (r *sweepRun) requests(attempt int, now time.Time) []events.RepublishRequest {
	request := events.RepublishRequest{
		Consumer: r.key.Consumer, Stream: r.stream.Name, EntityID: r.key.ID, Source: r.key.Source, Generation: r.entity.Gen,
		Attempt: attempt, RequestedAt: events.FormatInstant(now),
	}
	return RequestsFor(request, r.entity, r.stream)
}

// RequestsFor completes a request with what an entity lacks, as several where one would be too long, or where each
// source has a mark of its own.
func RequestsFor(request events.RepublishRequest, e *Entity, s *events.Stream) []events.RepublishRequest {
	var requests []events.RepublishRequest
	for ranges := range slices.Chunk(e.Missing(s), maxRequestRanges) {
		request.Ranges = ranges
		requests = append(requests, request)
	}
	missing := e.MissingMarks(s)
	for _, source := range slices.Sorted(maps.Keys(missing)) {
		mark := missing[source]
		request.Source, request.Generation = source, mark.Gen
		request.Ranges = []Range{{First: mark.Seq, Last: mark.Seq}}
		requests = append(requests, request)
	}
	return requests
}

// Attempts is how often the gap was escalated since the cursor moved.
func (e *Entity) Attempts() int {
	if e.Gap == nil || e.Effective() != e.Applied {
		return 0
	}
	return e.Gap.Escalations
}

// maxBackOff is the longest pause between two escalations of one gap, but for a gap deadline that is longer itself.
const maxBackOff = time.Hour

// BackOff is how long after its escalation of this number, 1 being the first, a gap is left alone.
func BackOff(s *events.Stream, attempt int) time.Duration {
	pause := s.GapDeadline
	for range attempt - 1 {
		if pause >= maxBackOff {
			break
		}
		pause = min(2*pause, maxBackOff)
	}
	return pause
}
