package template

import (
	"math/rand/v2"
	"sync"
)

// Somebody else's queues, and a key.
const (
	othersQueue = "arn:aws:sqs:eu-west-1:210987654321:others"
	othersDlq   = "arn:aws:sqs:eu-west-1:210987654321:others-dlq"
	aKey        = "arn:aws:kms:eu-west-1:123456789012:key/1234"
)

// deployments are the ones that most checks look at, by what they are called in a fault.
var deployments = map[string]map[string]string{
	"standard":           {},
	"fifo":               {"QueueType": "fifo"},
	"others' standard":   {"EventsQueueArn": othersQueue, "EventsDlqArn": othersDlq},
	"others' fifo":       {"EventsQueueArn": othersQueue + ".fifo"}, // its name says so, and not QueueType
	"others', with fifo": {"EventsQueueArn": othersQueue, "QueueType": "fifo"},
	"no effects' DLQ":    {"EffectsReceiveCount": "0"},
	"no outbox":          {"Outbox": "none"},
	"with a key":         {"KmsKeyArn": aKey, "PermissionsBoundary": "arn:aws:iam::123456789012:policy/bound"},
	"senders, webhooks":  {"SenderTopicArn": senderTopic, "SenderBucketArn": senderBucket, "SenderRuleArn": senderRule, "SenderAccounts": senderAccounts, "WebhookApi": "rest"},
	"what else differs":  {"EntitiesStream": "NEW_IMAGE", "DeletionProtection": "false", "Timeout": "900", "ConsumerEnabled": "false", "SweeperEnabled": "false", "Architecture": "x86_64"},
}

// Who may send.
const (
	senderTopic    = "arn:aws:sns:eu-west-1:123456789012:topic"
	senderBucket   = "arn:aws:s3:::bucket"
	senderRule     = "arn:aws:events:eu-west-1:123456789012:rule/rule"
	senderAccounts = "210987654321,310987654321"
)

// each shows a check what every deployment of a template is made of. What CloudFormation would refuse is the business of
// checkReferences.
func each(tpl Template, see func(name string, s *Stack)) {
	for name, parameters := range deployments {
		s, _ := tpl.Deploy(parameters)
		see(name, s)
	}
}

// switches are the parameters that conditions of the template hang on, with the values that make a difference.
// checkReferences says which one is missing.
var switches = []struct {
	parameter string
	values    [2]string
}{
	{"QueueType", [2]string{"standard", "fifo"}},
	{"EventsQueueArn", [2]string{"", othersQueue}},
	{"EventsDlqArn", [2]string{"", othersDlq}},
	{"EffectsReceiveCount", [2]string{"50", "0"}},
	{"Outbox", [2]string{"own", "none"}},
	{"EntitiesStream", [2]string{"none", "NEW_IMAGE"}},
	{"WebhookApi", [2]string{"none", "rest"}},
	{"KmsKeyArn", [2]string{"", aKey}},
	{"PermissionsBoundary", [2]string{"", "arn:aws:iam::123456789012:policy/bound"}},
	{"SenderTopicArn", [2]string{"", senderTopic}},
	{"SenderBucketArn", [2]string{"", senderBucket}},
	{"SenderRuleArn", [2]string{"", senderRule}},
	{"SenderAccounts", [2]string{"", senderAccounts}},
	{"AlarmTopicArn", [2]string{"", "arn:aws:sns:eu-west-1:123456789012:alarms"}},
	{"AlarmEmail", [2]string{"", "somebody@example.com"}},
	{"Dashboard", [2]string{"yes", "no"}},
	{"SweeperEnabled", [2]string{"true", "false"}},
}

// many are so many deployments that every combination of a few switches is among them, the same ones each time: of a
// thousand some 150 are such that the template allows them, and a combination of any three is left out with a chance of
// less than one to 100,000.
var many = sync.OnceValues(func() (sets []map[string]string, err error) {
	tpl, err := Read(root + "/template.yaml")
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		set := map[string]string{}
		for _, s := range switches {
			set[s.parameter] = s.values[random.IntN(2)]
		}
		if tpl.Refuses(set) == nil {
			sets = append(sets, set)
		}
	}
	return sets, nil
})
