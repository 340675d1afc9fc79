package e2e

import (
	"fmt"
	"testing"
	"time"
)

// What is under way when everything else goes on beside it, functions are killed and code is deployed: it takes up to two minutes.
const applyTimeout = 6 * time.Minute

// E2: hundreds of events of every kind of stream, shuffled, many of them twice, with poison among them, end in what their
// producer meant; quarantine has the poison, and each step has told its effect once, in order.
func TestShuffled(t *testing.T) {
	s := begin(t)
	t.Parallel()
	h := newHistory(t, "shuffled-")
	h.subscription("s1", 60, false)
	h.subscription("s2", 20, true)
	for i := range 4 {
		h.account(fmt.Sprintf("a%d", i), 30)
	}
	h.seats("d1", 40)
	h.seats("d2", 40)
	h.partial("m1", 30)
	h.profile("p1", 15)
	h.contact("c1", 20)
	h.poisoned()
	s.poison.add(h.poison...)
	all := h.shuffled()
	s.send(t, all...)
	t.Logf("%d messages of %d events about %d entities, seed %d", len(all), len(h.messages), len(h.want), here.seed)

	s.until(t, applyTimeout, "the entities", func() string { return s.missing(t.Context(), h.want) })
	s.until(t, applyTimeout, "quarantine", func() string { return s.quarantined(t, h.poison) })
	s.until(t, applyTimeout, "effects", func() string { return h.effectsMissing(s) })

	// Now that the last step is applied, another event with its number is a conflict for certain.
	rival := poison{message{body: fmt.Sprintf(
		`{"event_id":"rival","type":"EntryPosted","seq":30,"data":{"account":"shuffled-a0","amount":1,"note":%q}}`, secret)}, "conflict"}
	s.poison.add(rival)
	s.send(t, rival.message)
	s.until(t, applyTimeout, "quarantine", func() string { return s.quarantined(t, append(h.poison, rival)) })
	if lacks := s.missing(t.Context(), h.want); lacks != "" {
		t.Errorf("after a rival it lacks %s", lacks)
	}
}
