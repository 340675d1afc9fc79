package events

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// storageSource is the producer of every S3 event, whichever way it came: as a notification, whose records name
// aws:s3, or over EventBridge, which calls it aws.s3.
const storageSource = "aws:s3"

// storageRecords reads an S3 notification: "Event message structure" (Amazon S3 User Guide). It holds several records,
// each an event of its own, with its object as the entity.
func storageRecords(fields map[string]any) ([]record, bool) {
	list, _ := fields["Records"].([]any)
	if len(list) == 0 {
		return nil, false
	}
	records := make([]record, len(list))
	for i, v := range list {
		fields, _ := v.(map[string]any)
		s3, ok := fields["s3"].(map[string]any)
		if !ok {
			if i == 0 {
				return nil, false // some other service's records
			}
			fields, s3 = map[string]any{}, nil
		}
		records[i] = storageRecord(fields, s3)
	}
	return records, true
}

func storageRecord(fields, s3 map[string]any) record {
	bucket, _ := s3["bucket"].(map[string]any)
	object, _ := s3["object"].(map[string]any)
	// The key is URL-encoded as in a form: "The s3 key provides information about the bucket and object involved in the
	// event. The object key name value is URL encoded."
	key, _ := object["key"].(string)
	key, err := url.QueryUnescape(key)
	if err != nil || !utf8.ValidString(key) {
		key = "" // no key of an object
	}
	typ, _ := fields["eventName"].(string)
	return storageEvent(typ, fields["eventTime"], bucket["name"], key, fields, map[string]any{
		"size": object["size"], "etag": object["eTag"], "version_id": object["versionId"], "sequencer": object["sequencer"],
	})
}

// storageOnBus reads the same over EventBridge: "EventBridge event message structure" (Amazon S3 User Guide). There the
// key stands as it is, the type is a title ("Object Created"), the instant is the bus event's, and the sequencer may lack
// the leading zeros that a notification's has: one bucket should not be watched on both ways.
func storageOnBus(l layer, detail map[string]any) (record, bool) {
	bucket, hasBucket := detail["bucket"].(map[string]any)
	object, hasObject := detail["object"].(map[string]any)
	if l.bus == nil || l.bus["source"] != "aws.s3" || !hasBucket || !hasObject {
		return record{}, false
	}
	typ, _ := l.bus["detail-type"].(string)
	key, _ := object["key"].(string)
	return storageEvent(typ, l.bus["time"], bucket["name"], key, detail, map[string]any{
		"size": object["size"], "etag": object["etag"], "version_id": object["version-id"], "sequencer": object["sequencer"],
	}), true
}

// storageEvent gives a record the event's own names. Its data is flat, with the key decoded, so that it reads naturally as
// an item; the envelope's own fields stay reachable by path (s3.object.eTag, requestParameters).
func storageEvent(typ string, at, bucketName any, key string, fields, object map[string]any) record {
	r := record{shape: storage, typ: typ, fields: fields, data: make(map[string]any, 6)}
	for name, v := range object {
		if v != nil {
			r.data[name] = v
		}
	}
	for _, name := range []string{"event_id", "entity_id", "seq", "generation", "sequencer"} {
		delete(fields, name) // no such names in S3's format: what a stranger put there must not be believed
	}
	fields["type"], fields["source"], fields["published_at"] = typ, storageSource, at
	if object["sequencer"] != nil {
		fields["sequencer"] = object["sequencer"]
	}
	bucket, _ := bucketName.(string)
	if bucket == "" || key == "" || strings.Contains(bucket, "/") {
		return r // no entity: a bucket's name has no slash, and two objects must not share an id
	}
	r.data["bucket"], r.data["key"] = bucket, key
	fields["entity_id"] = bucket + "/" + key
	// A sequencer orders and tells apart the events of one object. It is hexadecimal, so the last # ends the key.
	if sequencer, _ := object["sequencer"].(string); isHex(sequencer) {
		fields["event_id"] = bucket + "/" + key + "#" + sequencer
	}
	return r
}
