package functions

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// lineWriter keeps each Write by itself.
type lineWriter struct{ writes []string }

func (w *lineWriter) Write(b []byte) (int, error) {
	w.writes = append(w.writes, string(b))
	return len(b), nil
}

func emfSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("testdata/emf.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4) // the schema names none; its $ids are pointers, which later drafts refuse
	if err := c.AddResource("emf.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("emf.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// emfValues checks one line against the published schema and the limits that the page names beside it, and returns what
// CloudWatch would take from it.
func emfValues(t fatal, schema *jsonschema.Schema, line string) (eventType string, values map[string][]float64) {
	t.Helper()
	if !strings.HasSuffix(line, "\n") || strings.Count(line, "\n") != 1 || len(line) > 256_000 {
		t.Fatalf("not one whole line under 256 KB: %d bytes, %q", len(line), line[:min(len(line), 200)])
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
	if err == nil {
		err = schema.Validate(doc)
	}
	if err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	var root struct {
		AWS struct {
			CloudWatchMetrics []struct {
				Dimensions [][]string
				Metrics    []struct{ Name string }
			}
		} `json:"_aws"`
	}
	var members map[string]any
	if err := errors.Join(json.Unmarshal([]byte(line), &root), json.Unmarshal([]byte(line), &members)); err != nil {
		t.Fatalf("%v", err)
	}
	directive := root.AWS.CloudWatchMetrics[0]
	if len(directive.Metrics) == 0 || len(directive.Metrics) > 100 || len(members) != 1+len(directive.Metrics)+len(directive.Dimensions[len(directive.Dimensions)-1]) {
		t.Fatalf("%d metrics, %d members in %s", len(directive.Metrics), len(members), line)
	}
	for _, set := range directive.Dimensions {
		for _, name := range set {
			if value, ok := members[name].(string); !ok || value == "" || len(value) > 1024 {
				t.Fatalf("dimension %s is %v", name, members[name])
			}
		}
	}
	eventType, _ = members["event_type"].(string)
	values = map[string][]float64{}
	for _, metric := range directive.Metrics {
		switch v := members[metric.Name].(type) {
		case float64:
			values[metric.Name] = []float64{v}
		case []any:
			if len(v) == 0 || len(v) > 100 {
				t.Fatalf("%d values of %s", len(v), metric.Name)
			}
			for _, n := range v {
				values[metric.Name] = append(values[metric.Name], n.(float64))
			}
		default:
			t.Fatalf("%s is %v", metric.Name, v)
		}
	}
	return eventType, values
}

func TestDocumentsByteForByte(t *testing.T) {
	w := &lineWriter{}
	m := NewMetrics(w, "billing-view", func() time.Time { return testNow })
	m.Count(MetricConsumed, "PlanChanged", 2)
	m.Count("events_applied_total", "PlanChanged", 2)
	m.Count(MetricConsumed, "", 1)
	m.Observe(MetricReorderDistance, "PlanChanged", 3)
	m.Observe(MetricReorderDistance, "PlanChanged", 1)
	m.Gauge("park_window_used_percent", 12.5)
	if err := m.Flush(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"_aws":{"Timestamp":1772366400000,"CloudWatchMetrics":[{"Namespace":"inorder","Dimensions":[["consumer"],["consumer","event_type"]],` +
			`"Metrics":[{"Name":"events_applied_total","Unit":"Count"},{"Name":"events_consumed_total","Unit":"Count"},{"Name":"event_reorder_distance","Unit":"Count"}]}]},` +
			`"consumer":"billing-view","event_type":"PlanChanged","events_applied_total":2,"events_consumed_total":2,"event_reorder_distance":[3,1]}` + "\n",
		`{"_aws":{"Timestamp":1772366400000,"CloudWatchMetrics":[{"Namespace":"inorder","Dimensions":[["consumer"],["consumer","event_type"]],` +
			`"Metrics":[{"Name":"events_consumed_total","Unit":"Count"}]}]},"consumer":"billing-view","event_type":"none","events_consumed_total":1}` + "\n",
		`{"_aws":{"Timestamp":1772366400000,"CloudWatchMetrics":[{"Namespace":"inorder","Dimensions":[["consumer"]],` +
			`"Metrics":[{"Name":"park_window_used_percent","Unit":"Percent"}]}]},"consumer":"billing-view","park_window_used_percent":12.5}` + "\n",
	}
	if !slices.Equal(w.writes, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(w.writes, ""), strings.Join(want, ""))
	}
	if err := m.Flush(); err != nil || len(w.writes) != len(want) {
		t.Errorf("a second flush wrote again: %q, %v", w.writes[len(want):], err)
	}
}

// Valid against AWS's schema and its limits, and no value lost to them, however much one invocation has to say.
func TestDocumentsKeepTheLimitsAndEveryValue(t *testing.T) {
	schema := emfSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		w := &lineWriter{}
		m := NewMetrics(w, rapid.String().Draw(t, "consumer"), func() time.Time { return testNow })
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`m[a-z_]{1,200}`), 1, 150, rapid.ID).Draw(t, "names")
		types := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z."*]{1,20}`), 1, 4, rapid.ID).Draw(t, "types")
		want := map[string][]float64{}
		for _, name := range names {
			at := func() string { return rapid.SampledFrom(types).Draw(t, "type") }
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				eventType, n := at(), rapid.Int64Range(1, 1<<40).Draw(t, "n")
				m.Count(name, eventType, n)
				want[eventType+" "+name] = []float64{float64(n)}
			case 1:
				eventType, n := at(), rapid.IntRange(1, 350).Draw(t, "values")
				for i := range n {
					v := math.Sqrt(float64(i)) * 1e15
					m.Observe(name, eventType, v)
					want[eventType+" "+name] = append(want[eventType+" "+name], v)
				}
				m.Observe(name, eventType, rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "none"))
			case 2:
				v := rapid.Float64Range(-1e9, 1e9).Draw(t, "gauge")
				m.Gauge(name, v)
				want[" "+name] = []float64{v}
			}
		}
		if err := m.Flush(); err != nil {
			t.Fatal(err)
		}
		got := map[string][]float64{}
		for _, line := range w.writes {
			eventType, values := emfValues(t, schema, line)
			for name, v := range values {
				got[eventType+" "+name] = append(got[eventType+" "+name], v...)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d metrics, want %d", len(got), len(want))
		}
		for key, values := range want {
			if !slices.Equal(got[key], values) {
				t.Fatalf("%s: got %v, want %v", key, got[key], values)
			}
		}
	})
}

// Several invocations, as a terminal has them, lose nothing between them.
func TestMetricsOfConcurrentInvocations(t *testing.T) {
	w := &lineWriter{}
	m := NewMetrics(&lockedWriter{w: w}, "c", func() time.Time { return testNow })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				m.Count(MetricConsumed, "x", 1)
				_ = m.Flush()
			}
		})
	}
	wg.Wait()
	schema, sum := emfSchema(t), 0.0
	for _, line := range w.writes {
		_, values := emfValues(t, schema, line)
		sum += values[MetricConsumed][0]
	}
	if sum != 800 {
		t.Errorf("%v of 800", sum)
	}
}

type lockedWriter struct {
	mu sync.Mutex
	w  *lineWriter
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// What consumer and patterns may be called in streams.yaml is wider than what CloudWatch takes of a dimension.
func TestDimensionsAreWhatCloudWatchTakes(t *testing.T) {
	for in, want := range map[string]string{
		"message.*": "message.*", "über": "?ber", "a\tb": "a?b", "  ": "?", "": "?", strings.Repeat("x", 2000): strings.Repeat("x", 1024),
	} {
		if got := dimension(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
