package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"
	"github.com/aws/smithy-go"

	"inorder/events"
	"inorder/ordering"
	"inorder/ordering/memory"
)

const sweptStreams = `
consumer: c
streams:
  - {name: ledger, types: [Posted], mode: step, window: 10, gap_deadline: 5m, gap_attempts: 2, projection: {sum: {balance: data.amount}}}
  - {name: seats, types: [Seated], mode: delta, gap_deadline: 5m, projection: {sum: {seats: data.by}}}
  - {name: task, types: [Moved], mode: step, per_source: true, projection: balance}
`

// sweeping is a sweeper, and a consumer of the same tables, over the fake store.
type sweeping struct {
	store   sweptStore
	sqs     fakeSQS
	out     bytes.Buffer
	now     time.Time
	streams *events.Config
	sweeper *Sweeper
}

// sweptStore fails as it is told. Like the real client it does nothing for a context that has ended.
type sweptStore struct {
	memory.Store
	brokenShard int           // fails; -1: none
	slow        time.Duration // a compare-and-set takes
	reading     time.Duration // a batch of entities takes
	unreadable  string        // an entity that cannot be understood
	busy        string        // an entity that others always write first
	broken      string        // an entity that cannot be written
	endless     string        // an entity whose write ends with the time that it is given

	entitiesRead int // how many batches
}

var errBroken = errors.New("broken")

// errQuoting is an answer of DynamoDB that holds what it was asked about.
var errQuoting = &smithy.GenericAPIError{Code: "ValidationException", Message: "The parameter cannot be converted: " + inTheAnswer}

const inTheAnswer = "secret-of-a-customer"

func (s *sweptStore) Marked(ctx context.Context, shard int, from time.Time, visit func([]ordering.Marked) bool) error {
	if shard == s.brokenShard {
		return fmt.Errorf("%w: %w", errBroken, errQuoting)
	}
	return s.Store.Marked(ctx, shard, from, visit)
}

func (s *sweptStore) Swap(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, markers []ordering.Marker) error {
	if s.slow > 0 {
		time.Sleep(s.slow)
	}
	switch key.ID {
	case s.busy:
		return ordering.ErrContended
	case s.broken:
		return errBroken
	case s.endless:
		<-ctx.Done()
		return ctx.Err()
	}
	return s.Store.Swap(ctx, key, prev, next, markers)
}

func (s *sweptStore) Entities(ctx context.Context, keys []ordering.Key) ([]ordering.EntityRead, error) {
	if s.reading > 0 {
		select {
		case <-time.After(s.reading):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.entitiesRead++
	read, err := s.Store.Entities(ctx, keys)
	for i, key := range keys {
		if key.ID == s.unreadable {
			read[i] = ordering.EntityRead{Err: errBroken}
		}
	}
	return read, err
}

func (s *sweptStore) Bookmark(ctx context.Context, consumer string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return s.Store.Bookmark(ctx, consumer)
}

func (s *sweptStore) MoveBookmark(ctx context.Context, consumer, from, to string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.Store.MoveBookmark(ctx, consumer, from, to)
}

// open puts an entity into the index that has had a gap since so long; a gap that is asked for in vain is not due.
func (s *sweeping) open(t *testing.T, key ordering.Key, since time.Duration, inVain bool) {
	t.Helper()
	e := &ordering.Entity{Exists: true, Rev: 1, State: map[string]any{}}
	e.MaxSeen, e.Waiting = 2, ordering.Numbers{2}
	e.Park = ordering.Park{Since: s.now, Look: s.now.Add(240 * time.Hour)}
	e.Gap = &ordering.Gap{Since: s.now.Add(-since)}
	if inVain {
		e.Gap.Escalations, e.Gap.EscalateAt = 3, s.now.Add(240*time.Hour)
	}
	if err := s.store.Swap(t.Context(), key, &ordering.Entity{}, e, nil); err != nil {
		t.Fatal(err)
	}
}

func newSweeping(t *testing.T) *sweeping {
	t.Helper()
	streams, err := events.ParseStreams([]byte(sweptStreams), events.Options{Projections: []string{"balance"}})
	if err != nil {
		t.Fatal(err)
	}
	s := &sweeping{now: testNow, streams: streams}
	s.store.brokenShard = -1
	s.sweeper = NewSweeper(s.parts())
	return s
}

func (s *sweeping) parts() SweeperParts {
	return SweeperParts{
		Parts: Parts{
			Streams: s.streams, Store: &s.store, SQS: &s.sqs, Metrics: &s.out, Log: NewLogger(&s.out, 0),
			QuarantineURL: "https://sqs/quarantine", EffectsURL: "https://sqs/effects.fifo",
			Projections: map[string]ordering.Projector{
				"balance": func(map[string]any, *events.Event) (map[string]any, []any, error) { panic("not today") },
			},
			Now: func() time.Time { return s.now }, Parallel: 1,
		},
		Upkeep: &s.store, RepublishURL: "https://sqs/republish",
	}
}

// deliver hands over events of a type, "entity.seq" each.
func (s *sweeping) deliver(t *testing.T, typ string, numbers ...string) {
	t.Helper()
	var batch awsevents.SQSEvent
	for _, n := range numbers {
		entity, seq, _ := strings.Cut(n, ".")
		batch.Records = append(batch.Records, record("m"+n, fmt.Sprintf(
			`{"event_id":%q,"type":%q,"entity_id":%q,"source":"shop","seq":%s,"data":{"amount":1,"by":1}}`, n, typ, entity, seq)))
	}
	if out, err := NewConsumer(s.parts().Parts).Handle(t.Context(), batch); err != nil || len(out.BatchItemFailures) > 0 {
		t.Fatal(out, err, s.out.String())
	}
	s.out.Reset()
}

// sweep runs once and returns the lines that it wrote, metrics apart.
func (s *sweeping) sweep(t *testing.T, ctx context.Context) (logs []string, metrics map[string]float64, err error) {
	t.Helper()
	s.out.Reset()
	err = s.sweeper.Sweep(ctx)
	metrics = map[string]float64{}
	for line := range strings.Lines(s.out.String()) {
		if !strings.Contains(line, `"_aws"`) {
			logs = append(logs, strings.TrimSpace(line))
			continue
		}
		var doc map[string]any
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err)
		}
		for name, value := range doc {
			if n, ok := value.(float64); ok {
				metrics[name] += n
			}
		}
	}
	return logs, metrics, err
}

// requests are the bodies that went to the producer.
func (s *sweeping) requests() (bodies []string) {
	for _, in := range s.sqs.sent {
		if *in.QueueUrl == "https://sqs/republish" {
			bodies = append(bodies, *in.MessageBody)
		}
	}
	return bodies
}

// The alert is a line of this form: people search for its words, and alarms filter on them. So is the request.
func TestTheAlertAndTheRequest(t *testing.T) {
	s := newSweeping(t)
	s.deliver(t, "Posted", "a.3", "a.6")
	s.now = s.now.Add(6 * time.Minute)
	logs, metrics, err := s.sweep(t, t.Context())
	want := `{"time":"2026-03-01T12:06:00Z","level":"ERROR","msg":"sequence gap","consumer":"c","stream":"ledger",` +
		`"entity_id":"a","source":"","generation":0,"missing":[[1,2],[4,5]],"missing_numbers":4,"waiting":2,` +
		`"age_seconds":360,"attempt":1,"attempts":2,"requested":true}`
	if err != nil || len(logs) != 1 || logs[0] != want {
		t.Errorf("%v\ngot  %q\nwant %q", err, logs, want)
	}
	wantRequest := `{"consumer":"c","stream":"ledger","entity_id":"a","source":"","generation":0,` +
		`"ranges":[[1,2],[4,5]],"attempt":1,"requested_at":"2026-03-01T12:06:00.000000000Z"}`
	if got := s.requests(); !slices.Equal(got, []string{wantRequest}) {
		t.Errorf("got  %q\nwant %q", got, wantRequest)
	}
	if metrics["event_gaps_escalated_total"] != 1 {
		t.Errorf("%v", metrics)
	}
}

// An id may hold a character that SQS takes only in its escaped form; the request names that entity all the same.
func TestTheRequestForAnUnusualID(t *testing.T) {
	s := newSweeping(t)
	s.deliver(t, "Posted", "a\uffff.3")
	s.now = s.now.Add(6 * time.Minute)
	logs, _, err := s.sweep(t, t.Context())
	if got := s.requests(); err != nil || len(got) != 1 || !strings.Contains(got[0], `"entity_id":"a\uffff"`) {
		t.Errorf("%v %q %q", err, got, logs)
	}
}

// A request that cannot be sent is told in the alert, and neither counted nor an attempt; past its attempts a gap only
// alarms.
func TestAnAlertWithoutARequest(t *testing.T) {
	s := newSweeping(t)
	s.deliver(t, "Posted", "a.3")
	s.now = s.now.Add(6 * time.Minute)
	s.sqs.err = errBroken
	logs, metrics, _ := s.sweep(t, t.Context())
	if len(logs) != 1 || !strings.Contains(logs[0], `"requested":false,"error":"ask for what is missing of \"a\"`) || metrics["event_gaps_escalated_total"] != 0 {
		t.Errorf("%q %v", logs, metrics)
	}
	s.sqs.err = nil
	for attempt, want := range []string{
		`"attempt":1,"attempts":2,"requested":true}`, `"attempt":2,"attempts":2,"requested":true}`, `"attempt":3,"attempts":2,"requested":false}`,
	} {
		s.now = s.now.Add(time.Hour)
		if logs, _, _ := s.sweep(t, t.Context()); len(logs) != 1 || !strings.HasSuffix(logs[0], want) {
			t.Errorf("attempt %d: %q", attempt+1, logs)
		}
	}
	if got := s.requests(); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// All gauges are set by every sweep, and tell of all open entities.
func TestGauges(t *testing.T) {
	s := newSweeping(t)
	want := func(expected map[string]float64) {
		t.Helper()
		_, metrics, err := s.sweep(t, t.Context())
		for name, value := range expected {
			if got, set := metrics[name]; err != nil || !set || got != value {
				t.Errorf("%s is %v (set %t), want %v; %v", name, got, set, value, err)
			}
		}
	}
	want(map[string]float64{GaugeParked: 0, GaugeGaps: 0, GaugeBlocked: 0, GaugeOldestGap: 0, GaugeWindowPercent: 0, GaugeAgePercent: 0})
	s.deliver(t, "Posted", "a.2", "a.5", "b.9")
	s.now = s.now.Add(28 * time.Hour)
	s.deliver(t, "Seated", "s.2")
	s.deliver(t, "Moved", "x.1")
	want(map[string]float64{GaugeParked: 4, GaugeGaps: 3, GaugeBlocked: 1, GaugeOldestGap: 28 * 3600, GaugeWindowPercent: 90, GaugeAgePercent: 100 * 28 / (28 * 24.)})
	s.deliver(t, "Posted", "a.1", "a.3", "a.4", "b.1", "b.2", "b.3", "b.4", "b.5", "b.6", "b.7", "b.8")
	s.deliver(t, "Seated", "s.1")
	want(map[string]float64{GaugeParked: 1, GaugeGaps: 0, GaugeBlocked: 1, GaugeOldestGap: 0, GaugeWindowPercent: 0.1})
}

// A sweep stops in time, and the next one goes on where it stopped, though a new instance carries it out: in the end each
// of the overdue entities was asked for once, the oldest first, and nobody twice.
func TestASweepGoesOnWhereItStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSweeping(t)
		const entities = 50
		for i := range entities {
			s.deliver(t, "Posted", fmt.Sprintf("e%02d.2", i))
			s.now = s.now.Add(time.Millisecond)
		}
		s.now = s.now.Add(6 * time.Minute)
		s.store.slow = 490 * time.Millisecond // 13 begin in the 6 seconds for work, and the last one ends within the patience
		for sweep := 1; len(s.requests()) < entities; sweep++ {
			if sweep > 8 {
				t.Fatalf("%d of %d asked for after %d sweeps", len(s.requests()), entities, sweep)
			}
			s.sweeper = NewSweeper(s.parts())
			ctx, end := context.WithTimeout(t.Context(), 8*time.Second)
			before := len(s.requests())
			_, metrics, err := s.sweep(t, ctx)
			after, _ := s.store.Bookmark(t.Context(), "c")
			if done := len(s.requests()) - before; err != nil || ctx.Err() != nil || done == 0 || done > 14 || (after == "") != (len(s.requests()) == entities) {
				t.Errorf("sweep %d asked for %d, bookmark %q: %v %v", sweep, done, after, err, ctx.Err())
			}
			if metrics[GaugeGaps] != entities {
				t.Errorf("sweep %d tells of %v gaps", sweep, metrics[GaugeGaps])
			}
			end()
		}
		for i, request := range s.requests() {
			if !strings.Contains(request, fmt.Sprintf(`"entity_id":"e%02d"`, i)) {
				t.Errorf("request %d is %s", i, request)
			}
		}
	})
}

// An entity whose turn comes at the very end of the time is where the next sweep begins, and no failure.
func TestASweepWhoseTimeEndsAtAnEntityGoesOnWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSweeping(t)
		s.deliver(t, "Posted", "a.2")
		s.now = s.now.Add(6 * time.Minute)
		parts := s.parts()
		looks := 0
		parts.Now = func() time.Time {
			if s.store.entitiesRead > 0 {
				looks++
			}
			if looks == 2 { // the first is whether it is due, the second what is
				time.Sleep(6200 * time.Millisecond) // the time for work is 6 seconds, and the patience half a second
			}
			return s.now
		}
		s.sweeper = NewSweeper(parts)
		ctx, end := context.WithTimeout(t.Context(), 8*time.Second)
		defer end()
		logs, _, err := s.sweep(t, ctx)
		if next, _ := s.store.Bookmark(t.Context(), "c"); err != nil || len(logs) != 0 || len(s.requests()) != 0 || next == "" {
			t.Errorf("logged %q, asked for %q, goes on at %q: %v", logs, s.requests(), next, err)
		}
		if _, _, err := s.sweep(t, t.Context()); err != nil || len(s.requests()) != 1 {
			t.Errorf("the next sweep asked for %q: %v", s.requests(), err)
		}
	})
}

// Where the index holds more than can be read in the time of one sweep, the next ones go on behind it: what is due there
// has its turn.
func TestASweepThatCannotReadAllGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSweeping(t)
		s.store.reading = 2 * time.Second // of 30 a sweep has 28.5 to read, and 20 batches take 40
		const entities = 2000
		for i := range entities {
			s.open(t, ordering.Key{Consumer: "c", Stream: "ledger", ID: fmt.Sprint(i)}, time.Hour-time.Duration(i)*time.Millisecond, i < entities-1)
		}
		for sweep := range 2 {
			s.sweeper = NewSweeper(s.parts())
			ctx, end := context.WithTimeout(t.Context(), 30*time.Second)
			logs, _, err := s.sweep(t, ctx)
			if after, _ := s.store.Bookmark(t.Context(), "c"); after == "" || !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
				t.Errorf("sweep %d: bookmark %q, %v, %v: %q", sweep, after, err, ctx.Err(), logs)
			}
			end()
		}
		if len(s.requests()) != 1 {
			t.Errorf("%d requests after two sweeps, want one for the youngest", len(s.requests()))
		}
	})
}

// Where more is open than one sweep can list, what lies behind has its turn all the same, the gauges do not tell of a part,
// and somebody is told.
func TestASweepThatCannotListAllGoesOn(t *testing.T) {
	for name, apart := range map[string]time.Duration{"each of its time": time.Millisecond, "all of one instant": 0} {
		t.Run(name, func(t *testing.T) {
			s := newSweeping(t)
			for i := range 400 {
				s.open(t, ordering.Key{Consumer: "c", Stream: "ledger", ID: fmt.Sprint(i)}, time.Hour-time.Duration(i)*apart, true)
			}
			s.deliver(t, "Posted", "fresh.3")
			s.now = s.now.Add(6 * time.Minute)
			turns := 0
			for range 12 {
				s.sweeper = NewSweeper(s.parts())
				s.sweeper.maxMarked = 200
				logs, metrics, err := s.sweep(t, t.Context())
				if _, set := metrics[GaugeGaps]; !set {
					turns++
					if !slices.ContainsFunc(logs, func(line string) bool {
						return strings.Contains(line, "ERROR") && strings.Contains(line, "more entities are open than one sweep can list")
					}) {
						t.Errorf("said %q", logs)
					}
				} else if metrics[GaugeGaps] != 401 || err != nil {
					t.Errorf("of 401 gaps the gauge tells of %v: %v", metrics[GaugeGaps], err)
				}
			}
			if apart > 0 && turns < 4 || len(s.requests()) != 1 {
				t.Errorf("%d sweeps that could not list all, and requests %q", turns, s.requests())
			}
		})
	}
}

// What a sweep cannot read it returns, and Lambda logs that: no word of it that may be event data.
func TestASweepThatFailsQuotesNothing(t *testing.T) {
	s := newSweeping(t)
	s.store.brokenShard = 3
	logs, _, err := s.sweep(t, t.Context())
	if !errors.Is(err, errBroken) || strings.Contains(err.Error(), inTheAnswer) {
		t.Errorf("the sweep says %v", err)
	}
	if strings.Contains(strings.Join(logs, "\n"), inTheAnswer) {
		t.Errorf("it logs %q", logs)
	}
}

// Entities of another consumer in the same tables keep nobody from his turn.
func TestForeignEntitiesTakeNoTurn(t *testing.T) {
	s := newSweeping(t)
	for i := range 200 {
		s.open(t, ordering.Key{Consumer: "other", Stream: "ledger", ID: fmt.Sprint(i)}, time.Hour-time.Duration(i)*time.Millisecond, true)
	}
	s.deliver(t, "Posted", "fresh.3")
	s.now = s.now.Add(6 * time.Minute)
	s.sweeper.maxMarked = 40
	if logs, metrics, err := s.sweep(t, t.Context()); err != nil || metrics[GaugeGaps] != 1 || len(s.requests()) != 1 {
		t.Errorf("%v %v %q", err, metrics, logs)
	}
}

// Turns go round: what stands before the place where they begin comes last.
func TestSooner(t *testing.T) {
	for _, tt := range []struct{ from, a, b, want string }{
		{"", "", "", ""},
		{"", "3", "", "3"},
		{"5", "", "3", "3"},
		{"", "3", "4", "3"},
		{"5", "7", "6", "6"},
		{"5", "4", "3", "3"},
		{"5", "3", "7", "7"},
		{"5", "7", "3", "7"},
		{"5", "5", "4", "5"},
	} {
		if got := sooner(tt.from, tt.a, tt.b); got != tt.want {
			t.Errorf("from %q the sooner of %q and %q is %q, want %q", tt.from, tt.a, tt.b, got, tt.want)
		}
	}
}

// What is wrong with one shard, one entity or one projection is said, and keeps nobody else from being swept.
func TestASweepGoesOnBesideWhatIsBroken(t *testing.T) {
	s := newSweeping(t)
	s.deliver(t, "Posted", "a.2", "b.2", "c.2", "d.2", "e.2", "f.2")
	s.deliver(t, "Moved", "x.1")
	s.now = s.now.Add(6 * time.Minute)
	s.store.unreadable = "a"
	s.store.brokenShard = 0
	_, metrics, err := s.sweep(t, t.Context())
	if _, set := metrics[GaugeGaps]; set || !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "shard 0") {
		t.Errorf("gauges that do not tell of all (set: %t), or %v", set, err)
	}
	s.store.brokenShard = -1
	logs, metrics, err := s.sweep(t, t.Context())
	if err != nil || metrics[GaugeBlocked] != 1 || metrics[GaugeGaps] != 5 || len(s.requests()) != 5 {
		t.Errorf("%v %v %q", err, metrics, s.requests())
	}
	if !slices.ContainsFunc(logs, func(line string) bool {
		return strings.Contains(line, "an entity cannot be read") && strings.Contains(line, "broken")
	}) {
		t.Errorf("%q", logs)
	}
}

// Who gives way to those who write an entity fast has nothing to complain of: the error level is for what a person must look at.
func TestASweepThatGivesWayIsNoError(t *testing.T) {
	s := newSweeping(t)
	s.deliver(t, "Posted", "a.2", "b.2")
	s.now = s.now.Add(6 * time.Minute)
	s.store.busy, s.store.broken = "a", "b"
	s.sweeper.Keeper.Wait = func(context.Context, int) {}
	logs, _, err := s.sweep(t, t.Context())
	if err != nil || len(logs) != 2 {
		t.Fatalf("%v %q", err, logs)
	}
	for _, line := range logs {
		busy := strings.Contains(line, `"entity_id":"a"`)
		if !strings.Contains(line, "sweep failed") || busy != strings.Contains(line, `"level":"WARN"`) || busy == strings.Contains(line, `"level":"ERROR"`) {
			t.Error(line)
		}
	}
}

// Nor who runs out of time in the middle of an entity: the next sweep goes on.
func TestASweepThatRunsOutOfTimeIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSweeping(t)
		s.deliver(t, "Posted", "a.2")
		s.now = s.now.Add(6 * time.Minute)
		s.store.endless = "a"
		ctx, end := context.WithTimeout(t.Context(), 8*time.Second)
		defer end()
		logs, _, err := s.sweep(t, ctx)
		if err != nil || len(logs) != 1 || !strings.Contains(logs[0], "sweep failed") || !strings.Contains(logs[0], `"level":"WARN"`) {
			t.Errorf("%v %q", err, logs)
		}
	})
}

// Entities of another consumer are its own sweeper's; those of a stream that is gone are told of, once a stream, and stay
// in the gauges, so that no alarm clears because nobody looks any more.
func TestStrangersInTheIndex(t *testing.T) {
	s := newSweeping(t)
	for _, key := range []ordering.Key{
		{Consumer: "other", Stream: "ledger", ID: "a"}, {Consumer: "c", Stream: "gone", ID: "a"}, {Consumer: "c", Stream: "gone", ID: "b"},
	} {
		e := &ordering.Entity{Exists: true, Rev: 1, Cursor: ordering.Cursor{MaxSeen: 3, Waiting: ordering.Numbers{3}, Gap: &ordering.Gap{Since: testNow.Add(-time.Hour)}}}
		if err := s.store.Swap(t.Context(), key, &ordering.Entity{}, e, nil); err != nil {
			t.Fatal(err)
		}
	}
	logs, metrics, err := s.sweep(t, t.Context())
	if err != nil || metrics[GaugeGaps] != 2 || metrics[GaugeOldestGap] != 3600 || metrics[GaugeParked] != 2 || len(s.requests()) != 0 || len(logs) != 1 || !strings.Contains(logs[0], `"stream":"gone","entities":2`) {
		t.Errorf("%v %v %q", err, metrics, logs)
	}
}
