package events

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"
)

func TestAFlatEventIsItsOwnData(t *testing.T) {
	c := mustParse(t, `
consumer: c
streams:
  - {name: top, types: [A], mode: state, clock: entity, entity: subscription_id}
  - {name: deep, types: [B], mode: state, clock: entity, entity: data.subscription_id, order: {path: data.version}}
`)
	for _, body := range []string{
		`{"type":"A","subscription_id":"s","plan":"pro","seq":7,"event_id":"s:7","source":"x","published_at":"soon","generation":1,"entity_id":"other"}`,
		`{"type":"B","subscription_id":"s","plan":"pro","version":7,"event_id":"s:7"}`,
	} {
		e := decodeOne(t, c, body).Event
		want := map[string]any{"subscription_id": "s", "plan": "pro"}
		if e.Type == "B" {
			want["version"] = Number("7")
		}
		if !reflect.DeepEqual(e.Data(), want) || e.EntityID != "s" || e.Seq != 7 {
			t.Errorf("%+v", e)
		}
		for _, path := range []string{"plan", "data.plan"} {
			if v, ok := lookup(t, e, path); !ok || v != "pro" {
				t.Errorf("%s: %v %t", path, v, ok)
			}
		}
	}
}

func lookup(t *testing.T, e *Event, path string) (any, bool) {
	t.Helper()
	p, err := ParsePath(path)
	if err != nil || p.String() != path {
		t.Fatal(p, err)
	}
	return e.Lookup(p)
}

func TestPathsAreLookedUpInTheDecodedEvent(t *testing.T) {
	c := mustParse(t, decodeStreams)
	e := decodeOne(t, c, `{"type":"DocSet","entity_id":"d","seq":1,"trace":"t","data":{"items":[{"sku":"a"},{"sku":null}],"1":"one"}}`).Event
	for path, want := range map[string]any{
		"type": "DocSet", "seq": Number("1"), "trace": "t", "data.items.0.sku": "a", "data.items.1.sku": nil, "data.1": "one",
	} {
		if v, ok := lookup(t, e, path); !ok || v != want {
			t.Errorf("%s: %v %t", path, v, ok)
		}
	}
	for _, path := range []string{"items", "data.items.2", "data.items.-1", "data.items.x", "data.items.0.sku.x", "published_at", "data.items.99999999999999999999"} {
		if v, ok := lookup(t, e, path); ok {
			t.Errorf("%s: %v", path, v)
		}
	}
	for _, path := range []string{"", ".", "a.", ".a", "a..b"} {
		if p, err := ParsePath(path); err == nil {
			t.Errorf("%q is %v", path, p)
		}
	}
	if _, ok := e.Lookup(nil); ok {
		t.Error("an empty path finds something")
	}
}

func TestAWebhookLendsItsIDAndItsInstant(t *testing.T) {
	c := mustParse(t, `
consumer: c
streams:
  - {name: hook, types: ["ticket.*"], mode: state, clock: entity, entity: data.id, order: {by: time}}
`)
	e := decodeOne(t, c, `{"id":"w-1","type":"ticket.closed","created_at":"2025-12-31T10:00:02Z","data":{"id":"t"}}`).Event
	if e.ID != "w-1" || e.EntityID != "t" || FormatInstant(e.PublishedAt) != "2025-12-31T10:00:02.000000000Z" {
		t.Errorf("%+v", e)
	}
	e = decodeOne(t, c, `{"id":"w-1","event_id":"e-1","type":"ticket.closed","created_at":"2025-12-31T10:00:02Z","published_at":"2025-12-30T00:00:00Z","data":{"id":"t"}}`).Event
	if e.ID != "e-1" || !strings.HasPrefix(e.Clock, "2025-12-30T") {
		t.Errorf("the own names come first: %+v", e)
	}
	if d := decodeOne(t, c, `{"id":"w-1","event_id":null,"type":"ticket.closed","created_at":"2025-12-31T10:00:02Z","data":{"id":"t"}}`); d.Refusal.Reason != BadEventID {
		t.Errorf("a null event_id is not absent: %+v", d)
	}
}

const cloudStreams = `
consumer: c
streams:
  - {name: lamp, types: [lamp.switched], mode: state, clock: entity}
  - {name: at, types: [lamp.timed], mode: state, clock: entity, order: {by: time}}
  - {name: text, types: [lamp.text], mode: state, clock: entity, order: {by: text}}
`

func TestCloudEvents(t *testing.T) {
	c := mustParse(t, cloudStreams)
	encoded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	head := `{"specversion":"1.0","id":"c","source":"/grid","subject":"L9","type":"lamp.switched","sequence":"0010","generation":"2"`
	for _, r := range []struct{ rule, body, want string }{
		{"structured", head + `,"data":{"lit":true}}`, "lamp.switched lamp"},
		{"with encoded data", head + `,"data_base64":"` + encoded(`{"lit":true}`) + `"}`, "lamp.switched lamp"},
		{"without data", head + `}`, "lamp.switched lamp"},
		{"with two data", head + `,"data":{},"data_base64":"e30="}`, "not_an_event"},
		{"with a text as data", head + `,"data":"lit"}`, "not_an_event"},
		{"with encoded data that is no object", head + `,"data_base64":"W10="}`, "not_an_event"},
		{"with encoded data that is no JSON", head + `,"data_base64":"` + encoded(`{"a":1,"a":1}`) + `"}`, "not_json"},
		{"with encoded data that is too deep", head + `,"data_base64":"` + encoded(nested("[", 1001, "]")) + `"}`, "too_deep"},
		{"with data that is not base64", head + `,"data_base64":"%%%"}`, "not_json"},
		{"with data_base64 that is no text", head + `,"data_base64":{}}`, "not_json"},
		{"of another version", `{"specversion":"0.3","id":"c","source":"/grid","subject":"L9","type":"lamp.switched","sequence":"1","data":{}}`, "not_an_event"},
		{"of a version that is a number", `{"specversion":1.0,"id":"c","source":"/grid","subject":"L9","type":"lamp.switched","sequence":"1","data":{}}`, "not_an_event"},
		{"without a type", `{"specversion":"1.0","id":"c","source":"/grid","subject":"L9","sequence":"1","data":{}}`, "not_an_event"},
		{"by time", `{"specversion":"1.0","id":"c","source":"/grid","subject":"L9","type":"lamp.timed","time":"2026-01-01T00:00:00Z","data":{}}`, "lamp.timed at"},
		{"by text", `{"specversion":"1.0","id":"c","source":"/grid","subject":"L9","type":"lamp.text","sequence":"a","data":{}}`, "lamp.text text"},
		{"a batch", `[` + head + `}]`, "not_an_event"},
	} {
		if got := outcome(decodeOne(t, c, r.body)); got != r.want {
			t.Errorf("%s: %s, want %s", r.rule, got, r.want)
		}
	}
	e := decodeOne(t, c, head+`,"data":{"lit":true}}`).Event
	if e.ID != "c" || e.Source != "/grid" || e.EntityID != "L9" || e.Clock != SeqClock(2, 10) {
		t.Errorf("%+v", e)
	}
}

func TestACloudEventInBinaryMode(t *testing.T) {
	c := mustParse(t, cloudStreams)
	for _, r := range []struct {
		rule       string
		attributes []string // name, value, ...
		body, want string
	}{
		{"by ce-", []string{"ce-specversion", "1.0", "ce-type", "lamp.switched", "ce-subject", "L9", "ce-sequence", "9", "content-type", "application/json"}, `{"lit":true}`, "lamp.switched lamp"},
		{"by ce_", []string{"ce_specversion", "1.0", "ce_type", "lamp.switched", "ce_subject", "L9", "ce_sequence", "9"}, `{"lit":true}`, "lamp.switched lamp"},
		{"whatever its data looks like", []string{"ce-specversion", "1.0", "ce-type", "lamp.switched", "ce-subject", "L9", "ce-sequence", "9"}, `{"type":"lamp.timed","event_id":"x"}`, "lamp.switched lamp"},
		{"of another version", []string{"ce-specversion", "0.3", "ce-type", "lamp.switched", "ce-subject", "L9", "ce-sequence", "9"}, `{}`, "not_an_event"},
		{"with a list as data", []string{"ce-specversion", "1.0", "ce-type", "lamp.switched", "ce-subject", "L9", "ce-sequence", "9"}, `[]`, "not_an_event"},
		{"with a broken body", []string{"ce-specversion", "1.0", "ce-type", "lamp.switched", "ce-subject", "L9", "ce-sequence", "9"}, `lit`, "not_json"},
		{"said to be structured", []string{"ce-specversion", "1.0", "content-type", "application/cloudevents+json; charset=UTF-8"}, `{"specversion":"1.0","type":"lamp.switched","subject":"L9","sequence":"9"}`, "lamp.switched lamp"},
		{"without a version it is none", []string{"ce-type", "lamp.switched", "ce-subject", "L9", "ce-sequence", "9"}, `{"lit":true}`, "not_an_event"},
	} {
		m := Message{Body: r.body, Attributes: make(map[string]Attribute)}
		for i := 0; i < len(r.attributes); i += 2 {
			m.Attributes[r.attributes[i]] = Attribute{Type: "String", Text: r.attributes[i+1]}
		}
		if got := outcome(c.Decode(m, decodeNow)[0]); got != r.want {
			t.Errorf("%s: %s, want %s", r.rule, got, r.want)
		}
	}
}
