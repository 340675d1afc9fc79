package events

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// seen is what an event is, whichever way it came.
func seen(d Decoded) any {
	e := d.Event
	if e == nil {
		return d.Refusal.Reason // a detail may name an offset
	}
	return []any{
		e.Stream.Name, e.Pattern, e.Kind, e.ID, e.Source, e.Type, e.EntityID, e.Generation, e.Seq, e.Clock, e.PublishedAt, e.Ignored,
		e.Tombstone, e.Fingerprint(), e.Ranges, e.VoidReason, e.Data(),
	}
}

func allSeen(all []Decoded) (views []any) {
	for _, d := range all {
		views = append(views, seen(d))
	}
	return views
}

// inNotification wraps a message as SNS does, which hands its attributes on inside.
func inNotification(m Message) Message {
	attributes := map[string]any{}
	for name, a := range m.Attributes {
		attributes[name] = map[string]string{"Type": "String", "Value": a.Text}
	}
	body, err := json.Marshal(map[string]any{"Type": "Notification", "Message": m.Body, "MessageAttributes": attributes})
	if err != nil {
		panic(err) // strings only
	}
	return Message{Body: string(body)}
}

// onBus wraps a message as EventBridge does, which knows no attributes.
func onBus(m Message) Message {
	body := strings.TrimPrefix(m.Body, byteOrderMark)
	return Message{Body: `{"version":"0","source":"shop","detail-type":"x","time":"2026-03-01T00:00:00Z","detail":` + body + `}`}
}

// wrappersAround counts what stands around an event already.
func wrappersAround(m Message) (n int) {
	l := layer{attributes: m.Attributes}
	l.value, _ = readJSON(m.Body)
	for ; n <= maxWrappers; n++ {
		if isBinaryCloudEvent(l.attributes) {
			return n
		}
		inner, isWrapper, refusal := l.open()
		if !isWrapper || refusal != nil {
			return n
		}
		l = inner
	}
	return n
}

// FuzzWrappers: a wrapper, or two, or three, of whatever kind, make no other event of a message.
func FuzzWrappers(f *testing.F) {
	for name := range samples {
		for i, m := range readSample(f, name) {
			if len(m.Body) < 3000 {
				f.Add(m.Body, m.Attributes["ce-type"].Text, uint8(i+len(m.Body)))
			}
		}
	}
	c := fuzzConfig(f)
	f.Fuzz(func(t *testing.T, body, typ string, kinds uint8) {
		if !allValid(body, typ) {
			t.Skip("no wrapper holds what is not UTF-8")
		}
		m := Message{Body: body}
		if typ != "" {
			m.Attributes = map[string]Attribute{"ce-specversion": {Text: "1.0"}, "ce-id": {Text: "i"}, "ce-type": {Text: typ}, "ce-sequence": {Text: "1"}}
		}
		plain, around := allSeen(c.Decode(m, decodeNow)), wrappersAround(m)
		parsed, refusal := readJSON(body)
		if slices.Contains(plain, any(TooDeep)) {
			return // and a bus adds a level
		}
		for ; around < maxWrappers; around++ {
			kinds, m = kinds>>1, wrapped(m, kinds&1 == 1 && typ == "" && refusal == nil && parsed.form == formObject)
			if got := allSeen(c.Decode(m, decodeNow)); !reflect.DeepEqual(got, plain) && !slices.Contains(got, any(TooDeep)) {
				t.Fatalf("%v\nin a wrapper: %v\n%s", plain, got, m.Body)
			}
		}
		if got := c.Decode(wrapped(m, false), decodeNow); got[0].Event != nil || got[0].Refusal.Reason != NotAnEvent && got[0].Refusal.Reason != NotJSON {
			t.Fatalf("one more wrapper than is opened: %+v", got[0])
		}
	})
}

// allValid looks at each by itself: two halves of a character are one together.
func allValid(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool { return !utf8.ValidString(s) })
}

func wrapped(m Message, bus bool) Message {
	if bus {
		return onBus(m)
	}
	return inNotification(m)
}

// FuzzEnvelopes: one event in the project's own shape, as a webhook and as a CloudEvent, structured, encoded and binary, is
// one event; and the data is what was written, to the last digit.
func FuzzEnvelopes(f *testing.F) {
	f.Add("e1", "shop", "PlanChanged", "s1", uint64(7), uint64(0), `{"plan":"basic","n":1.10}`)
	f.Add("", "", "x", "1", uint64(1), uint64(1<<40), `[]`)
	f.Add(" ", "a|b", "*", "\u2028", uint64(1<<63), uint64(9_999_999_999), `{"_a":{"b":[1e400]}}`)
	c := mustParse(f, "consumer: c\nstreams:\n  - {name: s, types: [\"*\"], mode: step}\n")
	f.Fuzz(func(t *testing.T, id, source, typ, entity string, seq, generation uint64, data string) {
		if !allValid(id, source, typ, entity) || typ == "" || isControl(typ) {
			t.Skip("no such envelope is written")
		}
		value, refusal := readJSON(data)
		if refusal != nil || value.form != formObject {
			t.Skip("data is an object")
		}
		raw := json.RawMessage(strings.TrimPrefix(data, byteOrderMark))
		number := json.Number(strconv.FormatUint(seq, 10))
		own := map[string]any{"event_id": id, "source": source, "type": typ, "entity_id": entity, "seq": number, "generation": generation, "data": raw}
		hook := map[string]any{"id": id, "source": source, "type": typ, "entity_id": entity, "seq": number, "generation": generation, "data": raw}
		cloud := map[string]any{"specversion": "1.0", "id": id, "source": source, "type": typ, "subject": entity, "sequence": string(number), "generation": generation, "data": raw}
		encoded := map[string]any{"specversion": "1.0", "id": id, "source": source, "type": typ, "subject": entity, "sequence": string(number), "generation": generation, "data_base64": base64.StdEncoding.EncodeToString([]byte(data))}
		binary := Message{Body: data, Attributes: map[string]Attribute{}}
		for name, v := range cloud {
			if name != "data" {
				binary.Attributes["ce-"+name] = Attribute{Type: "String", Text: fmt.Sprint(v)}
			}
		}
		want := c.Decode(written(own), decodeNow)[0]
		for what, m := range map[string]Message{"webhook": written(hook), "CloudEvent": written(cloud), "encoded": written(encoded), "binary": binary} {
			if got := c.Decode(m, decodeNow)[0]; !reflect.DeepEqual(seen(got), seen(want)) {
				t.Fatalf("own: %v %+v\n%s: %v %+v\n%s", seen(want), want.Refusal, what, seen(got), got.Refusal, m.Body)
			}
		}
		if want.Event != nil && (want.EntityID != entity || !reflect.DeepEqual(want.Event.Data(), value.Any())) {
			t.Fatalf("%+v of %s", want.Event, data)
		}
	})
}

func written(envelope map[string]any) Message {
	body, err := json.Marshal(envelope)
	if err != nil {
		panic(err) // of what was checked before
	}
	return Message{Body: string(body)}
}

// FuzzStorage: an object's event is the same as S3's notification and over EventBridge, and of several records in one
// notification each is judged as if it were alone. Its entity and its id name bucket and key, and nothing else.
func FuzzStorage(f *testing.F) {
	f.Add("b", "one key/ü", "0055AED6DCD90281E5", "ObjectCreated:Put", "two")
	f.Add("b/c", "%2F+ ", "", "", "")
	f.Add("b", "k", "zz", "x", "k")
	c := mustParse(f, "consumer: c\nstreams:\n  - {name: s, types: [\"*\"], mode: state, clock: entity, order: {by: hex}}\n")
	f.Fuzz(func(t *testing.T, bucket, key, sequencer, typ, other string) {
		if !allValid(bucket, key, sequencer, typ, other) {
			t.Skip("JSON has no such text")
		}
		record := func(key string) map[string]any {
			return map[string]any{"eventName": typ, "eventTime": "2026-03-01T00:00:00Z", "s3": map[string]any{
				"bucket": map[string]any{"name": bucket}, "object": map[string]any{"key": url.QueryEscape(key), "sequencer": sequencer, "size": 1},
			}}
		}
		alone := func(key string) Decoded {
			all := c.Decode(written(map[string]any{"Records": []any{record(key)}}), decodeNow)
			if len(all) != 1 {
				t.Fatalf("%d events of one record", len(all))
			}
			return all[0]
		}
		first, second := alone(key), alone(other)
		both := c.Decode(written(map[string]any{"Records": []any{record(key), record(other)}}), decodeNow)
		if !reflect.DeepEqual(allSeen(both), []any{seen(first), seen(second)}) {
			t.Fatalf("%+v\nalone: %+v, %+v", both, first, second)
		}
		bus := c.Decode(written(map[string]any{"detail-type": typ, "source": "aws.s3", "time": "2026-03-01T00:00:00Z", "detail": map[string]any{
			"bucket": map[string]any{"name": bucket}, "object": map[string]any{"key": key, "sequencer": sequencer, "size": 1},
		}}), decodeNow)
		if typ != "" && !reflect.DeepEqual(allSeen(bus), []any{seen(first)}) {
			t.Fatalf("%+v\nover EventBridge: %+v", first, bus)
		}
		e, o := first.Event, second.Event
		if e != nil && (e.EntityID != bucket+"/"+key || e.ID != e.EntityID+"#"+sequencer || strings.Contains(bucket, "/")) {
			t.Fatalf("%+v", e)
		}
		if e != nil && o != nil && (e.EntityID == o.EntityID) != (key == other) {
			t.Fatalf("%q and %q are one entity, or two", key, other)
		}
	})
}
