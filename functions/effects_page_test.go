package functions

import (
	"os"
	"strings"
	"testing"

	"inorder/events"
	"inorder/ordering"
)

// The message that docs/effects.md shows is the one that is sent, byte for byte.
func TestTheEffectOfThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/effects.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```json\n")
	shown, _, _ = strings.Cut(shown, "\n```")
	w := newEffectsWorld(func(string) *events.Config {
		config, err := events.ParseStreams([]byte("consumer: billing-view\nstreams:\n  - {name: ledger, types: [EntryPosted], mode: step, effects: true, projection: {sum: {n: data.amount}}}\n"), events.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return config
	})
	sent := &fakeSQS{}
	parts := w.parts("on").Parts
	parts.SQS = sent
	key := ordering.Key{Consumer: "billing-view", Stream: "ledger", ID: "a1"}
	at6 := &ordering.Entity{Exists: true, Rev: 1, Cursor: ordering.Cursor{Applied: 6, MaxSeen: 6}}
	if err := w.store.Swap(t.Context(), key, &ordering.Entity{}, at6, nil); err != nil {
		t.Fatal(err)
	}
	w.deliver(t, NewConsumer(parts), record("m", `{"event_id":"a1:7","type":"EntryPosted","entity_id":"a1","source":"shop","seq":7,`+
		`"published_at":"2026-03-01T12:00:00Z","data":{"account":"a1","amount":12.50}}`))
	if len(sent.sent) != 1 || *sent.sent[0].MessageBody != shown {
		t.Errorf("sent %v, the page shows\n%s", sent.sent, shown)
		for _, in := range sent.sent {
			t.Log(*in.MessageBody)
		}
	}
}
