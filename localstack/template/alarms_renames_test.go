package template

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// mistake is one in a copy of template or runbook, of the kind that a hand makes, and the check that finds it.
type mistake struct{ what, from, to, check string }

var mistakes = []mistake{
	{"a counter's name", "MetricName: events_conflict_total", "MetricName: events_conflicts_total", "alarm metrics"},
	{"a gauge's name", "MetricName: events_parked_current", "MetricName: events_parked_total", "alarm metrics"},
	{"a counter read as a gauge", "MetricName: event_gaps_escalated_total\n      Dimensions: [{Name: consumer, Value: !Ref Consumer}]\n      Statistic: Sum", "MetricName: event_gaps_escalated_total\n      Dimensions: [{Name: consumer, Value: !Ref Consumer}]\n      Statistic: Maximum", "alarm metrics"},
	{"the namespace", "Namespace: inorder\n      MetricName: park_age_used_percent", "Namespace: Inorder\n      MetricName: park_age_used_percent", "alarm metrics"},
	{"the dimension's name", "MetricName: park_age_used_percent\n      Dimensions: [{Name: consumer,", "MetricName: park_age_used_percent\n      Dimensions: [{Name: Consumer,", "alarm metrics"},
	{"a dimension too many", "MetricName: park_age_used_percent\n      Dimensions: [", "MetricName: park_age_used_percent\n      Dimensions: [{Name: event_type, Value: x}, ", "alarm metrics"},
	{"one of AWS's metrics", "MetricName: Throttles", "MetricName: Throttled", "alarm metrics"},
	{"a dimension of AWS's", "Dimensions: [{Name: QueueName, Value: !GetAtt QuarantineQueue.QueueName}]", "Dimensions: [{Name: Queue, Value: !GetAtt QuarantineQueue.QueueName}]", "alarm metrics"},
	{"a URL for a queue's name", "Value: !GetAtt RepublishQueue.QueueName}", "Value: !Ref RepublishQueue}", "alarm metrics"},
	{"the index", "Name: GlobalSecondaryIndexName, Value: gaps}", "Name: GlobalSecondaryIndexName, Value: gap}", "alarm metrics"},
	{"the stage", "{Name: Stage, Value: v1}", "{Name: Stage, Value: v2}", "alarm metrics"},

	{"a metric's id", "- Id: stale\n", "- Id: late\n", "alarm math"},
	{"a function that alarms do not bear", "DIFF(parked)", "MAX(parked)", "alarm math"},
	{"two results", "        - Id: parked\n          ReturnData: false\n", "        - Id: parked\n", "alarm math"},
	{"more than a day", "Period: 900", "Period: 90000", "alarm math"},

	{"silence that is good", "TreatMissingData: breaching", "TreatMissingData: notBreaching", "silence"},
	{"quiet that is bad", "TreatMissingData: notBreaching", "TreatMissingData: breaching", "silence"},
	{"no word of it", "      TreatMissingData: notBreaching\n", "", "silence"},

	{"an entry's name in an alarm", "runbook.md#parked-events", "runbook.md#parked", "entries"},
	{"an entry's heading", "## Park window", "## Parking window", "entries"},
	{"an entry that no alarm has", "## Park window", "## Something else\n\nText.\n\n## Park window", "entries"},
	{"a link inside the runbook", "(#oldest-gap)", "(#old-gap)", "entries"},
	{"no entry at all", " docs/runbook.md#park-age\"", "\"", "entries"},

	{"an alarm's name of another", "AlarmName: !Sub \"${Name}-park-age\"", "AlarmName: !Sub \"${Name}-park-window\"", "alarm names"},
	{"an alarm's name without the deployment's", "AlarmName: !Sub \"${Name}-park-age\"", "AlarmName: park-age", "alarm names"},
	{"an alarm that tells nobody", "      OKActions: [!If [OwnTopic, !Ref AlarmTopic, !If [OthersTopic, !Ref AlarmTopicArn, !Ref AWS::NoValue]]]\n", "", "actions"},
	{"an alarm that tells one topic only", "AlarmActions: [!If [OwnTopic, !Ref AlarmTopic, !If [OthersTopic, !Ref AlarmTopicArn, !Ref AWS::NoValue]]]", "AlarmActions: [!If [OwnTopic, !Ref AlarmTopic, !Ref AWS::NoValue]]", "actions"},
	{"the topic's output", "Value: !If [OwnTopic, !Ref AlarmTopic, !Ref AlarmTopicArn]", "Value: !Ref AlarmTopicArn", "actions"},

	{"seven days that are eight", "Threshold: 604800", "Threshold: 691200", "all watched"},
	{"an alarm on the wrong queue", "Value: !GetAtt RepublishDlq.QueueName}", "Value: !GetAtt RepublishQueue.QueueName}", "all watched"},
	{"errors of one function twice", "MetricName: Errors\n      Dimensions: [{Name: FunctionName, Value: !Ref SweeperFunction}]", "MetricName: Errors\n      Dimensions: [{Name: FunctionName, Value: !Ref ConsumerFunction}]", "all watched"},
	{"throttles of one table twice", "MetricName: WriteThrottleEvents, Dimensions: [{Name: TableName, Value: !Ref ItemsTable}]", "MetricName: WriteThrottleEvents, Dimensions: [{Name: TableName, Value: !Ref EntitiesTable}]", "all watched"},

	{"a counter's name in a graph", `["inorder", "events_stale_total"`, `["inorder", "events_late_total"`, "graphs"},
	{"a table in a graph", `"${Name}-items"`, `"${Name}-item"`, "graphs"},
	{"an id in a graph", "100 * stale / consumed\"", "100 * tardy / consumed\"", "graphs"},
	{"a percentile of a counter", `{"label": "applied"}`, `{"label": "applied", "stat": "p99"}`, "graphs"},
	{"a disposition that no graph shows", `["inorder", "events_coalesced_total"`, `["inorder", "events_applied_total"`, "all shown"},
	{"a comma too many", `"widgets": [`, `"widgets": [,`, "dashboard"},
	{"a property that there is not", `"view": "timeSeries"`, `"vew": "timeSeries"`, "dashboard"},
	{"a graph on another", `"x": 8, "y": 0,`, `"x": 7, "y": 0,`, "dashboard"},
	{"a graph out of the page", `"x": 16, "y": 0, "width": 8`, `"x": 16, "y": 0, "width": 9`, "dashboard"},
	{"a region that is written out", `"region": "${AWS::Region}"`, `"region": "us-east-1"`, "dashboard"},
}

// TestMistakesInWatchingAreFound makes each mistake in a copy, and wants the check that is there for it to find it.
func TestMistakesInWatchingAreFound(t *testing.T) {
	sheet, page, code := read(t, "template.yaml"), read(t, "docs/runbook.md"), emittedByTheCode(t)
	for _, m := range mistakes {
		t.Run(m.what, func(t *testing.T) {
			wrongSheet, wrongPage := strings.Replace(sheet, m.from, m.to, 1), page
			if wrongSheet == sheet {
				wrongPage = strings.Replace(page, m.from, m.to, 1)
			}
			if wrongSheet == sheet && wrongPage == page {
				t.Fatalf("neither template nor runbook has %q", m.from)
			}
			tpl, err := Parse([]byte(wrongSheet))
			if err != nil {
				t.Fatal(err)
			}
			if found := watchChecks[m.check](&watching{tpl, wrongPage, code}); len(found) == 0 {
				t.Errorf("%s: not found", m.check)
			} else {
				t.Log(found[0])
			}
		})
	}
	for name := range watchChecks {
		if !slices.ContainsFunc(mistakes, func(m mistake) bool { return m.check == name }) {
			t.Errorf("no mistake shows that the check %q finds any", name)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(root + "/" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
