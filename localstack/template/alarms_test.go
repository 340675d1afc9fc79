package template

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// watching is all that alarms and dashboard are compared with.
type watching struct {
	template Template
	runbook  string
	code     emission
}

// watchChecks are the checks of alarms and dashboard; each says in its comment what it asks.
var watchChecks = map[string]func(w *watching) []string{
	"silence":       checkSilence,
	"entries":       checkEntries,
	"actions":       checkActions,
	"alarm names":   checkAlarmNames,
	"alarm metrics": checkAlarmMetrics,
	"alarm math":    checkAlarmMath,
	"all watched":   checkAllWatched,
	"dashboard":     checkDashboard,
	"graphs":        checkGraphs,
	"all shown":     checkAllShown,
}

// TestWatching compares alarms, runbook and dashboard with each other, with the code's metrics, and with what is deployed.
func TestWatching(t *testing.T) {
	runbook, err := os.ReadFile(root + "/docs/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	w := &watching{source(t), string(runbook), emittedByTheCode(t)}
	for name, check := range watchChecks {
		t.Run(name, func(t *testing.T) {
			for _, wrong := range check(w) {
				t.Error(wrong)
			}
		})
	}
}

// everything is the deployment in which all that may be left out is there.
var everything = map[string]string{"WebhookApi": "rest", "AlarmEmail": "somebody@example.com"}

// watched are deployments whose alarms differ.
var watched = []map[string]string{
	everything,
	{"Outbox": "none", "EffectsReceiveCount": "0", "EventsQueueArn": othersQueue, "AlarmTopicArn": "arn:aws:sns:eu-west-1:123456789012:alarms"},
	{"EventsQueueArn": othersQueue, "EventsDlqArn": othersDlq, "Dashboard": "no"},
	{"QueueType": "fifo"},
}

// each looks at every one of these deployments. What is wrong in several is said once.
func (w *watching) each(look func(s *Stack, f *faults)) []string {
	var f faults
	for _, parameters := range watched {
		s, err := w.template.Deploy(parameters)
		if err != nil {
			f.add("with %v: %v", parameters, err)
			continue
		}
		look(s, &f)
	}
	slices.Sort(f)
	return slices.Compact(f)
}

func (w *watching) eachAlarm(look func(s *Stack, alarm *Resource, f *faults)) []string {
	return w.each(func(s *Stack, f *faults) {
		for _, alarm := range s.Types("AWS::CloudWatch::Alarm") {
			look(s, alarm, f)
		}
	})
}

// An alarm on too little takes a missing value for a bad one, for nothing is what silence looks like. Any other takes it for a
// good one: what did not happen has no value.
func checkSilence(w *watching) []string {
	return w.eachAlarm(func(_ *Stack, alarm *Resource, f *faults) {
		want := "notBreaching"
		if strings.HasPrefix(text(alarm.Properties["ComparisonOperator"]), "LessThan") {
			want = "breaching"
		}
		f.want(alarm.ID+".TreatMissingData", alarm.Properties["TreatMissingData"], want)
	})
}

var (
	entryLink = regexp.MustCompile(`docs/runbook\.md#([a-z0-9-]+)`)
	heading   = regexp.MustCompile(`(?m)^## (.+)$`)
	notInLink = regexp.MustCompile(`[^a-z0-9 -]`)
	linkInto  = regexp.MustCompile(`\]\(#([a-z0-9-]+)\)`)
)

// entries are the anchors of a page's second headings, as GitHub makes them.
func entries(page string) (anchors []string) {
	for _, match := range heading.FindAllStringSubmatch(page, -1) {
		plain := notInLink.ReplaceAllString(strings.ToLower(match[1]), "")
		anchors = append(anchors, strings.ReplaceAll(plain, " ", "-"))
	}
	return anchors
}

// Each alarm says what it means and ends with the one entry of the runbook that is its own; each entry is some alarm's; each
// link in the runbook leads somewhere.
func checkEntries(w *watching) []string {
	there := entries(w.runbook)
	used := map[string]bool{}
	wrong := faults(w.eachAlarm(func(_ *Stack, alarm *Resource, f *faults) {
		says := text(alarm.Properties["AlarmDescription"])
		links := entryLink.FindAllStringSubmatch(says, -1)
		if len(links) != 1 || !strings.HasSuffix(says, ". "+links[0][0]) || len(says) > 1024 {
			f.add("%s says %q, want a sentence of at most 1,024 characters and then its entry", alarm.ID, says)
			return
		}
		used[links[0][1]] = true
		if !slices.Contains(there, links[0][1]) {
			f.add("%s names %s, which docs/runbook.md does not have", alarm.ID, links[0][0])
		}
	}))
	for _, anchor := range there {
		if !used[anchor] {
			wrong.add("docs/runbook.md#%s is no alarm's", anchor)
		}
	}
	for _, link := range linkInto.FindAllStringSubmatch(w.runbook, -1) {
		if !slices.Contains(there, link[1]) {
			wrong.add("docs/runbook.md has a link to #%s, which it does not have", link[1])
		}
	}
	return wrong
}

// An alarm tells the given topic, or the stack's own, or nobody; of the end of its cause as well.
func checkActions(w *watching) []string {
	return w.eachAlarm(func(s *Stack, alarm *Resource, f *faults) {
		topic := []any{}
		if given := s.Parameters["AlarmTopicArn"]; given != "" {
			topic = []any{given}
		} else if s.Parameters["AlarmEmail"] != "" {
			topic = []any{arn("sns", s.Parameters["Name"]+"-alarms")}
		}
		f.want(alarm.ID+".AlarmActions", alarm.Properties["AlarmActions"], topic)
		f.want(alarm.ID+".OKActions", alarm.Properties["OKActions"], topic)
		if len(topic) > 0 {
			f.want("the output AlarmTopicArn", s.Outputs["AlarmTopicArn"], topic[0])
		}
	})
}

// Alarms are found by the deployment's name, and no two have one name: CloudWatch would take the second for the first.
func checkAlarmNames(w *watching) []string {
	return w.each(func(s *Stack, f *faults) {
		owner := map[string]string{}
		for _, alarm := range s.Types("AWS::CloudWatch::Alarm") {
			name := text(alarm.Properties["AlarmName"])
			if !strings.HasPrefix(name, s.Parameters["Name"]+"-") || owner[name] != "" {
				f.add("%s is called %q, as %q is, or not after its deployment", alarm.ID, name, owner[name])
			}
			owner[name] = alarm.ID
		}
	})
}

// Where messages wait for people, two alarms say so: that there are some, and that half of their 14 days are over. Each function
// has alarms on errors and throttles, each table and index one on both kinds of throttles.
func checkAllWatched(w *watching) []string {
	return w.each(func(s *Stack, f *faults) {
		watches := map[string]bool{}
		for _, alarm := range s.Types("AWS::CloudWatch::Alarm") {
			for _, m := range seriesOf(alarm) {
				watches[m.String()+fmt.Sprint(" > ", alarm.Properties["Threshold"])] = true
			}
		}
		for _, want := range mustBeWatched(s) {
			if !watches[want] {
				f.add("no alarm on %s", want)
			}
		}
	})
}

func mustBeWatched(s *Stack) (want []string) {
	for _, queue := range s.Types("AWS::SQS::Queue") {
		if queue.Properties["RedriveAllowPolicy"] != nil { // nothing is moved on from here but by people
			name := text(queue.Properties["QueueName"])
			want = append(want, "AWS/SQS ApproximateNumberOfMessagesVisible QueueName="+name+" > 0",
				"AWS/SQS ApproximateAgeOfOldestMessage QueueName="+name+" > 604800")
		}
	}
	for _, function := range s.Types("AWS::Serverless::Function") {
		name := text(function.Properties["FunctionName"])
		want = append(want, "AWS/Lambda Errors FunctionName="+name+" > 0", "AWS/Lambda Throttles FunctionName="+name+" > 0")
	}
	for _, table := range s.Types("AWS::DynamoDB::Table") {
		of := []string{"TableName=" + text(table.Properties["TableName"])}
		for _, index := range list(table.Properties["GlobalSecondaryIndexes"]) {
			of = append(of, "GlobalSecondaryIndexName="+text(At(index, "IndexName"))+" "+of[0])
		}
		for _, dimensions := range of {
			want = append(want, "AWS/DynamoDB ReadThrottleEvents "+dimensions+" > 0", "AWS/DynamoDB WriteThrottleEvents "+dimensions+" > 0")
		}
	}
	return want
}
