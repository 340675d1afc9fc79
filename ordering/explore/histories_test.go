package explore

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"inorder/ordering"
)

// role is who works.
type role uint8

const (
	consumer role = iota
	sweeper
	operator
)

// start is all that an invocation begins with.
type start struct {
	role
	clock  uint8
	batch  counts // of a consumer
	cache  uint32 // the entity that a warm instance has cached, 0: none
	fought bool
	skip   int64 // of an operator
}

// history is an invocation up to a request that waits for its answer, or to its end. It is a tree: each answer makes
// another history of it.
type history struct {
	start
	before uint32
	heard  answer
	length int

	request uint32 // 0: it has ended
	token   uint8  // of the write
	knows   int32  // on which revision it is based
	makes   int32  // and what it leaves
	shown   int32  // how many revisions of others it was shown
	ending

	next map[answer]uint32
}

// ending is what an invocation leaves behind.
type ending struct {
	acked    set
	back     counts // messages that are not acknowledged
	refused  set    // whose copies go to quarantine
	applied  set
	outcomes []string
	cache    uint32
	revision int32 // of the cached entity
	fought   bool
	fault    string
}

// histories are all that happened to anybody.
type histories struct {
	*model
	known []history // from 1 on
	begun map[start]uint32
}

func newHistories(m *model) *histories {
	return &histories{model: m, known: make([]history, 1), begun: map[start]uint32{}}
}

// revision is how an invocation is shown the nth revision that others made. Its own writes count on from there, so they are
// never mistaken for another.
func revision(n int32) int32 { return n << 8 }

// first is the history of an invocation that has just begun.
func (h *histories) first(s start) uint32 {
	if known, ok := h.begun[s]; ok {
		return known
	}
	fresh := history{start: s}
	if s.cache != 0 {
		fresh.shown = 1
	}
	h.begun[s] = h.add(fresh)
	return h.begun[s]
}

// hears is the history that an answer makes of one.
func (h *histories) hears(at uint32, a answer) uint32 {
	if known, ok := h.known[at].next[a]; ok {
		return known
	}
	before := &h.known[at]
	after := history{start: before.start, before: at, heard: a, length: before.length + 1, shown: before.shown}
	if a.entity != 0 && a.revision == revision(before.shown+1) {
		after.shown++
	}
	next := h.add(after)
	if h.known[at].next == nil {
		h.known[at].next = map[answer]uint32{}
	}
	h.known[at].next[a] = next
	return next
}

func (h *histories) add(fresh history) uint32 {
	h.run(&fresh)
	h.known = append(h.known, fresh)
	return uint32(len(h.known) - 1) //nolint:gosec // few
}

// run lets the real code work through a history, from its beginning to the first request that is not answered.
func (h *histories) run(of *history) {
	hand := &hand{model: h.model, answers: make([]answer, of.length)}
	for at, i := of, of.length-1; i >= 0; i-- {
		hand.answers[i] = at.heard
		at = &h.known[at.before]
	}
	defer func() {
		switch p := recover(); p {
		case nil:
		case stopped{}:
			request := hand.asked
			of.request = h.requestOf(&request)
			of.token, of.knows, of.makes = hand.token, hand.knows, hand.makes
		default:
			of.fault = fmt.Sprintf(panicMark+"%v, in %s", p, frames(string(debug.Stack())))
		}
	}()
	switch of.role {
	case consumer:
		of.ending = h.consume(hand, of.start)
	case sweeper:
		h.sweep(hand, of.start)
	case operator:
		h.order(hand, of.start)
	}
}

// panicMark begins what is told of a panic.
const panicMark = "panic: "

// frames are the product's functions of a stack, the innermost first.
func frames(stack string) (names []string) {
	for _, line := range strings.Split(stack, "\n") {
		if name, is := strings.CutPrefix(line, "inorder/ordering."); is {
			names = append(names, name[:strings.LastIndex(name, "(")])
		}
	}
	return names
}

func (h *histories) loop(hand *hand, s start, cache *ordering.Cache) *ordering.Loop {
	return &ordering.Loop{
		Store: hand, Quarantine: hand, Effects: hand, Streams: h.config, Cache: cache,
		Projections: map[string]ordering.Projector{"record": h.record(int(s.clock))},
		Now:         func() time.Time { return h.instant[s.clock] },
		NewToken:    hand.newToken,
	}
}

func (h *histories) consume(hand *hand, s start) ending {
	cache := ordering.NewCache(1)
	if s.cache != 0 {
		e := *h.entities[s.cache]
		if e.Exists {
			e.Rev, e.Token = int64(revision(1)), "of others"
		}
		warm(cache, h.key, &e, s.fought)
	}
	batch, who := h.deliveries(s)
	report := h.loop(hand, s, cache).Apply(context.Background(), h.key, batch)
	var e ending
	for i, o := range report.Outcomes {
		e.note(who[i], o)
	}
	cached, fought := cachedIn(cache, h.key)
	if e.fought = fought; cached != nil {
		e.cache, e.revision = h.entityOf(cached), int32(cached.Rev) //nolint:gosec // small, see revision
	}
	return e
}

// deliveries are a batch, and which message each of it is.
func (m *model) deliveries(s start) (batch []ordering.Delivery, who []int) {
	for i := range m.Messages {
		for range s.batch.of(i) {
			message := *m.bodies[i]
			message.ReceivedAt = m.instant[s.clock]
			batch = append(batch, ordering.Delivery{Event: m.decoded[i], Message: &message})
			who = append(who, i)
		}
	}
	return batch, who
}

func (e *ending) note(m int, o ordering.Outcome) {
	if e.outcomes = append(e.outcomes, fmt.Sprintf("m%d %s", m, o.Disposition)); o.Err != nil {
		e.outcomes[len(e.outcomes)-1] += fmt.Sprintf(" (%v)", o.Err)
	}
	if !o.Disposition.Ack() {
		e.back.add(once(m))
		return
	}
	e.acked.put(m)
	if o.Disposition.Copied() {
		e.refused.put(m)
	}
	if o.Disposition == ordering.Applied {
		e.applied.put(m)
	}
}

func (h *histories) sweep(hand *hand, s start) {
	keeper := &ordering.Keeper{Loop: h.loop(hand, s, nil), Upkeep: hand, Requests: hand}
	if read, err := hand.Entities(context.Background(), []ordering.Key{h.key}); err == nil {
		keeper.Sweep(context.Background(), h.key, h.stream, read[0].Entity)
	}
}

func (h *histories) order(hand *hand, s start) {
	keeper := &ordering.Keeper{Loop: h.loop(hand, s, nil), Upkeep: hand, Requests: hand}
	_, _ = keeper.Skip(context.Background(), h.key, h.stream, ordering.Skip{Through: s.skip, Reason: "lost for good", By: "somebody"})
}

// batchText is a batch as transcripts show it.
func (m *model) batchText(b counts) string {
	var names []string
	for i := range m.Messages {
		names = append(names, slices.Repeat([]string{fmt.Sprint("m", i)}, b.of(i))...)
	}
	return fmt.Sprint(names)
}
