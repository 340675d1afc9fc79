package explore

import (
	"fmt"
	"slices"

	"inorder/events"
	"inorder/ordering"
)

// judge looks at a content by itself.
func (m *model) judge(k *content) {
	e := k.now
	k.ran, k.fault = m.ranIn(e.State)
	k.reached, k.heard = reachedBy(e), heardBy(e)
	for _, n := range e.Waiting {
		if !k.hasRow(n) {
			k.bare = append(k.bare, n)
		}
	}
	for i, message := range m.Messages {
		if m.isFact(i) && message.Gen == e.Gen && k.fault == "" {
			k.fault = m.passedRightly(k, message)
		}
		if m.isKept(k, i) {
			k.kept.put(i)
		}
		if row, logged := rowAt(k, message); logged && message.Gen == e.Gen && waits(e, message.Seq) && row.EventID == m.decoded[i].ID {
			k.waits.put(i)
		}
		if d := e.Dispatched; d != nil && d.Gen == e.Gen && k.ran.has(i) && message.Seq <= d.Seq {
			k.dispatched.put(i)
		}
	}
}

func rowAt(k *content, message Message) (ordering.Row, bool) {
	i := slices.IndexFunc(k.rows, func(row ordering.Row) bool { return row.Gen == message.Gen && row.Seq == message.Seq })
	if i < 0 {
		return ordering.Row{}, false
	}
	return k.rows[i], true
}

// passed reports whether a number is applied, counted or passed over.
func passed(e *ordering.Entity, n int64) bool { return n <= e.Applied || slices.Contains(e.Ahead, n) }

// waits reports whether a number is said to wait.
func waits(e *ordering.Entity, n int64) bool { return slices.Contains(e.Waiting, n) }

// passedRightly says what is wrong with how a number was passed, or not.
func (m *model) passedRightly(k *content, message Message) string {
	ran := m.ranOf(k, message)
	isPassed := passed(k.now, message.Seq)
	switch {
	case ran && !isPassed:
		return fmt.Sprintf("number %d ran, and the cursor does not say so", message.Seq)
	case !ran && isPassed && !m.mayBePassed(k, message):
		return fmt.Sprintf("number %d was passed, and did not run", message.Seq)
	}
	return ""
}

// ranOf reports whether an event of a message's number ran.
func (m *model) ranOf(k *content, message Message) bool {
	for i, other := range m.Messages {
		if other.Gen == message.Gen && other.Seq == message.Seq && k.ran.has(i) {
			return true
		}
	}
	return false
}

// mayBePassed reports whether a number may be passed without an event: it is remembered as skipped, or it is void, or the
// history began above it. A delta keeps no evidence of a void.
func (m *model) mayBePassed(k *content, message Message) bool {
	row, logged := rowAt(k, message)
	voids := func(other Message) bool {
		return other.Kind == NeverExisted && other.Gen == message.Gen && other.Seq == message.Seq
	}
	return slices.ContainsFunc(k.now.Skipped, func(r events.Range) bool { return r.First <= message.Seq && message.Seq <= r.Last }) ||
		logged && row.Void == events.NeverExisted ||
		m.stream.Mode == events.Delta && slices.ContainsFunc(m.Messages, voids) ||
		m.Baseline && m.belowAllThatRan(k, message.Seq)
}

func (m *model) belowAllThatRan(k *content, n int64) bool {
	for i, message := range m.Messages {
		if k.ran.has(i) && message.Seq <= n {
			return false
		}
	}
	return k.ran != 0
}

// isKept reports whether what a store holds is what an acknowledged message was promised.
func (m *model) isKept(k *content, i int) bool {
	e, message := k.now, m.Messages[i]
	switch {
	case message.Gen != e.Gen:
		return message.Gen < e.Gen
	case message.Kind == Mark:
		return k.heard >= message.Seq
	case message.Kind == Expired && !m.stream.SkipExpired:
		return true
	case message.Kind != Fact:
		return passed(e, message.Seq) || waits(e, message.Seq)
	}
	row, logged := rowAt(k, message)
	isSkipped := slices.ContainsFunc(e.Skipped, func(r events.Range) bool { return r.First <= message.Seq && message.Seq <= r.Last })
	return m.ranOf(k, message) || passed(e, message.Seq) && !isSkipped ||
		logged && waits(e, message.Seq) && (row.EventID == m.decoded[i].ID || row.Void == events.NeverExisted)
}

// broken says what must not be so in any state.
func (m *model) broken(s *state) string {
	k := &m.all[s.content]
	if k.fault != "" {
		return k.fault
	}
	for _, n := range k.bare {
		if !m.wasDeleted(s, k.now.Gen, n) {
			return fmt.Sprintf("number %d is said to wait, and has no row", n)
		}
	}
	if lost := s.acked.minus(k.kept | s.refused | s.expired); lost != 0 && lost.minus(m.onTheirWay(s)) != 0 {
		return fmt.Sprintf("%s is acknowledged, and neither applied nor logged nor in quarantine", m.names(lost))
	}
	if unsent := k.dispatched.minus(m.effects[s.effects].all | s.expired); m.sends() && unsent != 0 {
		return fmt.Sprintf("the effect of %s is said to be sent, and is not", m.names(unsent))
	}
	if b := k.now.Blocked; b != 0 && m.Redrives == 0 && !m.isCopied(s, k.now.Gen, b) {
		return fmt.Sprintf("number %d is blocked, and no copy of it is in quarantine", b)
	}
	var may set
	for _, i := range m.Refused {
		may.put(i)
	}
	if wrongly := s.refused.minus(may); wrongly != 0 {
		return fmt.Sprintf("%s is in quarantine, and nothing is wrong with it", m.names(wrongly))
	}
	if k.now.Gap == nil && (m.isOpen(s) || m.lags(k)) {
		return "something is open, and the sweeper would not see it"
	}
	return ""
}

// onTheirWay are the messages that wait, or that somebody handles: one of them may have been acknowledged, and another one
// of the same be there still, or again. A void is as good as there while the event of its number is: that one beats it.
func (m *model) onTheirWay(s *state) (all set) {
	for i, message := range m.Messages {
		if s.queue.of(i) == 0 && !m.handled(s, i) {
			continue
		}
		for j, other := range m.Messages {
			if i == j || m.isFact(i) && other.Kind != Mark && other.Gen == message.Gen && other.Seq == message.Seq && !m.isFact(j) {
				all.put(j)
			}
		}
	}
	return all
}

func (m *model) handled(s *state, i int) bool {
	for at := range s.slots {
		if w := &s.slots[at]; !w.idle() && m.known[w.history].batch.of(i) > 0 {
			return true
		}
	}
	return false
}

func (m *model) isCopied(s *state, gen, n int64) bool {
	for i, message := range m.Messages {
		if message.Gen == gen && message.Seq == n && s.refused.has(i) {
			return true
		}
	}
	return false
}

func (m *model) wasDeleted(s *state, gen, n int64) bool {
	for i, message := range m.Messages {
		if message.Gen == gen && message.Seq == n && s.expired.has(i) {
			return true
		}
	}
	return false
}
