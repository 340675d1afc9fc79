package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
)

const fifoReceiveCount = 3

// E8: over a FIFO queue each group's events are applied in the order in which they were sent, though poison stands among
// them, and what is sent again changes nothing. A failure holds up its own group only; what that group had goes to the
// dead-letter queue, and can be redriven.
func TestFIFO(t *testing.T) {
	begin(t)
	t.Parallel()
	s, err := here.fifo()
	if err != nil {
		t.Fatal(err)
	}
	h := newHistory(t, "fifo-")
	for i := range 4 {
		h.group(fmt.Sprintf("a%d", i), 25)
	}
	s.poison.add(h.poison...)
	s.send(t, h.messages...)
	s.until(t, applyTimeout, "the entities", func() string { return s.missing(t.Context(), h.want) })
	s.until(t, applyTimeout, "quarantine", func() string { return s.quarantined(t, h.poison) })
	s.until(t, applyTimeout, "effects", func() string { return h.effectsMissing(s) })
	s.checkOrder(t)
	s.until(t, applyTimeout, "the counter of effects", func() string {
		counted := 0.0
		for _, function := range []string{consumerFunction, sweeperFunction} { // which sends what a busy queue did not take
			counted += s.sums(t, function)["effects_dispatched_total"]
		}
		if counted < float64(s.effects.total()) {
			return fmt.Sprintf("%d effects; %v are counted", s.effects.total(), counted)
		}
		return ""
	})

	good := slices.DeleteFunc(slices.Clone(h.messages), h.isPoison)
	s.send(t, good...)
	s.until(t, applyTimeout, "the copies", func() string { return s.copiesMissing(t, len(good)) })
	if lacks := s.missing(t.Context(), h.want) + h.effectsMissing(s); lacks != "" {
		t.Errorf("after the copies it lacks %s", lacks)
	}

	s.blockGroup(t)
	for _, queue := range []string{eventsQueue, dlqQueue, republishQueue} {
		s.until(t, applyTimeout, queue, func() string { return s.notEmpty(t, queue) })
	}
	s.deleteStack(t)
}

// group is an account that is a message group of its own, with poison in its middle.
func (h *history) group(name string, steps int) {
	from := len(h.messages)
	h.account(name, steps)
	body := fmt.Sprintf(`{"in the middle of %s%s": %s`, h.prefix, name, secret)
	bad := poison{message{body: body}, "not_json"}
	h.messages = slices.Insert(h.messages, from+steps/2, bad.message)
	for i := from; i < len(h.messages); i++ {
		h.messages[i].group = h.prefix + name
	}
	h.poison = append(h.poison, bad)
}

// checkOrder: what comes in order is never parked.
func (s *stack) checkOrder(t *testing.T) {
	t.Helper()
	parked, err := s.about(t.Context(), consumerFunction, func(l line) bool { return l.Disposition == "parked" })
	if err != nil || len(parked) > 0 {
		t.Errorf("%d events were parked, %v", len(parked), err)
	}
}

func (s *stack) copiesMissing(t *testing.T, want int) string {
	t.Helper()
	lines, err := s.about(t.Context(), consumerFunction, func(l line) bool { return l.Disposition == "duplicate" })
	if err != nil || len(lines) < want {
		return fmt.Sprintf("%d duplicates; there are %d, %v", want, len(lines), err)
	}
	return ""
}

// blockGroup sends a message that cannot be applied, with another one behind it in its group, and one of another group.
func (s *stack) blockGroup(t *testing.T) {
	t.Helper()
	event := func(seq int) message {
		return message{group: "blocked", body: fmt.Sprintf(
			`{"event_id":"fifo-far:%d","type":"SeatsAdded","seq":%[1]d,"data":{"subscription_id":"fifo-far","delta":%[1]d,"note":%q}}`, seq, secret)}
	}
	far := entityName{"seats", "fifo-far"}
	behind := message{group: "blocked", body: entry("fifo-behind", 1)}
	s.send(t, event(1), event(1002), behind, message{group: "free", body: entry("fifo-free", 1)})
	s.until(t, applyTimeout, "the other group", func() string {
		return s.missing(t.Context(), expectations{{"ledger", "fifo-free"}: balance(1), far: {state: `{"seats":1}`, applied: 1}})
	})
	s.until(t, applyTimeout, "the dead-letter queue", func() string { return s.inDLQ(t, event(1002).body) })
	s.checkBehind(t)

	s.run(t, 0, "skip", "seats", "fifo-far", "--through", "1001", "--reason", "nobody has them", "--yes").has(t, "skipped")
	s.run(t, 0, "redrive", "--from", "dlq", "--yes").has(t, "moved")
	s.until(t, applyTimeout, "the redriven ones", func() string {
		return s.missing(t.Context(), expectations{{"ledger", "fifo-behind"}: balance(1), far: {state: `{"seats":1003}`, applied: 1002}})
	})
}

// checkBehind: what stands behind a failure in its group is not applied before that has gone.
func (s *stack) checkBehind(t *testing.T) {
	t.Helper()
	lines, err := s.about(t.Context(), consumerFunction, func(l line) bool {
		return l.EventID == "fifo-far:1002" && l.Disposition == "deferred" || l.EventID == "fifo-behind:1" && l.Disposition == "applied"
	})
	last := slices.IndexFunc(lines, func(l line) bool { return l.Disposition == "applied" })
	if last < 0 {
		last = len(lines)
	}
	if err != nil || last < fifoReceiveCount {
		t.Errorf("what stands behind was applied after %d of %d tries, %v", last, fifoReceiveCount, err)
	}
}

func (s *stack) notEmpty(t *testing.T, queue string) string {
	t.Helper()
	if d := s.depths(t.Context(), s.url(queue)); !d.empty() {
		return fmt.Sprintf("an empty queue: %v", d)
	}
	return ""
}

func (s *stack) deleteStack(t *testing.T) {
	t.Helper()
	client := cloudformation.NewFromConfig(here.cloud.Config())
	if _, err := client.DeleteStack(t.Context(), &cloudformation.DeleteStackInput{StackName: &s.name}); err != nil {
		t.Fatal(err)
	}
	s.until(t, applyTimeout, "the stack's end", func() string {
		out, err := client.DescribeStacks(t.Context(), &cloudformation.DescribeStacksInput{StackName: &s.name})
		if err != nil {
			return "" // there is no such stack
		}
		return fmt.Sprintf("its end: %s", out.Stacks[0].StackStatus)
	})
	if outputs, err := here.cloud.Outputs(t.Context(), standardStack); err != nil || outputs["EventsQueueUrl"] == "" {
		t.Errorf("the other stack: %v, %v", outputs, err)
	}
}
