package ordering_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"inorder/events"
	"inorder/ordering"
)

var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// history is what a producer said about one entity, and what it meant.
type history struct {
	name     string
	config   *events.Config
	key      ordering.Key
	messages []*events.Message

	state    map[string]any // the end; nil: deleted
	cursor   int64          // step and delta
	blocked  int64          // the number that the projection cannot take
	complete bool           // every effect of the last generation goes out
	each     int            // how many effects an event has; 0: one
	last     int64          // the last generation

	lossy    bool                         // not every message reaches the queue
	anywhere bool                         // the stream may begin with any number
	baseline int64                        // the number after which it began
	operator bool                         // what has expired is for an operator to give up
	bodies   map[number]string            // what the producer can send again
	expired  map[ordering.Position]bool   // what it no longer has; all other numbers up to its newest never were
	heads    map[string]ordering.Position // its newest number, by source
	newest   bool                         // only the newest of each source may be lost
}

// number is where an event stands.
type number struct {
	source string
	ordering.Position
}

func (h *history) numberOf(m *events.Message) number {
	e := h.config.Decode(*m, begin)[0].Event
	return number{e.Source, ordering.Position{Gen: e.Generation, Seq: e.Seq}}
}

// produce makes the producer's outbox of the messages.
func (h *history) produce() {
	h.bodies, h.heads = map[number]string{}, map[string]ordering.Position{}
	for _, m := range h.messages {
		at := h.numberOf(m)
		h.bodies[at] = m.Body
		if head := h.heads[at.source]; at.Gen > head.Gen || at.Gen == head.Gen && at.Seq > head.Seq {
			h.heads[at.source] = at.Position
		}
	}
}

// mayBeLost reports whether the end is the same, once it is healed, though this message never came.
func (h *history) mayBeLost(m *events.Message) bool {
	at := h.numberOf(m)
	return h.lossy && (!h.newest || h.heads[at.source] == at.Position)
}

// The histories, by what they are about.
var (
	ofState  = []func(*rand.Rand) history{wholeHistory, attributeHistory, sourceHistory}
	ofSteps  = []func(*rand.Rand) history{stepHistory, livesHistory, projectedHistory}
	ofDeltas = []func(*rand.Rand) history{deltaHistory, markedHistory}
	all      = slices.Concat(ofState, ofSteps, ofDeltas)

	lossy    = []func(*rand.Rand) history{lossySteps, lossyLives, lossyDelta, lossyState, lossyStart}
	numbered = slices.Concat(ofSteps, []func(*rand.Rand) history{deltaHistory, lossySteps, lossyLives, lossyDelta, lossyStart})
)

func newHistory(name, stream string) history {
	config, err := events.ParseStreams([]byte("consumer: c\nstreams:\n  - "+stream+"\n"), events.Options{Projections: []string{"tally", "nested"}})
	if err != nil {
		panic(err)
	}
	return history{name: name, config: config, key: ordering.Key{Consumer: "c", Stream: config.Streams[0].Name, ID: "x"}}
}

// say adds a message, now and then twice: sent again, or handed out again by the queue under the same id, with receive
// counts that say nothing about which of them is which.
func (h *history) say(rng *rand.Rand, body string) {
	id := fmt.Sprint("m", len(h.messages))
	for i := range 1 + rng.IntN(5)/3 {
		if i > 0 && rng.IntN(2) == 0 {
			id += "again"
		}
		h.messages = append(h.messages, &events.Message{ID: id, Body: body, ReceivedAt: begin, SentAt: begin})
	}
}

func dedup(rng *rand.Rand) string {
	if rng.IntN(2) == 0 {
		return ", dedup: marker"
	}
	return ""
}

func wholeHistory(rng *rand.Rand) history {
	h := newHistory("clock: entity", "{name: s, types: [T], mode: state, clock: entity, tombstone: [D]"+dedup(rng)+"}")
	generations, n := 1+rng.IntN(2), 1+rng.IntN(6)
	for g := range generations {
		for seq := 1; seq <= n; seq++ {
			typ, data := "T", fmt.Sprintf(`{"v":%d}`, g*100+seq)
			h.state = map[string]any{"v": events.Number(fmt.Sprint(g*100 + seq))}
			if rng.IntN(5) == 0 {
				typ, h.state = "D", nil
			}
			h.say(rng, fmt.Sprintf(`{"event_id":"%d.%d","type":"%s","entity_id":"x","generation":%d,"seq":%d,"data":%s}`, g, seq, typ, g, seq, data))
		}
	}
	return h
}

func attributeHistory(rng *rand.Rand) history {
	h := newHistory("clock: attribute", "{name: s, types: [T], mode: state, clock: attribute, tombstone: [D]"+dedup(rng)+"}")
	for g := range 1 + rng.IntN(2) {
		h.state = nil
		for seq := 1; seq <= 1+rng.IntN(7); seq++ {
			typ, data := "T", ""
			if rng.IntN(6) == 0 {
				typ, h.state = "D", nil
			} else {
				if h.state == nil {
					h.state = map[string]any{}
				}
				for _, name := range []string{"a", "b", "c"}[:rng.IntN(4)] {
					value := fmt.Sprint(g*100 + seq)
					if rng.IntN(4) == 0 {
						value = "null"
						delete(h.state, name)
					} else {
						h.state[name] = events.Number(value)
					}
					data += fmt.Sprintf(`,"%s":%s`, name, value)
				}
			}
			if data != "" {
				data = data[1:]
			}
			h.say(rng, fmt.Sprintf(`{"event_id":"%d.%d","type":"%s","entity_id":"x","generation":%d,"seq":%d,"data":{%s}}`, g, seq, typ, g, seq, data))
		}
	}
	return h
}

func sourceHistory(rng *rand.Rand) history {
	h := newHistory("clock: source", "{name: s, types: [T], mode: state, clock: source, tombstone: [D], owns: {p: [a, b], q: [c, d]}"+dedup(rng)+"}")
	alive := map[string]bool{}
	h.state = map[string]any{}
	for source, owned := range map[string][]string{"p": {"a", "b"}, "q": {"c", "d"}} {
		for seq := 1; seq <= 1+rng.IntN(5); seq++ {
			for _, name := range owned {
				delete(h.state, name)
			}
			typ, data := "T", ""
			if alive[source] = rng.IntN(5) > 0; alive[source] {
				name := owned[rng.IntN(2)]
				data = fmt.Sprintf(`"%s":%d`, name, seq)
				h.state[name] = events.Number(fmt.Sprint(seq))
			} else {
				typ = "D"
			}
			h.say(rng, fmt.Sprintf(`{"event_id":"%d","source":"%s","type":"%s","entity_id":"x","seq":%d,"data":{%s}}`, seq, source, typ, seq, data))
		}
	}
	sort.Slice(h.messages, func(i, j int) bool { return h.messages[i].Body < h.messages[j].Body }) // maps have no order, seeds do
	if !alive["p"] && !alive["q"] {
		h.state = nil
	}
	return h
}

func stepHistory(rng *rand.Rand) history {
	options := []string{"", ", effects: true", ", log: all", ", window: 4"}[rng.IntN(4)]
	return stepsOf(rng, options, 1+rng.IntN(5)/3, 1+rng.IntN(8))
}

// livesHistory is about one life ending and the next one beginning, with effects owed and numbers beyond the window.
func livesHistory(rng *rand.Rand) history {
	return stepsOf(rng, []string{", effects: true", ", effects: true, window: 2"}[rng.IntN(2)], 2+rng.IntN(2), 1+rng.IntN(4))
}

func stepsOf(rng *rand.Rand, options string, generations, most int) history {
	return stepsWith(rng, options, generations, most, func(int, int) bool { return false })
}

// stepsWith leaves out numbers that have no event. The last one always has.
func stepsWith(rng *rand.Rand, options string, generations, most int, hole func(g, seq int) bool) history {
	h := newHistory("step"+options, "{name: s, types: [T], mode: step, ignore: [I], projection: {sum: {n: data.n}, set: {last: data.n}}"+options+"}")
	h.complete = strings.HasPrefix(options, ", effects: true")
	for g := range generations {
		h.state, h.cursor, h.blocked, h.last = map[string]any{}, 0, 0, int64(g)
		sum, n := 0, 1+rng.IntN(most)
		poison := 0
		if rng.IntN(5) == 0 && !strings.Contains(options, "window") {
			poison = 1 + rng.IntN(n)
		}
		for seq := 1; seq <= n; seq++ {
			typ, amount := "T", fmt.Sprint(seq+g*1000)
			if rng.IntN(6) == 0 {
				typ = "I"
			}
			switch {
			case seq == poison:
				typ, amount = "T", `"none"`
				h.blocked = int64(seq)
			case seq < n && hole(g, seq):
				if h.blocked == 0 {
					h.cursor = int64(seq)
				}
				continue
			}
			if h.blocked == 0 {
				h.cursor = int64(seq)
				if typ == "T" {
					sum += seq + g*1000
					h.state = map[string]any{"n": events.Number(fmt.Sprint(sum)), "last": events.Number(amount)}
				}
			}
			h.say(rng, fmt.Sprintf(`{"event_id":"%d.%d","type":"%s","entity_id":"x","generation":%d,"seq":%d,"data":{"n":%s}}`, g, seq, typ, g, seq, amount))
		}
	}
	return h
}

// projectedHistory has a projection in Go that changes, against all advice, what it is given.
func projectedHistory(rng *rand.Rand) history {
	h := newHistory("projection in Go", "{name: s, types: [T], mode: step, effects: true, projection: nested}")
	h.complete, h.each = true, 2
	for seq := 1; seq <= 1+rng.IntN(7); seq++ {
		h.cursor = int64(seq)
		h.state = map[string]any{"deep": map[string]any{"marks": strings.Repeat("I", seq)}}
		h.say(rng, fmt.Sprintf(`{"event_id":"%d","type":"T","entity_id":"x","seq":%d,"data":{}}`, seq, seq))
	}
	return h
}

func nested(state map[string]any, e *events.Event) (map[string]any, []any, error) {
	deep, _ := state["deep"].(map[string]any)
	if deep == nil {
		deep = map[string]any{}
		state["deep"] = deep
	}
	marks, _ := deep["marks"].(string)
	deep["marks"] = marks + "I"
	return state, []any{"first of " + e.ID, "second of " + e.ID}, nil
}

func deltaHistory(rng *rand.Rand) history {
	return deltasWith(rng, "", func(int, int) bool { return false })
}

func deltasWith(rng *rand.Rand, options string, hole func(g, seq int) bool) history {
	h := newHistory("delta"+options, "{name: s, types: [T], mode: delta, ignore: [I], projection: {sum: {n: data.n}}"+options+"}")
	for g := range 1 + rng.IntN(5)/4 {
		h.state, h.cursor, h.last = map[string]any{}, 0, int64(g)
		sum := 0
		n := 1 + rng.IntN(10)
		for seq := 1; seq <= n; seq++ {
			if seq < n && hole(g, seq) {
				continue
			}
			typ := "T"
			if rng.IntN(8) == 0 {
				typ = "I"
			} else {
				sum += seq * seq
				h.state["n"] = events.Number(fmt.Sprint(sum))
			}
			h.cursor = int64(seq)
			h.say(rng, fmt.Sprintf(`{"event_id":"%d.%d","type":"%s","entity_id":"x","generation":%d,"seq":%d,"data":{"n":%d}}`, g, seq, typ, g, seq, seq*seq))
		}
	}
	return h
}

func markedHistory(rng *rand.Rand) history {
	h := newHistory("delta without a sequence", "{name: s, types: [T], mode: delta, order: {by: none}, projection: {sum: {n: data.n}}}")
	sum := 0
	for i := range 1 + rng.IntN(8) {
		sum += i + 1
		h.say(rng, fmt.Sprintf(`{"event_id":"%d","type":"T","entity_id":"x","data":{"n":%d}}`, i, i+1))
	}
	h.state = map[string]any{"n": events.Number(fmt.Sprint(sum))}
	return h
}

// lose makes a history lossy: every message may be lost on its way, some numbers never had an event, or had one that
// the producer no longer has. The end is as if those had not been.
func lose(rng *rand.Rand, options string, make func(hole func(g, seq int) bool, options string) history) history {
	expires := rng.IntN(3)
	if expires == 1 {
		options += ", on_expired: skip"
	}
	holes := map[ordering.Position]bool{}
	h := make(func(g, seq int) bool {
		if rng.IntN(5) > 0 {
			return false
		}
		holes[ordering.Position{Gen: int64(g), Seq: int64(seq)}] = true
		return true
	}, options+", gap_deadline: 5m")
	h.lossy, h.operator, h.expired = true, expires == 2, map[ordering.Position]bool{}
	h.produce()
	for at := range holes {
		h.expired[at] = expires > 0 && rng.IntN(2) == 0
	}
	return h
}

func lossySteps(rng *rand.Rand) history {
	options := []string{"", ", effects: true", ", log: all", ", window: 4"}[rng.IntN(4)]
	return lose(rng, options, func(hole func(g, seq int) bool, options string) history {
		return stepsWith(rng, options, 1, 1+rng.IntN(9), hole)
	})
}

func lossyLives(rng *rand.Rand) history {
	return lose(rng, ", effects: true", func(hole func(g, seq int) bool, options string) history {
		return stepsWith(rng, options, 2, 1+rng.IntN(4), hole)
	})
}

func lossyDelta(rng *rand.Rand) history {
	return lose(rng, "", func(hole func(g, seq int) bool, options string) history { return deltasWith(rng, options, hole) })
}

// lossyStart is about a stream that may begin anywhere, and begins at one: what is asked for comes before any baseline
// is taken, or the baseline is the beginning.
func lossyStart(rng *rand.Rand) history {
	h := lose(rng, ", effects: true, start: any", func(_ func(g, seq int) bool, options string) history {
		return stepsWith(rng, options, 1, 1+rng.IntN(9), func(int, int) bool { return false })
	})
	h.anywhere = true
	return h
}

// beginAfter is what the end of such a history is, once its beginning is known.
func (h *history) beginAfter(baseline int64) {
	h.baseline, h.cursor, h.blocked, h.state = baseline, baseline, 0, map[string]any{}
	sum := 0
	for seq := baseline + 1; seq <= h.heads[""].Seq; seq++ {
		e := h.config.Decode(events.Message{Body: h.bodies[number{"", ordering.Position{Seq: seq}}]}, begin)[0].Event
		amount, err := strconv.Atoi(fmt.Sprint(e.Data()["n"]))
		if err != nil {
			h.blocked = seq
			return
		}
		if h.cursor = seq; !e.Ignored {
			sum += amount
			h.state = map[string]any{"n": events.Number(fmt.Sprint(sum)), "last": e.Data()["n"]}
		}
	}
}

// lossyState is about the newest state of an entity, or of one of its sources, being lost. Of a whole state older ones
// do not matter.
func lossyState(rng *rand.Rand) history {
	h := ofState[rng.IntN(len(ofState))](rng)
	if h.config.Streams[0].Marker {
		return lossyState(rng)
	}
	h.lossy, h.newest = true, h.config.Streams[0].Clock != events.ClockEntity
	h.produce()
	return h
}
