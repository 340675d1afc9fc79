package template

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// replacing are the properties whose change makes CloudFormation put another resource in the place of the one that is there:
// "Update requires: Replacement" under AWS::DynamoDB::Table and AWS::SQS::Queue, AWS CloudFormation Template Reference Guide.
var replacing = map[string][]string{
	"AWS::DynamoDB::Table": {"TableName", "KeySchema", "ImportSourceSpecification"},
	"AWS::SQS::Queue":      {"QueueName", "FifoQueue"},
}

// others are a second value of each parameter that is not in switches and has a pattern.
var others = map[string]string{
	"Name": "other", "Consumer": "other", "GapDeadline": "7m", "ParkTtl": "9d", "MarkDelay": "7m", "OutboxTtl": "99d",
}

// thresholds are the parameters that docs/deploy.md calls "all thresholds of alarms".
var thresholds = regexp.MustCompile(`^(Parked|Park|OldestGap|Rate|Stale|Duplicate|EventAge|RepublishAge|EffectAge|IteratorAge)(Threshold|Percent|Seconds|MinimumEvents)$`)

// leaves are the tables and queues that a running stack lets go of, or puts empty ones in the place of, when a parameter is
// changed. They stay, with what is in them, but for the republish queue, whose requests are made again. No other change may.
var leaves = map[string][]string{
	"QueueType":           {"EventsDlq", "EventsQueue"},
	"EventsQueueArn":      {"EventsDlq", "EventsQueue"},
	"Outbox":              {"OutboxTable", "RelayFailuresQueue"},
	"EffectsReceiveCount": {"EffectsDlq"},
	"Name": {
		"EffectsDlq", "EffectsQueue", "EntitiesTable", "EventsDlq", "EventsQueue", "ItemsTable", "OutboxTable", "QuarantineQueue",
		"RelayFailuresQueue", "RepublishDlq", "RepublishQueue",
	},
}

// Whoever changes a parameter of a running stack loses nothing, and finds in docs/deploy.md what it does.
func checkChanges(v *views) (wrong []string) {
	var f faults
	before, _ := v.source.Deploy(nil)
	rows := documentedChanges()
	for _, parameter := range slices.Sorted(maps.Keys(v.source.section("Parameters"))) {
		if len(rows[parameter]) == 0 && !thresholds.MatchString(parameter) {
			f.add("docs/deploy.md does not say what a change of %s does", parameter)
		}
		left := map[string]bool{}
		for _, value := range v.source.secondValues(parameter) {
			after, _ := v.source.Deploy(map[string]string{parameter: value})
			maps.Copy(left, lets(before, after))
		}
		f.want("what a change of "+parameter+" leaves behind", slices.Sorted(maps.Keys(left)), slices.Sorted(slices.Values(leaves[parameter])))
		if len(left) > 0 && slices.ContainsFunc(rows[parameter], func(row string) bool { return strings.TrimSpace(row) == "at any time |" }) {
			f.add("docs/deploy.md says of %s that it may be changed at any time", parameter)
		}
	}
	return f
}

// secondValues are values that a parameter does not have by default.
func (t Template) secondValues(parameter string) (values []string) {
	body := t.section("Parameters")[parameter]
	standard := fmt.Sprint(At(body, "Default"))
	for _, s := range switches {
		if s.parameter == parameter {
			values = append(values, s.values[:]...)
		}
	}
	values = append(values, toTexts(list(At(body, "AllowedValues")))...)
	if number, ok := At(body, "Default").(int); ok {
		values = append(values, fmt.Sprint(number+1))
	}
	values = append(values, others[parameter])
	return slices.DeleteFunc(values, func(value string) bool { return value == standard || t.Allowed(parameter, value) != nil })
}

// lets names the tables and queues that are gone or replaced after a change.
func lets(before, after *Stack) map[string]bool {
	left := map[string]bool{}
	for id, old := range before.Resources {
		for _, property := range replacing[old.Type] {
			if now := after.Resources[id]; now == nil || !reflect.DeepEqual(old.Properties[property], now.Properties[property]) {
				left[id] = true
			}
		}
	}
	return left
}

// documentedChanges are the rows of docs/deploy.md about each parameter.
func documentedChanges() map[string][]string {
	page, _ := os.ReadFile(root + "/docs/deploy.md") // without it no parameter has a row
	_, table, _ := strings.Cut(string(page), "| you change in the parameters |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := map[string][]string{}
	for line := range strings.Lines(table) {
		first, what, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		for _, name := range regexp.MustCompile("`([A-Za-z]+)`").FindAllStringSubmatch(first, -1) {
			rows[name[1]] = append(rows[name[1]], what)
		}
	}
	return rows
}

var mutationsOfChanges = []mutation{
	{"changes", "a table that goes with its outbox's choice", "Resources/ItemsTable/Condition", "HasOutbox", "what a change of Outbox leaves behind is [ItemsTable OutboxTable RelayFailuresQueue]"},
	{"changes", "a table by another name for each kind of effects", "Resources/EntitiesTable/Properties/TableName", sub("${Name}-${Effects}"), "what a change of Effects leaves behind is [EntitiesTable]"},
	{"changes", "a queue by another name for each timeout", "Resources/QuarantineQueue/Properties/QueueName", sub("${Name}-quarantine-${Timeout}"), "what a change of Timeout leaves behind is [QuarantineQueue]"},
	{"changes", "a parameter that nobody described", "Parameters/Timeout", renamed("TimeLimit"), "docs/deploy.md does not say what a change of TimeLimit does"},
}
