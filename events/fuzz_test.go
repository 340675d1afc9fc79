package events

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// reasons that a decoder may give; the others are found later.
var decodeReasons = []Reason{NotJSON, NotAnEvent, NoRoute, NoEntityID, BadOrderKey, BadEventID, TooDeep, FutureTime}

// FuzzDecode holds Decode to its promises: it never panics, always says something, says the same twice, gives reasons of
// its own list only, and an event written anew is the same event.
func FuzzDecode(f *testing.F) {
	for name := range samples {
		for _, m := range readSample(f, name) {
			if len(m.Body) < 5000 {
				f.Add(m.Body, m.Attributes["ce-specversion"].Text, m.Attributes["ce-type"].Text)
			}
		}
	}
	c := fuzzConfig(f)
	f.Fuzz(func(t *testing.T, body, version, typ string) {
		m := Message{Body: body}
		if version != "" {
			m.Attributes = map[string]Attribute{"ce-specversion": {Text: version}, "ce_type": {Text: typ}, "ce-sequence": {Text: "1"}}
		}
		first := c.Decode(m, decodeNow)
		if len(first) == 0 {
			t.Fatal("it says nothing")
		}
		for _, d := range first {
			checkDecoded(t, d)
		}
		if second := c.Decode(m, decodeNow); !reflect.DeepEqual(allSeen(first), allSeen(second)) {
			t.Fatalf("%+v\n%+v", first, second)
		}
	})
}

// fuzzConfig takes whatever has an entity and a key.
func fuzzConfig(t testing.TB) *Config {
	return mustParse(t, readFile(t, "streams.yaml")+`
  - {name: rest, types: ["*"], mode: state, clock: entity, entity: data.id, order: {by: text, path: data.rev}}
`)
}

func checkDecoded(t *testing.T, d Decoded) {
	switch e := d.Event; {
	case e == nil:
		if !slices.Contains(decodeReasons, d.Refusal.Reason) || d.Refusal.Detail == "" || !utf8.ValidString(d.Refusal.Detail) {
			t.Fatalf("%+v", d)
		}
	case e.Kind == Void:
		checkVoid(t, e)
	default:
		checkEvent(t, d)
	}
}

func checkVoid(t *testing.T, e *Event) {
	if e.Stream.Order.By != BySeq || len(e.Ranges) == 0 || e.VoidReason != NeverExisted && e.VoidReason != Expired {
		t.Fatalf("%+v", e)
	}
	next := int64(1)
	for i, r := range e.Ranges {
		if r.First < next || r.Last < r.First || i > 0 && r.First == next {
			t.Fatalf("%+v", e)
		}
		next = r.Last + 1
	}
}

func checkEvent(t *testing.T, d Decoded) {
	e := d.Event
	if d.Refusal != (Refusal{}) || e.Stream == nil || e.Stream != d.Stream || e.Pattern == "" || e.Pattern != d.Pattern ||
		strings.TrimSpace(e.EntityID) == "" || e.Content == nil || (e.Clock == "") != (e.Stream.Order.By == ByNone) {
		t.Fatalf("%+v", d)
	}
	if e.Kind == Fact && e.ID == "" && (e.Stream.Marker || e.Stream.Order.By != BySeq) {
		t.Fatalf("no identity: %+v", e)
	}
	if generation, seq, ok := ParseSeqClock(e.Clock); e.Stream.Order.By == BySeq && (!ok || generation != e.Generation || seq != e.Seq || seq < 1) {
		t.Fatalf("%s is not %d.%d", e.Clock, e.Generation, e.Seq)
	}
	text, err := json.Marshal(asJSON(e.Data()))
	if err != nil {
		t.Fatal(err)
	}
	again, refusal := readJSON(string(text))
	if refusal != nil || !reflect.DeepEqual(again.Any(), any(e.Data())) || Fingerprint(e.Type, again.object()) != e.Fingerprint() {
		t.Fatalf("%v: not the same when written anew: %s", refusal, text)
	}
}

// asJSON makes of our numbers what encoding/json writes as it is.
func asJSON(v any) any {
	switch v := v.(type) {
	case Number:
		return json.Number(v)
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = asJSON(element)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = asJSON(member)
		}
		return out
	}
	return v
}

// FuzzStreams holds ParseStreams to its promises: it never panics, says the same twice, every fault has a line that the
// file has, and a Config without faults keeps the rules that the ordering relies on.
func FuzzStreams(f *testing.F) {
	f.Add(readFile(f, "streams.yaml"))
	for _, name := range []string{"valid", "faults"} {
		for _, c := range strings.Split(readFile(f, "testdata/streams/"+name+".txt"), "\nparse") {
			_, text, _ := strings.Cut(c, "\n")
			text, _, _ = strings.Cut(text, "----")
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseFuzzed(text)
		if again, errAgain := parseFuzzed(text); !reflect.DeepEqual(err, errAgain) || !reflect.DeepEqual(c, again) {
			t.Fatalf("%v\n%v", err, errAgain)
		}
		if err == nil {
			checkConfig(t, c)
			checkFormOfFile(t, c, text)
			return
		}
		var faults Faults
		if !errors.As(err, &faults) || len(faults) == 0 {
			t.Fatalf("%#v", err)
		}
		for _, fault := range faults {
			if fault.Line < 1 || fault.Line > 1+strings.Count(text, "\n")+strings.Count(text, "\r") || fault.Text == "" {
				t.Fatalf("%+v in\n%s", fault, text)
			}
		}
	})
}

func parseFuzzed(text string) (*Config, error) {
	return ParseStreams([]byte(text), Options{Projections: []string{"running_total"}})
}

// checkFormOfFile: what stands around the rules, and how lines end, is nothing of them.
func checkFormOfFile(t *testing.T, c *Config, text string) {
	t.Helper()
	text = strings.TrimPrefix(text, byteOrderMark)
	for what, other := range map[string]string{
		"a mark in front": byteOrderMark + text,
		"a comment":       "# a comment\n" + text,
		"a line more":     text + "\n",
	} {
		if again, err := parseFuzzed(other); err != nil || !reflect.DeepEqual(c, again) {
			t.Fatalf("with %s: %v\n%q", what, err, text)
		}
	}
}

func checkConfig(t *testing.T, c *Config) {
	if c.Consumer == "" || len(c.Streams) == 0 {
		t.Fatalf("%+v", c)
	}
	patterns := make(map[string]bool)
	for _, s := range c.Streams {
		if c.Stream(s.Name) != s || len(s.Types) == 0 || len(s.Entity) == 0 || s.GapDeadline < time.Second || s.GapAttempts < 1 {
			t.Fatalf("%+v", s)
		}
		for _, p := range slices.Concat(s.Types, s.Ignore, s.Tombstone) {
			if p == "" || patterns[p] {
				t.Fatalf("pattern %q", p)
			}
			patterns[p] = true
		}
		switch s.Mode {
		case State:
			if s.Clock == "" || s.Order.By == ByNone || s.Marker && s.MarkerTTL < minMarkerTTL || (s.Clock == ClockSource) != (len(s.Owns) > 0) {
				t.Fatalf("%+v", s)
			}
		case Step:
			if s.Order.By != BySeq || s.Window < 1 || s.ParkTTL < time.Second || s.MaxParkAge < s.ParkTTL {
				t.Fatalf("%+v", s)
			}
		case Delta:
			if s.Order.By != BySeq && s.Order.By != ByNone || s.Marker != (s.Order.By == ByNone) || len(s.Projection.Sum) == 0 || s.Window < 1 {
				t.Fatalf("%+v", s)
			}
		default:
			t.Fatalf("%+v", s)
		}
	}
}
