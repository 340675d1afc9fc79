package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"inorder/events"
	"inorder/ordering"
)

// hand is all that an invocation has of the world: store, queues, requests. It gives the answers that it was given, and
// ends the invocation at the first request that has none yet.
type hand struct {
	*model
	answers []answer
	heard   int

	asked  request
	token  uint8 // that the request writes
	knows  int32 // revision of the entity that the request is based on
	makes  int32 // revision that it leaves
	tokens int
}

// answer is what an invocation hears.
type answer struct {
	failure
	entity   uint32 // 0: none
	revision int32
	token    uint8 // of the entity, where it is the asker's own
	rows     uint32
}

// stopped ends an invocation where nobody knows how it goes on.
type stopped struct{}

var errNoAnswer = errors.New("connection lost")

// ask returns the answer to the next request.
func (h *hand) ask(r request) (answer, error) {
	if h.heard == len(h.answers) {
		h.asked = r
		panic(stopped{})
	}
	a := h.answers[h.heard]
	h.heard++
	switch a.failure {
	case noFailure:
		return a, nil
	case lostRace:
		return a, &ordering.LostError{Now: h.entity(a)}
	case rowTaken:
		return a, &ordering.TakenError{Row: h.lists[a.rows][0]}
	case throttled:
		return a, ordering.ErrThrottled
	case contended:
		return a, ordering.ErrContended
	case noAnswer:
	}
	return a, errNoAnswer
}

// entity is the one of an answer, as this asker sees it.
func (h *hand) entity(a answer) *ordering.Entity {
	e := *h.entities[a.entity]
	e.Rev = int64(a.revision)
	if a.token != 0 {
		e.Token = strconv.Itoa(int(a.token))
	} else if e.Exists {
		e.Token = "of others"
	}
	return &e
}

func (h *hand) newToken() string {
	h.tokens++
	return strconv.Itoa(h.tokens)
}

// based notes on what a write is based, and what it leaves.
func (h *hand) based(prev, next *ordering.Entity) *ordering.Entity {
	h.knows, h.makes = int32(prev.Rev), int32(next.Rev) //nolint:gosec // small, see revision
	if next.Rev != prev.Rev+1 {
		panic(fmt.Sprintf("revision %d is followed by %d", prev.Rev, next.Rev))
	}
	h.wrote(next.Token)
	return canonical(next)
}

func (h *hand) wrote(token string) {
	n, err := strconv.Atoi(token)
	if err != nil {
		panic("a write with the token of somebody else: " + token)
	}
	h.token = uint8(n) //nolint:gosec // as many rounds nobody has
}

func (h *hand) Entity(context.Context, ordering.Key) (*ordering.Entity, error) {
	a, err := h.ask(request{op: opRead})
	if err != nil {
		return nil, err
	}
	return h.entity(a), nil
}

func (h *hand) Entities(ctx context.Context, keys []ordering.Key) ([]ordering.EntityRead, error) {
	e, err := h.Entity(ctx, keys[0])
	return []ordering.EntityRead{{Entity: e}}, err
}

func (h *hand) Swap(_ context.Context, _ ordering.Key, prev, next *ordering.Entity, _ []ordering.Marker) error {
	_, err := h.ask(request{op: opSwap, absent: !prev.Exists, next: h.based(prev, next)})
	return err
}

func (h *hand) SwapAudited(_ context.Context, _ ordering.Key, prev, next *ordering.Entity, audit ordering.Audit) error {
	_, err := h.ask(request{op: opAudited, absent: !prev.Exists, next: h.based(prev, next), audit: &audit})
	return err
}

func (h *hand) DropRows(_ context.Context, _ ordering.Key, prev, next *ordering.Entity, rows []ordering.Row) error {
	_, err := h.ask(request{op: opDropRows, absent: !prev.Exists, next: h.based(prev, next), rows: rows})
	return err
}

func (h *hand) Add(_ context.Context, _ ordering.Key, a ordering.Addition) (*ordering.Entity, error) {
	h.wrote(a.Token)
	a.Token = ""
	heard, err := h.ask(request{op: opAdd, add: &a})
	if err != nil {
		return nil, err
	}
	return h.entity(heard), nil
}

func (h *hand) CatchUp(_ context.Context, _ ordering.Key, at *ordering.Entity, through int64, since time.Time, token string) (*ordering.Entity, error) {
	h.wrote(token)
	a, err := h.ask(request{op: opCatchUp, at: canonical(at), last: through, since: since})
	if err != nil {
		return nil, err
	}
	return h.entity(a), nil
}

func (h *hand) PutRow(_ context.Context, _ ordering.Key, row ordering.Row) error {
	_, err := h.ask(request{op: opPutRow, row: &row})
	return err
}

func (h *hand) ExtendRow(_ context.Context, _ ordering.Key, row ordering.Row, until time.Time) error {
	_, err := h.ask(request{op: opExtendRow, row: &row, until: until})
	return err
}

func (h *hand) Rows(_ context.Context, _ ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	a, err := h.ask(request{op: opRows, gen: gen, first: first, last: last})
	return slices.Clone(h.lists[a.rows]), err // theirs to change
}

func (h *hand) RowHeads(_ context.Context, _ ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	a, err := h.ask(request{op: opRows, heads: true, gen: gen, first: first, last: last})
	return slices.Clone(h.lists[a.rows]), err // theirs to change
}

func (h *hand) Copy(_ context.Context, c ordering.Copy) error {
	message, err := strconv.Atoi(c.Delivery.Message.ID)
	if err != nil {
		panic(err)
	}
	_, err = h.ask(request{op: opQuarantine, message: message, reason: c.Outcome.Reason})
	return err
}

// Send is a request for each effect, so that it may fail between any two.
func (h *hand) Send(_ context.Context, _ ordering.Key, effects []ordering.Effect) (int, error) {
	for i, e := range effects {
		if _, err := h.ask(request{op: opSend, message: h.byID[e.EventID]}); err != nil {
			return i, err
		}
	}
	return len(effects), nil
}

func (h *hand) Sendable(ordering.Effect) error { return nil }

func (h *hand) Request(_ context.Context, requests []events.RepublishRequest) error {
	missing, ranges := h.answersOf(requests)
	_, err := h.ask(request{op: opRepublish, missing: missing, asksFor: ranges})
	return err
}

func (h *hand) Shards() int { return 1 }

// What only the function around a sweeper asks for, and what only state streams and streams with markers write: none of
// the situations has one.

func (h *hand) Marked(context.Context, int, time.Time, func([]ordering.Marked) bool) error {
	panic("not explored")
}

func (h *hand) Audits(context.Context, ordering.Key) ([]ordering.Audit, error) { panic("not explored") }

func (h *hand) Bookmark(context.Context, string) (string, error) { panic("not explored") }

func (h *hand) MoveBookmark(context.Context, string, string, string) error { panic("not explored") }

func (h *hand) PutNewer(context.Context, ordering.Key, *ordering.Entity, []ordering.Marker) error {
	panic("not explored")
}

func (h *hand) Merge(context.Context, ordering.Key, ordering.Merge, []ordering.Marker) error {
	panic("not explored")
}

func (h *hand) AddMarked(context.Context, ordering.Key, map[string]events.Number, ordering.Last, []ordering.Marker) error {
	panic("not explored")
}

func (h *hand) PutMarker(context.Context, ordering.Marker) error { panic("not explored") }
