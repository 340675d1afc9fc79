package events

import (
	"encoding/json"
	"testing"
)

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func snsOf(body string) string {
	return `{"Type":"Notification","MessageId":"0f1e","TopicArn":"arn:aws:sns:eu-west-1:111122223333:t","Message":` + quote(body) + `}`
}

func busOf(body string) string {
	return `{"version":"0","id":"7c2b","detail-type":"DocSet","source":"shop","time":"2026-01-01T00:00:00Z","detail":` + body + `}`
}

func TestWrappersAreOpenedThreeDeep(t *testing.T) {
	c := mustParse(t, decodeStreams)
	const event = `{"event_id":"e","type":"DocSet","entity_id":"d","seq":1,"data":{}}`
	for _, r := range []struct{ rule, body, want string }{
		{"none", event, "DocSet doc"},
		{"a topic", snsOf(event), "DocSet doc"},
		{"a bus", busOf(event), "DocSet doc"},
		{"a bus behind a topic", snsOf(busOf(event)), "DocSet doc"},
		{"three topics", snsOf(snsOf(snsOf(event))), "DocSet doc"},
		{"three buses", busOf(busOf(busOf(event))), "DocSet doc"},
		{"four", snsOf(busOf(busOf(busOf(event)))), "not_an_event"},
		{"a byte order mark inside", snsOf(byteOrderMark + event), "DocSet doc"},
		{"text inside", snsOf("hello"), "not_json"},
		{"repeated names inside", snsOf(`{"type":"DocSet","type":"x"}`), "not_json"},
		{"depth inside", snsOf(nested("[", 1001, "]")), "too_deep"},
		{"a list inside", snsOf(`[` + event + `]`), "not_an_event"},
		{"a Message that is no text", `{"Type":"Notification","Message":{}}`, "not_an_event"},
		{"a detail that is no object", busOf(`"` + `x"`), "not_an_event"},
		{"an EventBridge event of a service", busOf(`{"state":"running"}`), "not_an_event"},
		{"a confirmation of a subscription", `{"Type":"SubscriptionConfirmation","TopicArn":"arn:x","Message":"You have chosen","Token":"t"}`, "not_an_event"},
		{"a CloudEvent inside", snsOf(`{"specversion":"1.0","id":"e","type":"DocSet","subject":"d","sequence":"1","data":{}}`), "DocSet doc"},
	} {
		d := decodeOne(t, c, r.body)
		if got := outcome(d); got != r.want {
			t.Errorf("%s: %s, want %s", r.rule, got, r.want)
		}
		if d.Event != nil && (d.Event.ID != "e" || d.Event.EntityID != "d") {
			t.Errorf("%s: not the innermost identity: %+v", r.rule, d.Event)
		}
	}
}
