package e2e

import (
	"fmt"
	"testing"
	"time"
)

// max_future of streams.yaml, unless it says otherwise.
const maxFuture = time.Hour

// E3: a message in quarantine that is redriven before its fault is mended comes back there as it was; after that it is
// applied.
func TestRedriveFromQuarantine(t *testing.T) {
	s := begin(t)
	t.Parallel()
	for lead := 90 * time.Second; !s.redriveTooEarly(t, lead); lead *= 2 {
		t.Logf("the machine was so slow that nothing was too early after %v", lead)
	}
}

// redriveTooEarly redrives an event whose clock is ahead, first before it may be taken and then after that. lead is how long that
// is; false: it was too short for the first time.
func (s *stack) redriveTooEarly(t *testing.T, lead time.Duration) (early bool) {
	t.Helper()
	id := fmt.Sprintf("redrive-call-%.0f", lead.Seconds())
	allowed := time.Now().Add(lead)
	created := allowed.Add(maxFuture)
	body := fmt.Sprintf(`{"id":"call:%s","type":"call.started","created_at":%q,"data":{"id":%[1]q,"state":"started","note":%[3]q} }`, id, created.Format(time.RFC3339Nano), secret)
	applied := expectations{{"call", id}: {state: fmt.Sprintf(`{"id":%q,"state":"started","note":%q}`, id, secret)}}
	bad := []poison{{message{body: body, attributes: map[string]string{"trace": "kept"}}, "future_time"}}
	s.send(t, bad[0].message)
	s.until(t, applyTimeout, "quarantine", func() string { return s.quarantined(t, bad) })

	redrive := []string{"redrive", "--reason", "future_time", "--entity", id, "--yes"}
	before := s.idOf(t, body)
	s.run(t, 0, redrive...).has(t, "1 of ", "moved")
	s.until(t, applyTimeout, "quarantine after a redrive that was too early", func() string {
		if early = s.missing(t.Context(), applied) != ""; !early {
			if left := time.Until(allowed); left > 0 {
				t.Fatalf("it was applied %v before it may be", left)
			}
			return ""
		}
		if s.idOf(t, body) == before {
			return "the message's return"
		}
		return s.quarantined(t, bad)
	})

	s.until(t, lead+applyTimeout, "the clock", func() string {
		if left := time.Until(allowed); left > 0 {
			return fmt.Sprintf("%v until the event may be taken", left)
		}
		return ""
	})
	// A function that was killed may have left a second copy, and a run moves what it has moved only once.
	s.until(t, applyTimeout, "quarantine after a redrive", func() string {
		if s.idOf(t, body) == "" {
			return ""
		}
		s.run(t, 0, redrive...).has(t, "1 of ", "moved")
		return "the message's end"
	})
	s.until(t, applyTimeout, "the entity", func() string { return s.missing(t.Context(), applied) })
	return early
}

// idOf is the id of the message in quarantine with a body; empty where there is none.
func (s *stack) idOf(t *testing.T, body string) string {
	t.Helper()
	all, err := s.look(t.Context(), quarantineQueue)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.is(body) {
			return m.id
		}
	}
	return ""
}

// E3: a message that cannot be applied for too long, since it is beyond the window of what is missing, goes to the
// dead-letter queue as it was. Redriven after the gap is closed it is applied.
func TestRedriveFromTheDLQ(t *testing.T) {
	s := begin(t)
	t.Parallel()
	const id, window = "redrive-seats", 1000 // of streams.yaml, unless it says otherwise
	name := entityName{"seats", id}
	event := func(seq int) string {
		return fmt.Sprintf(`{"event_id":"%s:%d","type":"SeatsAdded","seq":%[2]d,"data":{"subscription_id":%[1]q,"delta":1,"note":%[3]q}}`, id, seq, secret)
	}
	s.sendBodies(t, event(1))
	s.until(t, applyTimeout, "the first one", func() string {
		return s.missing(t.Context(), expectations{name: {state: `{"seats":1}`, applied: 1}})
	})
	beyond := event(window + 2)
	s.sendBodies(t, beyond)
	s.until(t, applyTimeout, "the dead-letter queue", func() string { return s.inDLQ(t, beyond) })

	for seq := 2; seq <= window+1; seq += batchMessages {
		var bodies []string
		for n := seq; n < seq+batchMessages; n++ {
			bodies = append(bodies, event(n))
		}
		s.sendBodies(t, bodies...)
	}
	s.until(t, applyTimeout, "what lacked", func() string {
		return s.missing(t.Context(), expectations{name: {state: `{"seats":1001}`, applied: window + 1}})
	})
	s.run(t, 0, "redrive", "--from", "dlq", "--stream", "seats", "--entity", id).has(t, "1 ")
	if lacks := s.inDLQ(t, beyond); lacks != "" {
		t.Errorf("a preview moved it: the queue lacks %s", lacks)
	}
	s.run(t, 0, "redrive", "--from", "dlq", "--stream", "seats", "--entity", id, "--yes").has(t, "1 of ", "moved")
	s.until(t, applyTimeout, "the redriven one", func() string {
		return s.missing(t.Context(), expectations{name: {state: `{"seats":1002}`, applied: window + 2}})
	})
}

func (s *stack) inDLQ(t testing.TB, bodies ...string) string {
	t.Helper()
	all, err := s.look(t.Context(), dlqQueue)
	if err != nil {
		return err.Error()
	}
next:
	for _, body := range bodies {
		for _, m := range all {
			if m.is(body) {
				continue next
			}
		}
		return fmt.Sprintf("the message %s; it has %d others", body, len(all))
	}
	return ""
}
