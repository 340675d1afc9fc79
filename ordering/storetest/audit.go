package storetest

import (
	"slices"
	"time"

	"inorder/ordering"
)

// audits fails the test at once unless these are the audit rows of an entity.
func (s *suite) audits(key ordering.Key, want ...ordering.Audit) {
	s.Helper()
	got, err := s.store.Audits(s.ctx, key)
	s.ok(err)
	if !slices.EqualFunc(got, want, sameAudit) {
		s.Fatalf("audit rows: got %+v, want %+v", got, want)
	}
}

func sameAudit(a, b ordering.Audit) bool {
	return a.At.Equal(b.At) && a.By == b.By && a.Reason == b.Reason && a.Gen == b.Gen && a.Through == b.Through &&
		slices.Equal(a.Applied, b.Applied) && slices.Equal(a.Lost, b.Lost) && slices.Equal(a.Passed, b.Passed)
}

func audit(at time.Time, reason string) ordering.Audit {
	return ordering.Audit{
		At: at, By: "ann", Reason: reason, Gen: 2, Through: 9, Applied: []ordering.Range{{First: 8, Last: 8}},
		Lost: []ordering.Range{{First: 4, Last: 6}, {First: 9, Last: 9}}, Passed: []ordering.Range{{First: 7, Last: 7}},
	}
}

func auditsOldestFirst(s *suite) {
	key := s.key()
	s.putRow(key, row(5))
	later, first := audit(start.Add(time.Hour), "later"), audit(start, "")
	bare := ordering.Audit{At: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Through: 1}
	was := &ordering.Entity{}
	for i, a := range []ordering.Audit{later, bare, first} {
		next := cursorEntity(int64(i)+1, 9)
		s.ok(s.store.SwapAudited(s.ctx, key, was, next, a))
		s.unchanged(key, next)
		was = next
	}
	s.audits(key, first, later, bare)
	s.audits(s.key())
	s.rows(key, 0, 1, 1<<63-1, row(5))
	s.heads(key, 0, 1, 1<<63-1, row(5))
}

// Two skips of one instant are two rows, and neither disturbs the other.
func auditsOfOneInstant(s *suite) {
	key := s.key()
	was := &ordering.Entity{}
	for i, reason := range []string{"a", "b", "c"} {
		next := cursorEntity(int64(i)+1, 9)
		s.ok(s.store.SwapAudited(s.ctx, key, was, next, audit(start, reason)))
		was = next
	}
	s.unchanged(key, was)
	s.audits(key, audit(start, "a"), audit(start.Add(1), "b"), audit(start.Add(2), "c"))
}

func auditLoses(s *suite) {
	key := s.key()
	was := s.swap(key, *cursorEntity(1, 3))
	s.ok(s.store.SwapAudited(s.ctx, key, was, cursorEntity(2, 9), audit(start, "a")))
	s.lostTo(key, s.store.SwapAudited(s.ctx, key, was, cursorEntity(2, 8), audit(start, "the same instant")))
	s.lostTo(key, s.store.SwapAudited(s.ctx, key, &ordering.Entity{}, cursorEntity(1, 8), audit(start.Add(1), "b")))
	s.unchanged(key, cursorEntity(2, 9))
	s.audits(key, audit(start, "a"))
}

func parallelAudits(s *suite) {
	key := s.key()
	won := s.parallel(8, func(i int) error {
		return s.store.SwapAudited(s.ctx, key, &ordering.Entity{}, cursorEntity(1, int64(i+1)), audit(start, "a"))
	})
	if won != 1 {
		s.Fatalf("%d skips won", won)
	}
	s.audits(key, audit(start, "a"))
}
