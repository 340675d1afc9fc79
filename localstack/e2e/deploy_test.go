package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"inorder/localstack/cloud"
)

// quiet keeps the functions from being killed while a deployment waits for them: LocalStack would call it failed.
var quiet sync.Mutex

const deployTimeout = 15 * time.Minute

// E5: other code is deployed while producers go on sending; nothing is lost, and each function's log tells of both.
func TestDeployInTheMiddleOfTraffic(t *testing.T) {
	s := begin(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), deployTimeout)
	defer cancel()
	build, err := buildFunctions(ctx, secondVersion)
	if err != nil {
		t.Fatal(err)
	}
	quiet.Lock()
	defer quiet.Unlock()
	sender, writer := s.goOn(t, s.sendNext), s.goOn(t, s.writeNext)
	parameters := cloud.Parameters(s.name)
	for name, value := range standardParameters() {
		parameters[name] = value
	}
	_, err = here.cloud.Deploy(ctx, cloud.Deployment{Stack: s.name, Build: build, Parameters: parameters})
	if err != nil {
		t.Fatal(err)
	}
	deployed := time.Now()
	s.until(t, applyTimeout, "the versions", func() string { return s.versionsMissing(t) })
	t.Logf("each function said its version within %.0f s", time.Since(deployed).Seconds())
	sent, written := sender(), writer()
	t.Logf("%d events were sent and %d written meanwhile", sent, written)
	s.until(t, applyTimeout, "the entities", func() string {
		return s.missing(t.Context(), expectations{{"ledger", "deploy-sent"}: balance(sent), {"ledger", "deploy-written"}: balance(written)})
	})
	s.until(t, applyTimeout, "effects", func() string {
		return s.effects.lack("deploy-sent", upTo(sent)) + s.effects.lack("deploy-written", upTo(written))
	})
}

func upTo(n int) (all []int64) {
	for i := range n {
		all = append(all, int64(i)+1)
	}
	return all
}

// goOn does something again and again, with a number each time, until it is told to stop; then it tells how often.
func (s *stack) goOn(t *testing.T, do func(*testing.T, int) error) (stop func() int) {
	end, done, n := make(chan struct{}), make(chan struct{}), 0
	go func() {
		defer close(done)
		for {
			err := do(t, n+1)
			if t.Context().Err() != nil {
				return // the test has ended before
			}
			if err != nil {
				t.Errorf("number %d: %v", n+1, err)
				return
			}
			n++
			select {
			case <-end:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	stop = sync.OnceValue(func() int {
		close(end)
		<-done
		return n
	})
	t.Cleanup(func() { stop() }) // where the test ends before
	return stop
}

func (s *stack) sendNext(t *testing.T, n int) error {
	return s.trySend(t.Context(), message{body: entry("deploy-sent", n)})
}

func (s *stack) writeNext(t *testing.T, n int) error {
	got, err := s.write(t.Context(), "ledger", "deploy-written", "EntryPosted", data{"account": "deploy-written", "amount": n, "currency": "EUR", "note": secret})
	if err == nil && got != int64(n) {
		err = fmt.Errorf("it became number %d", got)
	}
	return err
}

// versionsMissing tells which functions have not said that they ran both. The sweeper's first call may come after the
// deployment.
func (s *stack) versionsMissing(t *testing.T) string {
	t.Helper()
	for _, function := range functionNames {
		said := map[string]bool{}
		lines, err := s.about(t.Context(), function, func(l line) bool { return l.Message == "started" })
		for _, l := range lines {
			said[l.Version] = true
		}
		if err != nil || !said[secondVersion] || !said[firstVersion] && function != sweeperFunction {
			return fmt.Sprintf("both versions in the log of %s: %v, %v", function, said, err)
		}
	}
	return ""
}
