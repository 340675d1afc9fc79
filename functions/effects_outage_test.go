package functions

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/events"
	"inorder/ordering"
	"inorder/ordering/memory"
)

// newOutage is a world with one entity, a, whose effects are its events, or come from a Go projection, two of each.
func newOutage(t *testing.T, projection string) *effectsWorld {
	t.Helper()
	w := newEffectsWorld(streamL(t, projection))
	w.projections = map[string]ordering.Projector{
		"telling": func(_ map[string]any, e *events.Event) (map[string]any, []any, error) {
			return map[string]any{"last": events.Number(fmt.Sprint(e.Seq))}, []any{e.Data()["n"], "again"}, nil
		},
	}
	return w
}

// a are events of entity a.
func a(generation int64, numbers ...int64) (batch []awsevents.SQSMessage) {
	for _, n := range numbers {
		batch = append(batch, posted(fmt.Sprintf("%d:%d", generation, n), "a", generation, n, `{"n":1}`))
	}
	return batch
}

// effectsOf are the positions of the effects of some numbers.
func effectsOf(projection string, generation int64, numbers ...int64) (all []string) {
	each := 1
	if strings.Contains(projection, "telling") {
		each = 2
	}
	for _, n := range numbers {
		for i := range each {
			all = append(all, fmt.Sprintf("%d.%d.%d", generation, n, i))
		}
	}
	return all
}

// arrived is all that left the effects queue, copies included.
func (w *effectsWorld) arrived() (all []string) {
	for _, r := range w.received {
		all = append(all, r.String())
	}
	return all
}

func (w *effectsWorld) wantArrived(t *testing.T, when string, want []string) {
	t.Helper()
	if got := w.arrived(); !slices.Equal(got, want) {
		t.Errorf("%s: a receiver got\n%v, want\n%v", when, got, want)
	}
}

// inIndex reports whether the sweeper would look at entity a.
func (w *effectsWorld) inIndex(t *testing.T) (found bool) {
	t.Helper()
	for shard := range w.store.Shards() {
		err := w.store.Marked(t.Context(), shard, time.Time{}, func([]ordering.Marked) bool {
			found = true
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// count is what a counter came to.
func (w *effectsWorld) count(t *testing.T, metric string) (sum float64) {
	t.Helper()
	for line := range strings.Lines(w.metrics.String()) {
		var doc map[string]any
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err)
		}
		if n, ok := doc[metric].(float64); ok {
			sum += n
		}
	}
	return sum
}

// The effects queue is down for hours. Nothing whose effect is not sent is acked, copies and what comes later included;
// a new generation does not begin; the entity stays in the sweeper's index. Afterwards the owed ones go out in order,
// whoever comes first.
func TestTheEffectsQueueIsDown(t *testing.T) {
	void := voided("void", "a", 0, 4, events.NeverExisted)
	for _, projection := range projectionsOfEffects {
		for _, first := range []string{"a sweep", "the event of the next number", "a copy", "a void again", "a new generation", "two sweeps and all messages"} {
			t.Run(first+"/"+projection, func(t *testing.T) {
				w := newOutage(t, projection)
				if back := w.deliver(t, w.consumer("on"), a(0, 3)...); len(back) != 0 {
					t.Fatal("a parked one owes nothing, and came back")
				}
				w.down = true
				w.deliver(t, w.consumer("on"), append(a(0, 1, 2), void)...)
				for range 3 {
					w.now = w.now.Add(time.Hour)
					for _, batch := range [][]awsevents.SQSMessage{a(0, 1, 2), a(0, 3), {void}, a(0, 5), a(1, 1)} {
						if back := w.deliver(t, w.consumer("on"), batch...); len(back) != len(batch) {
							t.Errorf("of %d messages %d come back", len(batch), len(back))
						}
					}
					w.sweep(t, "on")
					e := w.entity(t, "a")
					if e.Gen != 0 || e.Applied != 5 || *e.Dispatched != (ordering.Position{}) || len(w.received) > 0 || !w.inIndex(t) {
						t.Fatalf("%+v, in the index: %t, received %v", e, w.inIndex(t), w.received)
					}
				}
				w.down = false
				settled := a(0, 1, 2, 3, 5)
				switch first {
				case "a sweep":
					w.sweep(t, "on")
				case "the event of the next number":
					settled = append(settled, a(0, 6)...)
				case "a copy":
					settled = a(0, 3, 1, 2, 5)
				case "a void again":
					settled = append([]awsevents.SQSMessage{void}, settled...)
				case "a new generation":
					settled = a(1, 1)
				case "two sweeps and all messages":
					w.sweep(t, "on")
					w.sweep(t, "on")
					settled = append(append(settled, void), a(1, 1)...)
				}
				for _, m := range settled {
					if back := w.deliver(t, w.consumer("on"), m); len(back) > 0 {
						t.Errorf("%s comes back", m.MessageId)
					}
				}
				want := effectsOf(projection, 0, 1, 2, 3, 5)
				if first == "the event of the next number" {
					want = append(want, effectsOf(projection, 0, 6)...)
				}
				if strings.Contains(first, "generation") || strings.Contains(first, "all") {
					want = append(want, effectsOf(projection, 1, 1)...)
				}
				w.wantArrived(t, first, want)
				if e := w.entity(t, "a"); e.Gap != nil || len(e.Owed) > 0 || w.inIndex(t) {
					t.Errorf("nothing is owed any more, and yet %+v", e)
				}
				if n := w.count(t, ordering.MetricDispatched); int(n) != len(want) {
					t.Errorf("%v are counted, %d were sent", n, len(want))
				}
			})
		}
	}
}

// What is owed when effects are switched off, or held, is given up by whoever comes next, and never sent.
func TestOwedWhenEffectsAreSwitchedOff(t *testing.T) {
	for _, projection := range projectionsOfEffects {
		for _, mode := range []string{"off", "hold", "none"} {
			for _, next := range []string{"a sweep", "an event", "a copy, and a sweep", "a new generation"} {
				t.Run(mode+"/"+next+"/"+projection, func(t *testing.T) {
					w := newOutage(t, projection)
					w.down = true
					w.deliver(t, w.consumer("on"), a(0, 1, 2)...)
					w.down = false
					sends := w.sends
					generation, last := int64(0), int64(2)
					switch next {
					case "an event":
						w.deliver(t, w.consumer(mode), a(0, 3)...)
						last = 3
					case "a copy, and a sweep":
						w.deliver(t, w.consumer(mode), a(0, 1)...)
						w.sweep(t, mode)
					case "a new generation":
						w.deliver(t, w.consumer(mode), a(1, 1)...)
						generation, last = 1, 1
					default:
						w.sweep(t, mode)
					}
					if e := w.entity(t, "a"); w.sends != sends || *e.Dispatched != (ordering.Position{Gen: generation, Seq: last}) || len(e.Owed) > 0 || w.inIndex(t) {
						t.Errorf("%d sent, %+v", w.sends-sends, e)
					}
					w.deliver(t, w.consumer("on"), a(generation, last+1)...)
					w.wantArrived(t, "on again", effectsOf(projection, generation, last+1))
				})
			}
		}
	}
}

// A function fails, or dies, at each of its requests, before it took effect or after, and somebody takes up the rest
// beyond the five minutes of the queue: no effect is lost, and all that a receiver gets twice is what was sent and not
// yet noted.
func TestEffectsOverAFailureAtEachRequest(t *testing.T) {
	for _, projection := range projectionsOfEffects {
		for _, kills := range []bool{false, true} {
			for _, after := range []bool{false, true} {
				for _, heals := range []string{"delivery", "sweep", "sweep that fails, and another"} {
					for nth := 1; nth < 100; nth++ {
						w := newOutage(t, projection)
						w.deliver(t, w.consumer("on"), a(0, 3)...)
						w.fault = &fault{nth: nth, after: after, kills: kills}
						back := w.deliver(t, w.consumer("on"), a(0, 1, 2)...)
						hit := w.fault.hit
						w.fault = nil
						w.now = w.now.Add(6 * time.Minute)
						passed := w.entity(t, "a").Applied
						if heals != "delivery" {
							if heals != "sweep" {
								w.fault = &fault{nth: 1 + nth%5, after: after, kills: kills}
								w.sweep(t, "on")
								w.fault = nil
								w.now = w.now.Add(6 * time.Minute)
							}
							w.sweep(t, "on")
							if e := w.entity(t, "a"); e.Dispatched == nil && e.Applied > 0 || e.Dispatched != nil && e.Dispatched.Seq != e.Applied || e.Applied < passed {
								t.Errorf("request %d: after the sweep %+v", nth, e)
							}
						}
						if back = w.deliver(t, w.consumer("on"), back...); len(back) > 0 {
							t.Errorf("request %d: %d come back", nth, len(back))
						}
						what := fmt.Sprintf("%s, request %d, kills %t, after %t, healed by a %s", projection, nth, kills, after, heals)
						if got, want := w.remembered("a"), effectsOf(projection, 0, 1, 2, 3); !slices.Equal(got, want) {
							t.Errorf("%s: a receiver that remembers got %v", what, got)
						}
						if e := w.entity(t, "a"); len(e.Owed) > 0 || e.Gap != nil || e.Dispatched.Seq != 3 {
							t.Errorf("%s: %+v", what, e)
						}
						if !hit {
							if nth < 8 {
								t.Fatalf("only %d requests", nth)
							}
							break
						}
					}
				}
			}
		}
	}
}

// Two sweepers and two consumers at once, request by request in any order, on an entity that owes effects: the queue
// gets each once, in order, and a new generation's behind the old one's.
func TestEffectsOfFunctionsAtOnce(t *testing.T) {
	for _, projection := range projectionsOfEffects {
		for seed := range uint64(150) {
			rng := rand.New(rand.NewPCG(seed, 1))
			w := newOutage(t, projection)
			w.down = true
			back := w.deliver(t, w.consumer("on"), a(0, 2, 1)...)
			w.down = false
			last := int64(5)
			next := a(0, 5, 4, 3)
			if seed%2 == 0 {
				last = 2
				next = a(1, 1, 2)
			}
			sweep := func() { w.sweep(t, "on") }
			copies, news := w.consumer("on"), w.consumer("on")
			var again [2][]awsevents.SQSMessage
			w.atOnce(rng, sweep, sweep,
				func() { again[0] = w.deliver(t, copies, back...) },
				func() { again[1] = w.deliver(t, news, next...) })
			for _, m := range slices.Concat(again[0], again[1]) {
				w.deliver(t, w.consumer("on"), m)
			}
			w.sweep(t, "on")
			want := effectsOf(projection, 0, 1, 2)
			if seed%2 == 0 {
				want = append(want, effectsOf(projection, 1, 1, 2)...)
			} else {
				want = append(want, effectsOf(projection, 0, 3, 4, 5)...)
			}
			w.wantArrived(t, fmt.Sprint("seed ", seed), want)
			if e := w.entity(t, "a"); e.Dispatched.Seq != last || e.Gap != nil || len(e.Owed) > 0 {
				t.Errorf("seed %d: %+v", seed, e)
			}
		}
	}
}

// The rows of owed effects are kept for as long as they are owed: each time that half of their time is over, a sweep
// gives them all of it again.
func TestRowsOfOwedEffectsAreKept(t *testing.T) {
	w := newOutage(t, projectionsOfEffects[0])
	w.down = true
	w.deliver(t, w.consumer("on"), a(0, 1, 2, 3)...)
	for day := range 40 {
		w.now = w.now.Add(24 * time.Hour)
		w.sweep(t, "on")
		rows, err := w.store.Rows(t.Context(), ordering.Key{Consumer: "c", Stream: "l", ID: "a"}, 0, 1, 3)
		if err != nil || len(rows) != 3 {
			t.Fatalf("day %d: %d rows, %v", day, len(rows), err)
		}
		for _, row := range rows {
			if left := row.ExpiresAt.Sub(w.now); left < 7*24*time.Hour || left > 14*24*time.Hour {
				t.Errorf("day %d: number %d has %v left", day, row.Seq, left)
			}
		}
		w.store.(*memory.Store).Expire(w.now)
	}
	w.down = false
	w.sweep(t, "on")
	w.wantArrived(t, "after 40 days", effectsOf(projectionsOfEffects[0], 0, 1, 2, 3))
	if n := w.count(t, ordering.MetricMismatches); n != 0 {
		t.Errorf("%v mismatches", n)
	}
}

// A number whose row is gone, because nobody swept for weeks say, is passed without its effect and counted, so that it
// does not stop the others. What a Go projection returned lies in the entity and needs no row.
func TestAnOwedEffectWhoseRowIsGone(t *testing.T) {
	for _, projection := range projectionsOfEffects {
		for _, by := range []string{"a sweep", "a copy", "a later event"} {
			t.Run(by+"/"+projection, func(t *testing.T) {
				w := newOutage(t, projection)
				w.down = true
				w.deliver(t, w.consumer("on"), a(0, 1, 2)...)
				w.now = w.now.Add(10 * 24 * time.Hour)
				w.deliver(t, w.consumer("on"), a(0, 3, 4)...)
				w.now = w.now.Add(5 * 24 * time.Hour)
				w.store.(*memory.Store).Expire(w.now)
				w.down = false
				switch by {
				case "a sweep":
					w.sweep(t, "on")
				case "a copy":
					w.deliver(t, w.consumer("on"), a(0, 4)...)
				default:
					w.deliver(t, w.consumer("on"), a(0, 5)...)
				}
				numbers, mismatches := []int64{3, 4}, 2.0
				if strings.Contains(projection, "telling") {
					numbers, mismatches = []int64{1, 2, 3, 4}, 0
				}
				if by == "a later event" {
					numbers = append(numbers, 5)
				}
				w.wantArrived(t, by, effectsOf(projection, 0, numbers...))
				if e, n := w.entity(t, "a"), w.count(t, ordering.MetricMismatches); n != mismatches || e.Dispatched.Seq != e.Applied || e.Gap != nil {
					t.Errorf("%v mismatches, %+v", n, e)
				}
			})
		}
	}
}

// A warm function that remembers an entity as owing looks first: others may have sent it long ago, and the queue would
// hand out a copy, behind what came later.
func TestOwedEffectsAreNotSentFromMemory(t *testing.T) {
	for _, projection := range projectionsOfEffects {
		for what, batch := range map[string][]awsevents.SQSMessage{"a copy": a(0, 2), "copies in one batch": a(0, 1, 2), "a new generation": a(1, 1)} {
			t.Run(what+"/"+projection, func(t *testing.T) {
				w := newOutage(t, projection)
				warm := w.consumer("on")
				w.down = true
				w.deliver(t, warm, a(0, 1, 2)...)
				w.down = false
				w.sweep(t, "on")
				w.deliver(t, w.consumer("on"), a(0, 3)...)
				want := effectsOf(projection, 0, 1, 2, 3)
				w.now = w.now.Add(time.Hour)
				if back := w.deliver(t, warm, batch...); len(back) > 0 {
					t.Errorf("%d come back", len(back))
				}
				if what == "a new generation" {
					want = append(want, effectsOf(projection, 1, 1)...)
				}
				w.wantArrived(t, what, want)
			})
		}
	}
}
