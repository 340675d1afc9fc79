package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"inorder/localstack/cloud"
)

const (
	killedAccounts = 6
	killedSteps    = 40
	// A message may be hit by each of them, and is tried five times before the dead-letter queue takes it.
	kills = 2
	// A kill may strike while others' messages are with the function; then there is another round.
	killRounds = 5
)

// E6: consumer and relay are killed while messages are with them; those come back, and all ends as if nothing had been.
func TestKilledInTheMiddle(t *testing.T) {
	s := begin(t)
	t.Parallel()
	written := s.goOn(t, s.killedNext)
	for round := range killRounds {
		if s.killRound(t, newHistory(t, fmt.Sprintf("killed-%d-", round))); s.cameBack(t) > 0 {
			break
		}
	}
	if s.cameBack(t) == 0 {
		t.Error("no message was with a function that was killed: this tested nothing")
	}
	n := written()
	s.until(t, applyTimeout, "what went over the outbox", func() string {
		return s.missing(t.Context(), expectations{{"ledger", "killed-written"}: balance(n)})
	})
	s.until(t, applyTimeout, "effects", func() string { return s.effects.lack("killed-written", upTo(n)) })
	t.Logf("messages came back %d times", s.cameBack(t))
}

// killRound kills in the middle of a history, which ends well all the same.
func (s *stack) killRound(t *testing.T, h *history) {
	t.Helper()
	for i := range killedAccounts {
		h.account(fmt.Sprintf("a%d", i), killedSteps)
	}
	s.sendAndKill(t, h.shuffled())
	s.until(t, applyTimeout, "the entities", func() string { return s.missing(t.Context(), h.want) })
	s.until(t, applyTimeout, "effects", func() string { return h.effectsMissing(s) })
}

func (s *stack) sendAndKill(t *testing.T, all []message) {
	t.Helper()
	quiet.Lock()
	defer quiet.Unlock()
	share := len(all) / kills
	for i := range kills {
		s.send(t, all[i*share:(i+1)*share]...)
		s.killWhileBusy(t)
	}
	s.send(t, all[kills*share:]...)
}

// cameBack is how often messages of this test were delivered again.
func (s *stack) cameBack(t *testing.T) int {
	t.Helper()
	lines, err := s.about(t.Context(), consumerFunction, func(l line) bool {
		return strings.HasPrefix(l.EntityID, "killed-") && l.ReceiveCount > 1
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(lines)
}

func (s *stack) killedNext(t *testing.T, n int) error {
	_, err := s.write(t.Context(), "ledger", "killed-written", "EntryPosted", data{"account": "killed-written", "amount": n, "currency": "EUR", "note": secret})
	return err
}

// killWhileBusy kills the two functions when a message is with the consumer. What was killed a moment ago may not be there yet.
func (s *stack) killWhileBusy(t *testing.T) {
	t.Helper()
	s.until(t, applyTimeout, "a consumer at work", func() string {
		if d := s.depths(t.Context(), s.url(eventsQueue)); d.inFlight == "0" || d.err != nil {
			return fmt.Sprintf("a message in flight: %v", d)
		}
		killed := 0
		for _, function := range []string{consumerFunction, relayFunction} {
			n, err := here.kill(t.Context(), s.name+"-"+function)
			if err != nil {
				t.Fatal(err)
			}
			if function == consumerFunction {
				killed = n
			}
		}
		if killed == 0 {
			return "a process of the consumer"
		}
		return ""
	})
}

// kill kills whatever runs a function, as the kernel does when memory runs out.
func (w *world) kill(ctx context.Context, function string) (int, error) {
	if w.cloud.Mode == cloud.Docker {
		return killContainers(ctx, function)
	}
	return killProcesses(w.cloud, function)
}

// killContainers finds them by the names that LocalStack gives them, which end with -lambda-, the function and an id.
func killContainers(ctx context.Context, function string) (int, error) {
	out, err := exec.CommandContext(ctx, "docker", "ps", "--quiet", "--filter", "name=-lambda-"+function+"-").Output()
	if err != nil {
		return 0, fmt.Errorf("list the containers of %s: %w", function, err)
	}
	ids := strings.Fields(string(out))
	for _, id := range ids {
		// It may have ended by itself.
		_ = exec.CommandContext(ctx, "docker", "kill", id).Run()
	}
	return len(ids), nil
}

// killProcesses kills the processes that run a function.
func killProcesses(c *cloud.Cloud, function string) (n int, err error) {
	ids, err := c.Processes(function)
	for _, id := range ids {
		if process, err := os.FindProcess(id); err == nil && process.Kill() == nil {
			n++
		}
	}
	return n, err
}
