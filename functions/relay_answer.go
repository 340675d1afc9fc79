package functions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

const (
	// maxAnsweredRanges bounds the queries of one request. What lies behind them is left to the next request, which
	// asks for it again. With the default window no request has more than half as many.
	maxAnsweredRanges = 1000

	// stateWindow is how many numbers a request of a state stream may hold, which has no window of its own: the sweeper
	// asks for one, an operator for a few.
	stateWindow = 1000

	// maxVoidRanges is how many ranges one void event holds: of the longest numbers less than half of a message.
	maxVoidRanges = 10_000
)

// Answer answers a republish request: the rows that are there, unchanged and ascending, then one void event with what is
// gone, as expired, or as never existed where the outbox can prove it. A row that is past its TTL and still there is
// sent. A number above the head is not answered: nobody wrote it yet. Of a generation that is over everything that has no
// row is expired, for no more will be written there.
//
// Whatever it returns, some of the answer may have been sent.
func (r *Relay) Answer(ctx context.Context, request events.RepublishRequest) error {
	a, err := r.answering(request)
	if err != nil {
		return fmt.Errorf("request for %s of stream %q: %w", request.EntityID, request.Stream, err)
	}
	if err := a.answer(ctx); err != nil {
		return fmt.Errorf("answer for %s: %w", ddb.OutboxPK(a.key), err)
	}
	return nil
}

// answering is one request while it is answered.
type answering struct {
	*Relay
	request events.RepublishRequest
	stream  *events.Stream
	key     ddb.OutboxKey
	ranges  []events.Range // asked for: ascending, disjoint, no two of them neighbours

	waiting []outgoing // not sent yet, less than a request holds
	missing []events.Range
	sent    int
}

// answering checks a request.
func (r *Relay) answering(request events.RepublishRequest) (*answering, error) {
	s := r.streams.Stream(request.Stream)
	if s == nil {
		return nil, errNoStream
	}
	if s.Order.By != events.BySeq {
		return nil, fmt.Errorf("%w: the stream has no numbers to ask for", errBadMessage)
	}
	key := outboxKey(s, request.EntityID, request.Source)
	if err := key.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", errBadMessage, err)
	}
	if request.Generation < 0 || request.Generation > ddb.MaxGeneration {
		return nil, fmt.Errorf("%w: generation %d", errBadMessage, request.Generation)
	}
	window := s.Window
	if window == 0 {
		window = stateWindow
	}
	ranges, err := joined(request.Ranges)
	if err != nil {
		return nil, err
	}
	if !within(ranges, window) {
		return nil, fmt.Errorf("%w: %d numbers", errTooMuch, window)
	}
	return &answering{Relay: r, request: request, stream: s, key: key, ranges: ranges}, nil
}

func (a *answering) answer(ctx context.Context) error {
	head, found, err := a.outbox.Head(ctx, a.key)
	if err != nil {
		return err
	}
	asked, unwritten := a.writtenUpTo(head, found)
	a.tellUnwritten(ctx, unwritten)
	if len(asked) > maxAnsweredRanges {
		a.log.LogAttrs(ctx, slog.LevelWarn, "only the first ranges of a republish request are answered",
			append(whose(a.key, a.request.Generation), slog.Int("ranges", len(asked)))...)
		asked = asked[:maxAnsweredRanges]
	}
	for _, part := range asked {
		if err := a.sendAgain(ctx, part); err != nil {
			return err
		}
	}
	if err := a.sendWaiting(ctx); err != nil {
		return err
	}
	return a.sendVoids(ctx)
}

// writtenUpTo parts what is asked for at the head.
func (a *answering) writtenUpTo(head ordering.Position, found bool) (written, unwritten []events.Range) {
	switch gen := a.request.Generation; {
	case !found || gen > head.Gen:
		return nil, a.ranges
	case gen < head.Gen:
		return a.ranges, nil
	}
	return partedAt(a.ranges, head.Seq)
}

// sendAgain sends the rows of a range and notes which numbers have none.
func (a *answering) sendAgain(ctx context.Context, part events.Range) error {
	next := part.First
	for row, err := range a.outbox.Rows(ctx, a.key, a.request.Generation, part.First, part.Last) {
		if err != nil {
			return err
		}
		if row.At.Gen != a.request.Generation || row.At.Seq < next || row.At.Seq > part.Last {
			return fmt.Errorf("the outbox answers with number %d of generation %d where %d to %d were next", row.At.Seq, row.At.Gen, next, part.Last)
		}
		a.lack(next, row.At.Seq-1)
		next = row.At.Seq + 1
		if err := a.add(ctx, row); err != nil {
			return err
		}
	}
	a.lack(next, part.Last)
	return nil
}

// lack notes numbers without a row. After the highest number of all, next has run over and there is nothing left.
func (a *answering) lack(first, last int64) {
	if 1 <= first && first <= last {
		a.missing = append(a.missing, events.Range{First: first, Last: last})
	}
}

// add takes a row into the next request. One that cannot be sent is neither sent nor gone: the consumer asks again, and
// says so in the end.
func (a *answering) add(ctx context.Context, row ddb.OutboxRow) error {
	m := outgoing{body: row.Event, entity: ddb.OutboxPK(a.key), dedup: a.dedup(row.At.Seq), seq: row.At.Seq}
	if err := m.sendable(); err != nil {
		a.tellRow(ctx, row.At.Seq, err)
		return nil
	}
	if full := append(slices.Clip(a.waiting), m); a.events.fit(full) < len(full) {
		if err := a.sendWaiting(ctx); err != nil {
			return err
		}
	}
	a.waiting = append(a.waiting, m)
	return nil
}

// dedup names what this request is answered with. The number alone would not do: a FIFO queue would take what is sent
// again within five minutes for a copy of the first, which is lost.
func (a *answering) dedup(what any) string {
	return hashed(ddb.OutboxPK(a.key), a.request.Generation, what, a.request.Attempt, a.request.RequestedAt)
}

func (a *answering) sendWaiting(ctx context.Context) error {
	sent, err := a.events.sendAll(ctx, a.waiting, func(i int, err error) { a.tellRow(ctx, a.waiting[i].seq, err) })
	a.waiting = a.waiting[:0]
	a.sent += sent
	a.count(MetricRowsRepublished, a.stream, sent)
	if err != nil && ctx.Err() != nil {
		return errors.Join(errOutOfTime, err)
	}
	return err
}

// sendVoids answers for what has no row.
func (a *answering) sendVoids(ctx context.Context) error {
	proven, expired, err := a.prove(ctx)
	if err != nil {
		return err
	}
	messages := append(a.voids(events.NeverExisted, proven), a.voids(events.Expired, expired)...)
	if err := errors.Join(a.events.sendEach(ctx, messages)...); err != nil {
		return err
	}
	a.count(MetricNumbersExpired, a.stream, int(numbersIn(expired)))
	a.count(MetricRequests, a.stream, 1)
	a.log.LogAttrs(ctx, slog.LevelInfo, "republish request answered", append(whose(a.key, a.request.Generation),
		slog.Int("attempt", a.request.Attempt), slog.Int("sent", a.sent),
		slog.Int64("expired", numbersIn(expired)), slog.Int64("never_existed", numbersIn(proven)))...)
	return nil
}

// prove parts the missing numbers into those that never existed and the others.
func (a *answering) prove(ctx context.Context) (proven, expired []events.Range, err error) {
	prover, ok := a.outbox.(Prover)
	if !ok || len(a.missing) == 0 {
		return nil, a.missing, nil
	}
	said, err := prover.NeverExisted(ctx, a.key, a.request.Generation, a.missing)
	if err != nil {
		return nil, nil, fmt.Errorf("prove that numbers never existed: %w", err)
	}
	if said, err = joined(said); err != nil {
		return nil, nil, err
	}
	proven, expired = parted(a.missing, said)
	return proven, expired, nil
}

func (a *answering) voids(reason events.VoidReason, ranges []events.Range) []outgoing {
	var out []outgoing
	for part := range slices.Chunk(ranges, maxVoidRanges) {
		body := written(events.VoidEvent{
			Type: events.VoidType, Stream: a.key.Stream, EntityID: a.key.EntityID, Source: a.key.Source,
			Generation: a.request.Generation, Ranges: part, Reason: reason,
		})
		out = append(out, outgoing{body: body, entity: ddb.OutboxPK(a.key), dedup: a.dedup(body)})
	}
	return out
}

func (a *answering) tellUnwritten(ctx context.Context, unwritten []events.Range) {
	if len(unwritten) > 0 {
		a.log.LogAttrs(ctx, slog.LevelWarn, "asked for numbers that nobody has written yet", append(whose(a.key, a.request.Generation),
			slog.Int64("first", unwritten[0].First), slog.Int64("numbers", numbersIn(unwritten)))...)
	}
}

func (a *answering) tellRow(ctx context.Context, seq int64, err error) {
	a.count(MetricRelayFailures, a.stream, 1)
	a.log.LogAttrs(ctx, slog.LevelError, "a row of the outbox cannot be sent again",
		append(whose(a.key, a.request.Generation), slog.Int64("seq", seq), failure(err))...)
}
