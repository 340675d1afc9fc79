package soak

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"inorder/cmd/inorder/soak"
	"inorder/localstack/cloud"
)

var (
	eventsFlag  = flag.Int("events", 0, "how many events the producer says; 0 skips the soak")
	seedFlag    = flag.Uint64("seed", 1, "of everything that is random")
	sendersFlag = flag.Int("senders", 4, "how many send at once")
)

// What is sampled for so long may not grow by more.
const (
	flatFrom   = 20_000 // events
	mostGrowth = 0.1
)

// endTimeout is for what is left when the last event is sent: what comes back, and what was lost and is asked for. It takes a minute.
const endTimeout = 10 * time.Minute

// Whatever is shuffled, copied, lost or poisoned on its way through a real queue, and whichever functions are killed: each event
// counts once, each step runs in its order, the queues are empty in the end, what the lines say is what the metrics count, and
// no function grows.
func TestSoakThroughTheQueue(t *testing.T) {
	s := begin(t)
	began, used := time.Now(), processorTime(s.cloud.PID)
	stop := s.goOn()
	s.send()
	sent := time.Since(began)
	t.Logf("all is sent after %.0f s", sent.Seconds())
	s.untilAllIsWell()
	whole := time.Since(began)
	used = processorTime(s.cloud.PID) - used
	stop()
	if s.check(); !t.Failed() {
		s.tell(sent, whole, used)
	}
}

func begin(t *testing.T) *stack {
	t.Helper()
	switch {
	case !cloud.Asked():
		t.Skip(cloud.NotAsked)
	case *eventsFlag == 0:
		t.Skip("it takes minutes: -args -events 100000 runs it")
	case runtime.GOOS != "linux":
		t.Skip("it kills and weighs the functions' processes, which are in containers here")
	}
	return deploy(t, cloud.ForTestAs(t, cloud.Options{Mode: cloud.Host, Direct: true, Progress: os.Stderr}))
}

// untilAllIsWell returns when nothing is under way any more, and everything is as it was meant, or when that takes too long.
func (s *stack) untilAllIsWell() {
	s.t.Helper()
	deadline, lacks := time.Now().Add(endTimeout), ""
	for time.Now().Before(deadline) {
		if lacks = s.lacks(); lacks == "" {
			return
		}
		if err := s.failed.Load(); err != nil {
			s.t.Fatal(*err)
		}
		time.Sleep(time.Second)
	}
	s.t.Errorf("%v after the last event:\n%s", endTimeout, lacks)
}

func (s *stack) lacks() string {
	for _, queue := range []string{eventsQueue, republishQueue, effectsQueue} {
		if d := s.depth(queue); d.all() > 0 {
			return fmt.Sprintf("%s: %v", queue, d)
		}
	}
	stored, err := s.table.Read(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.producer.Judge(stored).String() + s.producer.JudgeEffects(&s.effects).String()
}

// check is what remains to be looked at when nothing is under way any more.
func (s *stack) check() {
	s.t.Helper()
	if d := s.depth(dlqQueue); d.all() > 0 {
		s.t.Errorf("the dead-letter queue: %v", d)
	}
	var f soak.Faults
	f.Poison(s.quarantined(), s.producer.Sent())
	s.fail("quarantine", &f)
	s.fail("lines and metrics", s.lines.Faults())
	s.fail("messages", s.undone())
	if growth, known := s.memory.Growth(); *eventsFlag >= flatFrom && (!known || growth > mostGrowth) {
		s.t.Errorf("the function's memory is not flat: %s", &s.memory)
	}
	for message, n := range s.lines.Loud() {
		s.t.Errorf("the consumer says %d times at error level: %s", n, message)
	}
}

func (s *stack) fail(what string, f *soak.Faults) {
	s.t.Helper()
	if text := f.String(); text != "" {
		s.t.Errorf("%s:\n%s", what, text)
	}
}

// undone compares the messages that SQS took with those that a function says it has done with.
func (s *stack) undone() *soak.Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &soak.Faults{}
	for id := range s.taken {
		if !s.done[id] {
			f.Add("SQS took message %x, and no line tells that it is done with", id)
		}
	}
	return f
}

func (s *stack) tell(sending, whole, used time.Duration) {
	sent, n := s.producer.Sent(), soak.Thousands[int]
	s.t.Logf("proof: %s events of %s entities through the queue, in %s messages: %s lost on the way and asked for, %s twice, %s poisoned",
		n(sent.Events), n(s.producer.Entities()), n(sent.Messages), n(sent.Lost), n(sent.Copies), n(len(sent.Poison)))
	var kills []string
	for _, function := range functions {
		kills = append(kills, fmt.Sprintf("%s %s", n(s.kills[function]), function))
	}
	s.t.Logf("proof: %s deliveries with a line, %s of messages that came back; killed while they worked: %s; nothing lost, nothing doubled, "+
		"every step in its order", soak.Thousands(s.lines.Total()), n(s.cameBack), strings.Join(kills, ", "))
	s.t.Logf("proof: %s", s.lines)
	events := float64(sent.Events)
	s.t.Logf("proof: %.0f s, %.0f events per second (%.0f while they were sent), %.2f ms of LocalStack's one processor for each; "+
		"a consumer's process that was let live: %s",
		whole.Seconds(), events/whole.Seconds(), events/sending.Seconds(), float64(used.Milliseconds())/events, &s.memory)
}

var functions = slices.Sorted(slices.Values([]string{consumer, sweeper, relay}))
