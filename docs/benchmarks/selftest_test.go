package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/ddb"
	"inorder/ddb/local"
)

// quick are the parts that a test can afford; the others are runs of other packages' tests, which run anyway.
var quick = []string{"throughput", "hot", "units", "powertools", "latency", "reorder", "growth"}

// Every part measures something at a five-hundredth of its size, and the page and the pictures can be made of it.
func TestEveryPartRuns(t *testing.T) {
	local.ForTest(t, local.Dynoxide)
	b := &bench{rounds: 1, scale: 0.002, out: t.Output(), folder: filepath.Join("..", ".."), brief: true}
	measured, err := b.all(t.Context(), partsNamed(t, quick...))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range measured {
		if len(r.Tables) == 0 || len(r.Tables[0].Rows) == 0 {
			t.Errorf("%s measured nothing", r.Part)
		}
		for _, table := range r.Tables {
			for _, cells := range table.Rows {
				if len(cells) != len(table.Head) {
					t.Errorf("%s: a row of %d cells under %d", table.Title, len(cells), len(table.Head))
				}
			}
		}
	}
	folder := t.TempDir()
	copyFile(t, filepath.Join(b.folder, pageFile), filepath.Join(folder, pageFile))
	if err := update(folder, measured); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(folder, pageFile))
	if err != nil || !strings.Contains(string(page), measured[0].Tables[0].Title) {
		t.Errorf("the page does not show what was measured: %v", err)
	}
	for name := range themes {
		if svg, err := os.ReadFile(filepath.Join(folder, "docs", "benchmarks", name+".svg")); err != nil || !bytes.HasPrefix(svg, []byte("<svg")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func partsNamed(t *testing.T, names ...string) []part {
	t.Helper()
	which, err := choose(strings.Join(names, ","))
	if err != nil {
		t.Fatal(err)
	}
	return which
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(filepath.Dir(to), "benchmarks"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// The page shows the results that are kept, and the pictures do, too: nobody has edited one without the others.
func TestThePageShowsTheResults(t *testing.T) {
	folder := filepath.Join("..", "..")
	all, err := readResults(folder)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(folder, pageFile))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := between(string(page), render(all)); err != nil || want != string(page) {
		t.Errorf("docs/benchmarks.md is not what results.json says: %v", err)
	}
	for name := range themes {
		if _, err := os.Stat(name + ".svg"); err != nil {
			t.Error(err)
		}
	}
}

// The loop that makes "the same write" makes the consumer's: its item has the same attributes, each as long, and its
// condition is the same.
func TestTheSameWriteIsTheSame(t *testing.T) {
	w := &world{engine: local.ForTest(t, local.Dynoxide)}
	for _, m := range modes {
		ours := w.puts(t, func(tables ddb.Tables) handler { return w.consumer(m.stream, tables, nil) })
		theirs := w.puts(t, func(tables ddb.Tables) handler { return w.sameLoop(m, tables) })
		for i, our := range ours {
			their := theirs[i]
			if !reflect.DeepEqual(our.ExpressionAttributeNames, their.ExpressionAttributeNames) || our.ConditionExpression != their.ConditionExpression {
				t.Errorf("%s, write %d: the condition is %s, and the loop's %s", m.name, i+1, our.ConditionExpression, their.ConditionExpression)
			}
			for name, value := range our.Item {
				if other, ok := their.Item[name]; !ok || len(value) != len(other) {
					t.Errorf("%s, write %d: %s is %s, and the loop has %s", m.name, i+1, name, value, other)
				}
			}
			if len(our.Item) != len(their.Item) {
				t.Errorf("%s, write %d: %d attributes, and the loop has %d", m.name, i+1, len(our.Item), len(their.Item))
			}
		}
	}
}

// put is a PutItem, its values as JSON.
type put struct {
	ConditionExpression      string
	ExpressionAttributeNames map[string]string
	Item                     map[string]json.RawMessage
}

// puts are the writes of an entity's first two events, as they leave the client.
func (w *world) puts(t *testing.T, instance func(tables ddb.Tables) handler) (all []put) {
	t.Helper()
	tables, err := w.tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	overheard := &overheard{}
	defer func(before http.RoundTripper) { w.through = before }(w.through)
	w.through = overheard
	if err := drive(t.Context(), batched([]place{{"e", 1}, {"e", 2}}, 1), instance(tables)); err != nil {
		t.Fatal(err)
	}
	if len(overheard.puts) != 2 {
		t.Fatalf("%d writes", len(overheard.puts))
	}
	return overheard.puts
}

// overheard keeps the PutItems that go through it.
type overheard struct{ puts []put }

func (o *overheard) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	if strings.HasSuffix(request.Header.Get("X-Amz-Target"), ".PutItem") {
		var p put
		if err := json.Unmarshal(body, &p); err != nil {
			return nil, err
		}
		o.puts = append(o.puts, p)
	}
	return local.Transport().RoundTrip(request)
}

// What is late comes right behind the event that should have come so many numbers after it; no event is lost or doubled.
func TestReorderedIsLateByTheDistance(t *testing.T) {
	const entities, each, distance = 3, 40, 10
	places := reordered(rand.New(rand.NewPCG(1, 2)), "e", entities, each, 0.2, distance)
	seen, late := map[place]bool{}, 0
	newest := map[string]int{}
	for _, p := range places {
		if seen[p] {
			t.Errorf("%v twice", p)
		}
		seen[p] = true
		if behind := newest[p.entity] - p.seq; behind > 0 {
			late++
			if want := min(distance, each-p.seq); behind > want || behind < want-3 { // others may be late, too
				t.Errorf("%v is %d late", p, behind)
			}
		}
		newest[p.entity] = max(newest[p.entity], p.seq)
	}
	if len(seen) != entities*each || late < 10 || late > 40 {
		t.Errorf("%d events, %d of them late", len(seen), late)
	}
}

// Rounds go forwards and backwards, and the one that warms up is not counted.
func TestSidesTakeTurns(t *testing.T) {
	var order []string
	made := func(name string) side {
		return side{name, func(context.Context) (func(context.Context) error, error) {
			return func(context.Context) error { order = append(order, name); return nil }, nil
		}}
	}
	seconds, err := interleave(t.Context(), 2, made("a"), made("b"))
	if err != nil || len(seconds[0]) != 2 || len(seconds[1]) != 2 || !slices.Equal(order, strings.Split("a b b a a b", " ")) {
		t.Errorf("%v %v %v", order, seconds, err)
	}
}

// A ratio says how many times as fast the first side is, and a goal is met on the right side of it.
func TestRatiosAndGoals(t *testing.T) {
	if got := ratios([]float64{1, 2}, []float64{2, 1}); !slices.Equal(got, []float64{2, 0.5}) {
		t.Error(got)
	}
	for _, tt := range []struct {
		g    goal
		want string
	}{
		{atLeast("", "", 5, spread{5, 4, 6}, "why"), met},
		{atLeast("", "", 5, spread{4.9, 4, 6}, "why"), missed},
		{atMost("", "", 1.3, spread{1.3, 1, 2}, "why"), met},
		{atMost("", "", 1.3, spread{1.31, 1, 2}, "why"), missed},
	} {
		if tt.g.Verdict != tt.want || (tt.g.WhyNot == "why") != (tt.want == missed) {
			t.Errorf("%+v", tt.g)
		}
	}
}

// A write that was refused is a write, and costs its unit: a stale event of an entity that the function does not know.
func TestWhatIsRefusedIsCounted(t *testing.T) {
	w := &world{engine: local.ForTest(t, local.Dynoxide)}
	tables, err := w.tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{}
	for _, seq := range []int{7, 3} {
		if err := drive(t.Context(), batched([]place{{"e", seq}}, 1), w.consumer(modes[0].stream, tables, c)); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.reset(); got != (counted{writes: 2, writeUnits: 2}) {
		t.Errorf("%+v", got)
	}
}

// What comes back is handed over again, and nothing else is.
func TestUntilDone(t *testing.T) {
	var got [][]string
	handle := untilDone(func(_ context.Context, batch awsevents.SQSEvent) (out awsevents.SQSEventResponse, _ error) {
		var ids []string
		for _, r := range batch.Records {
			ids = append(ids, r.MessageId)
		}
		if got = append(got, ids); len(got) < 2 {
			out.BatchItemFailures = []awsevents.SQSBatchItemFailure{{ItemIdentifier: ids[1]}}
		}
		return out, nil
	})
	err := handle.take(t.Context(), batched(unique("e", 3), 3)[0])
	if err != nil || !reflect.DeepEqual(got, [][]string{{"e-0:1", "e-1:1", "e-2:1"}, {"e-1:1"}}) {
		t.Errorf("%v %v", got, err)
	}
}

func TestNumbersAreReadable(t *testing.T) {
	for v, want := range map[float64]string{1234567: "1,234,567", 999.6: "1,000", 12.34: "12.3", 1.5: "1.50", 3: "3", 0.014: "0.014", 100: "100"} {
		if got := short(v); got != want {
			t.Errorf("%v is shown as %s", v, got)
		}
	}
	if got := spreadOf([]float64{4, 1, 3, 2}); got != (spread{2.5, 1, 4}) {
		t.Error(got)
	}
}

// What the other packages print is understood as they print it.
func TestOthersAreParsed(t *testing.T) {
	names, micros, allocations := parseBenchmarks("BenchmarkDecide/state-2   \t  1000\t 0 ns/op\t 2500 ns/event\t 11.5 allocs/event\t 900 B/op\t 40 allocs/op\n" +
		"BenchmarkOther-2   \t  1000\t 1500 ns/op\t 900 B/op\t 4 allocs/op\n")
	if !slices.Equal(names, []string{"state", "Other"}) || micros["state"][0] != 2.5 || allocations["state"][0] != 11.5 || micros["Other"][0] != 1.5 || allocations["Other"][0] != 4 {
		t.Error(names, micros, allocations)
	}
	if rows := parseSweep("    sweep_cost_test.go:72: 20 calls\n"); len(rows) != 1 || rows[0][1] != "20 calls" {
		t.Error(rows)
	}
	line := "    consumer      4.20    10.0  11.0   12.0    8.0   9.0   10.0    1.0   2.0    3.0    0.5   0.6    0.7   20.0  21.0   22.0\n"
	if rows := parseColdStarts(line); len(rows) != 1 || !strings.Contains(rows[0][1], "request 11.0 ms, first invocation 2.0 ms, a warm one 0.6 ms") {
		t.Error(rows)
	}
}

// What is written goes between the markers, and a page without them is an error.
func TestOnlyBetweenTheMarkers(t *testing.T) {
	got, err := between("a\n"+pageBegin+"old\n"+pageEnd+"b\n", "new\n")
	if err != nil || got != "a\n"+pageBegin+"new\n"+pageEnd+"b\n" {
		t.Errorf("%q %v", got, err)
	}
	if _, err := between("nothing", "new"); err == nil {
		t.Error("no error")
	}
}
