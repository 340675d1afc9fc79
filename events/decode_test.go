package events

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

var decodeNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const decodeStreams = `
consumer: c
streams:
  - {name: doc, types: [DocSet], mode: state, clock: entity, tombstone: [DocGone]}
  - {name: at, types: ["at.*"], mode: state, clock: entity, order: {by: time, path: data.at}}
  - {name: published, types: [Published], mode: state, clock: entity, order: {by: time}, max_future: 10m}
  - {name: rev, types: [RevSet], mode: state, clock: entity, order: {by: text, path: data.rev}}
  - {name: hex, types: [HexSet], mode: state, clock: entity, order: {by: hex, path: data.key}}
  - {name: marked, types: [Marked], mode: state, clock: entity, dedup: marker}
  - {name: ledger, types: ["entry.*"], ignore: [entry.viewed, "entry.note.*"], mode: step, projection: {sum: {n: data.n}}}
  - {name: count, types: [Counted], mode: delta, projection: {sum: {n: data.n}}}
  - {name: click, types: [Clicked], mode: delta, order: {by: none}, projection: {sum: {n: data.n}}}
`

// decodeOne decodes a body that holds one event.
func decodeOne(t *testing.T, c *Config, body string) Decoded {
	t.Helper()
	all := c.Decode(Message{Body: body}, decodeNow)
	if len(all) != 1 {
		t.Fatalf("%s: %d events", body, len(all))
	}
	return all[0]
}

func TestEachRuleOfAnEvent(t *testing.T) {
	c := mustParse(t, decodeStreams)
	for _, r := range []struct{ rule, body, want string }{
		{"the own shape", `{"event_id":"e","type":"DocSet","entity_id":"d","seq":1,"data":{}}`, "DocSet doc"},
		{"an entity id may be an integer", `{"event_id":"e","type":"DocSet","entity_id":-7,"seq":1,"data":{}}`, "DocSet doc"},
		{"but no fraction", `{"event_id":"e","type":"DocSet","entity_id":7.0,"seq":1,"data":{}}`, "no_entity_id"},
		{"nor an exponent", `{"event_id":"e","type":"DocSet","entity_id":7e0,"seq":1,"data":{}}`, "no_entity_id"},
		{"nor absent", `{"event_id":"e","type":"DocSet","seq":1,"data":{}}`, "no_entity_id"},
		{"nor null", `{"event_id":"e","type":"DocSet","entity_id":null,"seq":1,"data":{}}`, "no_entity_id"},
		{"nor empty", `{"event_id":"e","type":"DocSet","entity_id":"","seq":1,"data":{}}`, "no_entity_id"},
		{"nor blank", `{"event_id":"e","type":"DocSet","entity_id":" \u00a0\t","seq":1,"data":{}}`, "no_entity_id"},
		{"nor a list", `{"event_id":"e","type":"DocSet","entity_id":["d"],"seq":1,"data":{}}`, "no_entity_id"},

		{"a quoted sequence", `{"event_id":"e","type":"DocSet","entity_id":"d","seq":"007","data":{}}`, "DocSet doc"},
		{"the largest sequence", `{"event_id":"e","type":"DocSet","entity_id":"d","seq":9223372036854775807,"data":{}}`, "DocSet doc"},
		{"one more", `{"event_id":"e","type":"DocSet","entity_id":"d","seq":9223372036854775808,"data":{}}`, "bad_order_key"},
		{"sequence zero", `{"event_id":"e","type":"DocSet","entity_id":"d","seq":0,"data":{}}`, "bad_order_key"},
		{"no sequence", `{"event_id":"e","type":"entry.posted","entity_id":"d","data":{}}`, "bad_order_key"},
		{"a null sequence", `{"event_id":"e","type":"Counted","entity_id":"d","seq":null,"data":{}}`, "bad_order_key"},

		{"a generation", `{"type":"DocSet","entity_id":"d","seq":1,"generation":9999999999,"data":{}}`, "DocSet doc"},
		{"a quoted generation", `{"type":"DocSet","entity_id":"d","seq":1,"generation":"0","data":{}}`, "DocSet doc"},
		{"a null generation is absent", `{"type":"DocSet","entity_id":"d","seq":1,"generation":null,"data":{}}`, "DocSet doc"},
		{"a generation of eleven digits", `{"type":"DocSet","entity_id":"d","seq":1,"generation":10000000000,"data":{}}`, "bad_order_key"},
		{"a negative generation", `{"type":"DocSet","entity_id":"d","seq":1,"generation":-1,"data":{}}`, "bad_order_key"},
		{"a fraction of a generation", `{"type":"DocSet","entity_id":"d","seq":1,"generation":1.0,"data":{}}`, "bad_order_key"},
		{"a generation matters by seq only", `{"event_id":"e","type":"at.x","entity_id":"d","generation":"x","data":{"at":"2026-03-01T12:00:00Z"}}`, "at.x at"},

		{"a sequence is identity enough", `{"type":"DocSet","entity_id":"d","seq":1,"data":{}}`, "DocSet doc"},
		{"with a null id too", `{"event_id":null,"type":"entry.posted","entity_id":"d","seq":1,"data":{}}`, "entry.posted ledger"},
		{"with a blank id too", `{"event_id":" ","type":"Counted","entity_id":"d","seq":1,"data":{}}`, "Counted count"},
		{"but what is no id is refused", `{"event_id":{},"type":"DocSet","entity_id":"d","seq":1,"data":{}}`, "bad_event_id"},
		{"an integer is an id", `{"event_id":12,"type":"Marked","entity_id":"d","seq":1,"data":{}}`, "Marked marked"},
		{"a marker needs an id", `{"type":"Marked","entity_id":"d","seq":1,"data":{}}`, "bad_event_id"},
		{"not a null one", `{"event_id":null,"type":"Clicked","entity_id":"d","data":{}}`, "bad_event_id"},
		{"nor an empty one", `{"event_id":"","type":"Clicked","entity_id":"d","data":{}}`, "bad_event_id"},
		{"a time needs an id", `{"event_id":"\t","type":"at.x","entity_id":"d","data":{"at":"2026-03-01T12:00:00Z"}}`, "bad_event_id"},
		{"a text key needs an id", `{"type":"RevSet","entity_id":"d","data":{"rev":"a"}}`, "bad_event_id"},
		{"a hex key needs an id", `{"type":"HexSet","entity_id":"d","data":{"key":"a0"}}`, "bad_event_id"},
		{"a source is a text or an integer", `{"event_id":"e","source":5,"type":"DocSet","entity_id":"d","seq":1,"data":{}}`, "DocSet doc"},
		{"nothing else", `{"event_id":"e","source":["x"],"type":"DocSet","entity_id":"d","seq":1,"data":{}}`, "bad_event_id"},
		{"a null source is none", `{"event_id":"e","source":null,"type":"DocSet","entity_id":"d","seq":1,"data":{}}`, "DocSet doc"},

		{"without an order a sequence is not looked at", `{"event_id":"e","type":"Clicked","entity_id":"d","seq":"x","generation":-5,"data":{}}`, "Clicked click"},
		{"a time an hour ahead", `{"event_id":"e","type":"at.x","entity_id":"d","data":{"at":"2026-03-01T13:00:00Z"}}`, "at.x at"},
		{"one more nanosecond", `{"event_id":"e","type":"at.x","entity_id":"d","data":{"at":"2026-03-01T13:00:00.000000001Z"}}`, "future_time"},
		{"the stream's own bound", `{"event_id":"e","type":"Published","entity_id":"d","published_at":"2026-03-01T12:10:01Z","data":{}}`, "future_time"},
		{"a time without a zone", `{"event_id":"e","type":"at.x","entity_id":"d","data":{"at":"2026-03-01T13:00:00"}}`, "bad_order_key"},
		{"a time that is a number", `{"event_id":"e","type":"at.x","entity_id":"d","data":{"at":1767225600}}`, "bad_order_key"},
		{"a text key that is empty", `{"event_id":"e","type":"RevSet","entity_id":"d","data":{"rev":""}}`, "bad_order_key"},
		{"a text key that is a number", `{"event_id":"e","type":"RevSet","entity_id":"d","data":{"rev":5}}`, "bad_order_key"},
		{"a hex key with a stranger in it", `{"event_id":"e","type":"HexSet","entity_id":"d","data":{"key":"00XY"}}`, "bad_order_key"},

		{"an ignored type", `{"type":"entry.viewed","entity_id":"d","seq":1,"data":{"n":"x"}}`, "entry.viewed ledger ignored"},
		{"an ignored prefix", `{"type":"entry.note.added","entity_id":"d","seq":1,"data":{}}`, "entry.note.added ledger ignored"},
		{"the longest prefix", `{"type":"entry.noted","entity_id":"d","seq":1,"data":{}}`, "entry.noted ledger"},
		{"a tombstone needs no data", `{"event_id":"e","type":"DocGone","entity_id":"d","seq":2}`, "DocGone doc tombstone"},
		{"null data is none", `{"event_id":"e","type":"DocGone","entity_id":"d","seq":2,"data":null}`, "DocGone doc tombstone"},
		{"data is an object", `{"event_id":"e","type":"DocSet","entity_id":"d","seq":2,"data":"x"}`, "not_an_event"},
		{"not a list", `{"type":"Counted","entity_id":"d","seq":2,"data":[1]}`, "not_an_event"},

		{"no stream takes it", `{"event_id":"e","type":"Docset","entity_id":"d","seq":1,"data":{}}`, "no_route"},
		{"names are case-sensitive", `{"Event_id":"e","Type":"DocSet","Entity_id":"d","seq":1,"Data":{}}`, "not_an_event"},
		{"a type alone is no event", `{"type":"DocSet","seq":1,"name":"x"}`, "not_an_event"},
		{"nor an empty type", `{"type":"","event_id":"e","data":{}}`, "not_an_event"},
		{"nor one that is no text", `{"type":5,"event_id":"e","data":{}}`, "not_an_event"},
		{"an empty object", `{}`, "not_an_event"},
		{"a list", `[{"type":"DocSet"}]`, "not_an_event"},
		{"null", `null`, "not_an_event"},
		{"a number", `7`, "not_an_event"},
		{"a text", `"DocSet"`, "not_an_event"},

		{"a void", `{"type":"inorder.void","stream":"ledger","entity_id":"d","ranges":[[7,7],["8",9]],"reason":"expired"}`, "inorder.void ledger"},
		{"a void that proves it", `{"type":"inorder.void","stream":"ledger","entity_id":"d","source":"s","generation":4,"ranges":[[7,7]],"reason":"never_existed"}`, "inorder.void ledger"},
		{"a void without ranges", `{"type":"inorder.void","stream":"ledger","entity_id":"d","ranges":[],"reason":"expired"}`, "bad_order_key"},
		{"a void of nothing", `{"type":"inorder.void","stream":"ledger","entity_id":"d","reason":"expired"}`, "bad_order_key"},
		{"a range that goes back", `{"type":"inorder.void","stream":"ledger","entity_id":"d","ranges":[[7,6]],"reason":"expired"}`, "bad_order_key"},
		{"a range from zero", `{"type":"inorder.void","stream":"ledger","entity_id":"d","ranges":[[0,6]],"reason":"expired"}`, "bad_order_key"},
		{"a range of three", `{"type":"inorder.void","stream":"ledger","entity_id":"d","ranges":[[1,6,7]],"reason":"expired"}`, "bad_order_key"},
		{"a void of no good generation", `{"type":"inorder.void","stream":"ledger","entity_id":"d","generation":-1,"ranges":[[1,6]],"reason":"expired"}`, "bad_order_key"},
		{"a void for no reason", `{"type":"inorder.void","stream":"ledger","entity_id":"d","ranges":[[7,7]]}`, "not_an_event"},
		{"a void for another reason", `{"type":"inorder.void","stream":"ledger","entity_id":"d","ranges":[[7,7]],"reason":"skipped"}`, "not_an_event"},
		{"a void for nobody", `{"type":"inorder.void","stream":"ledger","data":{},"ranges":[[7,7]],"reason":"expired"}`, "no_entity_id"},
		{"a void of a stream that is not there", `{"type":"inorder.void","stream":"nowhere","entity_id":"d","ranges":[[7,7]],"reason":"expired"}`, "no_route"},
		{"a mark", `{"type":"inorder.mark","stream":"doc","entity_id":"d","seq":9}`, "inorder.mark doc"},
		{"a mark in another envelope", `{"specversion":"1.0","id":"1","type":"inorder.mark","stream":"ledger","subject":"d","sequence":"9"}`, "inorder.mark ledger"},
		{"a mark at nothing", `{"type":"inorder.mark","stream":"doc","entity_id":"d"}`, "bad_order_key"},
		{"a mark at zero", `{"type":"inorder.mark","stream":"doc","entity_id":"d","seq":0}`, "bad_order_key"},
		{"a mark for a stream without a sequence", `{"type":"inorder.mark","stream":"click","entity_id":"d","seq":1}`, "bad_order_key"},
		{"a control event that is none", `{"type":"inorder.later","stream":"doc","entity_id":"d","seq":9}`, "not_an_event"},
	} {
		d := decodeOne(t, c, r.body)
		if got := outcome(d); got != r.want {
			t.Errorf("%s: %s, want %s (%s)\n%s", r.rule, got, r.want, d.Refusal.Detail, r.body)
		}
	}
}

func TestTheIdentityOfAnEventIsTakenByteForByte(t *testing.T) {
	c := mustParse(t, decodeStreams)
	e := decodeOne(t, c, `{"event_id":" a\u00e9 ","source":"/A b","type":"Marked","entity_id":"x/y ","seq":"12","generation":3,"published_at":"2026-03-01T12:00:00+01:00","data":{"n":1.50}}`).Event
	got := []any{e.ID, e.Source, e.EntityID, e.Seq, e.Generation, e.Clock, e.Data()["n"], e.Pattern, e.PublishedAt.UTC().Format(time.RFC3339)}
	want := []any{" aé ", "/A b", "x/y ", int64(12), int64(3), SeqClock(3, 12), Number("1.50"), "Marked", "2026-03-01T11:00:00Z"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%#v, want %#v", got[i], want[i])
		}
	}
	for body, want := range map[string]string{`90071992547409931234`: "90071992547409931234", `"077"`: "077", `-0`: "0", `"\ufeffx"`: "\ufeffx"} {
		e := decodeOne(t, c, `{"type":"DocSet","seq":1,"data":{},"entity_id":`+body+`}`).Event
		if e.EntityID != want {
			t.Errorf("%s is %q", body, e.EntityID)
		}
	}
}

// However often a void names a number, and in whatever order, who acts on it sees each once.
func TestTheRangesOfAVoidAreInOrder(t *testing.T) {
	c := mustParse(t, decodeStreams)
	for body, want := range map[string]string{
		`[[7,7]]`:                         "[{7 7}]",
		`[[9,9],[1,2],[4,5]]`:             "[{1 2} {4 5} {9 9}]",
		`[[1,1000],[1,1000],[1,1000]]`:    "[{1 1000}]",
		`[[5,9],[1,6],[2,3],[10,12]]`:     "[{1 12}]",
		`[[1,9223372036854775807],[3,4]]`: "[{1 9223372036854775807}]",
		`[[3,4],[2,9223372036854775807]]`: "[{2 9223372036854775807}]",
	} {
		e := decodeOne(t, c, `{"type":"inorder.void","stream":"ledger","entity_id":"d","reason":"expired","ranges":`+body+`}`).Event
		if got := fmt.Sprint(e.Ranges); got != want {
			t.Errorf("%s is %s, want %s", body, got, want)
		}
	}
}

func TestPublishedAtThatDoesNotParseIsIgnored(t *testing.T) {
	c := mustParse(t, decodeStreams)
	for _, at := range []string{`"soon"`, `""`, `5`, `null`, `{}`, `"2026-01-01"`, `"2026-13-01T00:00:00Z"`, `[]`} {
		d := decodeOne(t, c, `{"type":"DocSet","entity_id":"d","seq":1,"data":{},"published_at":`+at+`}`)
		if d.Event == nil || !d.Event.PublishedAt.IsZero() {
			t.Errorf("%s: %+v", at, d.Refusal)
		}
	}
}

// What could be read of a refused event is for its log line.
func TestARefusalShowsWhatCouldBeRead(t *testing.T) {
	c := mustParse(t, decodeStreams)
	d := decodeOne(t, c, `{"event_id":"e","source":"s","type":"DocSet","entity_id":"d","seq":"x","data":{"secret":"hunter2"}}`)
	if d.Stream != c.Stream("doc") || d.Pattern != "DocSet" || d.EventID != "e" || d.Source != "s" || d.EntityID != "d" {
		t.Errorf("%+v", d)
	}
	d = decodeOne(t, c, `{"event_id":"e","source":"s","type":"Other","entity_id":"d","data":{}}`)
	if d.Stream != nil || d.Pattern != "" || d.EventID != "e" || d.Source != "s" || d.EntityID != "d" ||
		d.Refusal.Detail != `no stream takes its type, "Other"` {
		t.Errorf("%+v", d)
	}
	d = decodeOne(t, c, `{"event_id":"e","type":"DocSet","entity_id":[1],"seq":1,"data":{}}`)
	if d.EventID != "e" || d.EntityID != "" || strings.Contains(d.Refusal.Detail, "[1]") {
		t.Errorf("%+v", d)
	}
}

func TestTheMostSpecificPatternWinsInAnyOrderOfTheFile(t *testing.T) {
	streams := []string{
		`{name: rest, types: ["*"], mode: step}`,
		`{name: orders, types: ["order.*"], mode: step, ignore: [order.seen]}`,
		`{name: paid, types: [order.paid], mode: state, clock: entity, tombstone: [order.gone, "order.lost*"]}`,
		`{name: refunds, types: ["order.paid.*", "order.refund*"], mode: step, ignore: ["order.paid.x*"]}`,
	}
	for turn := range streams {
		rotated := append(append([]string{}, streams[turn:]...), streams[:turn]...)
		c := mustParse(t, "consumer: c\nstreams:\n  - "+strings.Join(rotated, "\n  - ")+"\n")
		for typ, want := range map[string]string{
			"order.paid": "paid", "order.paid.back": "refunds", "order.placed": "orders", "invoice.sent": "rest", "order": "rest",
			"order.refund": "refunds", "order.refunded": "refunds", "order.gone": "paid tombstone", "order.lost.early": "paid tombstone",
			"order.seen": "orders ignored", "order.seen.twice": "orders", "order.paid.xy": "refunds ignored", "order.paid.": "refunds", "order.": "orders",
		} {
			d := decodeOne(t, c, `{"type":"`+typ+`","event_id":"e","entity_id":"a","seq":1}`)
			if got := outcome(d); got != typ+" "+want {
				t.Errorf("%s: %s", typ, got)
			}
		}
	}
}

func TestABarePayloadGoesToTheStreamForEverythingElse(t *testing.T) {
	c := mustParse(t, `
consumer: c
streams:
  - {name: doc, types: [DocSet], mode: state, clock: entity}
  - {name: any, types: ["*"], mode: state, clock: entity, entity: data.sku, order: {path: data.rev}, tombstone: [Gone]}
`)
	for _, r := range []struct{ rule, body, want string }{
		{"found by its paths", `{"sku":"lamp","price":40,"rev":4}`, " any"},
		{"its type does not route it", `{"type":"DocSet","sku":"lamp","rev":4}`, "DocSet any"},
		{"but may be a tombstone", `{"type":"Gone","sku":"lamp","rev":4}`, "Gone any tombstone"},
		{"what it calls its source is its own affair", `{"sku":"lamp","rev":4,"source":{"db":"x"},"id":"7"}`, " any"},
		{"no entity", `{"price":40,"rev":4}`, "not_an_event"},
		{"no order key", `{"sku":"lamp","price":40,"rev":null}`, "not_an_event"},
		{"a bad order key", `{"sku":"lamp","rev":"x"}`, "bad_order_key"},
		{"a bad entity", `{"sku":true,"rev":1}`, "no_entity_id"},
		{"the payload is the data, not its member", `{"data":{"sku":"lamp","rev":4}}`, "not_an_event"},
		{"an own event of another type too", `{"type":"Other","event_id":"e","data":{"sku":"lamp","rev":4}}`, "Other any"},
	} {
		d := decodeOne(t, c, r.body)
		if got := outcome(d); got != r.want {
			t.Errorf("%s: %s, want %s", r.rule, got, r.want)
		}
	}
	plain := mustParse(t, "consumer: c\nstreams:\n  - {name: any, types: [\"*\"], mode: state, clock: entity, entity: sku}\n")
	e := decodeOne(t, plain, `{"sku":"lamp","price":40,"seq":4}`).Event
	if e == nil || len(e.Content) != 3 || e.Pattern != "*" || e.ID != "" {
		t.Errorf("%+v", e)
	}
}

// What a projection does to the data that it is given is no change of the event: where its write is lost it is called again, and the
// event's effect is what came.
func TestDataIsMadeAnew(t *testing.T) {
	c := mustParse(t, "consumer: c\nstreams: [{name: s, types: [T], mode: state, clock: entity}]")
	e := decodeOne(t, c, `{"event_id":"e","type":"T","entity_id":"x","seq":1,"data":{"n":1,"list":[1,{"k":"v"}]}}`).Event
	before := e.Fingerprint()
	data := e.Data()
	data["n"], data["more"] = Number("2"), true
	list := data["list"].([]any)
	list[1].(map[string]any)["k"] = "changed"
	list[0] = nil
	want := map[string]any{"n": Number("1"), "list": []any{Number("1"), map[string]any{"k": "v"}}}
	if got := e.Data(); !reflect.DeepEqual(got, want) || e.Fingerprint() != before {
		t.Errorf("it is now %v", got)
	}
}
