// Package stacktest is a deployment for tests of the operator's commands: one endpoint for every service, as LocalStack
// has, so that a command runs as a user would run it, with --endpoint and through the real clients of the SDK.
//
// DynamoDB is an engine of ddb/local, SQS the queues of the terminal's backend. Of CloudFormation and CloudWatch Logs it
// knows the one operation that the commands use.
package stacktest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/stack"
	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/events"
	"inorder/functions"
)

// Cloud is everything that a stack is made of, empty to begin with.
type Cloud struct {
	Endpoint  string // of all services; any credentials do
	Tables    ddb.Tables
	Store     *ddb.Store
	Queues    *backend.Queues
	Variables map[string]string            // the environment of a function, or of a terminal without --stack
	Stacks    map[string]map[string]string // the outputs of CloudFormation's stacks
	Logs      *Logs

	// Denies, where it is set, is asked about each request, and answers it with an error of AWS.
	Denies func(operation string, body []byte) bool

	t       *testing.T
	backend *backend.Backend
	address string // of the engine

	mu    sync.Mutex
	calls map[string]int // by the name of the operation
	sent  int            // messages that were consumed, to number them
}

// Start creates the tables on an engine, and an endpoint that ends with the test. One stack, "prod", has all outputs.
func Start(t *testing.T, engine *local.Engine) *Cloud {
	t.Helper()
	b, err := backend.Open(t.Context(), backend.Choice{Endpoint: engine.Endpoint}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	prefix := "t" + strings.Map(nameable, t.Name())
	tables, err := b.CreateTables(t.Context(), prefix[:min(len(prefix), 200)])
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(engine.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	c := &Cloud{
		Tables: tables, Store: b.Store(tables, nil), Queues: &backend.Queues{Now: time.Now},
		Logs: &Logs{}, t: t, backend: b, address: engine.Endpoint, calls: map[string]int{},
	}
	c.Variables = variables(tables)
	c.Stacks = map[string]map[string]string{"prod": outputs(c.Variables)}
	server := httptest.NewServer(c.handler(httputil.NewSingleHostReverseProxy(to)))
	t.Cleanup(server.Close)
	c.Endpoint = server.URL
	return c
}

// nameable keeps what the name of a table may have.
func nameable(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}

// The names of the queues. Their hosts do not resolve, so that whoever takes one for an address fails.
const (
	EventsURL     = backend.SourceURL
	QuarantineURL = backend.QuarantineURL
	EffectsURL    = backend.EffectsURL
	DLQURL        = backend.SourceURL + "-dlq"
	RepublishURL  = backend.SourceURL + "-republish"
	LogGroup      = "/aws/lambda/consumer"
)

func variables(tables ddb.Tables) map[string]string {
	return map[string]string{
		"ENTITIES_TABLE": tables.Entities, "ITEMS_TABLE": tables.Items,
		"EVENTS_QUEUE_URL": EventsURL, "DLQ_URL": DLQURL, "QUARANTINE_QUEUE_URL": QuarantineURL,
		"REPUBLISH_QUEUE_URL": RepublishURL, "EFFECTS_QUEUE_URL": EffectsURL, "CONSUMER_LOG_GROUP": LogGroup,
	}
}

func outputs(variables map[string]string) map[string]string {
	out := map[string]string{}
	for _, r := range stack.All() {
		if value := variables[r.Variable()]; value != "" {
			out[r.Output()] = value
		}
	}
	return out
}

// Flags are those of a command that runs here, with the variables as its environment and nothing else.
func (c *Cloud) Flags(streams string) stack.Flags {
	return stack.Flags{
		Endpoint: c.Endpoint, Streams: streams,
		Getenv: func(name string) string { return c.Variables[name] },
	}
}

// Setenv puts the variables into the process's environment, for a command that is run by its arguments.
func (c *Cloud) Setenv(t *testing.T) {
	t.Helper()
	for name, value := range c.Variables {
		t.Setenv(name, value)
	}
}

// Streams reads a streams.yaml.
func Streams(t *testing.T, text string) *events.Config {
	t.Helper()
	config, err := events.ParseStreams([]byte(text), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// Consume lets the real consumer have messages at some time, each by itself, in this order.
func (c *Cloud) Consume(streams *events.Config, at time.Time, bodies ...string) {
	c.t.Helper()
	consumer := functions.NewConsumer(c.backend.Parts(streams, c.Tables, nil, c.Queues.Client(nil), func() time.Time { return at }))
	for _, body := range bodies {
		c.sent++
		record := awsevents.SQSMessage{
			MessageId: fmt.Sprintf("m%d", c.sent), Body: body,
			Attributes: map[string]string{"ApproximateReceiveCount": "1"},
		}
		answer, err := consumer.Handle(c.t.Context(), awsevents.SQSEvent{Records: []awsevents.SQSMessage{record}})
		if err != nil {
			c.t.Fatal(err)
		}
		if len(answer.BatchItemFailures) > 0 {
			c.t.Logf("came back: %s", body)
		}
	}
}

// Calls is how often an operation was asked for through the endpoint.
func (c *Cloud) Calls(operation string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[operation]
}

// Writes is how many requests through the endpoint could have changed something.
func (c *Cloud) Writes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for operation, calls := range c.calls {
		switch operation {
		case "GetItem", "BatchGetItem", "Query", "Scan", "DescribeTable", "GetQueueAttributes", "FilterLogEvents", "DescribeStacks":
		default:
			n += calls
		}
	}
	return n
}

// handler tells the services apart: those that speak JSON name their operation in a header, CloudFormation in a form.
func (c *Cloud) handler(dynamodb http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		service, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if service == "" {
			service, operation = "CloudFormation", r.FormValue("Action")
		}
		c.mu.Lock()
		c.calls[operation]++
		c.mu.Unlock()
		if c.denies(r, operation) {
			relay(w, r, refusing{"AccessDeniedException", "not authorized to perform: " + operation})
			return
		}
		switch service {
		case "DynamoDB_20120810":
			dynamodb.ServeHTTP(w, r)
		case "AmazonSQS":
			relay(w, r, c.Queues)
		case "Logs_20140328":
			c.Logs.serve(w, r, operation)
		case "CloudFormation":
			c.describe(w, r)
		default:
			c.t.Errorf("a request to a service that nobody has: %s %s", r.Header.Get("X-Amz-Target"), r.URL)
			http.Error(w, "", http.StatusNotImplemented)
		}
	})
}

func (c *Cloud) denies(r *http.Request, operation string) bool {
	if c.Denies == nil {
		return false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return true // who asked has broken it off, and reads no answer
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return c.Denies(operation, body)
}

// relay answers with what a round tripper says.
func relay(w http.ResponseWriter, r *http.Request, by http.RoundTripper) {
	response, err := by.RoundTrip(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body)
}

// describe answers DescribeStacks as CloudFormation does. A stack without outputs is one whose first deployment failed.
func (c *Cloud) describe(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/xml")
	name := r.FormValue("StackName")
	outputs, there := c.Stacks[name]
	if !there {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>`+
			`<Message>Stack with id %s does not exist</Message></Error></ErrorResponse>`, name)
		return
	}
	status := "UPDATE_COMPLETE"
	if len(outputs) == 0 {
		status = "ROLLBACK_COMPLETE"
	}
	var members bytes.Buffer
	for key, value := range outputs {
		fmt.Fprintf(&members, `<member><OutputKey>%s</OutputKey><OutputValue>%s</OutputValue></member>`, key, value)
	}
	fmt.Fprintf(w, `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>%s</StackName>`+
		`<StackStatus>%s</StackStatus><Outputs>%s</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
		name, status, members.Bytes())
}
