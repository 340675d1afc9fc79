package soak

import (
	"fmt"
	"strings"
	"testing"
)

func event(disposition string) string {
	return fmt.Sprintf(`{"level":"INFO","msg":"event","message_id":"m","disposition":%q}`, disposition) + "\n"
}

func metrics(fields string) string { return `{"_aws":{},"consumer":"soak",` + fields + "}\n" }

const processStarts = `{"level":"INFO","msg":"started"}` + "\n"

// Lines and metrics must agree in every invocation that came to its end; of one that was killed some may lack.
func TestLinesAgreeWithMetrics(t *testing.T) {
	both := metrics(`"events_consumed_total":2,"events_applied_total":2,"event_gaps_escalated_total":7`)
	for _, row := range []struct {
		name, text, fault string
		lines             int64
	}{
		{"one invocation", event("applied") + event("applied") + both, "", 2},
		{"two", event("applied") + event("applied") + both + event("applied") + event("applied") + both, "", 4},
		{"several documents", event("stale") + event("applied") + metrics(`"events_consumed_total":1,"events_applied_total":1`) +
			metrics(`"events_consumed_total":1,"events_stale_total":1`), "", 2},
		{"other lines between them", processStarts + event("applied") + `{"msg":"sequence gap"}` + "\nnoise\n" + event("applied") + both, "", 2},
		{"a line too few", event("applied") + both, "lines are map[applied:1]", 1},
		{"a line too many", event("applied") + event("applied") + event("applied") + both, "lines are map[applied:3]", 3},
		{"another disposition", event("applied") + event("stale") + both, "lines are", 2},
		{"no metrics", event("applied"), "lines are", 1},
		{"killed before its metrics", event("applied") + processStarts + event("applied") + event("applied") + both, "", 3},
		{"killed between two documents", event("applied") + event("stale") + metrics(`"events_consumed_total":1,"events_stale_total":1`) + processStarts, "", 2},
		{"metrics that are none", event("applied") + `{"_aws":` + "\n", "cannot be read", 1},
	} {
		l := &Lines{}
		out := l.Output()
		for part := range strings.SplitAfterSeq(row.text, `"`) { // it comes in pieces
			_, _ = out.Write([]byte(part))
		}
		out.Idle()
		if f := l.Faults().String(); (f == "") != (row.fault == "") || !strings.Contains(f, row.fault) {
			t.Errorf("%s: %q, want %q", row.name, f, row.fault)
		}
		if n := l.Total(); n != row.lines {
			t.Errorf("%s: %d lines, want %d", row.name, n, row.lines)
		}
	}
}

// What is said at error level is kept, and each line about a message is told of.
func TestLinesAreTold(t *testing.T) {
	var told []Line
	l := &Lines{Each: func(one Line) { told = append(told, one) }}
	out := l.Output()
	_, _ = out.Write([]byte(event("applied") + `{"level":"ERROR","msg":"bad"}` + "\n" + event("stale")))
	if len(told) != 2 || told[1].Disposition != "stale" || told[0].MessageID != "m" || l.Loud()["bad"] != 1 {
		t.Errorf("%+v, %v", told, l.Loud())
	}
}
