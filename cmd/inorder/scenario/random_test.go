package scenario

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"inorder/ddb/local"
)

var (
	randomScripts = flag.Int("random", 24, "how many random scripts to play")
	randomFirst   = flag.Uint64("random-first", 1, "the first script's number")
)

// TestRandomScriptsEndWhereTheModelSays writes scripts of shuffled, repeated, crashed-over and failing deliveries, of lost
// events and what makes up for them, and expects of their end what follows from the events alone: nothing of the product
// decides what is right.
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

	heals     bool // events get lost, and sweeps, the relay and an operator make up for it
	onExpired string
	window    int            // the smallest
	last      map[string]int // the highest number of each stream
	fates     map[string]fate
	settled   time.Duration // since effects that were owed are surely sent
	elapsed   time.Duration
}

// fate is what became of an event, by itself; the zero value is that it was sent.
type fate uint8

const (
	sent    fate = iota
	lost         // the producer has it still
	gone         // the producer has it no longer
	neverIn      // it never existed, and the producer proves it
)

// What each stream of a random script does with events 1 to n of the data {by: 10^k, k<number>: number}.
const randomStreams = `streams:
  consumer: c
  streams:
    - {name: whole, types: [whole.x], mode: state, clock: entity}
    - {name: part, types: [part.x], mode: state, clock: attribute}
    - {name: marked, types: [marked.x], mode: state, clock: entity, dedup: marker}
    - {name: step, types: [step.x], mode: step, window: %d, log: %s, on_expired: %[5]s, projection: {sum: {by: data.by}, set: {last: data.last}}}
    - {name: loud, types: [loud.x], mode: step, window: %[3]d, on_expired: %[5]s, projection: {sum: {by: data.by}}, effects: true}
    - {name: delta, types: [delta.x], mode: delta, window: %[4]d, on_expired: %[5]s, projection: {sum: {by: data.by}}}
    - {name: tally, types: [tally.x], mode: delta, order: {by: none}, projection: {sum: {by: data.by}}}
    - {name: joins, types: [joins.x], mode: step, start: any, gap_deadline: 50h, projection: {sum: {by: data.by}}}
`

var randomKinds = []string{"whole", "part", "marked", "step", "loud", "delta", "tally", "joins"}

// numbered are the streams whose every number counts.
var numbered = []string{"step", "loud", "delta"}

func randomScript(number uint64) string {
	a := &author{random: rand.New(rand.NewPCG(number, 7)), window: math.MaxInt, last: map[string]int{}, fates: map[string]fate{}}
	window := func() int {
		n := 1 + a.random.IntN(4)*a.random.IntN(400)
		a.window = min(a.window, n)
		return n
	}
	a.printf("name: random script %d\nmax_receive: 1000\n", number)
	a.older, a.heals, a.onExpired = a.random.IntN(3) == 0, a.random.IntN(3) > 0, a.pick("alarm", "skip")
	a.printf(randomStreams, window(), a.pick("parked", "all"), window(), window(), a.onExpired)
	a.printf("steps:\n")
	for range 1 + a.random.IntN(3) {
		a.last[a.pick(randomKinds...)] = 1 + a.random.IntN(6)
	}
	events := a.history()
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
	a.ending()
	return a.text.String()
}

// history draws what there is and what becomes of it, and returns what is sent.
func (a *author) history() (events []string) {
	var rows, proofs []string
	for _, kind := range randomKinds {
		for seq := 1; seq <= a.last[kind]; seq++ {
			event := fmt.Sprintf("%s-%d", kind, seq)
			switch a.fates[event] = a.fate(kind, seq); a.fates[event] {
			case sent:
				events = append(events, event)
				rows = append(rows, body(event))
			case lost:
				rows = append(rows, body(event))
			case neverIn:
				proofs = append(proofs, fmt.Sprintf("{stream: %s, id: e, generation: 2, ranges: [[%d, %d]]}", kind, seq, seq))
			case gone:
			}
			if a.older && kind != "tally" && kind != "joins" && a.random.IntN(2) == 0 {
				events = append(events, event+"-old")
				rows = append(rows, body(event+"-old"))
			}
		}
	}
	if a.heals {
		a.printf("  - outbox:\n      rows: [%s]\n      never_existed: [%s]\n", strings.Join(rows, ",\n        "), strings.Join(proofs, ", "))
	}
	return events
}

// fate draws one. The highest number always comes through in the end, for nothing else shows what is below it; of each
// stream one at most is gone, so that an operator need not be asked twice.
func (a *author) fate(kind string, seq int) fate {
	draw := a.random.IntN(10)
	newest := seq == a.last[kind]
	switch {
	case !a.heals || kind == "tally" || kind == "part" && !newest:
		return sent
	case draw < 2:
		return lost
	case newest || !slices.Contains(numbered, kind):
		return sent
	case draw < 4:
		return neverIn
	case draw < 6 && a.gone(kind) == 0:
		return gone
	}
	return sent
}

// gone is the number of a stream that is gone; 0: none is.
func (a *author) gone(kind string) int {
	for seq := 1; seq <= a.last[kind]; seq++ {
		if a.fates[fmt.Sprintf("%s-%d", kind, seq)] == gone {
			return seq
		}
	}
	return 0
}

func (a *author) printf(format string, args ...any) { fmt.Fprintf(&a.text, format, args...) }

func (a *author) pick(words ...string) string { return words[a.random.IntN(len(words))] }

// send sends an event, sometimes as two messages.
func (a *author) send(event string) {
	for copies := range 1 + a.random.IntN(4)/3 {
		id := event + strings.Repeat("-copy", copies)
		a.printf("  - send: {id: %s, body: %s}\n", id, body(event))
		a.sent = append(a.sent, id)
	}
}

// body is an event as its producer writes it.
func body(event string) string {
	kind, number := apart(event)
	by, generation := "1"+strings.Repeat("0", int(number[0]-'1')), 2
	if isOld(event) {
		by, generation = "7777777", 1
	}
	return fmt.Sprintf("{event_id: %s, type: %s.x, entity_id: e, generation: %d, seq: %s, data: {by: %s, last: %s, only%s: %s}}",
		event, kind, generation, number, by, number, number, number)
}

// apart is an event's or a message's stream and number.
func apart(id string) (kind, number string) {
	kind, rest, _ := strings.Cut(id, "-")
	return kind, rest[:1]
}

func isOld(id string) bool { return strings.Contains(id, "-old") }

func (a *author) trouble() {
	if a.heals && a.random.IntN(3) == 0 {
		a.upkeep()
		return
	}
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
		a.faults()
		a.printf("  - deliver: %s\n", a.batch())
	case 4:
		a.advance(time.Duration(a.random.IntN(10)) * time.Second)
	default:
		a.printf("  - deliver: %s\n", a.batch())
	}
}

// upkeep is what others than the consumer do: at any time, as often as they like, and interrupted.
func (a *author) upkeep() {
	switch a.random.IntN(6) {
	case 0:
		a.advance(6*time.Minute + time.Duration(a.random.IntN(60))*time.Minute)
	case 1:
		a.printf("  - skip: {stream: %s, id: e, through: %d, reason: nobody has heard of it}\n", a.pick(numbered...), 10+a.random.IntN(90))
	case 2, 3:
		if a.random.IntN(3) == 0 {
			a.faults()
		}
		a.printf("  - relay: {mark: %t}\n", a.random.IntN(2) == 0)
	default:
		if a.random.IntN(2) == 0 {
			a.faults()
		}
		a.printf("  - sweep: {times: %d, concurrent: %t}\n", 1+a.random.IntN(3), a.random.IntN(2) == 0)
	}
}

// fifoMemory is how long a FIFO queue tells a copy: an effect that was sent and not noted is told again once it is over.
const fifoMemory = 4 * time.Minute

// patienceOfJoins is what the script may take before the stream that joins late takes its baseline.
const patienceOfJoins = 40 * time.Hour

// advance lets time pass. Where it is long what is owed is sent first.
func (a *author) advance(by time.Duration) {
	if a.elapsed += by; a.elapsed > patienceOfJoins {
		return
	}
	if a.settled += by; a.settled > fifoMemory {
		if !a.heals {
			return
		}
		a.printf("  - sweep: {}\n")
		a.settled = 0
	}
	a.printf("  - advance: %s\n", by)
}

func (a *author) faults() {
	for range 1 + a.random.IntN(2) {
		a.printf("  - fault: {op: %s, nth: %d, when: %s, error: %s, times: %s}\n",
			a.pick("any", "any", "PutItem", "UpdateItem", "TransactWriteItems", "GetItem", "BatchGetItem", "Query", "SendMessage"), 1+a.random.IntN(5),
			a.pick("before", "after"), a.pick("throttle", "timeout", "internal", "denied"), a.pick("1", "2", "all"))
	}
}

func (a *author) batch() string {
	ids := make([]string, 1+a.random.IntN(5))
	for i := range ids {
		ids[i] = a.sent[a.random.IntN(len(a.sent))]
	}
	return "[" + strings.Join(ids, ", ") + "]"
}

// heal is as many rounds of sweeps and answers as it takes: each closes what lies in one window at least.
func (a *author) heal(pause time.Duration, rounds int) {
	for range rounds {
		a.printf("  - sweep: {}\n  - advance: %s\n  - sweep: {times: 2, concurrent: true}\n  - relay: {mark: true}\n", pause)
		a.printf("  - deliver: all\n  - deliver: all\n")
	}
}

// ending delivers what is left, closes what is open, and says what must have come of it.
func (a *author) ending() {
	for range 3 {
		a.printf("  - deliver: all\n")
	}
	if a.heals {
		a.healAll()
	} else if a.last["joins"] > 0 {
		a.heal(51*time.Hour, 1)
	}
	a.printf("  - expect: {queue: [], dlq: [], republish: [], entities: %d, metrics: {events_conflict_total: 0, events_quarantined_total: 0}}\n", len(a.last))
	if !a.older { // whose steps may have waited for ever
		a.printf("  - expect: {quarantine: []}\n")
	}
	effects := ""
	for _, kind := range randomKinds {
		if a.last[kind] == 0 {
			continue
		}
		a.printf("  - expect: {entity: {stream: %s, id: e, %s}}\n", kind, a.modelled(kind))
		if kind == "loud" {
			effects = fmt.Sprintf("{stream: loud, entity_id: e, seqs: [%s]}", a.told())
		}
		if kind == "step" || kind == "loud" || kind == "joins" {
			a.printf("  - expect: {parked: {stream: %s, id: e, seqs: []}}\n", kind)
		}
	}
	if !a.older || a.last["loud"] == 0 {
		a.printf("  - expect: {effects: [%s]}\n", effects)
	}
	a.again()
	a.turnUp()
}

// healAll closes what can be closed, lets the operator pass what cannot, and closes what lay behind that.
func (a *author) healAll() {
	longest, asks := 0, false
	for _, n := range a.last {
		longest = max(longest, n)
	}
	rounds := 1 + (longest+a.window-1)/a.window
	a.heal(70*time.Minute, rounds)
	for _, kind := range numbered {
		if n := a.gone(kind); n > 0 && a.onExpired == "alarm" {
			asks = true
			a.printf("  - skip: {stream: %s, id: e, through: %d, reason: lost for good}\n", kind, n)
		}
	}
	if asks {
		a.heal(70*time.Minute, rounds)
	}
	if a.last["joins"] > 0 {
		a.heal(51*time.Hour, 2)
	}
	a.printf("  - sweep: {}\n  - expect: {metrics: {gaps_open_current: 0, events_parked_current: 0, entities_blocked_current: 0}}\n")
}

// again delivers everything once more, one by one, which must change nothing.
func (a *author) again() {
	if len(a.sent) == 0 {
		return
	}
	a.printf("  - expect: {acked: [%s]}\n  - reset: {}\n", strings.Join(a.sent, ", "))
	for _, id := range a.sent {
		a.printf("  - redeliver: [%s]\n", id)
	}
	a.printf("  - expect:\n      acked: [%s]\n      metrics: {events_applied_total: 0, events_deferred_total: 0}\n      dispositions:\n",
		strings.Join(a.sent, ", "))
	for _, id := range a.sent {
		kind, number := apart(id)
		verdict := "duplicate" // of a part, because it alone has set one of the attributes
		if kind == "whole" && number != fmt.Sprint(a.last[kind]) || isOld(id) && kind != "marked" {
			verdict = "stale"
		}
		a.printf("        %s: %s\n", id, verdict)
	}
	a.expectStates()
}

// turnUp delivers what was passed, which must change nothing either.
func (a *author) turnUp() {
	for _, kind := range numbered {
		for seq := 1; seq <= a.last[kind]; seq++ {
			event := fmt.Sprintf("%s-%d", kind, seq)
			verdict := map[fate]string{gone: "quarantined", neverIn: "duplicate"}[a.fates[event]]
			if verdict != "" {
				a.printf("  - send: {id: %s, body: %s}\n  - deliver: [%s]\n  - expect: {dispositions: {%s: %s}}\n", event, body(event), event, event, verdict)
			}
		}
	}
	a.expectStates()
}

func (a *author) expectStates() {
	for _, kind := range randomKinds {
		if a.last[kind] > 0 {
			a.printf("  - expect: {entity: {stream: %s, id: e, %s}}\n", kind, a.modelled(kind))
		}
	}
}

// counts reports whether an event is in the end one of those that made the state.
func (a *author) counts(kind string, seq int) bool {
	f := a.fates[fmt.Sprintf("%s-%d", kind, seq)]
	return f == sent || f == lost && (kind != "joins" || seq > a.baseline())
}

// baseline is the lowest number that the stream that joins late has seen; where everything was lost, the newest one, of
// which the relay's mark tells.
func (a *author) baseline() int {
	for seq := 1; seq <= a.last["joins"]; seq++ {
		if a.fates[fmt.Sprintf("joins-%d", seq)] == sent {
			return seq
		}
	}
	return a.last["joins"] - 1
}

// modelled is the state after the events 1 to n, in whatever order they came.
func (a *author) modelled(kind string) string {
	n, sum := a.last[kind], 0
	for seq := 1; seq <= n; seq++ {
		if a.counts(kind, seq) {
			sum += pow(seq)
		}
	}
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
		return fmt.Sprintf("state: {by: %d, last: %d}, applied: %d", sum, n, n)
	case "tally":
		return fmt.Sprintf("state: {by: %d}", sum)
	}
	return fmt.Sprintf("state: {by: %d}, applied: %d", sum, n)
}

func pow(n int) int {
	v := 1
	for range n - 1 {
		v *= 10
	}
	return v
}

// told are the numbers that have an effect.
func (a *author) told() string {
	var all []string
	for seq := 1; seq <= a.last["loud"]; seq++ {
		if a.counts("loud", seq) {
			all = append(all, fmt.Sprint(seq))
		}
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
