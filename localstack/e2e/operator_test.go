package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// entry is an event of the ledger.
func entry(account string, seq int) string {
	return fmt.Sprintf(`{"event_id":"%s:%d","type":"EntryPosted","seq":%[2]d,"data":{"account":%[1]q,"amount":%[2]d,"currency":"EUR","note":%[3]q}}`,
		account, seq, secret)
}

// balance is what the first n entries come to, without some that are lost.
func balance(n int, without ...int) expectation {
	sum := n * (n + 1) / 2
	for _, lost := range without {
		sum -= lost
	}
	return expectation{state: fmt.Sprintf(`{"balance":%d,"currency":"EUR"}`, sum), applied: int64(n)}
}

// E4: `inorder gaps` finds what is missing, `inspect` shows it, `republish` would ask for it, and `skip` passes it; an
// original that turns up afterwards is in quarantine.
func TestGapsInspectAndSkip(t *testing.T) {
	s := begin(t)
	t.Parallel()
	const id = "op-gap"
	name := entityName{"ledger", id}
	s.sendBodies(t, entry(id, 1), entry(id, 3))
	s.until(t, applyTimeout, "the gap", func() string {
		got, err := s.item(t.Context(), name)
		if err != nil || got.number("_max_seen") != 3 || got.number("_applied") != 1 {
			return fmt.Sprintf("the cursor at 1 and 3 seen; there is %v, %v", got, err)
		}
		return ""
	})
	if !s.hasGap(t, id) {
		t.Errorf("inorder gaps does not list %s", id)
	}
	s.run(t, 0, "inspect", "ledger", id).has(t, "ledger "+id, "missing", "parked", id+":3")
	s.run(t, 0, "republish", "ledger", id, "--dry-run").has(t, `"entity_id":"op-gap"`, `"ranges":[[2,2]]`)

	skip := []string{"skip", "ledger", id, "--through", "2", "--reason", "the outage of March"}
	s.run(t, 0, skip...).has(t, "lost     1 number", "cursor   1 → 3", "--yes")
	if lacks := s.missing(t.Context(), expectations{name: balance(1)}); lacks != "" {
		t.Errorf("a dry run changed it: it lacks %s", lacks)
	}
	s.run(t, 0, append(skip, "--yes")...).has(t, "skipped", "drained  1 number", "cursor   1 → 3")
	if lacks := s.missing(t.Context(), expectations{name: balance(3, 2)}); lacks != "" {
		t.Errorf("after the skip it lacks %s", lacks)
	}
	s.until(t, applyTimeout, "effects", func() string { return s.effects.lack(id, []int64{1, 3}) })
	s.run(t, 0, "inspect", "ledger", id).has(t, "the outage of March")
	if s.hasGap(t, id) {
		t.Errorf("inorder gaps still lists %s", id)
	}

	late := []poison{{message{body: entry(id, 2)}, "skipped"}}
	s.poison.add(late...)
	s.send(t, late[0].message)
	s.until(t, applyTimeout, "quarantine", func() string { return s.quarantined(t, late) })
}

// hasGap asks `inorder gaps`, which ends with 1 where there is any.
func (s *stack) hasGap(t *testing.T, id string) bool {
	t.Helper()
	var got struct {
		Gaps []struct {
			Stream   string
			EntityID string `json:"entity_id"`
			Missing  [][2]int64
		}
	}
	a := s.run(t, anyCode, "gaps", "--json", "--limit", "0")
	if err := json.Unmarshal([]byte(a.out), &got); err != nil {
		t.Fatalf("%v: %s%s", err, a.out, a.notes)
	}
	if open := len(got.Gaps) > 0; open != (a.code == 1) || a.code > 1 {
		t.Errorf("inorder gaps found %d and ended with %d", len(got.Gaps), a.code)
	}
	for _, gap := range got.Gaps {
		if gap.EntityID == id {
			return true
		}
	}
	return false
}

// E4: `inorder republish` makes the relay send again what the outbox has, and `inspect --logs` shows what became of it.
func TestRepublish(t *testing.T) {
	s := begin(t)
	t.Parallel()
	const id = "op-rows"
	name := entityName{"ledger", id}
	for n := int64(1); n <= 3; n++ {
		got, err := s.write(t.Context(), "ledger", id, "EntryPosted", data{"account": id, "amount": n, "currency": "EUR", "note": secret})
		if err != nil || got != n {
			t.Fatalf("entry %d became %d, %v", n, got, err)
		}
	}
	s.until(t, applyTimeout, "the entity", func() string { return s.missing(t.Context(), expectations{name: balance(3)}) })
	s.run(t, 1, "republish", "ledger", id, "--ranges", "1-2") // they are applied
	s.run(t, 0, "republish", "ledger", id, "--ranges", "1-2", "--force").has(t, id, "1-2")
	var copies []line
	s.until(t, applyTimeout, "the copies", func() string {
		lines, err := s.about(t.Context(), consumerFunction, func(l line) bool {
			return l.EntityID == id && l.Disposition == "duplicate"
		})
		copies = lines
		if err != nil || !hasEvent(lines, id+":1") || !hasEvent(lines, id+":2") {
			return fmt.Sprintf("two events that are duplicates; there are %d lines, %v", len(lines), err)
		}
		return ""
	})
	if lacks := s.missing(t.Context(), expectations{name: balance(3)}); lacks != "" {
		t.Errorf("after the copies it lacks %s", lacks)
	}
	s.run(t, 0, "inspect", "ledger", id, "--logs").has(t, "cloudwatch", "duplicate", copies[0].MessageID)
}

func hasEvent(lines []line, id string) bool {
	return slices.ContainsFunc(lines, func(l line) bool { return l.EventID == id })
}

// E4: `inorder bootstrap` gives an entity its past, of which no effect is told, and `reconcile` compares it with a file
// of truth.
func TestBootstrapAndReconcile(t *testing.T) {
	s := begin(t)
	t.Parallel()
	const id = "op-boot"
	name := entityName{"ledger", id}
	file := func(lines ...string) string {
		path := filepath.Join(t.TempDir(), "lines.jsonl")
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	state := func(n int) string {
		return fmt.Sprintf(`{"stream":"ledger","entity_id":%q,"state":%s,"applied":%d}`, id, balance(n).state, n)
	}
	past := file(state(10))
	s.run(t, 0, "bootstrap", past).has(t, "1 entit", "--yes")
	if lacks := s.missing(t.Context(), expectations{name: {}}); lacks != "" {
		t.Errorf("a dry run wrote it: it lacks %s", lacks)
	}
	s.run(t, 0, "bootstrap", past, "--yes").has(t, "written  1")
	s.sendBodies(t, entry(id, 9), entry(id, 11), entry(id, 12))
	s.until(t, applyTimeout, "the entity", func() string { return s.missing(t.Context(), expectations{name: balance(12)}) })
	s.until(t, applyTimeout, "effects", func() string { return s.effects.lack(id, []int64{11, 12}) })

	s.run(t, 0, "reconcile", "--partial", "--truth", file(state(12))).has(t, "no mismatch")
	s.run(t, 1, "reconcile", "--partial", "--truth", file(state(11))).has(t, id, "2 mismatches in 1 entity")
}

// E4: `inorder tail` tells the depth of each queue, and what is open.
func TestTail(t *testing.T) {
	s := begin(t)
	t.Parallel()
	var look struct {
		Consumer string
		Queues   map[string]struct {
			Visible *int
		}
		Gaps *int `json:"gaps_open_current"`
	}
	a := s.run(t, 0, "tail", "--once", "--json")
	if err := json.Unmarshal([]byte(a.out), &look); err != nil {
		t.Fatalf("%v: %s%s", err, a.out, a.notes)
	}
	if look.Consumer != consumerName || look.Gaps == nil {
		t.Errorf("it says %s", a.out)
	}
	for _, queue := range []string{"events", "dlq", "quarantine", "republish", "effects"} {
		if look.Queues[queue].Visible == nil {
			t.Errorf("nothing about queue %s: %s", queue, a.out)
		}
	}
	s.run(t, 0, "tail", "--once").has(t, consumerName, "quarantine", "parked")
}
