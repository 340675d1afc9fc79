package template

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/bootstrap"
	"inorder/cmd/inorder/gaps"
	"inorder/cmd/inorder/inspect"
	"inorder/cmd/inorder/reconcile"
	"inorder/cmd/inorder/redrive"
	"inorder/cmd/inorder/republish"
	"inorder/cmd/inorder/skip"
	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/tail"
	"inorder/ddb"
	"inorder/functions"
	"inorder/functions/projections"
	"inorder/ordering"
)

const playedStreams = `
consumer: billing-view
streams:
  - {name: doc, types: [DocSet], mode: state, clock: entity}
  - {name: card, types: [CardSet], mode: state, clock: attribute, dedup: marker}
  - {name: seats, types: [SeatsAdded], mode: delta, projection: {sum: {n: data.n}}}
  - {name: tally, types: [Counted], mode: delta, order: {by: none}, projection: {sum: {n: data.n}}}
  - {name: ledger, types: [Posted], mode: step, effects: true, max_park_age: 20d, projection: {sum: {n: data.n}}}
`

const day = 24 * time.Hour

// dayOfTheFunctions has in it what consumer and sweeper do about tables and queues.
func (p *stage) dayOfTheFunctions() {
	p.deliver("consumer",
		`{"event_id":"d1","type":"DocSet","entity_id":"d","seq":1,"data":{"n":1}}`,
		`{"event_id":"c1","type":"CardSet","entity_id":"c","seq":1,"data":{"n":1}}`,
		`{"event_id":"s3","type":"SeatsAdded","entity_id":"s","seq":3,"data":{"n":1}}`,
		`{"event_id":"s1","type":"SeatsAdded","entity_id":"s","seq":1,"data":{"n":1}}`,
		`{"event_id":"t1","type":"Counted","entity_id":"t","data":{"n":1}}`,
		`this is no JSON`)
	p.deliver("consumer", posted("a", 1, 3, 2)...) // in order, early, and what the early one waits for
	p.deliver("consumer", posted("b", 2, 3)...)    // stays open
	p.deliver("consumer owes", posted("owing", 1)...)
	p.sweep() // sends what is owed
	p.now = p.now.Add(10 * day)
	p.deliver("consumer", posted("b", 3)...) // a copy of a row that has less than half of its time left
	p.sweep()                                // asks, and extends the others
	p.dayOfTheProducer()
	p.now = p.now.Add(15 * day)
	p.sweep() // takes out what waits for too long
}

// deliver lets a consumer that remembers nothing have some bodies, each in a batch of its own.
func (p *stage) deliver(who string, bodies ...string) {
	p.t.Helper()
	p.as(who)
	consumer, err := functions.StartConsumer(p.t.Context(), p.getenv("consumer"), io.Discard, p.clock, projections.All())
	p.must(err)
	for i, body := range bodies {
		answer, err := consumer.Handle(p.t.Context(), awsevents.SQSEvent{Records: []awsevents.SQSMessage{{MessageId: fmt.Sprint("m", i), Body: body}}})
		p.must(err)
		if back := len(answer.BatchItemFailures) > 0; back != strings.HasSuffix(who, "owes") {
			p.t.Fatalf("the %s gave back %s: %v", who, body, back)
		}
	}
}

// posted are the bodies of an account's steps.
func posted(account string, seqs ...int64) (bodies []string) {
	for _, seq := range seqs {
		bodies = append(bodies, fmt.Sprintf(`{"event_id":"%s-%d","type":"Posted","entity_id":"%s","seq":%d,"data":{"n":1}}`, account, seq, account, seq))
	}
	return bodies
}

func (p *stage) sweep() {
	p.t.Helper()
	p.as("sweeper")
	sweeper, err := functions.StartSweeper(p.t.Context(), p.getenv("sweeper"), io.Discard, p.clock, projections.All())
	p.must(err)
	p.must(sweeper.Sweep(p.t.Context()))
}

// dayOfTheProducer writes to the outbox, and lets the relay send what is new, answer a request, and look at its notes.
func (p *stage) dayOfTheProducer() {
	p.as("producer")
	outbox, err := functions.StartOutbox(p.t.Context(), func(name string) string { return p.output(camel(name)) }, p.clock)
	p.must(err)
	key, body := ddb.OutboxKey{Stream: "ledger", EntityID: "b"}, ""
	at, err := outbox.Write(p.t.Context(), ddb.OutboxWrite{Key: key, Draft: func(at ordering.Position) (ddb.OutboxDraft, error) {
		body = posted(key.EntityID, at.Seq)[0]
		return ddb.OutboxDraft{Event: []byte(body)}, nil
	}})
	p.must(err)
	p.relay(map[string]any{"eventSource": "aws:dynamodb", "eventName": "INSERT", "dynamodb": map[string]any{
		"SequenceNumber": "1",
		"Keys":           map[string]any{"_pk": typed(ddb.OutboxPK(key)), "_sk": typed(fmt.Sprintf("%010d.%019d", at.Gen, at.Seq))},
		"NewImage":       map[string]any{"event": typed(body)},
	}})
	for _, m := range p.cloud.Queues.Sent(p.output("RepublishQueueUrl")) { // the sweeper's requests, and the relay's note
		p.relay(map[string]any{"eventSource": "aws:sqs", "messageId": m.ID, "body": m.Body})
	}
}

// typed is a text as DynamoDB writes it.
func typed(s string) map[string]any { return map[string]any{"S": s} }

func (p *stage) relay(record any) {
	p.t.Helper()
	p.as("relay")
	relay, err := functions.StartRelay(p.t.Context(), p.getenv("relay"), io.Discard, p.clock, projections.All())
	p.must(err)
	batch, err := json.Marshal(map[string]any{"Records": []any{record}})
	p.must(err)
	answer, err := relay.Handle(p.t.Context(), batch)
	p.must(err)
	if said, err := json.Marshal(answer); err != nil || string(said) != `{"batchItemFailures":[]}` {
		p.t.Fatalf("the relay answered %s, %v to %s", said, err, batch)
	}
}

// reads and changes are the operator's commands by the policy that they need; those that change need both. What they do
// without --yes, or with --dry-run, needs the policy that reads, but redrive's preview: it receives messages, which hides
// them for a while, as nobody who only reads should.
var (
	reads   = []string{"gaps", "inspect", "tail", "reconcile"}
	changes = []string{"skip", "republish", "redrive", "bootstrap"}
)

// dayOfTheOperator is every command, as it reads and as it changes.
func (p *stage) dayOfTheOperator() {
	p.deliver("consumer", strings.Replace(posted("x", 2)[0], `"n":1`, `"n":"not a number"`, 1)) // it cannot be applied
	p.deliver("consumer", posted("y", 2)...)
	p.deliver("consumer", posted("z", 2)...)
	p.post("DlqUrl", posted("a", 1)[0])
	flags := stack.Flags{Stack: "inorder", Region: Region, Streams: p.file("streams.yaml", playedStreams)}
	x, z := stack.Entity{Stream: "ledger", Entity: "x"}, stack.Entity{Stream: "ledger", Entity: "z"}
	truth := p.file("truth.jsonl", `{"stream":"ledger","entity_id":"x","applied":0}`+"\n")
	snapshot := p.file("snapshot.jsonl", `{"stream":"ledger","entity_id":"y","applied":1,"state":{"n":1}}`+"\n"+
		`{"stream":"card","entity_id":"k","seq":1,"state":{"n":1}}`+"\n"+`{"stream":"doc","entity_id":"k","seq":1,"state":{"n":1}}`+"\n")
	p.run("reads", &gaps.Command{Flags: flags})
	p.run("reads", &inspect.Command{Flags: flags, Entity: x, Logs: true, Since: "1d", History: 20})
	p.run("reads", &tail.Command{Flags: flags, Once: true, Every: time.Minute})
	p.run("reads", &reconcile.Command{Flags: flags, Truth: truth, Parallel: 1})
	for _, yes := range []bool{false, true} {
		who := map[bool]string{false: "reads", true: "changes"}[yes]
		p.run(who, &republish.Command{Flags: flags, Entity: x, DryRun: !yes})
		p.run(who, &skip.Command{Flags: flags, Entity: x, Through: 2, Reason: "lost", By: "ada", Yes: yes}) // a copy to quarantine
		p.run(who, &skip.Command{Flags: flags, Entity: z, Through: 1, Reason: "lost", By: "ada", Yes: yes}) // number 2 has an effect
		p.run("changes", &redrive.Command{Flags: flags, From: "dlq", Rate: 100, Yes: yes})
		p.run("changes", &redrive.Command{Flags: flags, From: "quarantine", Rate: 100, Yes: yes})
		p.run(who, &bootstrap.Command{Flags: flags, File: snapshot, Yes: yes})
	}
}

func (p *stage) file(name, content string) string {
	path := filepath.Join(p.t.TempDir(), name)
	p.must(os.WriteFile(path, []byte(content), 0o600))
	return path
}

// run is one command.
func (p *stage) run(who string, c interface {
	Run(ctx context.Context, out, notes io.Writer) (int, error)
},
) {
	p.t.Helper()
	p.as(who)
	var out bytes.Buffer
	if code, err := c.Run(p.t.Context(), &out, &out); code == stack.ExitUsage || err != nil {
		p.t.Errorf("%T: %v\n%s", c, err, out.String())
	}
}
