package stack_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/stack/stacktest"
	"inorder/ddb/local"
	"inorder/ordering"
)

// The names of the outputs are a contract with the template.
func TestOutputsAreTheVariablesInCamelCase(t *testing.T) {
	want := map[string]string{
		"ENTITIES_TABLE": "EntitiesTable", "ITEMS_TABLE": "ItemsTable",
		"EVENTS_QUEUE_URL": "EventsQueueUrl", "DLQ_URL": "DlqUrl", "QUARANTINE_QUEUE_URL": "QuarantineQueueUrl",
		"REPUBLISH_QUEUE_URL": "RepublishQueueUrl", "EFFECTS_QUEUE_URL": "EffectsQueueUrl",
		"CONSUMER_LOG_GROUP": "ConsumerLogGroup", "GAP_DEADLINE": "GapDeadline", "PARK_TTL": "ParkTtl",
		"EFFECTS": "Effects",
	}
	for _, r := range stack.All() {
		if want[r.Variable()] != r.Output() {
			t.Errorf("%s is the output %s", r.Variable(), r.Output())
		}
		delete(want, r.Variable())
	}
	if len(want) > 0 {
		t.Errorf("not known: %v", want)
	}
}

// Whether names come from variables or from a stack, and whatever host a queue's URL names, all requests go to the
// endpoint.
func TestEveryRequestGoesToTheEndpoint(t *testing.T) {
	cloud := stacktest.Start(t, local.ForTest(t, local.Dynoxide))
	for _, name := range []string{"", "prod"} {
		flags := cloud.Flags("")
		if flags.Stack = name; name != "" {
			flags.Getenv = func(string) string { return "" }
		}
		c, err := flags.Connect(t.Context(), stack.EntitiesTable, stack.ItemsTable, stack.EventsQueue)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Store().Entity(t.Context(), ordering.Key{Consumer: "c", Stream: "s", ID: "e"}); err != nil {
			t.Error(err)
		}
		_, err = c.SQS().GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
			QueueUrl: aws.String(c.Get(stack.EventsQueue)), AttributeNames: []sqstypes.QueueAttributeName{"All"},
		})
		if err != nil {
			t.Error(err)
		}
	}
	if cloud.Calls("GetItem") != 2 || cloud.Calls("GetQueueAttributes") != 2 || cloud.Calls("DescribeStacks") != 1 {
		t.Error("not every request came to the endpoint")
	}
}

// A tired person reads what to set, all of it at once, and gets the exit code of bad usage.
func TestWhatIsMissingIsNamed(t *testing.T) {
	cloud := stacktest.Start(t, local.ForTest(t, local.Dynoxide))
	delete(cloud.Stacks["prod"], "DlqUrl")
	cloud.Stacks["failed"] = nil
	empty := func(string) string { return "" }
	for _, row := range []struct {
		name  string
		flags stack.Flags
		want  []string
	}{
		{"no variables", stack.Flags{Endpoint: cloud.Endpoint, Getenv: empty}, []string{
			"the name of the entities table: set ENTITIES_TABLE, or name with --stack NAME a stack that has the output EntitiesTable",
			"the URL of the dead-letter queue: set DLQ_URL, or name with --stack NAME a stack that has the output DlqUrl",
		}},
		{"a stack that lacks one, which the environment has", stack.Flags{Endpoint: cloud.Endpoint, Stack: "prod", Getenv: func(string) string { return "x" }}, []string{
			"the URL of the dead-letter queue: stack prod has no output DlqUrl", "from DLQ_URL",
		}},
		{"no such stack", stack.Flags{Endpoint: cloud.Endpoint, Stack: "prd", Getenv: empty}, []string{"there is no stack prd in region us-east-1"}},
		{"a stack that never came to be", stack.Flags{Endpoint: cloud.Endpoint, Stack: "failed", Getenv: empty}, []string{"stack failed has no outputs: it is ROLLBACK_COMPLETE"}},
		{"no URL", stack.Flags{Endpoint: cloud.Endpoint, Getenv: func(string) string { return "events" }}, []string{`(DLQ_URL) is not the URL of a queue`, `"events"`}},
	} {
		_, err := row.flags.Connect(t.Context(), stack.EntitiesTable, stack.DLQ)
		if stack.ExitCode(err) != stack.ExitUsage {
			t.Errorf("%s: exit %d: %v", row.name, stack.ExitCode(err), err)
			continue
		}
		for _, want := range row.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q lacks %q", row.name, err, want)
			}
		}
	}
}

// Without --endpoint nothing is guessed: a region has to be said.
func TestWithoutARegionNothingIsAsked(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	flags := stack.Flags{Getenv: func(string) string { return "x" }}
	if _, err := flags.Connect(t.Context(), stack.EntitiesTable); stack.ExitCode(err) != stack.ExitUsage || !strings.Contains(err.Error(), "--region") {
		t.Error(err)
	}
}

// What the deployment overrides in streams.yaml holds for the operator too.
func TestTheDeploymentsDefaultsHoldForStreams(t *testing.T) {
	variables := map[string]string{"GAP_DEADLINE": "90s", "STREAMS_FILE": "testdata/streams.yaml"}
	flags := stack.Flags{Endpoint: "http://127.0.0.1:1", Getenv: func(name string) string { return variables[name] }}
	c, err := flags.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	streams, err := c.Streams()
	if err != nil {
		t.Fatal(err)
	}
	if got := streams.Stream("ledger").GapDeadline.String(); got != "1m30s" {
		t.Errorf("the gap deadline is %s", got)
	}
	for variable, value := range map[string]string{"GAP_DEADLINE": "soon", "PARK_TTL": "-1h", "STREAMS_FILE": "nowhere.yaml"} {
		old := variables[variable]
		variables[variable] = value
		c, err := flags.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Streams(); stack.ExitCode(err) != stack.ExitUsage || !strings.Contains(err.Error(), value) {
			t.Errorf("%s=%s: %v", variable, value, err)
		}
		variables[variable] = old
	}
}
