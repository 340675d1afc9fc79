package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"

	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

// countingOutbox counts what a request reads.
type countingOutbox struct {
	*fakeOutbox
	heads, queries, rows int
}

func (c *countingOutbox) Head(ctx context.Context, key ddb.OutboxKey) (ordering.Position, bool, error) {
	c.heads++
	return c.fakeOutbox.Head(ctx, key)
}

func (c *countingOutbox) Rows(ctx context.Context, key ddb.OutboxKey, gen, first, last int64) iter.Seq2[ddb.OutboxRow, error] {
	c.queries++
	return func(yield func(ddb.OutboxRow, error) bool) {
		for row, err := range c.fakeOutbox.Rows(ctx, key, gen, first, last) {
			c.rows++
			if !yield(row, err) {
				return
			}
		}
	}
}

// What may ask the relay may cost it a window of rows and a thousand queries, and no more, whatever it names: the producer's table
// and the events queue are not at the mercy of whoever can write into the republish queue.
func TestRepublishRequestsCannotBeAbused(t *testing.T) {
	const window = 20
	many := *hostileBytes / 17
	request := func(stream, entity, ranges string) string {
		return fmt.Sprintf(`{"consumer":"somebody","stream":%q,"entity_id":%q,"ranges":[%s]}`, stream, entity, ranges)
	}
	all := fmt.Sprintf("[1,%d]", int64(math.MaxInt64))
	type bound struct{ heads, queries, sends int }
	refused := bound{}
	abuses := []struct {
		name, body string
		most       bound
		back       bool
	}{
		{"all numbers", request("ledger", "a", all), refused, true},
		{"all numbers, a thousand times", request("ledger", "a", strings.Repeat(all+",", 999)+all), refused, true},
		{"the highest number alone", request("ledger", "a", fmt.Sprintf("[%[1]d,%[1]d]", int64(math.MaxInt64))), bound{heads: 1}, false},
		{"one more than a window", request("ledger", "a", "[1,21]"), refused, true},
		{"a window", request("ledger", "a", "[1,20]"), bound{1, 1, window + 1}, false},
		{"a window in single numbers, in no order", request("ledger", "a", "[19,19],[1,1],[3,3],[17,17],[5,5],[7,7],[9,9],[15,15],[11,11],[13,13]"), bound{1, 10, 11}, false},
		{"one number, very many times", request("ledger", "a", strings.Repeat("[2,2],", many)+"[2,2]"), bound{1, 1, 1}, false},
		{"overlapping, very many times", request("ledger", "a", strings.Repeat("[1,15],[5,20],", many)+"[2,3]"), bound{1, 1, window + 1}, false},
		{"very many single numbers", request("ledger", "a", numbered(many, "[%[1]d0,%[1]d0]")), refused, true},
		{"reversed", request("ledger", "a", "[9,1]"), refused, true},
		{"from zero", request("ledger", "a", "[0,9]"), refused, true},
		{"negative", request("ledger", "a", "[-9,-1]"), refused, true},
		{"more than a number holds", request("ledger", "a", "[1,9223372036854775808]"), refused, true},
		{"fractions", request("ledger", "a", "[1.5,2]"), refused, true},
		{"no pair", request("ledger", "a", "[1,2,3]"), refused, true},
		{"no ranges", request("ledger", "a", ""), refused, true},
		{"somebody's entity who does not exist", request("ledger", "nobody", "[1,20]"), bound{heads: 1}, false},
		{"an entity as long as a message", request("ledger", strings.Repeat("x", *hostileBytes*9/10), "[1,20]"), refused, true},
		{"a stream that is none", request("nobodys", "a", "[1,20]"), refused, true},
		{"a stream without numbers", request("chat", "a", "[1,20]"), refused, true},
		{"a thousand numbers of a state", request("plan", "a", "[1,1000]"), bound{1, 1, 3}, false},
		{"a generation below all", strings.Replace(request("ledger", "a", "[1,20]"), `"stream"`, `"generation":-1,"stream"`, 1), refused, true},
		{"a generation that is over", strings.Replace(request("meter", "house", "[1,20]"), `"stream"`, `"source":"north","generation":0,"stream"`, 1), bound{1, 1, 2}, false},
		{"a generation above all", strings.Replace(request("ledger", "a", "[1,20]"), `"stream"`, `"generation":9999999999,"stream"`, 1), bound{heads: 1}, false},
		{"a note of the highest number", fmt.Sprintf(`{"type":"inorder.note","stream":"ledger","entity_id":"a","seq":%d}`, int64(math.MaxInt64)), bound{heads: 1}, false},
	}
	for _, abuse := range abuses {
		t.Run(abuse.name, func(t *testing.T) {
			if len(abuse.body) > maxMessageBytes {
				t.Fatalf("%d bytes: SQS would not take it", len(abuse.body))
			}
			b := newRelayBench(t)
			outbox := &countingOutbox{fakeOutbox: b.outbox}
			b.Relay.outbox = outbox
			for n := int64(1); n <= 30; n += 2 {
				b.outbox.wrote("ledger/a", n, n+1)
			}
			b.outbox.wrote("plan/a", 3, 1000)
			b.outbox.wrote("meter/house/north", 1)
			got := b.handle(t, t.Context(), queueBatch(t, abuse.body))
			if back := got != `{"batchItemFailures":[]}`; back != abuse.back {
				t.Errorf("answers %s, want it back: %t; said %.500s", got, abuse.back, b.logs)
			}
			sent := len(b.sqs.bodies(eventsURL)) + len(b.sqs.bodies(republishURL))
			if outbox.heads > abuse.most.heads || outbox.queries > abuse.most.queries || outbox.rows > window || sent > abuse.most.sends {
				t.Errorf("reads %d heads, %d rows by %d queries, sends %d; at most %+v", outbox.heads, outbox.rows, outbox.queries, sent, abuse.most)
			}
			if b.logs.Len() > 4*maxLoggedBytes {
				t.Errorf("logs %d bytes", b.logs.Len())
			}
		})
	}
	t.Logf("proof: %d abuses of the republish queue: none reads more rows than a window has or sends more than those and one void, "+
		"nor makes more than one query for each range", len(abuses))
}

// A sweeper asks in messages that SQS takes, each within what the relay answers, also of an entity with the longest id, the highest
// numbers, and as many holes as its window has.
func TestRequestsFitIntoMessages(t *testing.T) {
	wide := strings.Replace(relayStreams, "window: 20", fmt.Sprint("window: ", min(*hostileBytes/10, 100_000)), 1)
	config, err := events.ParseStreams([]byte(wide), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := config.Stream("ledger")
	e := &ordering.Entity{Exists: true}
	e.Gen = ddb.MaxGeneration
	e.Applied = math.MaxInt64 - s.Window - 1
	for n := e.Applied + 2; n < math.MaxInt64-1; n += 2 {
		e.Waiting = append(e.Waiting, n)
	}
	e.MaxSeen = e.Waiting.Max()
	request := events.RepublishRequest{
		Consumer: "c", Stream: s.Name, EntityID: strings.Repeat("\x01", 2000), Source: strings.Repeat("\u2028", 500), Generation: e.Gen,
		Attempt: math.MaxInt32, RequestedAt: "2026-01-01T00:00:00.000000000Z",
	}
	requests, largest, numbers := ordering.RequestsFor(request, e, s), 0, int64(0)
	for _, r := range requests {
		var sent fakeSQS
		if err := (&Republish{SQS: &sent, URL: republishURL}).Request(t.Context(), []events.RepublishRequest{r}); err != nil {
			t.Fatal(err)
		}
		body := *sent.sent[0].MessageBody
		largest, numbers = max(largest, len(body)), numbers+numbersIn(r.Ranges)
		var back events.RepublishRequest
		if err := json.Unmarshal([]byte(body), &back); err != nil || len(back.Ranges) > maxAnsweredRanges {
			t.Errorf("%d ranges, %v", len(back.Ranges), err)
		}
	}
	if numbers != s.Window/2-1 || largest > maxMessageBytes/4 {
		t.Errorf("%d numbers in %d messages, the largest of %d bytes", numbers, len(requests), largest)
	}
	t.Logf("proof: %d holes in a window of %d, at the highest numbers: %d requests of at most %d bytes", numbers, s.Window, len(requests), largest)
}
