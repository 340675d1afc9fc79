package ordering

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"inorder/events"
)

// Fingerprints are worked out only where id and position are the same, and still a batch is split as if each event's identity
// were compared whole: the first of each is an original, and each further one a copy of it.
func TestCopiesAreWhatIsTheSame(t *testing.T) {
	config := configOf(t, "{name: s, types: [T], mode: step, projection: {sum: {n: data.n}}}")
	rapid.Check(t, func(t *rapid.T) {
		s := *config.Streams[0]
		s.Marker = rapid.Bool().Draw(t, "marker")
		var jobs []*job
		first := map[string]*job{}
		var originals []*job
		var copies []copied
		for range rapid.IntRange(0, 12).Draw(t, "events") {
			id, content := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "id"), rapid.IntRange(0, 2).Draw(t, "content")
			source, seq := rapid.SampledFrom([]string{"", "eu"}).Draw(t, "source"), rapid.Int64Range(1, 2).Draw(t, "seq")
			j := contentJob(t, config, source, id, seq, content)
			jobs = append(jobs, j)
			whole := fmt.Sprint(source, " ", id)
			if !s.Marker {
				whole += fmt.Sprint(" ", seq, " ", content)
			}
			if first[whole] == nil {
				first[whole], originals = j, append(originals, j)
			} else {
				copies = append(copies, copied{j, first[whole]})
			}
		}
		gotOriginals, gotCopies := setCopiesAside(&s, jobs)
		if !slices.Equal(gotOriginals, originals) || !slices.Equal(gotCopies, copies) {
			t.Fatalf("%d originals and %d copies, want %d and %d", len(gotOriginals), len(gotCopies), len(originals), len(copies))
		}
	})
}

func contentJob(t *rapid.T, config *events.Config, source, id string, seq int64, content int) *job {
	m := &events.Message{Body: fmt.Sprintf(`{"event_id":%q,"source":%q,"type":"T","entity_id":"x","seq":%d,"data":{"n":%d}}`, id, source, seq, content)}
	return &job{Delivery: Delivery{Event: config.Decode(*m, someNow)[0].Event, Message: m}, out: &Outcome{}}
}
