package ddb_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/events"
	"inorder/ordering"
)

// answers is a database that gives one answer after another: "throttle", "fail", "hang", "lose" (it does what it is
// asked and the answer is lost) or, when they are used up, what next does.
type answers struct {
	list []string
	next http.RoundTripper
	sent atomic.Int64
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	n := int(a.sent.Add(1)) - 1
	if n >= len(a.list) {
		return a.next.RoundTrip(r)
	}
	switch a.list[n] {
	case "throttle":
		return answer(http.StatusBadRequest, "ThrottlingException"), nil
	case "fail":
		return answer(http.StatusInternalServerError, "InternalServerError"), nil
	case "hang":
		<-r.Context().Done()
		return nil, r.Context().Err()
	default:
		lost, err := a.next.RoundTrip(r)
		if err == nil {
			err = errors.Join(errors.New("connection reset by peer"), lost.Body.Close())
		}
		return nil, err
	}
}

func answer(status int, code string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader(`{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"no"}`)),
	}
}

func storeOf(a *answers, o ddb.ClientOptions) *ddb.Store {
	o.Transport, o.Endpoint = a, "http://127.0.0.1:1"
	cfg := aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	return &ddb.Store{API: ddb.NewClient(cfg, o), Tables: ddb.Tables{Entities: "entities", Items: "items"}}
}

var clientKey = ordering.Key{Consumer: "c", Stream: "s", ID: "a"}

func swap(ctx context.Context, s *ddb.Store) error {
	return s.Swap(ctx, clientKey, &ordering.Entity{}, &ordering.Entity{Exists: true, Rev: 1}, nil)
}

// A client tries three times and then says what the last answer was.
func TestClientGivesUp(t *testing.T) {
	a := &answers{list: []string{"throttle", "throttle", "throttle", "throttle"}}
	err := swap(t.Context(), storeOf(a, ddb.ClientOptions{MaxPause: time.Nanosecond}))
	if !errors.Is(err, ordering.ErrThrottled) || a.sent.Load() != 3 {
		t.Fatalf("%v after %d tries, want ErrThrottled after 3", err, a.sent.Load())
	}
	if !strings.Contains(err.Error(), "swap c/s/a") {
		t.Errorf("the error does not name the step and the entity: %v", err)
	}
}

// "Nothing was written" is only said when every try was answered so.
func TestThrottledAfterSilenceIsUnknown(t *testing.T) {
	for _, list := range [][]string{{"fail", "throttle", "throttle"}, {"hang", "throttle", "throttle"}} {
		a := &answers{list: list}
		o := ddb.ClientOptions{MaxPause: time.Nanosecond, TryTimeout: 50 * time.Millisecond}
		err := swap(t.Context(), storeOf(a, o))
		if err == nil || errors.Is(err, ordering.ErrThrottled) || a.sent.Load() != 3 {
			t.Errorf("%v: %v after %d tries, want an unknown outcome after 3", list, err, a.sent.Load())
		}
	}
}

// So it is with what drops rows and with what skips: the caller looks for its token.
func TestUnknownUpkeepIsUnknown(t *testing.T) {
	prev, next := &ordering.Entity{}, &ordering.Entity{Exists: true, Rev: 1}
	for name, write := range map[string]func(*ddb.Store) error{
		"drop": func(s *ddb.Store) error {
			return s.DropRows(t.Context(), clientKey, prev, next, []ordering.Row{{Seq: 7}})
		},
		"skip": func(s *ddb.Store) error { return s.SwapAudited(t.Context(), clientKey, prev, next, ordering.Audit{}) },
		"move": func(s *ddb.Store) error { return s.MoveBookmark(t.Context(), "c", "a", "") },
	} {
		for _, c := range []struct {
			list      []string
			throttled bool
		}{{[]string{"throttle", "throttle", "throttle"}, true}, {[]string{"fail", "throttle", "throttle"}, false}} {
			err := write(storeOf(&answers{list: c.list}, ddb.ClientOptions{MaxPause: time.Nanosecond}))
			if err == nil || errors.Is(err, ordering.ErrThrottled) != c.throttled {
				t.Errorf("%s, %v: %v", name, c.list, err)
			}
		}
	}
}

// A try that hangs does not use up the time of the invocation, and the end of the context ends everything.
func TestClientIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		a := &answers{list: []string{"hang", "hang", "hang"}}
		if err := swap(t.Context(), storeOf(a, ddb.ClientOptions{})); err == nil || a.sent.Load() != 3 || time.Since(began) > 7*time.Second {
			t.Errorf("%v after %s and %d tries, want the end of the third", err, time.Since(began), a.sent.Load())
		}
		began = time.Now()
		a = &answers{list: []string{"hang", "hang", "hang"}}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := swap(ctx, storeOf(a, ddb.ClientOptions{})); err == nil || time.Since(began) != 100*time.Millisecond {
			t.Errorf("%v after %s, want the context's end", err, time.Since(began))
		}
	})
}

// A transaction whose answer was lost is the same one when it is tried again; a conditional write loses to itself, and
// the caller is told what it has written.
func TestRetryMeetsItsOwnWrite(t *testing.T) {
	engine := startEngine(t, local.Dynoxide)
	tables := newStore(t, engine, ddb.ClientOptions{}).Tables
	lossy := func() *ddb.Store {
		a := &answers{list: []string{"lose"}, next: local.Transport()}
		return &ddb.Store{API: ddb.NewClient(engine.Config(), ddb.ClientOptions{Transport: a, TryTimeout: patience}), Tables: tables}
	}
	amounts := map[string]events.Number{"n": "1"}
	marker := ordering.Marker{Consumer: "c", Source: "s", EventID: "e"}
	if err := lossy().AddMarked(t.Context(), clientKey, amounts, ordering.Last{}, []ordering.Marker{marker}); err != nil {
		t.Errorf("a transaction: %v", err)
	}
	key := clientKey
	key.ID = "b"
	next := &ordering.Entity{Exists: true, Rev: 1, Token: "mine"}
	if err := lossy().MoveBookmark(t.Context(), "c", "", "here"); err != nil {
		t.Errorf("a bookmark: %v", err)
	}
	if after, err := lossy().Bookmark(t.Context(), "c"); err != nil || after != "here" {
		t.Errorf("the bookmark is %q, %v", after, err)
	}
	dropped, skipped := clientKey, clientKey
	dropped.ID, skipped.ID = "d", "e"
	if err := lossy().SwapAudited(t.Context(), skipped, &ordering.Entity{}, next, ordering.Audit{Through: 1}); err != nil {
		t.Errorf("a skip: %v", err)
	}
	if audits, err := lossy().Audits(t.Context(), skipped); err != nil || len(audits) != 1 {
		t.Errorf("the skip left %d audit rows, %v", len(audits), err)
	}
	row := ordering.Row{Seq: 7, EventID: "e7"}
	if err := lossy().PutRow(t.Context(), dropped, row); !errors.As(err, new(*ordering.TakenError)) {
		t.Errorf("a row: %v, want it taken by itself", err)
	}
	if err := lossy().DropRows(t.Context(), dropped, &ordering.Entity{}, next, []ordering.Row{row}); err != nil {
		t.Errorf("a drop: %v", err)
	}
	err := lossy().Swap(t.Context(), key, &ordering.Entity{}, next, nil)
	if lost := (*ordering.LostError)(nil); !errors.As(err, &lost) || lost.Now.Token != "mine" {
		t.Errorf("a conditional write: %v, want it lost to its own token", err)
	}
}

// What the database says it consumed is added up, the index included: one unit for each KB begun, twice in a
// transaction.
func TestMeter(t *testing.T) {
	engine := startEngine(t, local.Dynoxide)
	meter := &ddb.Meter{}
	s := newStore(t, engine, ddb.ClientOptions{Meter: meter})
	next := &ordering.Entity{Exists: true, Rev: 1}
	if err := s.Swap(t.Context(), clientKey, &ordering.Entity{}, next, nil); err != nil {
		t.Fatal(err)
	}
	if used := meter.Reset(); used != (ddb.Usage{WriteUnits: 1, Writes: 1}) {
		t.Errorf("a small swap: %+v", used)
	}
	gap := *next
	gap.Rev, gap.Gap = 2, &ordering.Gap{Since: time.Unix(1, 0)}
	if err := s.Swap(t.Context(), clientKey, next, &gap, nil); err != nil {
		t.Fatal(err)
	}
	if used := meter.Reset(); used != (ddb.Usage{WriteUnits: 2, Writes: 1}) {
		t.Errorf("a swap into the index: %+v", used)
	}
	marker := ordering.Marker{Consumer: "c", Source: "s", EventID: "metered"}
	if err := s.AddMarked(t.Context(), ordering.Key{ID: "m"}, nil, ordering.Last{}, []ordering.Marker{marker}); err != nil {
		t.Fatal(err)
	}
	if used := meter.Reset(); used != (ddb.Usage{WriteUnits: 4, Writes: 2}) {
		t.Errorf("a transaction of two: %+v", used)
	}
	if _, err := s.Entities(t.Context(), []ordering.Key{clientKey, {ID: "m"}, clientKey, {ID: "none"}}); err != nil {
		t.Fatal(err)
	}
	if used := meter.Reset(); used != (ddb.Usage{ReadUnits: 3, Reads: 3}) {
		t.Errorf("a batch of three keys, of which one has no item: %+v", used)
	}
	if _, err := s.Entity(t.Context(), clientKey); err != nil {
		t.Fatal(err)
	}
	if used := meter.Reset(); used != (ddb.Usage{ReadUnits: 1, Reads: 1}) {
		t.Errorf("a read: %+v", used)
	}
}

// A function on AWS gets its client's configuration from LoadDefaultConfig: the bounds have to reach that one as well.
func TestDefaultConfigurationIsBounded(t *testing.T) {
	t.Setenv("AWS_CONFIG_FILE", "/nowhere")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("eu-west-1"))
	if err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]aws.Config{"default": cfg, "no client": {Region: "eu-west-1"}} {
		whole, _ := ddb.NewClient(cfg, ddb.ClientOptions{}).Options().HTTPClient.(ddb.Whole)
		used, ok := whole.Client.(*awshttp.BuildableClient)
		if !ok {
			t.Fatalf("%s: another HTTP client", name)
		}
		if idle := used.GetTransport().MaxIdleConnsPerHost; idle != 64 || used.GetTimeout() != 2*time.Second {
			t.Errorf("%s: %d idle connections, %s", name, idle, used.GetTimeout())
		}
	}
}
