package template

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"inorder/cmd/inorder/stack/stacktest"
	"inorder/ddb"
	"inorder/ddb/local"
)

// played is what the functions, a producer and an operator asked AWS for in one play, by who it was.
type played map[string]permissions

var (
	thePlay played
	playing sync.Mutex
)

// play lets the real functions run once, with the variables that the template gives them, and the commands with its
// outputs, and notes every request of each: so much at least must be allowed.
func play(t *testing.T) played {
	t.Helper()
	playing.Lock()
	defer playing.Unlock()
	if thePlay == nil {
		p := newPlay(t, standard(t))
		p.dayOfTheFunctions()
		p.dayOfTheOperator()
		thePlay = p.asked
	}
	return thePlay
}

// stage is where it is played: tables on an engine and queues in memory, called as in the template.
type stage struct {
	t     *testing.T
	cloud *stacktest.Cloud
	stack *Stack
	now   time.Time
	asked played

	mu  sync.Mutex
	who string // whose requests they are now
}

// theStack stands for the stack itself, which no output tells.
const theStack = "the stack"

func newPlay(t *testing.T, s *Stack) *stage {
	t.Helper()
	engine := local.ForTest(t, local.Dynoxide)
	p := &stage{t: t, cloud: stacktest.Start(t, engine), stack: s, now: time.Now(), asked: played{}}
	tables := ddb.Tables{Entities: p.output("EntitiesTable"), Items: p.output("ItemsTable")}
	if err := ddb.CreateTables(t.Context(), engine.Client(), tables); err != nil {
		t.Fatal(err)
	}
	if err := ddb.CreateOutbox(t.Context(), engine.Client(), p.output("OutboxTable")); err != nil {
		t.Fatal(err)
	}
	p.cloud.Stacks["inorder"] = map[string]string{}
	for name, value := range s.Outputs {
		p.cloud.Stacks["inorder"][name] = fmt.Sprint(value)
	}
	p.cloud.Stacks["inorder"]["ConsumerLogGroup"] = stacktest.LogGroup // the one that it knows
	p.cloud.Denies = p.note
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": p.cloud.Endpoint, "AWS_REGION": Region, "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	return p
}

func (p *stage) output(name string) string { return fmt.Sprint(p.stack.Outputs[name]) }

// note notes a request. It denies none but the effects of a consumer that is to owe some.
func (p *stage) note(operation string, body []byte) bool {
	var in struct {
		TableName, IndexName, QueueUrl, LogGroupName string
		RequestItems                                 map[string]any
		TransactItems                                []map[string]struct{ TableName string }
	}
	if operation != "DescribeStacks" { // it comes in a form
		if err := json.Unmarshal(body, &in); err != nil {
			p.t.Errorf("%s: %v", operation, err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	who, _, _ := strings.Cut(p.who, " ")
	if p.asked[who] == nil {
		p.asked[who] = permissions{}
	}
	noted := func(asked, resource string) { p.asked[who][permission{action(asked), p.called(resource)}] = true }
	switch {
	case operation == "DescribeStacks":
		p.asked[who][permission{"cloudformation:DescribeStacks", theStack}] = true
	case operation == "FilterLogEvents":
		noted("cloudwatchlogs."+operation, p.output("ConsumerLogGroup"))
	case in.QueueUrl != "":
		noted("sqs."+operation, in.QueueUrl)
	case operation == "TransactWriteItems":
		for _, item := range in.TransactItems {
			for part, of := range item {
				noted("dynamodb/types."+part, of.TableName)
			}
		}
	default:
		for table := range in.RequestItems {
			noted("dynamodb."+operation, table)
		}
		if in.TableName != "" {
			noted("dynamodb."+operation, strings.TrimSuffix(in.TableName+"/index/"+in.IndexName, "/index/"))
		}
	}
	return strings.HasSuffix(p.who, "owes") && in.QueueUrl == p.output("EffectsQueueUrl")
}

// called is the output that tells a resource's name.
func (p *stage) called(resource string) string {
	name, index, _ := strings.Cut(resource, "/index/")
	for output, value := range p.stack.Outputs {
		if value == name {
			return strings.TrimSuffix(output+"/index/"+index, "/index/")
		}
	}
	p.t.Errorf("%s asks for %q, which no output tells", p.who, resource)
	return resource
}

// as changes whose requests they are.
func (p *stage) as(who string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.who = who
}

// post puts a message into a queue, as if it had come there.
func (p *stage) post(output, body string) {
	_, err := p.cloud.Queues.Client(nil).SendMessage(p.t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(p.output(output)), MessageBody: &body})
	p.must(err)
}

// getenv are a function's variables, with the streams of the play.
func (p *stage) getenv(folder string) func(string) string {
	streams := p.file("streams.yaml", playedStreams)
	variables := p.stack.variables()[folder]
	return func(name string) string {
		if name == "STREAMS_FILE" {
			return streams
		}
		return variables[name]
	}
}

func (p *stage) clock() time.Time { return p.now }

func (p *stage) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%s: %v", p.who, err)
	}
}
