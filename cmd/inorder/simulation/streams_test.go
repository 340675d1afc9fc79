package simulation

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"inorder/events"
)

// streams draws a streams.yaml that has every mode, with options that are rarely used as well. Deadlines are the default,
// and said, for the checks know them.
func (l *life) streams(rng *rand.Rand) {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	window := func() string { return pick("", "", ", window: 3", ", window: 1", ", window: 5") }
	expired := func() string { return pick("", ", on_expired: skip") }
	park := pick("", ", park_ttl: 45m, max_park_age: 1h")
	var b strings.Builder
	b.WriteString("consumer: c\nstreams:\n")
	add := func(format string, args ...any) { fmt.Fprintf(&b, "  - {"+format+"}\n", args...) }
	add("name: whole, types: [whole.*], mode: state, clock: entity, tombstone: [whole.dropped], gap_deadline: 5m")
	add("name: marked, types: [marked.*], mode: state, clock: %s, dedup: marker, tombstone: [marked.dropped]", pick("entity", "attribute"))
	add("name: part, types: [part.*], mode: state, clock: attribute, tombstone: [part.dropped], gap_deadline: 5m")
	add("name: owned, types: [owned.*], mode: state, clock: source, tombstone: [owned.dropped], owns: {p: [p1, p2], q: [q1, q2]}, gap_deadline: 5m")
	add("name: timed, types: [timed.*], mode: state, clock: entity, order: {by: time, path: at}%s", pick("", ", dedup: marker"))
	add("name: step, types: [step.*], mode: step, ignore: [step.ignored], projection: {sum: {n: data.n}, set: {last: data.k}}, gap_deadline: 5m%s%s%s%s", window(), expired(), pick("", ", log: all"), park)
	add("name: loud, types: [loud.*], mode: step, ignore: [loud.ignored], projection: {sum: {n: data.n}, set: {last: data.k}}, effects: true, gap_deadline: 5m%s%s%s", window(), expired(), park)
	add("name: go, types: [go.*], mode: step, projection: trail, effects: true, gap_deadline: 5m%s", park)
	add("name: joins, types: [joins.*], mode: step, start: any, projection: {sum: {n: data.n}, set: {last: data.k}}, effects: %s, gap_deadline: 5m", pick("true", "false"))
	add("name: each, types: [each.*], mode: %s, per_source: true, projection: {sum: {n: data.n}}, gap_deadline: 5m%s%s", pick("step", "delta"), window(), expired())
	add("name: delta, types: [delta.*], mode: delta, ignore: [delta.ignored], projection: {sum: {n: data.n}}, gap_deadline: 5m%s%s", window(), expired())
	add("name: tally, types: [tally.*], mode: delta, order: {by: none}, projection: {sum: {n: data.n}}")
	l.text = b.String()
	config, err := events.ParseStreams([]byte(l.text), events.Options{Projections: []string{trail}})
	if err != nil {
		panic(fmt.Sprintf("%v in\n%s", err, l.text))
	}
	l.config = config
}
