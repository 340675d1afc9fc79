package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

type contradiction struct {
	parameters map[string]string
	says       string
}

// contradictions are parameters that are each allowed and not together, with what CloudFormation then says.
var contradictions = map[string]contradiction{
	"a bucket and a FIFO queue": {map[string]string{"SenderBucketArn": senderBucket, "QueueType": "fifo"}, "S3 sends notifications to standard queues only"},
	"a topic and an existing queue": {
		map[string]string{"SenderTopicArn": senderTopic, "EventsQueueArn": othersQueue}, "The policy of an existing queue is its owner's",
	},
	"a bucket and an existing queue": {
		map[string]string{"SenderBucketArn": senderBucket, "EventsQueueArn": othersQueue}, "The policy of an existing queue is its owner's",
	},
	"a rule and an existing queue": {
		map[string]string{"SenderRuleArn": senderRule, "EventsQueueArn": othersQueue}, "The policy of an existing queue is its owner's",
	},
	"accounts and an existing queue": {
		map[string]string{"SenderAccounts": senderAccounts, "EventsQueueArn": othersQueue}, "The policy of an existing queue is its owner's",
	},
	"a dead-letter queue of the stack's own queue": {
		map[string]string{"EventsDlqArn": othersDlq}, "EventsDlqArn goes with an existing queue in EventsQueueArn",
	},
	"a queue that is its own dead-letter queue": {
		map[string]string{"EventsQueueArn": othersQueue, "EventsDlqArn": othersQueue}, "and not that queue itself",
	},
	"alarms that are events": {
		map[string]string{"AlarmTopicArn": senderTopic, "SenderTopicArn": senderTopic}, "AlarmTopicArn and SenderTopicArn are the same topic",
	},
	"alarms to two topics": {
		map[string]string{"AlarmTopicArn": "arn:aws:sns:eu-west-1:123456789012:alarms", "AlarmEmail": "somebody@example.com"}, "Give AlarmTopicArn or AlarmEmail, not both",
	},
}

// Each contradiction is refused, and in its own words only: each parameter of it is fine without the others.
func TestContradictionsAreRefused(t *testing.T) {
	tpl := source(t)
	for what, c := range contradictions {
		if err := tpl.Refuses(c.parameters); err == nil || strings.Count(err.Error(), "rule ") != 1 || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q alone", what, err, c.says)
		}
		for name := range c.parameters {
			fewer := maps.Clone(c.parameters)
			delete(fewer, name)
			if err := tpl.Refuses(fewer); err != nil && !strings.Contains(fmt.Sprint(err), "EventsDlqArn goes with") {
				t.Errorf("%s, without %s: %v", what, name, err)
			}
		}
	}
}

// Every rule is one that something above is refused by.
func TestEveryRuleHasAContradiction(t *testing.T) {
	tpl := source(t)
	for name, rule := range tpl.section("Rules") {
		for _, assertion := range list(At(rule, "Assertions")) {
			description := text(At(assertion, "AssertDescription"))
			refuses := func(c contradiction) bool { return strings.Contains(description, c.says) }
			if !slices.ContainsFunc(slices.Collect(maps.Values(contradictions)), refuses) {
				t.Errorf("nothing here is refused by %s: %s", name, description)
			}
		}
	}
}
