package events

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const storageStreams = `
consumer: c
streams:
  - {name: object, types: ["ObjectCreated:*", Object Created], mode: state, clock: entity, order: {by: hex}, tombstone: ["ObjectRemoved:*"]}
  - {name: tags, types: ["ObjectTagging:*"], mode: state, clock: entity, order: {by: time}}
  - {name: copies, types: ["Replication:*"], mode: state, clock: entity}
  - {name: rest, types: ["*"], mode: state, clock: entity, entity: Bucket, order: {by: time, path: Time}}
`

func s3Record(name, bucket, key, sequencer string) string {
	return fmt.Sprintf(`{"eventSource":"aws:s3","eventTime":"2026-01-01T00:00:00.000Z","eventName":%q,"s3":{"bucket":{"name":%q},"object":{"key":%q,"size":1024,"eTag":"e1","versionId":null%s}}}`,
		name, bucket, key, sequencer)
}

func s3Notification(records ...string) string {
	return `{"Records":[` + strings.Join(records, ",") + `]}`
}

func TestEachRecordOfAStorageNotificationIsAnEvent(t *testing.T) {
	c := mustParse(t, storageStreams)
	all := c.Decode(Message{Body: snsOf(s3Notification(
		s3Record("ObjectCreated:Put", "pics", "my+cat%2Fcaf%C3%A9%2B.png", `,"sequencer":"0065B2"`),
		s3Record("ObjectRemoved:Delete", "pics", "a.png", `,"sequencer":"0065B4"`),
		s3Record("ObjectCreated:Put", "pics", "a.png", ``),
		s3Record("ObjectCreated:Put", "pics", "%zz", `,"sequencer":"00"`),
		s3Record("ObjectCreated:Put", "pics", "caf%e9", `,"sequencer":"00"`),
		s3Record("ObjectCreated:Put", "pics/a", "b", `,"sequencer":"00"`),
		s3Record("ObjectCreated:Put", "pics", "a.png", `,"sequencer":"xyz"`),
		s3Record("ObjectTagging:Put", "pics", "a.png", ``),
		s3Record("Replication:Done", "pics", "a.png", `,"sequencer":"12345"`),
		`{"eventName":"ObjectCreated:Put"}`, `7`,
	))}, decodeNow)
	want := []string{
		"ObjectCreated:Put object", "ObjectRemoved:Delete object tombstone", "bad_order_key", "no_entity_id", "no_entity_id", "no_entity_id", "bad_order_key",
		"bad_event_id",  // no sequencer, no identity
		"bad_order_key", // a sequencer is no sequence, even where it has digits only
		"not_an_event", "not_an_event",
	}
	var got []string
	for _, d := range all {
		got = append(got, outcome(d))
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q", got)
	}
	e := all[0].Event
	wantData := map[string]any{"bucket": "pics", "key": "my cat/café+.png", "size": Number("1024"), "etag": "e1", "sequencer": "0065B2"}
	if e.EntityID != "pics/my cat/café+.png" || e.ID != "pics/my cat/café+.png#0065B2" || e.Source != "aws:s3" || e.Clock != "0065b2" ||
		!reflect.DeepEqual(e.Data(), wantData) || FormatInstant(e.PublishedAt) != "2026-01-01T00:00:00.000000000Z" {
		t.Errorf("%+v", e)
	}
	if v, ok := lookup(t, e, "s3.object.eTag"); !ok || v != "e1" {
		t.Error("the record's own names are out of reach")
	}
}

func TestAStorageEventOverABusHasItsKeyAsItIs(t *testing.T) {
	c := mustParse(t, storageStreams)
	e := decodeOne(t, c, `{"detail-type":"Object Created","source":"aws.s3","time":"2021-11-12T00:00:00Z","detail":{"bucket":{"name":"pics"},"object":{"key":"a+b%20c","size":5,"etag":"e","version-id":"v","sequencer":"617f08299329d189"},"reason":"PutObject"}}`).Event
	if e == nil || e.EntityID != "pics/a+b%20c" || e.ID != "pics/a+b%20c#617f08299329d189" || e.Source != "aws:s3" || e.Data()["version_id"] != "v" {
		t.Errorf("%+v", e)
	}
}

// The notice goes nowhere, not even to a stream whose paths find something in it.
func TestAStorageTestNoticeIsNoEvent(t *testing.T) {
	c := mustParse(t, storageStreams)
	for _, body := range []string{
		`{"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2026-01-01T00:00:00.000Z","Bucket":"photos","RequestId":"R1","HostId":"H1"}`,
		`{"Records":[]}`, `{"Records":[{"eventSource":"aws:ses","ses":{}}]}`, `{"Records":"none"}`,
	} {
		if got := outcome(decodeOne(t, c, body)); got != "not_an_event" {
			t.Errorf("%s: %s", body, got)
		}
	}
}
