package events

import (
	"maps"
	"net/url"
	"strings"
	"unicode/utf8"
)

// storageSource is the producer of every S3 event, whichever way it came: as a notification, whose records name
// aws:s3, or over EventBridge, which calls it aws.s3.
const storageSource = "aws:s3"

// storageRecords reads an S3 notification: "Event message structure" (Amazon S3 User Guide). It holds several records,
// each an event of its own, with its object as the entity.
func storageRecords(fields Object) ([]record, bool) {
	list := fields.Find("Records").elements()
	if len(list) == 0 {
		return nil, false
	}
	records := make([]record, len(list))
	for i := range list {
		fields := list[i].Value.object()
		s3 := fields.Find("s3").object()
		if s3 == nil {
			if i == 0 {
				return nil, false // some other service's records
			}
			fields = nil
		}
		records[i] = storageRecord(fields, s3)
	}
	return records, true
}

func storageRecord(fields, s3 Object) record {
	bucket, object := s3.Find("bucket").object(), s3.Find("object").object()
	// The key is URL-encoded as in a form: "The s3 key provides information about the bucket and object involved in the
	// event. The object key name value is URL encoded."
	key, _ := object.Find("key").Text()
	key, err := url.QueryUnescape(key)
	if err != nil || !utf8.ValidString(key) {
		key = "" // no key of an object
	}
	typ, _ := fields.Find("eventName").Text()
	return storageEvent(typ, fields.Find("eventTime"), bucket.Find("name"), key, fields, map[string]Value{
		"size": object.Find("size"), "etag": object.Find("eTag"), "version_id": object.Find("versionId"), "sequencer": object.Find("sequencer"),
	})
}

// storageOnBus reads the same over EventBridge: "EventBridge event message structure" (Amazon S3 User Guide). There the
// key stands as it is, the type is a title ("Object Created"), the instant is the bus event's, and the sequencer may lack
// the leading zeros that a notification's has: one bucket should not be watched on both ways.
func storageOnBus(l layer, detail Object) (record, bool) {
	if !l.bus.Find("source").is("aws.s3") {
		return record{}, false
	}
	bucket, object := detail.Find("bucket").object(), detail.Find("object").object()
	if bucket == nil || object == nil {
		return record{}, false
	}
	typ, _ := l.bus.Find("detail-type").Text()
	key, _ := object.Find("key").Text()
	return storageEvent(typ, l.bus.Find("time"), bucket.Find("name"), key, detail, map[string]Value{
		"size": object.Find("size"), "etag": object.Find("etag"), "version_id": object.Find("version-id"), "sequencer": object.Find("sequencer"),
	}), true
}

// storageEvent gives a record the event's own names. Its data is flat, with the key decoded, so that it reads naturally as
// an item; the envelope's own fields stay reachable by path (s3.object.eTag, requestParameters).
func storageEvent(typ string, at, bucketName Value, key string, fields Object, data map[string]Value) record {
	maps.DeleteFunc(data, func(_ string, v Value) bool { return v.IsNull() })
	sequencer := data["sequencer"]
	own := map[string]Value{ // what a stranger put under such a name must not be believed: S3's format has none of them
		"event_id": {}, "entity_id": {}, "seq": {}, "generation": {}, "sequencer": sequencer,
		"type": textValue(typ), "source": textValue(storageSource), "published_at": at.orNull(),
	}
	bucket, _ := bucketName.Text()
	if bucket != "" && key != "" && !strings.Contains(bucket, "/") { // a bucket's name has no slash, and two objects must not share an id
		data["bucket"], data["key"] = textValue(bucket), textValue(key)
		own["entity_id"] = textValue(bucket + "/" + key)
		// A sequencer orders and tells apart the events of one object. It is hexadecimal, so the last # ends the key.
		if isHex(sequencer.text) && sequencer.form == formText {
			own["event_id"] = textValue(bucket + "/" + key + "#" + sequencer.text)
		}
	}
	return record{shape: storage, typ: typ, fields: fields.with(own), data: objectOf(data)}
}
