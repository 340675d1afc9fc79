//go:build unix

package postgresql_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"inorder/events"
)

var (
	sequenceSchemaSQL = file("sequence/schema.sql")
	sequenceWriteSQL  = file("sequence/write.sql")
	sequenceLockSQL   = file("sequence/lock.sql")
	sequenceExpireSQL = file("sequence/expire.sql")
)

func prices(ranges ...events.Range) events.RepublishRequest {
	r := request("eur", ranges...)
	r.Stream = "prices"
	return r
}

func mustPrice(t fatal, db database, eventID string) int64 {
	t.Helper()
	return one[int64](t, db, sequenceWriteSQL, eventID, "apple", "1.20")
}

// A sequence gives numbers out of commit order and leaves holes: why the version column is the better numbering.
func TestASequenceReordersAndLeavesHoles(t *testing.T) {
	db := newDatabase(t, schemaSQL, sequenceSchemaSQL)
	first, second := begin(t, db), begin(t, db)
	mustPrice(t, first, "e1")
	mustPrice(t, second, "e2")
	if err := second.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen := column[int64](t, db, `SELECT seq FROM outbox`); !slices.Equal(seen, []int64{2}) {
		t.Errorf("committed first: %v", seen)
	}
	if err := first.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := mustPrice(t, db, "e3"); n != 3 {
		t.Errorf("the number after a rollback is %d", n)
	}
}

// A number is said never to have existed only when no transaction can still bring it: until then the lock waits.
func TestAnOpenTransactionsNumberIsNotVoided(t *testing.T) {
	for _, end := range []struct {
		name string
		end  func(pgx.Tx) error
		sent []int64
		void []events.Range
	}{
		{"committed", func(tx pgx.Tx) error { return tx.Commit(t.Context()) }, []int64{1, 2}, nil},
		{"rolled back", func(tx pgx.Tx) error { return tx.Rollback(t.Context()) }, []int64{2}, []events.Range{{First: 1, Last: 1}}},
	} {
		t.Run(end.name, func(t *testing.T) {
			db := newDatabase(t, schemaSQL, sequenceSchemaSQL)
			slow := begin(t, db)
			mustPrice(t, slow, "e1")
			mustPrice(t, db, "e2")
			asked := prices(events.Range{First: 1, Last: 5})

			relay := begin(t, db)
			run(t, relay, `SET LOCAL lock_timeout = '50ms'`)
			_, err := relay.Exec(t.Context(), sequenceLockSQL, text(t, asked))
			if refused := (*pgconn.PgError)(nil); !errors.As(err, &refused) || refused.Code != "55P03" {
				t.Fatalf("the lock is had while number 1 is open: %v", err)
			}

			if err := end.end(slow); err != nil {
				t.Fatal(err)
			}
			relay = begin(t, db)
			if n := run(t, relay, sequenceLockSQL, text(t, asked)); n != 1 {
				t.Fatalf("%d locks", n)
			}
			a := answer(t, relay, asked)
			if !slices.Equal(a.sent, end.sent) || !slices.Equal(a.void[events.NeverExisted], end.void) || len(a.void[events.Expired]) > 0 {
				t.Errorf("answered: %+v", a)
			}
		})
	}
}

// While one is drawn, others may draw too: only the answer to a request waits for all.
func TestWritersDoNotWaitForEachOther(t *testing.T) {
	db := newDatabase(t, schemaSQL, sequenceSchemaSQL)
	first, second := begin(t, db), begin(t, db)
	for i, tx := range []pgx.Tx{first, second} {
		run(t, tx, `SET LOCAL lock_timeout = '50ms'`)
		mustPrice(t, tx, fmt.Sprint(i))
	}
	for _, tx := range []pgx.Tx{first, second} {
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Every number that is asked for is answered once: by its row, as expired up to the highest that was ever deleted, and as
// never existing above that.
func TestARequestToASequenceIsAnsweredNumberByNumber(t *testing.T) {
	db := newDatabase(t, schemaSQL, sequenceSchemaSQL)
	rapid.Check(t, func(rt *rapid.T) {
		run(rt, db, `TRUNCATE outbox`)
		run(rt, db, `UPDATE outbox_sequence SET deleted_through = 0`)
		run(rt, db, `ALTER SEQUENCE price_number RESTART`)
		l := life{bodies: map[int64]string{}}
		for i := range rapid.Int64Range(1, 12).Draw(rt, "drawn") {
			if rapid.Bool().Draw(rt, "rolled back") {
				_ = one[int64](rt, db, `SELECT next_number('price_number')`)
				continue
			}
			l.head = mustPrice(rt, db, fmt.Sprint(i))
		}
		run(rt, db, `UPDATE outbox SET sent_at = published_at`)
		old := rapid.SliceOfDistinct(rapid.Int64Range(1, 12), rapid.ID).Draw(rt, "old")
		run(rt, db, `UPDATE outbox SET expires_at = published_at WHERE seq = ANY ($1)`, old)
		before := column[int64](rt, db, `SELECT seq FROM outbox`)
		deleted := one[int64](rt, db, sequenceExpireSQL)
		for _, body := range column[string](rt, db, `SELECT body FROM outbox`) {
			l.bodies[decode(rt, body).Seq] = body
		}
		if int(deleted) != len(before)-len(l.bodies) {
			rt.Fatalf("%d rows deleted, %d said", len(before)-len(l.bodies), deleted)
		}
		for _, n := range before {
			if _, kept := l.bodies[n]; !kept {
				l.proven = max(l.proven, n)
			}
		}
		l.request = prices(drawRanges(rt, 15)...)
		l.check(rt, answer(rt, db, l.request))
	})
}

// The low-water mark never goes back, in whatever order rows expire, and other streams' rows do not move it.
func TestTheLowWaterMarkOnlyRises(t *testing.T) {
	db := newDatabase(t, schemaSQL, sequenceSchemaSQL)
	for i := range 5 {
		mustPrice(t, db, fmt.Sprint(i))
	}
	for range 9 {
		mustWrite(t, db, "eur", "p")
	}
	run(t, db, `UPDATE outbox SET sent_at = published_at`)
	for _, step := range []struct {
		expired string
		want    int64
	}{
		{`stream = 'prices' AND seq = 3`, 3},
		{`stream = 'prices' AND seq = 1`, 3},
		{`stream = 'subscription'`, 3},
		{`stream = 'prices' AND seq <= 4`, 4},
	} {
		run(t, db, `UPDATE outbox SET expires_at = published_at WHERE `+step.expired)
		one[int64](t, db, sequenceExpireSQL)
		if got := one[int64](t, db, `SELECT deleted_through FROM outbox_sequence`); got != step.want {
			t.Errorf("after %s it stands at %d instead of %d", step.expired, got, step.want)
		}
	}
	if n := one[int64](t, db, sequenceExpireSQL); n != 0 {
		t.Errorf("%d rows deleted again", n)
	}
}
