package storetest

import (
	"strings"
	"time"

	"inorder/events"
	"inorder/ordering"
)

// head is a row without its message.
func head(r ordering.Row) ordering.Row {
	r.Message = events.Message{ID: r.Message.ID, ReceivedAt: r.ReceivedAt}
	return r
}

// heads fails the test at once unless the heads of a range are those of these rows.
func (s *suite) heads(key ordering.Key, gen, first, last int64, want ...ordering.Row) {
	s.Helper()
	got, err := s.store.RowHeads(s.ctx, key, gen, first, last)
	s.ok(err)
	if len(got) != len(want) {
		s.Fatalf("%d heads from %d to %d, want %d", len(got), first, last, len(want))
	}
	for i := range want {
		if !sameRow(got[i], head(want[i])) || !got[i].Message.ReceivedAt.Equal(want[i].ReceivedAt) {
			s.Fatalf("head %d: got %+v, want %+v", i, got[i], head(want[i]))
		}
	}
}

func headsAreRows(s *suite) {
	key := s.key()
	var want []ordering.Row
	for i := range int64(8) { // 2 MB: more than a page
		r := row(i + 9)
		r.Message.Body, r.Message.GroupID, r.Message.SentAt = noise(300_000), "g", start
		r.Message.Attributes = map[string]events.Attribute{"a": {Type: "String", Text: "x"}}
		want = append(want, r)
		s.putRow(key, r)
	}
	void := ordering.Row{Seq: 17, Void: "never_existed", EventID: "void", ReceivedAt: start, ExpiresAt: start.Add(time.Hour)}
	s.putRow(key, void)
	other := row(9)
	other.Gen = 1
	s.putRow(key, other)
	s.putRow(s.key(), row(10))

	s.heads(key, 0, 1, 1<<63-1, append(want, void)...)
	s.heads(key, 0, 10, 11, want[1], want[2])
	s.heads(key, 1, 1, 99, other)
	s.heads(key, 0, 1, 8)
	s.heads(key, 0, 11, 10)
}

// logged returns an entity with rows in its log, and what RowHeads tells of them.
func (s *suite) logged(rows ...ordering.Row) (ordering.Key, *ordering.Entity, []ordering.Row) {
	s.Helper()
	key := s.key()
	first := *cursorEntity(1, 3)
	for _, r := range rows {
		s.putRow(key, r)
		first.Waiting = first.Waiting.With(r.Seq)
	}
	was := s.swap(key, first)
	heads, err := s.store.RowHeads(s.ctx, key, 0, 1, 1<<63-1)
	s.ok(err)
	return key, was, heads
}

func dropRows(s *suite) {
	void := ordering.Row{Seq: 8, Void: "expired", ReceivedAt: start} // without an event, and without an expiry
	key, was, heads := s.logged(row(5), row(6), row(7), void)
	next := cursorEntity(2, 3)
	next.Waiting = ordering.Numbers{6}
	s.ok(s.store.DropRows(s.ctx, key, was, next, []ordering.Row{heads[2], heads[0], heads[3]}))
	s.unchanged(key, next)
	s.rows(key, 0, 1, 9, row(6))

	s.ok(s.store.DropRows(s.ctx, key, next, cursorEntity(3, 3), []ordering.Row{row(6)})) // a whole row will do
	s.rows(key, 0, 1, 9)
	s.ok(s.store.DropRows(s.ctx, key, cursorEntity(3, 3), cursorEntity(4, 3), nil))
	s.unchanged(key, cursorEntity(4, 3))
	s.lostTo(key, s.store.DropRows(s.ctx, key, cursorEntity(3, 3), cursorEntity(4, 3), nil))
}

// Whoever extended a row, or found its place free and took it, keeps it, and the entity and all other rows stay too.
func dropLosesToARow(s *suite) {
	for name, change := range map[string]func(r *ordering.Row){
		"gone":          func(r *ordering.Row) { *r = row(9) },
		"extended":      func(r *ordering.Row) { r.ExpiresAt = r.ExpiresAt.Add(time.Second) },
		"another event": func(r *ordering.Row) { r.EventID = "other" },
		"other content": func(r *ordering.Row) { r.Fingerprint = "f2" },
		"a source":      func(r *ordering.Row) { r.Source = "" },
		"a void":        func(r *ordering.Row) { r.Void = "expired" },
	} {
		there := row(6)
		change(&there)
		key, was, _ := s.logged(row(5), there, row(7))
		got := s.taken(s.store.DropRows(s.ctx, key, was, cursorEntity(2, 3), []ordering.Row{row(5), head(row(6)), row(7)}))
		want := there
		if there.Seq != 6 {
			want = ordering.Row{}
		}
		if !sameRow(got, want) {
			s.Fatalf("%s: it tells of %+v, want %+v", name, got, want)
		}
		s.unchanged(key, was)
		s.rows(key, 0, 5, 5, row(5))
		s.rows(key, 0, 7, 7, row(7))
	}
}

// The entity's loss is told even where a row is lost as well: who plans again looks at the rows again.
func dropLosesToTheEntity(s *suite) {
	key, old, heads := s.logged(row(5), row(6))
	was := s.swap(key, *cursorEntity(2, 4))
	s.lostTo(key, s.store.DropRows(s.ctx, key, old, cursorEntity(2, 3), heads))
	s.lostTo(key, s.store.DropRows(s.ctx, key, old, cursorEntity(2, 3), []ordering.Row{row(9), heads[0]}))
	s.lostTo(key, s.store.DropRows(s.ctx, key, &ordering.Entity{}, cursorEntity(1, 3), heads))
	s.unchanged(key, was)
	s.rows(key, 0, 1, 9, row(5), row(6))
}

// So many rows of the largest size fit into one transaction, beside the largest entity.
func dropMax(s *suite) {
	var rows []ordering.Row
	for i := range int64(ordering.MaxDropRows) + 1 {
		r := row(i + 5)
		r.Message.Body = noise(470_000) // 390 KB, compressed
		rows = append(rows, r)
	}
	key, was, heads := s.logged(rows...)
	next := cursorEntity(2, 3)
	next.State = map[string]any{"large": strings.Repeat("x", 390<<10)}
	s.is(s.store.DropRows(s.ctx, key, was, next, heads), ordering.ErrInvalid)
	s.is(s.store.DropRows(s.ctx, key, was, next, []ordering.Row{heads[0], heads[0]}), ordering.ErrInvalid)
	s.unchanged(key, was)
	s.heads(key, 0, 1, 99, rows...)

	s.ok(s.store.DropRows(s.ctx, key, was, next, heads[1:]))
	s.heads(key, 0, 1, 99, rows[0])
	s.unchanged(key, next)
}

func parallelDrops(s *suite) {
	key, was, heads := s.logged(row(5), row(6))
	won := s.parallel(8, func(i int) error {
		return s.store.DropRows(s.ctx, key, was, cursorEntity(2, int64(i+1)), heads)
	})
	if won != 1 || s.entity(key).Rev != 2 {
		s.Fatalf("%d drops won, revision %d", won, s.entity(key).Rev)
	}
	s.rows(key, 0, 1, 9)
}
