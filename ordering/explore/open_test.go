package explore

import (
	"slices"

	"inorder/ordering"
)

// What is open in an entity, told by the messages, the rows, the numbers in the item and the effects that were received. The
// product answers the same questions (Missing, Highest, Effective, OwesEffects of ordering.Entity). It is not asked here:
// whoever is wrong would find himself right.

// reachedBy is the number up to which all are applied, counted or passed.
func reachedBy(e *ordering.Entity) int64 {
	n := e.Applied
	for slices.Contains(e.Ahead, n+1) {
		n++
	}
	return n
}

// heardBy is the highest number in an item.
func heardBy(e *ordering.Entity) int64 {
	return slices.Max(slices.Concat([]int64{e.Applied, e.MaxSeen}, e.Waiting, e.Ahead))
}

// heardOf is the highest number that is known to exist: it stands in the item, or a message said so and was acknowledged,
// and is not there again.
func (m *model) heardOf(s *state) int64 {
	k := &m.all[s.content]
	highest, acked := k.heard, s.acked.minus(m.onTheirWay(s))
	for i, message := range m.Messages {
		if tells := message.Kind != Expired || m.stream.SkipExpired; tells && message.Gen == k.now.Gen && acked.has(i) {
			highest = max(highest, message.Seq)
		}
	}
	return highest
}

// hasRow reports whether a number of the present life is logged.
func (k *content) hasRow(n int64) bool {
	return slices.ContainsFunc(k.rows, func(row ordering.Row) bool { return row.Gen == k.now.Gen && row.Seq == n })
}

// missing are the numbers of a window that are known to exist, and are neither counted nor logged.
func (m *model) missing(s *state) (numbers ordering.Numbers) {
	k := &m.all[s.content]
	if m.Baseline && k.now.Applied == 0 && !k.hasRow(1) {
		return m.missingAtFirst(s)
	}
	for n := k.reached + 1; n <= min(m.heardOf(s), k.reached+m.stream.Window); n++ {
		if !slices.Contains(k.now.Ahead, n) && !k.hasRow(n) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// missingAtFirst is what a history lacks that may begin anywhere, and has not: nothing where a row waits, which will be the
// beginning, and otherwise the number that was heard of.
func (m *model) missingAtFirst(s *state) ordering.Numbers {
	k := &m.all[s.content]
	isOfNow := func(row ordering.Row) bool { return row.Gen == k.now.Gen }
	if n := m.heardOf(s); n > 0 && !slices.ContainsFunc(k.rows, isOfNow) {
		return ordering.Numbers{n}
	}
	return nil
}

// unsent are the messages that ran and whose effects nobody received, but for those whose rows were deleted.
func (m *model) unsent(s *state) set {
	if !m.sends() {
		return 0
	}
	return m.all[s.content].ran.minus(m.effects[s.effects].all | s.expired)
}

// isOpen reports whether there is anything for the sweeper to do, now or when it is overdue.
func (m *model) isOpen(s *state) bool {
	return m.heardOf(s) > m.all[s.content].reached || m.unsent(s) != 0
}

// lags reports whether _dispatched is behind the cursor though something ran.
func (m *model) lags(k *content) bool {
	e := k.now
	return m.sends() && k.ran != 0 && (e.Dispatched == nil || *e.Dispatched != ordering.Position{Gen: e.Gen, Seq: e.Applied})
}
