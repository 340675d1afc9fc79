package functions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"inorder/events"
	"inorder/ordering"
)

// entitiesAtOnce is how many entities are read by one request ("BatchGetItem": 100 items).
const entitiesAtOnce = 100

// sweep is one run.
type sweep struct {
	*Sweeper
	ctx       context.Context // of the invocation, for log lines: a sweep lives no longer
	limits                    // work: to act; rest: to read as well
	open      openEntities
	next      string         // where the next sweep begins; empty: with the oldest
	strangers map[string]int // entities in the index by a stream that streams.yaml does not have
	err       error
}

// candidate is an entity of the index as it was read, and where it ends.
type candidate struct {
	ordering.Marked
	stream *events.Stream // nil: streams.yaml does not have it, and nothing is ever due
	entity *ordering.Entity
	due    bool
}

// all takes the entities in batches. When the time to act is over it still reads the others, while it can: the gauges
// are about all.
func (s *sweep) all(marked []ordering.Marked) {
	s.next = ""
	for batch := range slices.Chunk(marked, entitiesAtOnce) {
		if err := s.rest.Err(); err != nil {
			s.stopAt(batch[0])
			s.err = errors.Join(s.err, fmt.Errorf("not all of %d entities could be read in time: %w", len(marked), err))
			return
		}
		candidates, err := s.readAgain(batch)
		if err != nil {
			s.stopAt(batch[0])
			s.err = errors.Join(s.err, err)
			continue
		}
		s.actOn(candidates)
		for _, c := range candidates {
			s.open.add(c.stream, c.entity, s.Now())
		}
	}
}

func (s *sweep) stopAt(m ordering.Marked) {
	if s.next == "" {
		s.next = place(m)
	}
}

// readAgain reads a batch consistently: the index may be behind.
func (s *sweep) readAgain(batch []ordering.Marked) ([]*candidate, error) {
	var ours []*candidate
	var keys []ordering.Key
	for _, m := range batch {
		if m.Key == (ordering.Key{}) {
			s.logError(s.ctx, "an item whose key is no entity's stands in the gaps index", fmt.Errorf("%q", m.PK))
			continue
		}
		stream := s.Streams.Stream(m.Key.Stream)
		if stream == nil {
			s.strangers[m.Key.Stream]++
		}
		ours, keys = append(ours, &candidate{Marked: m, stream: stream}), append(keys, m.Key)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	read, err := s.Keeper.Upkeep.Entities(s.rest, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d entities of the gaps index: %w", len(keys), err)
	}
	readable := ours[:0]
	for i, c := range ours {
		if err := read[i].Err; err != nil {
			s.logError(s.ctx, "an entity cannot be read", fmt.Errorf("%q: %w", c.PK, err))
			continue
		}
		c.entity = read[i].Entity
		c.due = c.stream != nil && s.isDue(c)
		readable = append(readable, c)
	}
	return readable, nil
}

func (s *sweep) isDue(c *candidate) bool {
	sends := c.stream.Effects && s.Keeper.EffectsMode == ordering.EffectsOn
	return ordering.DutyOf(c.stream, c.entity, s.Now(), sends) != ordering.NoDuty
}

// actOn does what is due. What cannot be begun in time is where the next sweep begins.
func (s *sweep) actOn(candidates []*candidate) {
	due := slices.DeleteFunc(slices.Clone(candidates), func(c *candidate) bool { return !c.due })
	done := make([]bool, len(due))
	spread(s.work, s.Parallel, len(due), s.margin/4,
		func(i int) ordering.Swept { return s.Keeper.Sweep(s.work, due[i].Key, due[i].stream, due[i].entity) },
		func(i int, swept ordering.Swept, panicked error) {
			done[i] = !swept.TooLate
			s.settle(due[i], swept, panicked)
		})
	for i, c := range due {
		if !done[i] {
			s.stopAt(c.Marked)
		}
	}
}

// settle takes over what a sweep did about one entity. It runs in one goroutine.
func (s *sweep) settle(c *candidate, swept ordering.Swept, panicked error) {
	for count, n := range swept.Counts {
		s.Metrics.Count(count.Metric, count.EventType, int64(n))
	}
	if swept.Entity != nil {
		c.entity = swept.Entity
	}
	if swept.Escalation != nil {
		s.logGap(c, swept.Escalation)
	}
	level := slog.LevelError
	if swept.Passing && panicked == nil { // the next sweep finds the entity slower, or has more time
		level = slog.LevelWarn
	}
	if err := errors.Join(swept.Err, panicked); err != nil {
		s.logAt(s.ctx, level, "sweep failed", append(c.identity(), failure(err)))
	}
}

func (s *sweep) logStrangers() {
	for _, stream := range slices.Sorted(maps.Keys(s.strangers)) {
		s.logAt(s.ctx, slog.LevelError, "the gaps index has entities of a stream that streams.yaml does not have", []slog.Attr{
			slog.String("stream", stream), slog.Int("entities", s.strangers[stream]),
		})
	}
}

func (c *candidate) identity() []slog.Attr {
	return []slog.Attr{
		slog.String("stream", c.stream.Name), slog.String("entity_id", c.Key.ID), slog.String("source", c.Key.Source),
	}
}

// maxLoggedRanges keeps the alert's line readable, and below the 256 KB of a log event. missing_numbers tells of all.
const maxLoggedRanges = 20

// logGap is the alert: what somebody greps for at night.
func (s *sweep) logGap(c *candidate, e *ordering.Escalation) {
	for _, request := range bySource(e.Requests) {
		line := []slog.Attr{
			slog.String("consumer", request.Consumer), slog.String("stream", request.Stream),
			slog.String("entity_id", request.EntityID), slog.String("source", request.Source),
			slog.Int64("generation", request.Generation),
			slog.Any("missing", request.Ranges[:min(len(request.Ranges), maxLoggedRanges)]),
			slog.Int64("missing_numbers", numbersIn(request.Ranges)),
			slog.Int("waiting", e.Waiting), slog.Float64("age_seconds", e.Age.Seconds()),
			slog.Int("attempt", e.Attempt), slog.Int("attempts", c.stream.GapAttempts), slog.Bool("requested", e.Sent),
		}
		if e.Err != nil {
			line = append(line, failure(e.Err))
		}
		s.logAt(s.ctx, slog.LevelError, "sequence gap", line)
	}
}

// bySource joins the requests that a long list of ranges was split into.
func bySource(requests []events.RepublishRequest) []events.RepublishRequest {
	var joined []events.RepublishRequest
	for _, r := range requests {
		if n := len(joined); n > 0 && joined[n-1].Source == r.Source {
			joined[n-1].Ranges = slices.Concat(joined[n-1].Ranges, r.Ranges)
			continue
		}
		joined = append(joined, r)
	}
	return joined
}

func numbersIn(ranges []events.Range) (n int64) {
	for _, r := range ranges {
		n += r.Last - r.First + 1
	}
	return n
}
