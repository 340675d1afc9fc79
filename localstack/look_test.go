package main

import (
	"strings"
	"testing"
	"time"
)

// After sending, a newcomer is told where to look: once for each entity, as a shell takes it, and into quarantine.
func TestSendSaysWhereToLook(t *testing.T) {
	body := func(s string) message { return message{Body: s} }
	const refused = "what could never succeed, and why:\n  go run ./cmd/inorder redrive ON\n"
	binary, err := read("../events/samples/cloudevent-binary.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		sent []message
		want string
	}{
		"nothing": {nil, ""},
		"two of one entity": {
			[]message{body(`{"type":"SeatsAdded","seq":1,"data":{"subscription_id":"s 1"}}`), body(`{"type":"SeatsAdded","seq":2,"data":{"subscription_id":"s 1"}}`)},
			"\nwhat became of it:\n  go run ./cmd/inorder inspect seats 's 1' ON\n" + refused,
		},
		"poison among others": {
			[]message{body(`no JSON`), body(`{"type":"SeatsAdded","seq":1,"data":{"subscription_id":"it's"}}`)},
			"\nwhat became of it:\n  go run ./cmd/inorder inspect seats 'it'\\''s' ON\n" + refused,
		},
		"poison alone": {[]message{body(`no JSON`)}, refused},
		"an event that is in the attributes": {
			binary, "\nwhat became of it:\n  go run ./cmd/inorder inspect meter meter-9 ON\n" + refused,
		},
	} {
		var out strings.Builder
		if err := look(row.sent, "ON", time.Now(), &out); err != nil || out.String() != row.want {
			t.Errorf("%s: %s%v, want %s", name, out.String(), err, row.want)
		}
	}
}
