package soak

import (
	"flag"
	"testing"
	"time"
)

var (
	eventsFlag  = flag.Int("events", 1500, "how many events the producer says")
	seedFlag    = flag.Uint64("seed", 1, "of everything that is random")
	workersFlag = flag.Int("workers", 8, "execution environments of the consumer")
)

// What was sampled for so long may not grow by more.
const (
	flatFrom   = 20_000 // events
	mostGrowth = 0.1
)

// Whatever is shuffled, copied, lost or poisoned, and wherever functions die: each event counts once, each step runs in its
// order, what can never succeed is in quarantine, nothing is left over, and no function forgets to forget.
func TestSoakThroughTheHandlers(t *testing.T) {
	w := newWorld(t)
	began := time.Now()
	w.play()
	seconds := time.Since(began).Seconds()

	sent := w.producer.Sent()
	if w.check(sent); t.Failed() {
		return
	}
	t.Logf("proof: %s events of %s entities through the handlers, in %s messages: %s lost on the way and asked for, %s twice, %s poisoned",
		Thousands(sent.Events), Thousands(w.producer.Entities()), Thousands(sent.Messages), Thousands(sent.Lost), Thousands(sent.Copies),
		Thousands(len(sent.Poison)))
	t.Logf("proof: %s deliveries, %s of them again while the first was under way; %s of %s invocations died at a request; "+
		"nothing lost, nothing doubled, every step in its order", Thousands(w.deliveries.Load()), Thousands(w.overlaps.Load()),
		Thousands(w.deaths.Load()), Thousands(w.invocations.Load()))
	t.Logf("proof: %s", w.lines)
	t.Logf("proof: %.0f s, %.0f events per second; heap %s", seconds, float64(sent.Events)/seconds, &w.heap)
}

// check is what must be when all is over.
func (w *world) check(sent Sent) {
	w.t.Helper()
	for what, f := range map[string]*Faults{
		"entities": w.judge(), "effects": w.producer.JudgeEffects(&w.post.effects), "quarantine": w.post.quarantine.judge(sent),
		"lines and metrics": w.lines.Faults(), "the run": &w.faults,
	} {
		if f.String() != "" {
			w.t.Errorf("%s:\n%s", what, f)
		}
	}
	if dead := len(w.queue.Dead()); dead > 0 {
		w.t.Errorf("%d messages are in the dead-letter queue", dead)
	}
	if all := w.lines.Total(); all > w.deliveries.Load() || all < int64(sent.Messages) {
		w.t.Errorf("%d lines about messages, and %d were delivered", all, w.deliveries.Load())
	}
	if growth, known := w.heap.Growth(); sent.Events >= flatFrom && (!known || growth > mostGrowth) {
		w.t.Errorf("the heap is not flat: %s", &w.heap)
	}
	for message, n := range w.lines.Loud() {
		w.t.Errorf("said %d times at error level: %s", n, message)
	}
}

func (w *world) judge() *Faults {
	stored, err := w.table.Read(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return w.producer.Judge(stored)
}
