package rie

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// output is what CloudWatch gets of an invocation, sorted.
type output struct {
	logs    []map[string]any
	metrics map[string]float64 // sums over all event types; of a gauge its last value
}

// read takes an output apart, and ends the test on a line that is neither a log line nor a metric document (R2).
func read(t *testing.T, text string) output {
	t.Helper()
	got := output{metrics: map[string]float64{}}
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.Fatalf("the last line is not whole: %s", text)
	}
	for line := range strings.Lines(text) {
		var members map[string]any
		if err := json.Unmarshal([]byte(line), &members); err != nil {
			t.Fatalf("%v in the line %q", err, line)
		}
		switch {
		case members["_aws"] != nil:
			got.add(t, line, members)
		case members["time"] != nil && members["level"] != nil && members["msg"] != nil:
			got.logs = append(got.logs, members)
		default:
			t.Fatalf("neither a log line nor a metric document: %s", line)
		}
	}
	return got
}

// readFailed takes the output of an invocation apart whose handler returned an error: AWS's runtime client says so in words of
// its own, which are a log line like the others (R2).
func readFailed(t *testing.T, text string) (got output, returned string) {
	t.Helper()
	got = read(t, text)
	last := len(got.logs) - 1
	if last < 0 || got.logs[last]["level"] != "ERROR" || !strings.HasPrefix(got.logs[last]["msg"].(string), `{"errorMessage":`) {
		t.Fatalf("the last line is not about the error: %s", text)
	}
	returned = got.logs[last]["msg"].(string)
	got.logs = got.logs[:last]
	return got, returned
}

// add takes over the values of a metric document as CloudWatch does: those that its directive names.
func (o output) add(t *testing.T, line string, members map[string]any) {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := emfSchema(t).Validate(document); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	var root struct {
		AWS struct {
			CloudWatchMetrics []struct {
				Namespace string
				Metrics   []struct{ Name string }
			}
		} `json:"_aws"`
	}
	if err := json.Unmarshal([]byte(line), &root); err != nil {
		t.Fatal(err)
	}
	for _, directive := range root.AWS.CloudWatchMetrics {
		if directive.Namespace != "inorder" || members["consumer"] != "billing-view" {
			t.Errorf("a metric of someone else: %s", line)
		}
		for _, metric := range directive.Metrics {
			o.metrics[metric.Name] += sum(t, members[metric.Name])
		}
	}
}

func sum(t *testing.T, value any) (total float64) {
	t.Helper()
	switch v := value.(type) {
	case float64:
		return v
	case []any:
		for _, one := range v {
			total += sum(t, one)
		}
		return total
	}
	t.Fatalf("a metric's value is %v", value)
	return 0
}

// find returns the log lines with a message.
func (o output) find(message string) (lines []map[string]any) {
	for _, line := range o.logs {
		if line["msg"] == message {
			lines = append(lines, line)
		}
	}
	return lines
}

// want compares the metrics whole.
func (o output) want(t *testing.T, want map[string]float64) {
	t.Helper()
	for name, value := range want {
		if got, there := o.metrics[name]; !there || got != value {
			t.Errorf("%s is %v (there: %v), want %v", name, got, there, value)
		}
	}
	for name, value := range o.metrics {
		if _, known := want[name]; !known {
			t.Errorf("%s is %v, want none", name, value)
		}
	}
}

var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	text, err := os.ReadFile(filepath.Join("..", "..", "functions", "testdata", "emf.schema.json"))
	if err != nil {
		return nil, err
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4) // the schema names none; its $ids are pointers, which later drafts refuse
	if err := c.AddResource("emf.json", schema); err != nil {
		return nil, err
	}
	return c.Compile("emf.json")
})

func emfSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
