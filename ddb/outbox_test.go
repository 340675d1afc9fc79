package ddb_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/ordering"
)

var outboxNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bothEngines runs a test on either engine, each probed for what the outbox relies on beyond what every engine has.
func bothEngines(t *testing.T, test func(t *testing.T, engine *local.Engine), needs ...local.Name) {
	for _, name := range []string{local.Dynoxide, local.Minidyn} {
		t.Run(name, func(t *testing.T) {
			engine := local.ForTest(t, name)
			findings, err := engine.Probe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			local.Need(t, findings, append(needs, local.CancellationOrder)...)
			test(t, engine)
		})
	}
}

// newOutbox returns an outbox on a table of its own and a second one for the caller's data.
func newOutbox(t *testing.T, engine *local.Engine, o ddb.ClientOptions) *ddb.Outbox {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if err := ddb.CreateOutbox(ctx, engine.Client(), "outbox"); err != nil {
		t.Fatal(err)
	}
	if err := ddb.CreateTables(ctx, engine.Client(), ddb.Tables{Entities: "business", Items: "items"}); err != nil {
		t.Fatal(err)
	}
	o.TryTimeout = patience
	return &ddb.Outbox{API: ddb.NewClient(engine.Config(), o), Table: "outbox", Now: func() time.Time { return outboxNow }}
}

var outboxKey = ddb.OutboxKey{Stream: "ledger", EntityID: "a/1", Source: "shop"}

// posted is a write of an event that says its own number.
func posted(items ...types.TransactWriteItem) ddb.OutboxWrite {
	return ddb.OutboxWrite{Key: outboxKey, Draft: func(at ordering.Position) (ddb.OutboxDraft, error) {
		return ddb.OutboxDraft{Event: fmt.Appendf(nil, `{"seq":%d}`, at.Seq), Items: items}, nil
	}}
}

// business is a caller's own item that must not be there yet.
func business(id string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: aws.String("business"), Item: map[string]types.AttributeValue{"_pk": &types.AttributeValueMemberS{Value: id}},
		ConditionExpression: aws.String("attribute_not_exists(#pk)"), ExpressionAttributeNames: map[string]string{"#pk": "_pk"},
	}}
}

func hasBusiness(t *testing.T, engine *local.Engine, id string) bool {
	t.Helper()
	out, err := engine.Client().GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("business"), Key: map[string]types.AttributeValue{"_pk": &types.AttributeValueMemberS{Value: id}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Item) > 0
}

// rows reads a whole generation as "seq event" lines.
func rows(t *testing.T, o *ddb.Outbox, gen int64) []string {
	t.Helper()
	var all []string
	for row, err := range o.Rows(t.Context(), outboxKey, gen, 1, 1<<62) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%d %s", row.At.Seq, row.Event))
	}
	return all
}

// O1, O2: an event, its number and the caller's items become durable together, and the event is kept byte for byte.
func TestOutboxWrites(t *testing.T) {
	bothEngines(t, func(t *testing.T, engine *local.Engine) {
		o := newOutbox(t, engine, ddb.ClientOptions{})
		if _, found, err := o.Head(t.Context(), outboxKey); found || err != nil {
			t.Errorf("a head before anything was written: %v, %v", found, err)
		}
		for n := range int64(3) {
			at, err := o.Write(t.Context(), posted(business(fmt.Sprint("b", n))))
			if err != nil || at != (ordering.Position{Seq: n + 1}) {
				t.Fatalf("written as %+v, %v", at, err)
			}
		}
		if got := rows(t, o, 0); !slices.Equal(got, []string{`1 {"seq":1}`, `2 {"seq":2}`, `3 {"seq":3}`}) {
			t.Errorf("the rows are %q", got)
		}
		if at, found, err := o.Head(t.Context(), outboxKey); at.Seq != 3 || !found || err != nil {
			t.Errorf("the head is %+v, %v, %v", at, found, err)
		}
		if !hasBusiness(t, engine, "b2") {
			t.Error("the caller's item is missing")
		}
	})
}

// The names and shapes that other people's scripts rely on, as text.
func TestOutboxAsOthersSeeIt(t *testing.T) {
	engine := startEngine(t, local.Dynoxide)
	o := newOutbox(t, engine, ddb.ClientOptions{})
	o.NewToken = func() string { return "mine" }
	w := posted()
	w.Key.PerSource = true
	w.Begin = 7
	if _, err := o.Write(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	all, err := engine.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("outbox")})
	if err != nil || len(all.Items) != 2 {
		t.Fatalf("%d items, %v", len(all.Items), err)
	}
	for _, it := range all.Items {
		if it["_sk"].(*types.AttributeValueMemberS).Value == "head" {
			sees(t, it, map[string]string{"_pk": "ledger/a%2F1/shop", "_sk": "head", "seq": "1", "generation": "7", "token": "mine"})
			continue
		}
		sees(t, it, map[string]string{
			"_pk": "ledger/a%2F1/shop", "_sk": "0000000007.0000000000000000001", "event": `{"seq":1}`, "source": "shop",
			"published_at": "2026-03-01T12:00:00.000000000Z", "expires_at": "1774785600", "token": "mine",
		})
	}
	table, err := engine.Client().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("outbox")})
	if err != nil {
		t.Fatal(err)
	}
	if s := table.Table.StreamSpecification; s == nil || s.StreamViewType != types.StreamViewTypeNewImage {
		t.Errorf("its stream is %+v", s)
	}
}

// O2: however many write at once, each number is given once and none is left out.
func TestOutboxConcurrentWriters(t *testing.T) {
	bothEngines(t, func(t *testing.T, engine *local.Engine) {
		const writers, each = 8, 5
		o := newOutbox(t, engine, ddb.ClientOptions{})
		var mu sync.Mutex
		var given []int64
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for range each {
					at, err := o.Write(t.Context(), posted())
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					given = append(given, at.Seq)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		slices.Sort(given)
		stored := rows(t, o, 0)
		for i := range int64(writers * each) {
			if i >= int64(len(given)) || given[i] != i+1 {
				t.Fatalf("the numbers given are %v", given)
			}
			if want := fmt.Sprintf(`%d {"seq":%d}`, i+1, i+1); i >= int64(len(stored)) || stored[i] != want {
				t.Fatalf("the rows are %q", stored)
			}
		}
		if len(stored) != writers*each {
			t.Errorf("%d rows", len(stored))
		}
	}, local.OneWinner)
}

// O4: a caller's failed condition is the caller's: nothing is written, nothing tried again, and its place is told.
func TestOutboxCallersCondition(t *testing.T) {
	bothEngines(t, func(t *testing.T, engine *local.Engine) {
		o := newOutbox(t, engine, ddb.ClientOptions{})
		if _, err := o.Write(t.Context(), posted(business("taken"))); err != nil {
			t.Fatal(err)
		}
		drafts := 0
		w := posted()
		w.Draft = func(ordering.Position) (ddb.OutboxDraft, error) {
			drafts++
			return ddb.OutboxDraft{Event: []byte(`{}`), Items: []types.TransactWriteItem{business("new"), business("taken")}}, nil
		}
		_, err := o.Write(t.Context(), w)
		failed, ok := errors.AsType[*ddb.CallerConditionError](err)
		if !ok || !slices.Equal(failed.Items, []int{1}) || drafts != 1 || errors.Is(err, ddb.ErrOutcomeUnknown) {
			t.Errorf("got %v after %d drafts", err, drafts)
		}
		if got := rows(t, o, 0); len(got) != 1 || hasBusiness(t, engine, "new") {
			t.Errorf("written all the same: %q", got)
		}
	})
}

// A race that is lost to another writer asks the caller for the event of the next number, and loses nothing.
func TestOutboxLosesARace(t *testing.T) {
	bothEngines(t, func(t *testing.T, engine *local.Engine) {
		o := newOutbox(t, engine, ddb.ClientOptions{})
		o.Wait = func(context.Context, int) {}
		asked, w := []int64{}, posted()
		w.Draft = func(at ordering.Position) (ddb.OutboxDraft, error) {
			asked = append(asked, at.Seq)
			if at.Seq == 1 {
				if _, err := o.Write(t.Context(), posted()); err != nil { // between the reading and the writing
					return ddb.OutboxDraft{}, err
				}
			}
			return ddb.OutboxDraft{Event: []byte(`{"mine":true}`)}, nil
		}
		at, err := o.Write(t.Context(), w)
		if err != nil || at.Seq != 2 || !slices.Equal(asked, []int64{1, 2}) {
			t.Errorf("written as %+v after %v, %v", at, asked, err)
		}
		if got := rows(t, o, 0); !slices.Equal(got, []string{`1 {"seq":1}`, `2 {"mine":true}`}) {
			t.Errorf("the rows are %q", got)
		}
	})
}

// Whoever always loses gives up after a bounded number of tries, and says that nothing was written.
func TestOutboxGivesUp(t *testing.T) {
	engine := startEngine(t, local.Dynoxide)
	o := newOutbox(t, engine, ddb.ClientOptions{})
	tries := 0
	o.Wait = func(context.Context, int) { tries++ }
	w := posted()
	w.Draft = func(at ordering.Position) (ddb.OutboxDraft, error) {
		_, err := o.Write(t.Context(), posted())
		return ddb.OutboxDraft{Event: []byte(`{"mine":true}`)}, err
	}
	_, err := o.Write(t.Context(), w)
	if !errors.Is(err, ordering.ErrContended) || errors.Is(err, ddb.ErrOutcomeUnknown) || tries != 23 {
		t.Errorf("%v after %d pauses", err, tries)
	}
	if strings.Contains(strings.Join(rows(t, o, 0), ""), "mine") {
		t.Error("it was written all the same")
	}
}

// O2: a new generation begins at 1 again, in a higher generation only, and the older rows stay.
func TestOutboxGenerations(t *testing.T) {
	bothEngines(t, func(t *testing.T, engine *local.Engine) {
		o := newOutbox(t, engine, ddb.ClientOptions{})
		for _, step := range []struct {
			begin, gen, seq int64
			refused         bool
		}{
			{0, 0, 1, false},
			{0, 0, 2, false},
			{5, 5, 1, false},
			{0, 5, 2, false},
			{5, 0, 0, true},
			{4, 0, 0, true},
			{-1, 0, 0, true},
			{10_000_000_000, 0, 0, true},
			{9_999_999_999, 9_999_999_999, 1, false},
		} {
			w := posted()
			w.Begin = step.begin
			at, err := o.Write(t.Context(), w)
			if step.refused != errors.Is(err, ddb.ErrGeneration) || !step.refused && at != (ordering.Position{Gen: step.gen, Seq: step.seq}) {
				t.Errorf("begin %d: written as %+v, %v", step.begin, at, err)
			}
		}
		if got := len(rows(t, o, 0)) + len(rows(t, o, 5)); got != 4 {
			t.Errorf("%d rows of the older generations", got)
		}
	})
}

// O3: an answer that is lost, or a server's failure, leaves one event, and whoever wrote it knows.
func TestOutboxLostAnswers(t *testing.T) {
	engine := startEngine(t, local.Dynoxide)
	newOutbox(t, engine, ddb.ClientOptions{})
	for _, tt := range []struct {
		name     string
		answers  []string // of the transactions; what is not listed works
		attempts int
		behind   bool // another writer comes between the lost answer and the look
		unknown  bool
		rows     int // 0: any
	}{
		{"it was done", []string{"lose"}, 1, false, false, 1},
		{"it was not done", []string{"fail"}, 1, false, false, 1},
		{"it was done, and the client tries again by itself", []string{"lose"}, 3, false, false, 1},
		{"it was done, and others went on", []string{"lose"}, 1, true, false, 2},
		{"it was not done, and others went on", []string{"fail"}, 1, true, false, 2},
		{"silence again and again", []string{"fail", "fail", "fail", "fail"}, 1, false, true, 0},
		{"silence, then a refusal", []string{"fail", "throttle"}, 1, false, true, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			key := outboxKey
			key.EntityID = tt.name
			other := newOutbox(t, engine, ddb.ClientOptions{})
			o := newOutbox(t, engine, ddb.ClientOptions{Attempts: tt.attempts, MaxPause: time.Nanosecond, Transport: &faultyTransactions{
				answers: &answers{list: tt.answers, next: local.Transport()},
				after: func(n int) {
					if w := posted(); tt.behind && n == 1 {
						w.Key = key
						if _, err := other.Write(t.Context(), w); err != nil {
							t.Error(err)
						}
					}
				},
			}})
			o.Wait = func(context.Context, int) {}
			w := posted()
			w.Key = key
			w.Draft = func(ordering.Position) (ddb.OutboxDraft, error) {
				return ddb.OutboxDraft{Event: []byte(`{"mine":true}`)}, nil
			}
			at, err := o.Write(t.Context(), w)
			if tt.unknown != errors.Is(err, ddb.ErrOutcomeUnknown) || !tt.unknown && err != nil {
				t.Fatal(err)
			}
			n, mine := 0, int64(0)
			for row, err := range other.Rows(t.Context(), key, 0, 1, 100) {
				if err != nil {
					t.Fatal(err)
				}
				n++
				if strings.Contains(row.Event, "mine") {
					mine += row.At.Seq
				}
			}
			if !tt.unknown && (n != tt.rows || mine != at.Seq) {
				t.Errorf("%d rows, mine is %d and said to be %d", n, mine, at.Seq)
			}
		})
	}
}

// Who meets another transaction tries again, for nothing was written; who may not write at all is told so at once.
func TestOutboxRefusedTries(t *testing.T) {
	const cancelled = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"no","CancellationReasons":[%s]}`
	conflict, none := `{"Code":"TransactionConflict","Message":"no"}`, `{"Code":"None"}`
	for _, tt := range []struct {
		name, answer string
		tries        int
		want         error
	}{
		{"another transaction holds the head", fmt.Sprintf(cancelled, conflict+","+none), 2, nil},
		{"throttled", fmt.Sprintf(cancelled, `{"Code":"ThrottlingError","Message":"no"},`+none), 1, ordering.ErrThrottled},
		{"denied", `{"__type":"com.amazon.coral.service#AccessDeniedException","message":"no"}`, 1, errDenied},
	} {
		t.Run(tt.name, func(t *testing.T) {
			engine := startEngine(t, local.Dynoxide)
			tries := 0
			o := newOutbox(t, engine, ddb.ClientOptions{Attempts: 1, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
					if tries++; tries == 1 {
						refusal := answer(http.StatusBadRequest, "")
						refusal.Body = io.NopCloser(strings.NewReader(tt.answer))
						return refusal, nil
					}
				}
				return local.Transport().RoundTrip(r)
			})})
			o.Wait = func(context.Context, int) {}
			at, err := o.Write(t.Context(), posted())
			if api := smithy.APIError(nil); errors.As(err, &api) && api.ErrorCode() == "AccessDeniedException" {
				err = errors.Join(err, errDenied)
			}
			if !errors.Is(err, tt.want) || tt.want == nil && (err != nil || at.Seq != 1) || errors.Is(err, ddb.ErrOutcomeUnknown) || tries != tt.tries {
				t.Errorf("%+v, %v after %d tries", at, err, tries)
			}
		})
	}
}

var errDenied = errors.New("access denied")

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// faultyTransactions answers transactions as listed and lets everything else through.
type faultyTransactions struct {
	*answers
	after func(n int)
	n     int
}

func (f *faultyTransactions) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		return f.next.RoundTrip(r)
	}
	response, err := f.answers.RoundTrip(r)
	f.n++
	f.after(f.n)
	return response, err
}

// O5: what could not be sent or stored is refused before anything is written.
func TestOutboxRefuses(t *testing.T) {
	engine := startEngine(t, local.Dynoxide)
	o := newOutbox(t, engine, ddb.ClientOptions{})
	event := func(text string) func(*ddb.OutboxWrite) {
		return func(w *ddb.OutboxWrite) {
			w.Draft = func(ordering.Position) (ddb.OutboxDraft, error) { return ddb.OutboxDraft{Event: []byte(text)}, nil }
		}
	}
	overhead := len("_pk"+"ledger/a%2F1"+"_sk"+"0000000000.0000000000000000001"+"event"+`{"d":""}`+"source"+"shop"+"token") + 26 +
		len("published_at"+"2026-03-01T12:00:00.000000000Z"+"expires_at") + 7
	for _, tt := range []struct {
		name   string
		change func(*ddb.OutboxWrite)
		want   error
	}{
		{"no stream", func(w *ddb.OutboxWrite) { w.Key.Stream = "" }, ddb.ErrBadOutboxKey},
		{"a blank entity", func(w *ddb.OutboxWrite) { w.Key.EntityID = " \t" }, ddb.ErrBadOutboxKey},
		{"an entity that is not text", func(w *ddb.OutboxWrite) { w.Key.EntityID = "\xff" }, ddb.ErrBadOutboxKey},
		{"an entity that fills the key", func(w *ddb.OutboxWrite) { w.Key.EntityID = strings.Repeat("x", 2048-len("ledger/")) }, nil},
		{"an entity that is too long", func(w *ddb.OutboxWrite) { w.Key.EntityID = strings.Repeat("/", 1000) }, ddb.ErrBadOutboxKey},
		{"not JSON", event(`{`), ddb.ErrBadOutboxEvent},
		{"nothing", event(``), ddb.ErrBadOutboxEvent},
		{"not an object", event(`[1]`), ddb.ErrBadOutboxEvent},
		{"a character that SQS refuses", event("{\"d\":\"\uffff\"}"), ddb.ErrBadOutboxEvent},
		{"bytes that are no text", event("{\"d\":\"\xff\"}"), ddb.ErrBadOutboxEvent},
		{"an event that fills its row", event(`{"d":"` + strings.Repeat("x", 400<<10-overhead) + `"}`), nil},
		{"an event that is too large", event(`{"d":"` + strings.Repeat("x", 400<<10-overhead+1) + `"}`), ddb.ErrEventTooLarge},
		{"more items than a transaction has", func(w *ddb.OutboxWrite) {
			w.Draft = func(ordering.Position) (ddb.OutboxDraft, error) {
				return ddb.OutboxDraft{Event: []byte(`{}`), Items: make([]types.TransactWriteItem, 99)}, nil
			}
		}, ordering.ErrInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := posted()
			tt.change(&w)
			before, _, err := o.Head(t.Context(), outboxKey)
			if err != nil {
				t.Fatal(err)
			}
			_, err = o.Write(t.Context(), w)
			if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
				t.Errorf("got %v", err)
			}
			if after, _, err := o.Head(t.Context(), outboxKey); tt.want != nil && after != before || err != nil {
				t.Errorf("something was written, %v", err)
			}
		})
	}
}

// A head that was set back, by a restore say, never makes the outbox overwrite a row.
func TestOutboxNeverOverwrites(t *testing.T) {
	engine := startEngine(t, local.Dynoxide)
	o := newOutbox(t, engine, ddb.ClientOptions{})
	if _, err := o.Write(t.Context(), posted()); err != nil {
		t.Fatal(err)
	}
	_, err := engine.Client().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("outbox"), Key: map[string]types.AttributeValue{
		"_pk": &types.AttributeValueMemberS{Value: "ledger/a%2F1"}, "_sk": &types.AttributeValueMemberS{Value: "head"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write(t.Context(), posted()); !errors.Is(err, ddb.ErrRowAboveHead) {
		t.Errorf("got %v", err)
	}
}

// Rows that another program wrote, with attributes of its own, are read like others, and what lies between rows is none. So
// nothing that a producer keeps beside its events holds up an answer.
func TestOutboxRowsOfOthers(t *testing.T) {
	engine := startEngine(t, local.Dynoxide)
	o := newOutbox(t, engine, ddb.ClientOptions{})
	event, number := &types.AttributeValueMemberS{Value: "{}"}, &types.AttributeValueMemberN{Value: "7"}
	for sk, attributes := range map[string]map[string]types.AttributeValue{
		"0000000000.0000000000000000001":      {"event": event},
		"0000000000.0000000000000000002":      {"event": event, "published_at": number, "source": number, "token": number},
		"0000000000.0000000000000000003":      {"event": event, "published_at": event, "expires_at": event},
		"0000000000.0000000000000000004":      {"event": number},
		"0000000000.0000000000000000004/note": {"event": event},
		"0000000000.0000000000000000005":      {"event": event},
	} {
		attributes["_pk"] = &types.AttributeValueMemberS{Value: ddb.OutboxPK(outboxKey)}
		attributes["_sk"] = &types.AttributeValueMemberS{Value: sk}
		if _, err := engine.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("outbox"), Item: attributes}); err != nil {
			t.Fatal(err)
		}
	}
	if got := rows(t, o, 0); !slices.Equal(got, []string{"1 {}", "2 {}", "3 {}", "4 ", "5 {}"}) {
		t.Errorf("%q", got)
	}
}

// An event in our own form has what a consumer reads, every character of it sendable.
func TestOutboxEventBody(t *testing.T) {
	e := ddb.OutboxEvent{
		EventID: "a:7", Type: "Posted", EntityID: "a", Source: "shop", PublishedAt: outboxNow,
		Data: map[string]any{"note": "<\uffff>"},
	}
	got, err := e.Body(ordering.Position{Gen: 2, Seq: 7})
	want := `{"event_id":"a:7","type":"Posted","entity_id":"a","seq":7,"generation":2,"source":"shop",` +
		`"published_at":"2026-03-01T12:00:00Z","data":{"note":"<\uffff>"}}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	for _, typ := range []string{"", " ", "inorder.void"} {
		e.Type = typ
		if _, err := e.Body(ordering.Position{Seq: 1}); !errors.Is(err, ddb.ErrBadOutboxEvent) {
			t.Errorf("type %q: %v", typ, err)
		}
	}
}

// Keys and sort keys say what they name, and nothing else reads as one.
func TestOutboxKeys(t *testing.T) {
	for _, key := range []ddb.OutboxKey{
		{Stream: "s", EntityID: "e"},
		{Stream: "s/%", EntityID: "a%2Fb/"},
		{Stream: "s", EntityID: "e", PerSource: true},
		{Stream: "s", EntityID: "e", PerSource: true, Source: "x/y"},
	} {
		if got, err := ddb.ParseOutboxPK(ddb.OutboxPK(key)); err != nil || got != key {
			t.Errorf("%+v became %+v, %v", key, got, err)
		}
	}
	for _, pk := range []string{"", "s", "s/", "/e", "s/e/x/y", "s/%41", "s/e%"} {
		if got, err := ddb.ParseOutboxPK(pk); !errors.Is(err, ddb.ErrBadOutboxKey) {
			t.Errorf("%q became %+v, %v", pk, got, err)
		}
	}
	for sk, want := range map[string]bool{
		"0000000007.0000000000000000009": true, "9999999999.9223372036854775807": true, "0000000007.9223372036854775808": false,
		"head": false, "0000000007.0000000000000000000": false, "7.9": false, "": false, "0000000007.00000000000000000091": false,
	} {
		if _, ok := ddb.ParseOutboxSK(sk); ok != want {
			t.Errorf("%q: %v", sk, ok)
		}
	}
}
