package functions

import (
	"bytes"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The tables of docs/costs.md that hold money follow from its prices, and from what TestCosts measures.
func TestCostModelAddsUp(t *testing.T) {
	text, err := os.ReadFile("../docs/costs.md")
	if err != nil {
		t.Fatal(err)
	}
	prices := map[string]float64{}
	for _, row := range tableOf(t, text, "meter") {
		prices[row["meter"]] = number64(t, row["USD"]) / number64(t, row["for"])
	}
	for _, row := range tableOf(t, text, "example") {
		sum := 0.0
		for meter, price := range prices {
			if used, ok := row[meter]; ok {
				sum += number64(t, used) * price * 1e6
			}
		}
		wantDollars(t, row["example"], sum, row["USD"])
	}
	for _, row := range tableOf(t, text, "a month") {
		price, ok := prices[row["meter"]]
		if !ok {
			t.Errorf("%s: no price of %q", row["a month"], row["meter"])
		}
		wantDollars(t, row["a month"], number64(t, row["how many"])*price, row["USD"])
	}
}

// The write units of the examples are those that TestCosts measures, at the shares that the page names.
func TestCostModelIsMeasured(t *testing.T) {
	text, err := os.ReadFile("../docs/costs.md")
	if err != nil {
		t.Fatal(err)
	}
	batch := map[string]float64{} // units of the batch of a row
	for _, c := range costs {
		batch[c.name] = c.units
	}
	const early = 0.05
	want := map[string]float64{
		"state": (1-early)*batch["state, each of another entity"]/4 + early*batch["state, stale: the function does not know the entity"],
		"step": (1-2*early)*batch["step, a run of ten"] + early*batch["step, the first that waits: it opens the gap"] +
			early*batch["step, one that releases all that waits: it closes the gap"],
		"delta": (1-2*early)*batch["delta, ten of one entity in a batch"] + early*batch["delta, one ahead of a missing one: it opens the gap"] +
			early*batch["delta, the missing one: it closes the gap"],
		"state, bursts of ten":          batch["state, ten of one entity in a batch"] / 10,
		"step, bursts of ten, in order": batch["step, a run of ten"] / 10,
	}
	for _, row := range tableOf(t, text, "example") {
		if units, ours := want[row["example"]]; ours {
			delete(want, row["example"])
			if got := number64(t, row["write unit"]); math.Abs(got-units) > 1e-9 {
				t.Errorf("%s: %v write units per event, want %v", row["example"], got, units)
			}
		}
	}
	for example := range want {
		t.Errorf("%s: no such example", example)
	}
}

// What the page says of the size of log lines is true within a quarter: names are longer in one place than in another.
func TestLogSizesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/costs.md")
	if err != nil {
		t.Fatal(err)
	}
	measured := logSizes(t)
	for _, row := range tableOf(t, text, "written to the logs") {
		for what, size := range measured {
			if strings.HasPrefix(row["written to the logs"], what) {
				delete(measured, what)
				if said := number64(t, row["bytes"]); math.Abs(said-size) > said/4 {
					t.Errorf("%s: %v bytes, and the page says %v", what, size, said)
				}
			}
		}
	}
	for what := range measured {
		t.Errorf("nothing about %s", what)
	}
}

// The page counts the alarms of a deployment with the template's defaults, which has no webhook address, by the metrics that
// they read: so they are billed.
func TestAlarmsAreCounted(t *testing.T) {
	text, err := os.ReadFile("../docs/costs.md")
	if err != nil {
		t.Fatal(err)
	}
	template, err := os.ReadFile("../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	metrics := 0
	for _, resource := range regexp.MustCompile(`(?m)^  \w+:$`).Split(string(template), -1) {
		if strings.Contains(resource, "Type: AWS::CloudWatch::Alarm") && !strings.Contains(resource, "Condition: HasIngress") {
			metrics += max(1, strings.Count(resource, "MetricStat:"))
		}
	}
	for _, row := range tableOf(t, text, "a month") {
		if row["meter"] == "alarm metric" && number64(t, row["how many"]) != float64(metrics) {
			t.Errorf("the alarms read %d metrics, and the page says %s", metrics, row["how many"])
		}
	}
}

// logSizes are those of one event that waits, of the metrics of ten that are applied, and of all gauges.
func logSizes(t *testing.T) map[string]float64 {
	t.Helper()
	engine := startEngine(t)
	w := newMeasured(t, engine, "log-sizes", plain)
	var out bytes.Buffer
	lines := func() []string {
		defer out.Reset()
		return strings.SplitAfter(strings.TrimSpace(out.String()), "\n")
	}
	parts := w.parts(w.store, &fakeSQS{}, &out, time.Now, nil)
	c := NewConsumer(parts)
	w.deliver(t, c, "3")
	event := lines()[0]
	w.deliver(t, c, "a.1 b.1 c.1 d.1 e.1 f.1 g.1 h.1 i.1 j.1")
	metrics := lines()[0]
	gauges := NewMetrics(&out, "billing-view", time.Now)
	(&openEntities{}).set(gauges)
	if err := gauges.Flush(); err != nil {
		t.Fatal(err)
	}
	return map[string]float64{
		"a line of an event": float64(len(event)), "the consumer's metrics": float64(len(metrics)), "the sweeper's gauges": float64(len(lines()[0])),
	}
}

// tableOf reads the one table of a page whose first column has this name: its rows by the names of their columns.
func tableOf(t *testing.T, text []byte, first string) []map[string]string {
	t.Helper()
	_, table, found := strings.Cut(string(text), "\n| "+first+" |")
	if !found {
		t.Fatalf("no table of %q", first)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	lines := strings.Split("| "+first+" |"+table, "\n")
	header := cells(lines[0])
	var rows []map[string]string
	for _, line := range lines[2:] {
		row := map[string]string{}
		for i, cell := range cells(line) {
			row[header[i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

var betweenCells = regexp.MustCompile(` *\| *`)

func cells(line string) []string {
	all := betweenCells.Split(strings.TrimSpace(line), -1)
	return all[1 : len(all)-1]
}

func number64(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		t.Error(err)
	}
	return n
}

func wantDollars(t *testing.T, what string, sum float64, said string) {
	t.Helper()
	if got := strconv.FormatFloat(sum, 'f', 2, 64); got != said {
		t.Errorf("%s: %s dollars, and the page says %s", what, got, said)
	}
}
