//go:build unix

package postgresql_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
	"inorder/ordering/memory"
)

// nobody is the queues that nothing must be sent to.
type nobody struct{}

func (nobody) SendMessage(_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	return nil, errors.New("sent: " + *in.MessageBody)
}

// consumption is a real consumer on a store in memory.
type consumption struct {
	*functions.Consumer
	store *memory.Store
	sent  int
}

func consume() *consumption {
	c := &consumption{store: &memory.Store{}}
	c.Consumer = functions.NewConsumer(functions.Parts{
		Streams: streams(), Store: c.store, SQS: nobody{}, Metrics: io.Discard, Now: time.Now,
	})
	return c
}

// deliver fails the test when a message comes back.
func (c *consumption) deliver(t *testing.T, bodies ...string) {
	t.Helper()
	for len(bodies) > 0 {
		var batch awsevents.SQSEvent
		for _, body := range bodies[:min(10, len(bodies))] {
			c.sent++
			batch.Records = append(batch.Records, awsevents.SQSMessage{
				MessageId: fmt.Sprintf("m%d", c.sent), Body: body, EventSource: "aws:sqs",
				EventSourceARN: "arn:aws:sqs:eu-west-1:123456789012:events",
			})
		}
		bodies = bodies[len(batch.Records):]
		answer, err := c.Handle(t.Context(), batch)
		if err != nil || len(answer.BatchItemFailures) > 0 {
			t.Fatalf("%v, and %v come back", err, answer.BatchItemFailures)
		}
	}
}

func (c *consumption) entity(t *testing.T, id string) *ordering.Entity {
	t.Helper()
	e, err := c.store.Entity(t.Context(), ordering.Key{Consumer: "c", Stream: streamOf(id), ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Whatever is lost on the way, the last events too: marks show it, and the answers to what is then asked for close it.
func TestAConsumerGetsThereInTheEnd(t *testing.T) {
	db := newDatabase(t, schemaSQL, sequenceSchemaSQL)
	const entities, each = 5, 10
	for i := range entities * each {
		mustWrite(t, db, fmt.Sprintf("s%d", i%entities), fmt.Sprintf("plan%d", i))
		if i%3 == 0 { // numbers that were drawn and rolled back
			one[int64](t, db, `SELECT next_number('price_number')`)
		}
		mustPrice(t, db, fmt.Sprint(i))
	}
	c := consume()
	random := rand.New(rand.NewPCG(1, 1))
	lost := map[string][]int64{} // entity → numbers
	last := map[string]int64{}
	var arrives []string
	for _, body := range column[string](t, db, `UPDATE outbox SET sent_at = now() - interval '6 minutes' RETURNING body`) {
		e := decode(t, body)
		last[e.EntityID] = max(last[e.EntityID], e.Seq)
		if random.IntN(3) == 0 {
			lost[e.EntityID] = append(lost[e.EntityID], e.Seq)
			continue
		}
		arrives = append(arrives, body)
		if random.IntN(5) == 0 {
			arrives = append(arrives, body)
		}
	}
	random.Shuffle(len(arrives), func(i, j int) { arrives[i], arrives[j] = arrives[j], arrives[i] })
	c.deliver(t, arrives...)

	marks := &queue{}
	if _, err := job(t.Context(), db, markSQL, markedSQL, marks, false); err != nil {
		t.Fatal(err)
	}
	c.deliver(t, marks.bodies...)
	for id, newest := range last {
		if e := c.entity(t, id); max(e.MaxSeen, e.Applied) != newest {
			t.Errorf("after the marks %s knows of %d numbers, not %d", id, e.MaxSeen, newest)
		}
	}

	for id := range last {
		r := request(id, events.Range{First: 1, Last: last[id]})
		r.Stream = streamOf(id)
		c.deliver(t, column[string](t, db, republishSQL, text(t, r))...)
		if e := c.entity(t, id); e.Applied != last[id] {
			t.Errorf("%s is at %d of %d; lost were %v", id, e.Applied, last[id], lost[id])
		}
	}
	for i := range entities {
		id := fmt.Sprintf("s%d", i)
		if plan := one[string](t, db, `SELECT plan FROM subscription WHERE id = $1`, id); c.entity(t, id).State["plan"] != plan {
			t.Errorf("%s has %v, the producer says %s", id, c.entity(t, id).State, plan)
		}
	}
}

func streamOf(id string) string {
	if id == "eur" {
		return "prices"
	}
	return "subscription"
}
