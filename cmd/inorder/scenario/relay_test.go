package scenario

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"inorder/cmd/inorder/backend"
	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/events"
	"inorder/ordering"
)

const outboxStreams = `name: x
streams:
  consumer: c
  streams:
    - {name: l, types: [Posted], mode: step, projection: {sum: {n: data.n}}}
    - {name: p, types: [Read], mode: delta, per_source: true, projection: {sum: {n: data.n}}}
    - {name: v, types: [view.set], mode: state, clock: source, owns: {crm: [name]}}
steps:
  - outbox:
      rows:
        - {event_id: l2, type: Posted, entity_id: a, source: x, generation: 1, seq: 2, data: {n: 1}}
        - {event_id: l1, type: Posted, entity_id: a, source: y, generation: 1, seq: "1", data: {n: 0.10}}
        - {event_id: l9, type: Posted, entity_id: a, seq: 9, data: {n: 1}}
        - {event_id: p1, type: Read, entity_id: a, source: north, seq: 1, data: {n: 1}}
        - {event_id: p2, type: Read, entity_id: a, source: south, seq: 1, data: {n: 1}}
        - {event_id: v1, type: view.set, entity_id: a, source: crm, seq: 5, data: {name: n}}
      never_existed:
        - {stream: l, id: a, source: whoever, generation: 1, ranges: [[3, 5], [8, 8]]}
        - {stream: p, id: a, source: south, ranges: [[2, 9]]}
`

func outboxOf(t *testing.T, text string) *outbox {
	t.Helper()
	f, err := load([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f.scripts[0].steps[0].action.(setOutbox).outbox
}

// A row is found by what the relay asks for: the numbers of a generation of a history, which is a source's own where each
// source counts for itself.
func TestRowsOfTheOutboxAreFoundByTheirHistory(t *testing.T) {
	o := outboxOf(t, outboxStreams)
	for _, row := range []struct {
		key              ddb.OutboxKey
		gen, first, last int64
		want             string
	}{
		{ddb.OutboxKey{Stream: "l", EntityID: "a"}, 1, 1, 9, "l1 l2"},
		{ddb.OutboxKey{Stream: "l", EntityID: "a"}, 1, 2, 2, "l2"},
		{ddb.OutboxKey{Stream: "l", EntityID: "a"}, 0, 1, 9, "l9"},
		{ddb.OutboxKey{Stream: "l", EntityID: "b"}, 1, 1, 9, ""},
		{ddb.OutboxKey{Stream: "p", EntityID: "a", Source: "south", PerSource: true}, 0, 1, 9, "p2"},
		{ddb.OutboxKey{Stream: "p", EntityID: "a", Source: "west", PerSource: true}, 0, 1, 9, ""},
		{ddb.OutboxKey{Stream: "v", EntityID: "a", Source: "crm"}, 0, 1, 9, "v1"},
		{ddb.OutboxKey{Stream: "v", EntityID: "a", Source: "erp"}, 0, 1, 9, ""},
	} {
		var got []string
		for r, err := range o.Rows(t.Context(), row.key, row.gen, row.first, row.last) {
			if err != nil {
				t.Fatal(err)
			}
			d := o.streams.Decode(events.Message{Body: r.Event}, epoch)[0]
			if got = append(got, d.EventID); d.Event.Seq != r.At.Seq || d.Event.Generation != r.At.Gen {
				t.Errorf("%s stands at %+v", r.Event, r.At)
			}
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%+v from %d to %d of generation %d: %v, want %s", row.key, row.first, row.last, row.gen, got, row.want)
		}
	}
}

// The body that is sent again is the file's, with every digit.
func TestARowIsSentAsItStandsInTheFile(t *testing.T) {
	want := `{"event_id":"l1","type":"Posted","entity_id":"a","source":"y","generation":1,"seq":"1","data":{"n":0.10}}`
	if got := outboxOf(t, outboxStreams).rows[1].body; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Only the newest of a history is marked, and of a generation that is over nothing.
func TestTheNewestOfEachHistoryIsMarked(t *testing.T) {
	var got []string
	for _, m := range marksOf(outboxOf(t, outboxStreams).heads()) {
		got = append(got, ordering.Key{Stream: m.Stream, ID: m.EntityID, Source: m.Source}.Stream+"/"+m.Source)
		if m.Stream == "l" && (m.Generation != 1 || m.Seq != 2) {
			t.Errorf("%+v", m)
		}
	}
	if all := strings.Join(got, " "); all != "l/x p/north p/south v/crm" {
		t.Errorf("marked: %s", all)
	}
}

// Nothing is proved but what the script says, of that very history and generation.
func TestOnlyWhatTheScriptSaysIsProved(t *testing.T) {
	o := outboxOf(t, outboxStreams)
	for _, row := range []struct {
		key  ddb.OutboxKey
		gen  int64
		want string
	}{
		{ddb.OutboxKey{Stream: "l", EntityID: "a"}, 1, "4-5,8"},
		{ddb.OutboxKey{Stream: "l", EntityID: "a"}, 0, ""},
		{ddb.OutboxKey{Stream: "p", EntityID: "a", Source: "south", PerSource: true}, 0, "4-6,8-9"},
		{ddb.OutboxKey{Stream: "p", EntityID: "a", Source: "north", PerSource: true}, 0, ""},
	} {
		got, err := o.NeverExisted(t.Context(), row.key, row.gen, []events.Range{{First: 4, Last: 6}, {First: 8, Last: 11}})
		if err != nil || rangesText(got) != row.want {
			t.Errorf("%+v: %s, %v, want %s", row.key, rangesText(got), err, row.want)
		}
	}
}

// broken fails every request of one operation, as no script has asked for.
type broken struct{ operation string }

func (b broken) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.HasSuffix(request.Header.Get("X-Amz-Target"), "."+b.operation) {
		return backend.Answer(request, http.StatusBadRequest, "com.amazon.coral.validate#ValidationException", "no"), nil
	}
	return local.Transport().RoundTrip(request)
}

// A sweep that fails although the script makes nothing fail is a failure: no expectation need look at it.
func TestASweepThatFailsByItselfFailsTheScenario(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	text := strings.Split(outboxStreams, "steps:")[0] + "steps:\n  - sweep: {}\n  - sweep: {times: 2, concurrent: true}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	player := &Player{Backend: open(t, ""), engine: broken{"Query"}}
	if r := player.Play(t.Context(), []string{path})[0]; len(r.Failures) != 3 || r.Failures[0].What != "sweep" {
		t.Errorf("%+v", r)
	}
}
