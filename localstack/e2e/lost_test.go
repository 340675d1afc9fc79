package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// The schedule calls the sweeper within a minute, and again a minute later: the first one asks for what lacks in the
// middle, and one of the two for what the marks told of. A third one is for a machine that is slow.
const healTimeout = 10 * time.Minute

// losses are what the network loses of what is written, by entity: first, middle and last ones, and all of one entity.
var losses = map[entityName][]int64{
	{"ledger", "lost-middle"}:      {3, 4},
	{"ledger", "lost-first"}:       {1},
	{"ledger", "lost-last"}:        {8},
	{"ledger", "lost-several"}:     {2, 5, 7, 8},
	{"ledger", "lost-all"}:         {1, 2, 3, 4, 5, 6, 7, 8},
	{"ledger", "lost-none"}:        {},
	{"seats", "lost-seats"}:        {2, 8},
	{"subscription", "lost-state"}: {7, 8},
}

const writtenEach = 8

// E1: events that are lost between producer and consumer, some in the middle and some at the end, where only the relay's
// marks can tell of them, are asked for by the sweeper's schedule and sent again by the relay.
func TestLostOnesAreHealed(t *testing.T) {
	s := begin(t)
	// Before the others begin: what waits in the queue now is what is written here.
	defer s.enable(t, true) // however this ends, the others need it
	s.enable(t, false)
	s.awaitStill(t)
	want, effects := s.writeAll(t)
	began := time.Now()
	s.sendLossy(t, s.takeAll(t, len(losses)*writtenEach))
	s.enable(t, true)
	t.Parallel()

	s.until(t, healTimeout, "healing", func() string { return s.missing(t.Context(), want) })
	t.Logf("healed after %.0f s", time.Since(began).Seconds())
	s.until(t, applyTimeout, "effects", func() string { return s.effects.lack("lost-middle", effects) + s.effects.lack("lost-last", effects) })
	s.checkRequests(t)
}

// mapping finds the event source mapping of a function and a queue.
func (s *stack) mapping(t *testing.T, function, queueARN string) string {
	t.Helper()
	out, err := s.lambda.ListEventSourceMappings(t.Context(), &lambda.ListEventSourceMappingsInput{
		FunctionName: aws.String(s.name + "-" + function), EventSourceArn: aws.String(s.outputs[queueARN]),
	})
	if err != nil || len(out.EventSourceMappings) != 1 {
		t.Fatalf("the mapping of %s: %v, %v", function, out, err)
	}
	return aws.ToString(out.EventSourceMappings[0].UUID)
}

// enable pauses the consumer and lets it go on, as docs/deploy.md says: by an update of the stack that changes a parameter and
// nothing else.
func (s *stack) enable(t *testing.T, enabled bool) {
	t.Helper()
	s.change(t, "ConsumerEnabled", fmt.Sprint(enabled))
	mapping, want := s.mapping(t, consumerFunction, "EventsQueueArn"), map[bool]string{true: "Enabled", false: "Disabled"}[enabled]
	s.until(t, readyTimeout, "the mapping", func() string {
		out, err := s.lambda.GetEventSourceMapping(t.Context(), &lambda.GetEventSourceMappingInput{UUID: &mapping})
		if err != nil {
			return err.Error()
		}
		if state := aws.ToString(out.State); state != want {
			return fmt.Sprintf("the state %s; it is %s", want, state)
		}
		return ""
	})
}

// stillFor is longer than a poller waits for a batch to be full: one that polled before takes nothing any more. It is also longer
// than the relay waits for SQS before it sends once more.
const stillFor = 3 * time.Second

const probe = `{"event_id":"probe:1","type":"PlanChanged","seq":1,"data":{"subscription_id":"probe"}}`

// awaitStill returns when nobody takes messages from the events queue: a mapping is called disabled while its pollers
// still wait for their last batch.
func (s *stack) awaitStill(t *testing.T) {
	t.Helper()
	var since time.Time
	s.until(t, readyTimeout, "the end of polling", func() string {
		all, err := s.look(t.Context(), eventsQueue)
		if err != nil {
			return err.Error()
		}
		switch d := s.depths(t.Context(), s.url(eventsQueue)); {
		case !slices.ContainsFunc(all, func(m seen) bool { return m.is(probe) }): // it was taken, or this is the first time
			s.sendBodies(t, probe)
			since = time.Now()
		case d.inFlight != "0": // somebody has it
			since = time.Now()
		}
		if still := time.Since(since); still < stillFor {
			return fmt.Sprintf("a message that nobody takes for %v; it lies there for %v", stillFor, still)
		}
		return ""
	})
	s.takeAll(t, 1)
}

// writeAll writes each entity's events into the outbox; the table's stream brings them to the relay.
func (s *stack) writeAll(t *testing.T) (want expectations, effects []int64) {
	t.Helper()
	want = expectations{}
	for seq := int64(1); seq <= writtenEach; seq++ {
		effects = append(effects, seq)
		for name := range losses {
			kind, said := writtenEvent(name, seq)
			if got, err := s.write(t.Context(), name.stream, name.id, kind, said); err != nil || got != seq {
				t.Fatalf("write %v %d: it became %d, %v", name, seq, got, err)
			}
		}
	}
	for name := range losses {
		switch name.stream {
		case "ledger":
			want[name] = expectation{state: `{"balance": 36.8, "currency": "EUR"}`, applied: writtenEach}
		case "seats":
			want[name] = expectation{state: `{"seats": 36}`, applied: writtenEach}
		case "subscription":
			want[name] = expectation{state: fmt.Sprintf(`{"subscription_id": %q, "plan": "p8", "note": %q}`, name.id, secret)}
		}
	}
	return want, effects
}

func writtenEvent(name entityName, seq int64) (kind string, said data) {
	switch name.stream {
	case "ledger":
		return "EntryPosted", data{"account": name.id, "amount": json.Number(fmt.Sprintf("%d.1", seq)), "currency": "EUR", "note": secret}
	case "seats":
		return "SeatsAdded", data{"subscription_id": name.id, "delta": seq, "note": secret}
	}
	return "PlanChanged", data{"subscription_id": name.id, "plan": fmt.Sprintf("p%d", seq), "note": secret}
}

// takeAll takes so many events from the queue, and what else came, which are marks, and copies of what SQS had not confirmed in
// time.
func (s *stack) takeAll(t *testing.T, events int) (bodies []string) {
	t.Helper()
	url, different, last := s.url(eventsQueue), map[string]bool{}, time.Now()
	s.until(t, readyTimeout, "the relay's messages", func() string {
		out, err := s.sqs.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10})
		if err != nil {
			return err.Error()
		}
		for _, m := range out.Messages {
			last = time.Now()
			bodies = append(bodies, aws.ToString(m.Body))
			if !strings.Contains(aws.ToString(m.Body), `"inorder.mark"`) {
				different[aws.ToString(m.Body)] = true
			}
			if _, err := s.sqs.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle}); err != nil {
				return err.Error()
			}
		}
		if still := time.Since(last); len(different) < events || still < stillFor {
			return fmt.Sprintf("%d events in the queue, and then none; so far %d came, the last one %v ago", events, len(different), still)
		}
		return ""
	})
	if len(different) != events {
		t.Fatalf("the relay sent %d events, and %d were written", len(different), events)
	}
	return bodies
}

// sendLossy is the network: it loses some, and brings the others in any order, every third one twice.
func (s *stack) sendLossy(t *testing.T, bodies []string) {
	t.Helper()
	h := newHistory(t, "lost-")
	lost := 0
	for i, body := range bodies {
		if isLost(t, body) {
			lost++
			continue
		}
		h.messages = append(h.messages, message{body: body})
		if i%3 == 0 {
			h.messages = append(h.messages, message{body: body})
		}
	}
	h.random.Shuffle(len(h.messages), func(i, j int) { h.messages[i], h.messages[j] = h.messages[j], h.messages[i] })
	t.Logf("of %d messages %d are lost", len(bodies), lost)
	s.send(t, h.messages...)
}

func isLost(t *testing.T, body string) bool {
	t.Helper()
	var e struct {
		Type     string
		EntityID string `json:"entity_id"`
		Seq      int64
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	stream := map[string]string{"EntryPosted": "ledger", "SeatsAdded": "seats", "PlanChanged": "subscription"}[e.Type]
	return slices.Contains(losses[entityName{stream, e.EntityID}], e.Seq)
}

// checkRequests reads in the sweeper's log that each gap was asked for, and none before its time.
func (s *stack) checkRequests(t *testing.T) {
	t.Helper()
	lines, err := s.about(t.Context(), sweeperFunction, func(l line) bool { return l.Message == "sequence gap" })
	if err != nil {
		t.Fatal(err)
	}
	for name, lost := range losses {
		mine := slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.Stream != name.stream || l.EntityID != name.id })
		if len(lost) > 0 && !slices.ContainsFunc(mine, func(l line) bool { return l.Requested }) {
			t.Errorf("%v lost %v, and no line of the log says that it was asked for: %v", name, lost, mine)
		}
		for _, l := range mine {
			if l.AgeSeconds < gapDeadline.Seconds() {
				t.Errorf("%v was asked for after %.1f s", name, l.AgeSeconds)
			}
		}
	}
}
