package gaps

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"inorder/cmd/inorder/terminal"
	"inorder/ddb"
	"inorder/ordering"
)

// Hint is what the gaps of a stream, taken together, look like. It is a guess, and says on what it rests.
type Hint struct {
	Kind   HintKind `json:"kind"`
	Stream string   `json:"stream,omitempty"` // empty: of all streams
	Text   string   `json:"text"`
}

// HintKind is a kind of guess.
type HintKind string

// The guesses.
const (
	SharedCounter HintKind = "shared_counter"  // one counter seems to serve all entities of a stream
	JoinedLate    HintKind = "joined_late"     // all gaps begin at number 1
	SameTime      HintKind = "same_time"       // most gaps were seen first within a few minutes
	UnderWay      HintKind = "under_way"       // all are younger than the gap deadline
	ManyBlocked   HintKind = "blocked"         // projections fail
	OutOfAttempts HintKind = "out_of_attempts" // what is missing is asked for no more
)

// enough is how many entities a guess about a stream needs. Fewer may look alike by chance.
const enough = 5

// together is how close in time gaps began that have one cause.
const together = 5 * time.Minute

// diagnose looks at what all gaps have in common. sample tells which entities of a stream there are beside those with
// gaps; it is asked only where the numbers already look like one counter's.
func diagnose(all []Gap, sample func(stream string) ([]ddb.Presence, error)) ([]Hint, error) {
	hints := []Hint{}
	explained := map[string]bool{} // streams whose gaps have a cause already
	for _, stream := range streamsOf(all) {
		of := only(all, func(g Gap) bool { return g.Stream == stream })
		missing := only(of, func(g Gap) bool { return slices.Contains(g.Why, IsMissing) })
		h, found, err := sharedCounter(stream, missing, sample)
		if err != nil {
			return nil, err
		}
		if !found {
			h, found = joinedLate(stream, missing)
		}
		if explained[stream] = found; found {
			hints = append(hints, h)
		}
		if h, found := blocked(stream, of); found {
			hints = append(hints, h)
		}
		if h, found := exhausted(stream, missing); found {
			hints = append(hints, h)
		}
	}
	if h, found := whenSeen(only(all, func(g Gap) bool { return slices.Contains(g.Why, IsMissing) && !explained[g.Stream] })); found {
		hints = append(hints, h)
	}
	return hints, nil
}

// sharedCounter: a sequence belongs to an entity. Where one counter serves them all each number is in one entity only,
// so that hardly any has all of its own. Four things have to come together: enough entities to compare, no number in two
// of them, that this is no chance, and gaps in most entities of the stream. The index has only those with gaps, so a page
// of the table is the measure of the last.
func sharedCounter(stream string, missing []Gap, sample func(string) ([]ddb.Presence, error)) (Hint, bool, error) {
	comparable := only(missing, func(g Gap) bool { return len(g.known) > 0 })
	if len(comparable) < enough || !disjoint(comparable) || chanceOfDisjoint(comparable) > unlikely {
		return Hint{}, false, nil
	}
	there, err := sample(stream)
	if err != nil {
		return Hint{}, false, err
	}
	marked := 0
	for _, p := range there {
		if p.Marked {
			marked++
		}
	}
	rests := fmt.Sprintf("no number occurs in two of its %d entities with gaps", len(comparable))
	switch {
	case len(there) < enough: // nothing to measure by
		rests += fmt.Sprintf(" (how many entities have none is not known: a page of the table has only %d of this stream)", len(there))
	case 2*marked <= len(there):
		return Hint{}, false, nil
	default:
		rests = fmt.Sprintf("%d of %d entities in a page of the table have gaps, and %s", marked, len(there), rests)
	}
	return Hint{SharedCounter, stream, fmt.Sprintf(
		"One counter seems to serve all entities of %s: %s (such as %s). A sequence must belong to one entity, "+
			"else these gaps never close: let the producer number each entity by itself, or make it a state stream, "+
			"which only compares.", terminal.Escape(stream), rests, examples(comparable))}, true, nil
}

// disjoint reports whether no number occurs in two entities. Another generation is another numbering.
func disjoint(all []Gap) bool {
	seen := map[ordering.Position]bool{}
	for _, g := range all {
		for _, n := range g.known {
			at := ordering.Position{Gen: g.Generation, Seq: n}
			if seen[at] {
				return false
			}
			seen[at] = true
		}
	}
	return true
}

// unlikely is a chance that nobody should build on.
const unlikely = 0.05

// chanceOfDisjoint is how likely it is that no number occurs in two entities though each has its own numbering, if their
// numbers lie anywhere within the same span: a few entities that stand at very different numbers tell nothing.
func chanceOfDisjoint(all []Gap) float64 {
	lowest, highest := int64(math.MaxInt64), int64(0)
	for _, g := range all {
		lowest, highest = min(lowest, g.known[0]), max(highest, g.known.Max())
	}
	span, taken, chance := float64(highest-lowest)+1, 0.0, 1.0
	for _, g := range all {
		n := float64(len(g.known))
		chance *= math.Pow(max(0, 1-taken/span), n)
		taken += n
	}
	return chance
}

func examples(all []Gap) string {
	var out []string
	for _, g := range all[:2] {
		numbers := g.known
		if len(numbers) > 3 {
			numbers = numbers[:3]
		}
		out = append(out, fmt.Sprintf("%s has %s", shortID(g.EntityID), listed(numbers)))
	}
	return strings.Join(out, ", ")
}

func listed(numbers []int64) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = fmt.Sprint(n)
	}
	return strings.Join(texts, " ")
}

// shortID is an id within a sentence.
func shortID(id string) string { return terminal.Fit(terminal.Escape(id), 30) }

// joinedLate: a consumer that begins in the middle of a history waits for its first number for good.
func joinedLate(stream string, missing []Gap) (Hint, bool) {
	if len(missing) < enough || slices.ContainsFunc(missing, func(g Gap) bool {
		return g.start || g.Applied != 0 || len(g.Missing) == 0 || g.Missing[0].First != 1
	}) {
		return Hint{}, false
	}
	return Hint{JoinedLate, stream, fmt.Sprintf(
		"All %d gaps of %s begin at number 1: this consumer may have joined after the history began. Then either begin "+
			"where it stands, with `start: any` in streams.yaml, or set the cursors from a snapshot with `inorder bootstrap`.",
		len(missing), terminal.Escape(stream))}, true
}

func blocked(stream string, of []Gap) (Hint, bool) {
	all := only(of, func(g Gap) bool { return g.Blocked != 0 })
	if len(all) == 0 {
		return Hint{}, false
	}
	return Hint{ManyBlocked, stream, fmt.Sprintf(
		"%s blocked: the projection fails on an event that is here. A copy of each is in quarantine with the reason "+
			"projection_error. Deploy a projection that takes it, and the next sweep goes on by itself.",
		areOf(len(all), stream))}, true
}

func areOf(n int, stream string) string {
	if n == 1 {
		return "1 entity of " + terminal.Escape(stream) + " is"
	}
	return fmt.Sprintf("%d entities of %s are", n, terminal.Escape(stream))
}

// exhausted gaps are asked for no more, so that somebody has to do something.
func exhausted(stream string, missing []Gap) (Hint, bool) {
	all := only(missing, func(g Gap) bool { return g.MaxAttempts > 0 && g.Attempts >= g.MaxAttempts })
	if len(all) == 0 {
		return Hint{}, false
	}
	return Hint{OutOfAttempts, stream, fmt.Sprintf(
		"%s out of attempts: what is missing was asked for %d times, and now only alarms. Look for it in the "+
			"dead-letter queue and in quarantine (`inorder tail`, `inorder redrive`); ask once more with `inorder republish`; "+
			"what is lost for good is passed with `inorder skip`.", areOf(len(all), stream), all[0].MaxAttempts)}, true
}

// whenSeen: gaps that began together have one cause, and young ones may need none.
func whenSeen(missing []Gap) (Hint, bool) {
	if len(missing) == 0 {
		return Hint{}, false
	}
	if !slices.ContainsFunc(missing, func(g Gap) bool { return time.Duration(g.AgeSeconds)*time.Second >= g.gap }) {
		return Hint{Kind: UnderWay, Text: "All of what is missing is younger than its stream's gap deadline: it may just be under way."}, true
	}
	from, n := densest(missing)
	if n < enough || 2*n <= len(missing) {
		return Hint{}, false
	}
	return Hint{Kind: SameTime, Text: fmt.Sprintf(
		"%d of %d gaps were first seen within %s from %s: one cause, such as an outage, a deployment or a batch in the "+
			"dead-letter queue. Look at what happened then.", n, len(missing), terminal.Age(together), terminal.Instant(from.Truncate(time.Second)))}, true
}

// densest is the start of the few minutes in which most gaps began; the gaps are in order of time.
func densest(all []Gap) (from time.Time, most int) {
	for i, g := range all {
		n := 0
		for _, other := range all[i:] {
			if other.Since.Sub(g.Since) > together {
				break
			}
			n++
		}
		if n > most {
			from, most = g.Since, n
		}
	}
	return from, most
}

func only(all []Gap, keep func(Gap) bool) (out []Gap) {
	for _, g := range all {
		if keep(g) {
			out = append(out, g)
		}
	}
	return out
}

func streamsOf(all []Gap) []string {
	var names []string
	for _, g := range all {
		names = append(names, g.Stream)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
