//go:build unix

// Package postgresql_test tests the SQL that docs/postgresql.md shows, against a PostgreSQL of its own.
package postgresql_test

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"inorder/events"
)

//go:embed *.sql sequence/*.sql
var files embed.FS

func file(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

var (
	schemaSQL    = file("schema.sql")
	writeSQL     = file("write.sql")
	takeSQL      = file("take.sql")
	sentSQL      = file("sent.sql")
	republishSQL = file("republish.sql")
	markSQL      = file("mark.sql")
	markedSQL    = file("marked.sql")
	expireSQL    = file("expire.sql")
)

// database is a pool, a connection or a transaction.
type database interface {
	Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// fatal is a test, or one draw of a property.
type fatal interface {
	Helper()
	Context() context.Context
	Fatalf(format string, args ...any)
}

func run(t fatal, db database, sql string, arguments ...any) int64 {
	t.Helper()
	tag, err := db.Exec(t.Context(), sql, arguments...)
	if err != nil {
		t.Fatalf("%v in %s", err, sql)
	}
	return tag.RowsAffected()
}

func one[T any](t fatal, db database, sql string, arguments ...any) T {
	t.Helper()
	all := column[T](t, db, sql, arguments...)
	if len(all) != 1 {
		t.Fatalf("%d rows instead of one from %s", len(all), sql)
	}
	return all[0]
}

// column is the last column of what a query returns.
func column[T any](t fatal, db database, sql string, arguments ...any) []T {
	t.Helper()
	rows, err := db.Query(t.Context(), sql, arguments...)
	if err != nil {
		t.Fatalf("%v in %s", err, sql)
	}
	all, err := pgx.CollectRows(rows, lastColumn[T])
	if err != nil {
		t.Fatalf("%v in %s", err, sql)
	}
	return all
}

func lastColumn[T any](row pgx.CollectableRow) (T, error) {
	var v T
	into := make([]any, len(row.FieldDescriptions()))
	into[len(into)-1] = &v
	return v, row.Scan(into...)
}

// begin starts a transaction that does not outlive the test: the pool waits for it.
func begin(t *testing.T, db *pgxpool.Pool) pgx.Tx {
	t.Helper()
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) }) // does nothing where it is over
	return tx
}

func write(ctx context.Context, db database, id, plan, eventID string) (seq int64, err error) {
	return seq, db.QueryRow(ctx, writeSQL, id, plan, eventID).Scan(&seq)
}

func mustWrite(t fatal, db database, id, plan string) int64 {
	t.Helper()
	seq, err := write(t.Context(), db, id, plan, id+"/"+plan)
	if err != nil {
		t.Fatalf("write %s: %v", id, err)
	}
	return seq
}

// Versions are in commit order and without holes, however many write one entity at once, and whoever gives up.
func TestVersionsFollowCommitOrder(t *testing.T) {
	db := newDatabase(t, schemaSQL)
	const writers, each = 8, 25
	var mu sync.Mutex
	var committed []int64
	var all errgroup.Group
	for w := range writers {
		all.Go(func() error {
			for i := range each {
				tx, err := db.Begin(t.Context())
				if err != nil {
					return err
				}
				seq, err := write(t.Context(), tx, "s1", fmt.Sprintf("%d-%d", w, i), fmt.Sprintf("e%d-%d", w, i))
				if err != nil {
					return err
				}
				if rand.N(4) == 0 {
					if err := tx.Rollback(t.Context()); err != nil {
						return err
					}
					continue
				}
				if err := tx.Commit(t.Context()); err != nil {
					return err
				}
				mu.Lock()
				committed = append(committed, seq)
				mu.Unlock()
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(committed)
	for i, seq := range committed {
		if seq != int64(i+1) {
			t.Fatalf("numbers 1 to %d, each once, are expected, not %v", len(committed), committed)
		}
	}
	inOrderOfSeq := column[time.Time](t, db, `SELECT seq, pg_xact_commit_timestamp(xmin) FROM outbox ORDER BY seq`)
	if len(inOrderOfSeq) != len(committed) || !slices.IsSortedFunc(inOrderOfSeq, time.Time.Compare) {
		t.Errorf("%d rows for %d commits, committed at %v", len(inOrderOfSeq), len(committed), inOrderOfSeq)
	}
	if !one[bool](t, db, `SELECT (version, plan) = (SELECT seq, body::json #>> '{data,plan}' FROM outbox ORDER BY seq DESC LIMIT 1)
		FROM subscription`) {
		t.Error("the newest event does not tell what the subscription is")
	}
}

// A transaction that is rolled back leaves neither version nor row, and the next one takes its number.
func TestARolledBackWriteLeavesNothing(t *testing.T) {
	db := newDatabase(t, schemaSQL)
	mustWrite(t, db, "s1", "basic")
	tx := begin(t, db)
	if seq := mustWrite(t, tx, "s1", "gold"); seq != 2 {
		t.Fatalf("the second write has the number %d", seq)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if version := one[int64](t, db, `SELECT version FROM subscription`); version != 1 {
		t.Errorf("the version is %d after a rollback", version)
	}
	if rows := one[int64](t, db, `SELECT count(*) FROM outbox`); rows != 1 {
		t.Errorf("%d rows after a rollback", rows)
	}
	if seq := mustWrite(t, db, "s1", "silver"); seq != 2 {
		t.Errorf("the number after a rollback is %d", seq)
	}
}

// What write.sql writes is an event of the stream, dated like its row.
func TestABodyIsAnEvent(t *testing.T) {
	db := newDatabase(t, schemaSQL)
	mustWrite(t, db, `s"1`, "gold")
	e := decode(t, one[string](t, db, `SELECT body FROM outbox`))
	if e.Kind != events.Fact || e.EntityID != `s"1` || e.Seq != 1 || e.ID != `s"1/gold` || e.Data()["plan"] != "gold" {
		t.Errorf("decoded: %+v", e)
	}
	if at := one[time.Time](t, db, `SELECT published_at FROM outbox`); !at.Equal(e.PublishedAt) {
		t.Errorf("published at %s by the row, %s by the body", at, e.PublishedAt)
	}
}

var streams = sync.OnceValue(func() *events.Config {
	config, err := events.ParseStreams([]byte(`
consumer: c
streams:
  - {name: subscription, types: [PlanChanged], mode: step, projection: {set: {plan: data.plan}}}
  - {name: prices, types: [PriceSet], mode: step, projection: {set: {price: data.price}}}
`), events.Options{})
	if err != nil {
		panic(err)
	}
	return config
})

func decode(t fatal, body string) *events.Event {
	t.Helper()
	decoded := streams().Decode(events.Message{ID: "m", Body: body}, time.Unix(0, 0))
	if len(decoded) != 1 || decoded[0].Event == nil {
		t.Fatalf("%s is no event: %+v", body, decoded)
	}
	return decoded[0].Event
}

// queue is an SQS that keeps what it takes. It never answers twice for one message, and may refuse some.
type queue struct {
	mu      sync.Mutex
	bodies  []string
	refuses func(body string) bool
}

func (q *queue) send(body string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.refuses != nil && q.refuses(body) {
		return false
	}
	q.bodies = append(q.bodies, body)
	return true
}

var errDied = errors.New("died between sending and noting it")

// job is one round of a poller: it takes rows, sends their bodies, and notes what the queue took. Rows without a body
// have nothing to send. It tells how many rows it took.
func job(ctx context.Context, db interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}, take, note string, q *queue, dies bool,
) (int, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // does nothing after Commit
	rows, err := tx.Query(ctx, take)
	if err != nil {
		return 0, err
	}
	type row struct {
		ID   int64
		Body *string
	}
	taken, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil {
		return 0, err
	}
	var done []int64
	for _, r := range taken {
		if r.Body == nil || q.send(*r.Body) {
			done = append(done, r.ID)
		}
	}
	if dies {
		return 0, errDied
	}
	if _, err := tx.Exec(ctx, note, done); err != nil {
		return 0, err
	}
	return len(taken), tx.Commit(ctx)
}

// Two pollers side by side send every row, and the death of one costs copies of what it had in hand, nothing else.
func TestPollersLoseNothing(t *testing.T) {
	db := newDatabase(t, schemaSQL)
	for i := range 200 {
		mustWrite(t, db, fmt.Sprintf("s%d", i%7), fmt.Sprintf("plan%d", i))
	}
	want := column[string](t, db, `SELECT body FROM outbox`)
	refused := map[string]int{}
	q := &queue{refuses: func(body string) bool {
		refused[body]++
		return len(body)%3 == 0 && refused[body] == 1
	}}
	var pollers errgroup.Group
	for p := range 2 {
		pollers.Go(func() error {
			for round := 0; ; round++ {
				n, err := job(t.Context(), db, takeSQL, sentSQL, q, p == 0 && round == 3)
				if errors.Is(err, errDied) {
					continue // started again
				}
				if err != nil || n == 0 {
					return err
				}
			}
		})
	}
	if err := pollers.Wait(); err != nil {
		t.Fatal(err)
	}
	copies := len(q.bodies)
	slices.Sort(q.bodies)
	slices.Sort(want)
	if got := slices.Compact(q.bodies); !slices.Equal(got, want) {
		t.Errorf("%d different messages for %d rows", len(got), len(want))
	}
	if extra := copies - len(want); extra > 10 {
		t.Errorf("%d copies, though one batch of ten was interrupted", extra)
	}
	if unsent := one[int64](t, db, `SELECT count(*) FROM outbox WHERE sent_at IS NULL`); unsent != 0 {
		t.Errorf("%d rows are not noted as sent", unsent)
	}
}

// While one poller has rows in hand, another neither waits for them nor takes them.
func TestPollersTakeDifferentRows(t *testing.T) {
	db := newDatabase(t, schemaSQL)
	for i := range 25 {
		mustWrite(t, db, "s1", fmt.Sprintf("plan%d", i))
	}
	taken := map[string]bool{}
	for _, want := range []int{10, 10, 5} {
		poller := begin(t, db)
		run(t, poller, `SET LOCAL lock_timeout = '1s'`)
		bodies := column[string](t, poller, takeSQL)
		for _, body := range bodies {
			if taken[body] {
				t.Errorf("%s is taken twice", body)
			}
			taken[body] = true
		}
		if len(bodies) != want {
			t.Errorf("%d rows taken instead of %d", len(bodies), want)
		}
	}
}

// One poller sends an entity's rows in order, so the consumer has little to park.
func TestOnePollerKeepsTheOrder(t *testing.T) {
	db := newDatabase(t, schemaSQL)
	for i := range 25 {
		mustWrite(t, db, "s1", fmt.Sprintf("plan%d", i))
	}
	q := &queue{}
	for n := 1; n > 0; {
		var err error
		if n, err = job(t.Context(), db, takeSQL, sentSQL, q, false); err != nil {
			t.Fatal(err)
		}
	}
	for i, body := range q.bodies {
		if seq := decode(t, body).Seq; seq != int64(i+1) {
			t.Errorf("message %d is number %d", i+1, seq)
		}
	}
	if len(q.bodies) != 25 {
		t.Errorf("%d messages for 25 rows", len(q.bodies))
	}
}

// A mark is sent once for a head that has been there for five minutes, again where nobody knows that it was, and for no
// number that has a higher one.
func TestMarks(t *testing.T) {
	db := newDatabase(t, schemaSQL)
	for _, id := range []string{"old", "old", "old", "moved", "young", "unsent"} {
		mustWrite(t, db, id, "p")
	}
	run(t, db, `UPDATE outbox SET sent_at = now() - interval '6 minutes'`)
	mustWrite(t, db, "moved", "q")
	run(t, db, `UPDATE outbox SET sent_at = now() - interval '4 minutes' WHERE entity_id = 'young'`)
	run(t, db, `UPDATE outbox SET sent_at = NULL WHERE entity_id = 'unsent'`)

	marks := func(dies bool) []string {
		t.Helper()
		q := &queue{}
		if _, err := job(t.Context(), db, markSQL, markedSQL, q, dies); err != nil && !errors.Is(err, errDied) {
			t.Fatal(err)
		}
		var told []string
		for _, body := range q.bodies {
			e := decode(t, body)
			told = append(told, fmt.Sprintf("%s %s %d/%d kind %d", e.Stream.Name, e.EntityID, e.Generation, e.Seq, e.Kind))
		}
		return told
	}
	expect := func(got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("marks %q instead of %q", got, want)
		}
	}
	mark := fmt.Sprintf("kind %d", events.Mark)
	expect(marks(true), "subscription old 0/3 "+mark)
	expect(marks(false), "subscription old 0/3 "+mark)
	expect(marks(false))
	run(t, db, `UPDATE outbox SET sent_at = now() - interval '6 minutes'`)
	expect(marks(false), "subscription young 0/1 "+mark, "subscription unsent 0/1 "+mark, "subscription moved 0/2 "+mark)

	run(t, db, `INSERT INTO outbox (stream, entity_id, generation, seq, event_id, body, sent_at)
		VALUES ('subscription', 'old', 0, 4, 'e', '', now() - interval '1 hour'), ('subscription', 'old', 7, 1, 'e', '', now() - interval '1 hour')`)
	expect(marks(false), "subscription old 7/1 "+mark)
	if unmarked := one[int64](t, db, `SELECT count(*) FROM outbox WHERE marked_at IS NULL`); unmarked != 0 {
		t.Errorf("%d rows are looked at for ever", unmarked)
	}
}

// A row goes after its time, but never unsent.
func TestExpiry(t *testing.T) {
	db := newDatabase(t, schemaSQL)
	for range 4 {
		mustWrite(t, db, "s1", "p")
	}
	run(t, db, `UPDATE outbox SET sent_at = published_at WHERE seq <> 2`)
	if n := run(t, db, expireSQL); n != 0 {
		t.Errorf("%d fresh rows went", n)
	}
	run(t, db, `UPDATE outbox SET expires_at = expires_at - interval '28 days' WHERE seq <= 3`)
	if n := run(t, db, expireSQL); n != 2 {
		t.Errorf("%d rows went, not 1 and 3", n)
	}
	if left := column[int64](t, db, `SELECT seq FROM outbox ORDER BY seq`); !slices.Equal(left, []int64{2, 4}) {
		t.Errorf("left: %v", left)
	}
	a := answer(t, db, request("s1", events.Range{First: 1, Last: 5}))
	if !slices.Equal(a.sent, []int64{2, 4}) || !slices.Equal(a.void[events.Expired], []events.Range{{First: 1, Last: 1}, {First: 3, Last: 3}}) {
		t.Errorf("answered: %+v", a)
	}
}

func request(entityID string, ranges ...events.Range) events.RepublishRequest {
	return events.RepublishRequest{
		Consumer: "c", Stream: "subscription", EntityID: entityID, Ranges: ranges, Attempt: 1,
		RequestedAt: events.FormatInstant(time.Unix(0, 0)),
	}
}

// answered is what a consumer makes of the answer to a request.
type answered struct {
	bodies map[int64]string
	sent   []int64
	void   map[events.VoidReason][]events.Range
	voids  int // messages
}

func text(t fatal, r events.RepublishRequest) string {
	t.Helper()
	message, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return string(message)
}

func answer(t fatal, db database, r events.RepublishRequest) answered {
	t.Helper()
	a := answered{bodies: map[int64]string{}, void: map[events.VoidReason][]events.Range{}}
	for _, body := range column[string](t, db, republishSQL, text(t, r)) {
		e := decode(t, body)
		if e.Stream.Name != r.Stream || e.EntityID != r.EntityID || e.Source != r.Source || e.Generation != r.Generation {
			t.Fatalf("%s does not belong to %+v", body, r)
		}
		switch e.Kind {
		case events.Fact:
			a.sent = append(a.sent, e.Seq)
			a.bodies[e.Seq] = body
		case events.Void:
			a.void[e.VoidReason] = append(a.void[e.VoidReason], e.Ranges...)
			a.voids++
		case events.Mark:
			t.Fatalf("a mark answers nothing: %s", body)
		}
	}
	return a
}

// A request for very many holes is answered with several messages, none of which is too large for SQS.
func TestVoidsOfVeryManyHoles(t *testing.T) {
	db := newDatabase(t, schemaSQL)
	run(t, db, `INSERT INTO outbox (stream, entity_id, seq, event_id, body)
		SELECT 'subscription', 's1', 2 * n, n, json_build_object('type', 'PlanChanged', 'entity_id', 's1', 'seq', 2 * n)
		FROM generate_series(1, 2500) AS n`)
	a := answer(t, db, request("s1", events.Range{First: 1, Last: 5000}))
	if len(a.sent) != 2500 || len(a.void[events.Expired]) != 2500 || a.voids != 3 {
		t.Errorf("%d sent, %d holes in %d messages", len(a.sent), len(a.void[events.Expired]), a.voids)
	}
}

// What nobody has written is not answered: it may come yet.
func TestNothingIsSaidAboutTheUnknown(t *testing.T) {
	db := newDatabase(t, schemaSQL)
	mustWrite(t, db, "s1", "p")
	other := request("s1", events.Range{First: 1, Last: 9})
	other.Generation = 1
	for _, r := range []events.RepublishRequest{request("nobody", events.Range{First: 1, Last: 9}), request("s1", events.Range{First: 2, Last: 9}), other} {
		if bodies := column[string](t, db, republishSQL, text(t, r)); len(bodies) > 0 {
			t.Errorf("%+v is answered with %s", r, strings.Join(bodies, " "))
		}
	}
}
