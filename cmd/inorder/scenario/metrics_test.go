package scenario

import (
	"strings"
	"testing"
	"time"

	"inorder/functions"
)

func TestCountersAddUpOverEventTypesAndGaugesStand(t *testing.T) {
	var c counters
	m := functions.NewMetrics(&c, "consumer", func() time.Time { return epoch })
	for range 2 {
		m.Count("events_applied_total", "PlanChanged", 3)
		m.Count("events_applied_total", "", 4)
		m.Gauge("gaps_open_current", 5)
		if err := m.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"events_applied_total": "14", "gaps_open_current": "5", "events_stale_total": "0"} {
		if got := c.value(name).Text('f'); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	before := c.copy()
	m.Count("events_applied_total", "PlanChanged", 1)
	if err := m.Flush(); err != nil {
		t.Fatal(err)
	}
	c.restore(before)
	if got := c.value("events_applied_total").Text('f'); got != "14" {
		t.Errorf("after a crash: %s", got)
	}
	if faults := c.takeFaults(); len(faults) > 0 {
		t.Error(faults)
	}
}

func TestALineThatCloudWatchWouldNotTakeIsAFault(t *testing.T) {
	for line, want := range map[string]string{
		`{"events_applied_total":1}` + "\n": "no _aws",
		`{"_aws":{"Timestamp":1,"CloudWatchMetrics":[{"Dimensions":[["consumer"]],"Metrics":[]}]}}` + "\n": "dimension consumer",
		`{"_aws":{"Timestamp":1,"CloudWatchMetrics":[{"Dimensions":[],"Metrics":[{"Name":"n"}]}]}}` + "\n": "metric n",
		`{"_aws":`: "line break",
	} {
		var c counters
		if _, err := c.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		if faults := c.takeFaults(); len(faults) != 1 || !strings.Contains(faults[0].Error(), want) {
			t.Errorf("%s: %v, want %s", line, faults, want)
		}
	}
}
