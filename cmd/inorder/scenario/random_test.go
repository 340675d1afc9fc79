package scenario

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"inorder/ddb/local"
)

var (
	randomScripts = flag.Int("random", 60, "how many random scripts to play")
	randomFirst   = flag.Uint64("random-first", 1, "the first script's number")
)

// TestRandomScriptsEndWhereTheModelSays writes scripts of shuffled, repeated, crashed-over and failing deliveries, and
// expects of their end what follows from the events alone: nothing of the product decides what is right.
func TestRandomScriptsEndWhereTheModelSays(t *testing.T) {
	folder := t.TempDir()
	var files []string
	for n := range uint64(*randomScripts) {
		path := filepath.Join(folder, fmt.Sprintf("%d.yaml", *randomFirst+n))
		if err := os.WriteFile(path, []byte(randomScript(*randomFirst+n)), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	b := open(t, local.Dynoxide)
	half := (len(files) + 1) / 2
	warm := &Player{Backend: b, Parallel: b.Parallel(), Seed: *randomFirst}
	cold := &Player{Backend: b, Parallel: b.Parallel(), Seed: *randomFirst, Cold: true}
	results := append(warm.Play(t.Context(), files[:half]), cold.Play(t.Context(), files[half:])...)
	for _, r := range results {
		if r.OK {
			continue
		}
		var report strings.Builder
		r.write(&report)
		text, err := os.ReadFile(r.File)
		if err != nil {
			t.Fatal(err)
		}
		number := strings.TrimSuffix(filepath.Base(r.File), ".yaml")
		t.Errorf("play it again with -run RandomScripts -random 1 -random-first %s\n%s%s%s", number, report.String(), text, r.Unplayable)
	}
}

// author writes one random script.
type author struct {
	random *rand.Rand
	text   strings.Builder
	sent   []string
	older  bool // an earlier generation has left events, which must not matter in the end
}

// What each stream of a random script does with events 1 to n of the data {by: 10^k, k<number>: number}.
const randomStreams = `streams:
  consumer: c
  streams:
    - {name: whole, types: [whole.x], mode: state, clock: entity}
    - {name: part, types: [part.x], mode: state, clock: attribute}
    - {name: marked, types: [marked.x], mode: state, clock: entity, dedup: marker}
    - {name: step, types: [step.x], mode: step, window: %d, log: %s, projection: {sum: {by: data.by}, set: {last: data.last}}}
    - {name: loud, types: [loud.x], mode: step, window: %d, projection: {sum: {by: data.by}}, effects: true}
    - {name: delta, types: [delta.x], mode: delta, window: %d, projection: {sum: {by: data.by}}}
    - {name: tally, types: [tally.x], mode: delta, order: {by: none}, projection: {sum: {by: data.by}}}
`

var randomKinds = []string{"whole", "part", "marked", "step", "loud", "delta", "tally"}

func randomScript(number uint64) string {
	a := &author{random: rand.New(rand.NewPCG(number, 7))}
	window := func() int { return 1 + a.random.IntN(4)*a.random.IntN(400) }
	a.printf("name: random script %d\nmax_receive: 1000\n", number)
	a.printf(randomStreams, window(), []string{"parked", "all"}[a.random.IntN(2)], window(), window())
	a.printf("steps:\n")
	last := map[string]int{}
	var events []string
	a.older = a.random.IntN(3) == 0
	for range 1 + a.random.IntN(3) {
		kind := randomKinds[a.random.IntN(len(randomKinds))]
		last[kind] = 1 + a.random.IntN(6)
	}
	for _, kind := range randomKinds {
		for seq := 1; seq <= last[kind]; seq++ {
			events = append(events, fmt.Sprintf("%s-%d", kind, seq))
			if a.older && kind != "tally" && a.random.IntN(2) == 0 {
				events = append(events, fmt.Sprintf("%s-%d-old", kind, seq))
			}
		}
	}
	a.random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	for len(events) > 0 || a.random.IntN(6) > 0 {
		if len(events) > 0 && a.random.IntN(2) == 0 {
			a.send(events[0])
			events = events[1:]
			continue
		}
		if len(a.sent) > 0 {
			a.trouble()
		}
	}
	a.ending(last)
	return a.text.String()
}

func (a *author) printf(format string, args ...any) { fmt.Fprintf(&a.text, format, args...) }

// send sends an event, sometimes as two messages.
func (a *author) send(event string) {
	kind, number := apart(event)
	by, generation := "1"+strings.Repeat("0", int(number[0]-'1')), 2
	if isOld(event) {
		by, generation = "7777777", 1
	}
	for copies := range 1 + a.random.IntN(4)/3 {
		id := event + strings.Repeat("-copy", copies)
		a.printf("  - send: {id: %s, body: {event_id: %s, type: %s.x, entity_id: e, generation: %d, seq: %s, data: {by: %s, last: %s, only%s: %s}}}\n",
			id, event, kind, generation, number, by, number, number, number)
		a.sent = append(a.sent, id)
	}
}

// apart is an event's or a message's stream and number.
func apart(id string) (kind, number string) {
	kind, rest, _ := strings.Cut(id, "-")
	return kind, rest[:1]
}

func isOld(id string) bool { return strings.Contains(id, "-old") }

func (a *author) trouble() {
	switch a.random.IntN(6) {
	case 0:
		batches := make([]string, 2+a.random.IntN(2))
		for i := range batches {
			batches[i] = a.batch()
		}
		a.printf("  - concurrent: [%s]\n", strings.Join(batches, ", "))
	case 1:
		a.printf("  - crash: {deliver: %s, after_requests: %d}\n", a.batch(), a.random.IntN(7))
	case 2, 3:
		for range 1 + a.random.IntN(2) {
			a.fault()
		}
		a.printf("  - deliver: %s\n", a.batch())
	case 4:
		a.printf("  - advance: %ds\n", a.random.IntN(10))
	default:
		a.printf("  - deliver: %s\n", a.batch())
	}
}

func (a *author) fault() {
	pick := func(words ...string) string { return words[a.random.IntN(len(words))] }
	a.printf("  - fault: {op: %s, nth: %d, when: %s, error: %s, times: %s}\n",
		pick("any", "any", "PutItem", "UpdateItem", "TransactWriteItems", "GetItem", "Query", "SendMessage"), 1+a.random.IntN(5),
		pick("before", "after"), pick("throttle", "timeout", "internal", "denied"), pick("1", "2", "all"))
}

func (a *author) batch() string {
	ids := make([]string, 1+a.random.IntN(5))
	for i := range ids {
		ids[i] = a.sent[a.random.IntN(len(a.sent))]
	}
	return "[" + strings.Join(ids, ", ") + "]"
}

// ending delivers what is left and says what must have come of it.
func (a *author) ending(last map[string]int) {
	for range 3 {
		a.printf("  - deliver: all\n")
	}
	a.printf("  - expect: {queue: [], dlq: [], entities: %d, acked: [%s], metrics: {events_conflict_total: 0, events_quarantined_total: 0}}\n",
		len(last), strings.Join(a.sent, ", "))
	if !a.older { // whose steps may have waited for ever
		a.printf("  - expect: {quarantine: []}\n")
	}
	effects := ""
	for _, kind := range randomKinds {
		n := last[kind]
		if n == 0 {
			continue
		}
		a.printf("  - expect: {entity: {stream: %s, id: e, %s}}\n", kind, modelled(kind, n))
		if kind == "loud" {
			effects = fmt.Sprintf("{stream: loud, entity_id: e, seqs: [%s]}", upTo(n))
		}
		if kind == "step" || kind == "loud" {
			a.printf("  - expect: {parked: {stream: %s, id: e, seqs: []}}\n", kind)
		}
	}
	if !a.older || last["loud"] == 0 {
		a.printf("  - expect: {effects: [%s]}\n", effects)
	}
	a.again(last)
}

// again delivers everything once more, one by one, which must change nothing.
func (a *author) again(last map[string]int) {
	a.printf("  - reset: {}\n")
	for _, id := range a.sent {
		a.printf("  - redeliver: [%s]\n", id)
	}
	a.printf("  - expect:\n      acked: [%s]\n      metrics: {events_applied_total: 0, events_deferred_total: 0}\n      dispositions:\n",
		strings.Join(a.sent, ", "))
	for _, id := range a.sent {
		kind, number := apart(id)
		verdict := "duplicate" // of a part, because it alone has set one of the attributes
		if kind == "whole" && number != fmt.Sprint(last[kind]) || isOld(id) && kind != "marked" {
			verdict = "stale"
		}
		a.printf("        %s: %s\n", id, verdict)
	}
	for _, kind := range randomKinds {
		if last[kind] > 0 {
			a.printf("  - expect: {entity: {stream: %s, id: e, %s}}\n", kind, modelled(kind, last[kind]))
		}
	}
}

// modelled is the state after the events 1 to n, in whatever order they came.
func modelled(kind string, n int) string {
	sum := strings.Repeat("1", n)
	switch kind {
	case "whole", "marked":
		return fmt.Sprintf("state: {by: %d, last: %d, only%d: %d}, applied: %d", pow(n), n, n, n, n)
	case "part":
		state := []string{fmt.Sprintf("by: %d", pow(n)), fmt.Sprintf("last: %d", n)}
		for i := range n {
			state = append(state, fmt.Sprintf("only%d: %d", i+1, i+1))
		}
		return fmt.Sprintf("state: {%s}, applied: %d", strings.Join(state, ", "), n)
	case "step":
		return fmt.Sprintf("state: {by: %s, last: %d}, applied: %d", sum, n, n)
	case "tally":
		return fmt.Sprintf("state: {by: %s}", sum)
	}
	return fmt.Sprintf("state: {by: %s}, applied: %d", sum, n)
}

func pow(n int) int {
	v := 1
	for range n - 1 {
		v *= 10
	}
	return v
}

func upTo(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint(i+1))
	}
	return strings.Join(all, ", ")
}

// A script that the test writes has to be one that anybody may write.
func TestRandomScriptsFitTheSchema(t *testing.T) {
	for n := range uint64(20) {
		f, err := load([]byte(randomScript(n)), nil)
		if err != nil || len(f.scripts) != 1 || !slices.ContainsFunc(f.scripts[0].steps, func(s step) bool { return s.verb == "expect" }) {
			t.Fatalf("script %d: %v\n%s", n, err, randomScript(n))
		}
	}
}
