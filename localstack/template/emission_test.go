package template

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"inorder/functions"
	"inorder/ordering"
)

// emission is what the code writes as metrics.
type emission struct {
	namespace string
	consumer  string              // the dimension without which nothing is written
	stats     map[string][]string // metric → what may be asked of it
}

// What may be asked of a counter, which is missing where it was 0, of a gauge, and of a distribution.
var (
	ofCounter      = []string{"Sum"}
	ofGauge        = []string{"Minimum", "Maximum", "SampleCount"}
	ofDistribution = []string{"p50", "p99", "Maximum"}
)

// emittedByTheCode reads the names off the constants of functions and ordering and off the table of dispositions, and the rest
// off a line as it is written.
func emittedByTheCode(t *testing.T) emission {
	t.Helper()
	e := writtenLine(t)
	for _, d := range ordering.Dispositions() {
		e.stats[d.Metric()] = ofCounter
	}
	for name, value := range constants(t, "functions", "ordering") {
		switch {
		case strings.HasPrefix(name, "Gauge"):
			e.stats[value] = ofGauge
		case strings.HasPrefix(name, "Metric"):
			e.stats[value] = ofCounter
		}
	}
	e.stats[functions.MetricReorderDistance] = ofDistribution
	for _, known := range []string{functions.GaugeParked, functions.MetricConsumed, functions.MetricRelayFailures, ordering.MetricEscalated} {
		if e.stats[known] == nil {
			t.Fatalf("%s was not found among the constants", known)
		}
	}
	return e
}

// writtenLine has one counter written, and reads namespace and dimensions. Alarms need a set of one dimension.
func writtenLine(t *testing.T) emission {
	t.Helper()
	var line bytes.Buffer
	m := functions.NewMetrics(&line, "somebody", func() time.Time { return time.Unix(0, 0) })
	m.Count(functions.MetricConsumed, "type", 1)
	if err := m.Flush(); err != nil {
		t.Fatal(err)
	}
	var written struct {
		AWS struct {
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
			}
		} `json:"_aws"`
	}
	if err := json.Unmarshal(line.Bytes(), &written); err != nil {
		t.Fatal(err)
	}
	metrics := written.AWS.CloudWatchMetrics[0]
	if len(metrics.Dimensions[0]) != 1 {
		t.Fatalf("no set of one dimension: %v", metrics.Dimensions)
	}
	return emission{metrics.Namespace, metrics.Dimensions[0][0], map[string][]string{}}
}

// constants are the texts that packages of this project name.
func constants(t *testing.T, folders ...string) map[string]string {
	t.Helper()
	named := map[string]string{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
					if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
						named[spec.Names[0].Name], _ = strconv.Unquote(lit.Value)
					}
				}
				return true
			})
		}
	}
	return named
}
