package events

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// recognise tells what a message holds by its shape, once the wrappers are opened: CloudEvents, S3 notifications, the own
// shape, and last a bare payload, in this order. It appends to records.
func recognise(records []record, l layer) ([]record, *Refusal) {
	if l.binary {
		r, refusal := binaryCloudEvent(l)
		return append(records, r), refusal
	}
	fields := l.value.object()
	if len(fields) == 0 {
		return nil, refuse(NotAnEvent, "an event is a JSON object that is not empty")
	}
	if fields.Find("specversion").Exists() {
		r, refusal := structuredCloudEvent(fields)
		return append(records, r), refusal
	}
	if several, ok := storageRecords(fields); ok {
		return several, nil
	}
	if r, ok := storageOnBus(l, fields); ok {
		return append(records, r), nil
	}
	if isNotice(fields) {
		return nil, refuse(NotAnEvent, "a service's notice, not an event")
	}
	r, refusal := ownEvent(fields)
	return append(records, r), refusal
}

// ownEvent reads the project's own shape, told by a type and one of event_id, entity_id and data; webhooks have it too.
// Without data it is flat: everything else in the object is the data. Whatever is none of that is a bare payload, which is
// its own data.
func ownEvent(fields Object) (record, *Refusal) {
	r := record{shape: ownShape, fields: fields}
	r.typ, _ = fields.Find("type").Text()
	data := fields.Find("data")
	switch {
	case r.typ == "" || !data.Exists() && !fields.Find("event_id").Exists() && !fields.Find("entity_id").Exists():
		r.shape, r.data = payload, fields
		return r, nil
	case !data.Exists():
		r.data = flatData(fields)
		return r, nil
	}
	var refusal *Refusal
	r.data, refusal = dataObject(data)
	return r, refusal
}

// flatData is all of a flat event but the envelope's own names. A webhook's id and created_at stay: in a flat event they
// may as well be the producer's, and what is kept is never lost.
func flatData(fields Object) Object {
	return slices.DeleteFunc(slices.Clone(fields), func(m Member) bool {
		switch m.Name {
		case "event_id", "type", "entity_id", "seq", "generation", "source", "published_at":
			return true
		}
		return false
	})
}

// dataObject accepts an object, and null as an empty one. Nothing else has the named attributes that a state, a projection
// or a fingerprint is made of.
func dataObject(v Value) (Object, *Refusal) {
	if v.IsNull() {
		return Object{}, nil
	}
	if v.form == formObject {
		return v.inner, nil
	}
	return nil, refuse(NotAnEvent, "data is not an object")
}

// structuredCloudEvent reads "JSON Event Format for CloudEvents - Version 1.0".
func structuredCloudEvent(fields Object) (record, *Refusal) {
	data, encoded := fields.Find("data"), fields.Find("data_base64")
	if data.Exists() && encoded.Exists() {
		return record{}, refuse(NotAnEvent, "a CloudEvent has data or data_base64, not both")
	}
	if encoded.Exists() {
		var refusal *Refusal
		if data, refusal = encodedData(encoded); refusal != nil {
			return record{}, refusal
		}
	}
	return cloudRecord(fields, data)
}

func encodedData(v Value) (Value, *Refusal) {
	encoded, _ := v.Text()
	raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return Value{}, refuse(NotJSON, "data_base64 is not base64")
	}
	return readJSON(string(raw))
}

// binaryCloudEvent takes the attributes from the message's and the data from its body. CloudEvents has no binding for SQS;
// the prefixes are those of its bindings for HTTP (ce-) and for Kafka (ce_), values as they stand, without the
// percent-encoding of HTTP headers, which SQS does not need.
func binaryCloudEvent(l layer) (record, *Refusal) {
	fields := make(map[string]Value, len(l.attributes))
	for _, prefix := range []string{"ce_", "ce-"} {
		for name, a := range l.attributes {
			if plain, ok := strings.CutPrefix(name, prefix); ok && a.Binary == nil && utf8.ValidString(a.Text) {
				fields[plain] = textValue(a.Text)
			}
		}
	}
	return cloudRecord(objectOf(fields), l.value)
}

func cloudRecord(fields Object, data Value) (record, *Refusal) {
	if !fields.Find("specversion").is("1.0") {
		return record{}, refuse(NotAnEvent, "a CloudEvent of another specversion than 1.0")
	}
	r := record{shape: cloudEvent, fields: fields}
	if r.typ, _ = fields.Find("type").Text(); r.typ == "" {
		return record{}, refuse(NotAnEvent, "a CloudEvent without a type")
	}
	var refusal *Refusal
	r.data, refusal = dataObject(data)
	return r, refusal
}

func isBinaryCloudEvent(attributes map[string]Attribute) bool {
	if len(attributes) == 0 || strings.HasPrefix(attributes["content-type"].Text, "application/cloudevents") {
		return false // the whole event is in the body
	}
	_, dash := attributes["ce-specversion"]
	_, underscore := attributes["ce_specversion"]
	return dash || underscore
}
