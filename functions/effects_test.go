package functions

import (
	"context"
	"errors"
	"strings"
	"testing"

	"inorder/events"
	"inorder/ordering"
)

func someEffects(n int) []ordering.Effect {
	var out []ordering.Effect
	for i := range n {
		out = append(out, ordering.Effect{
			Consumer: "c", Stream: "ledger", EntityID: "a", Source: "", Generation: 2, Seq: int64(i + 1), Index: 0,
			EventID: "e1", Type: "Posted", PublishedAt: "2026-03-01T12:00:00Z",
			Data: map[string]any{"amount": events.Number("12345678901234567890.1230"), "note": "<a&b>\uffff", "at": nil, "list": []any{true, events.Number("1E400")}},
		})
	}
	return out
}

var ledgerA = ordering.Key{Consumer: "c", Stream: "ledger", ID: "a"}

// Receivers parse exactly these members, numbers with every digit.
func TestEffectByteForByte(t *testing.T) {
	fake := &fakeSQS{}
	if _, err := (&Effects{SQS: fake, URL: "https://sqs/effects.fifo"}).Send(t.Context(), ledgerA, someEffects(1)); err != nil {
		t.Fatal(err)
	}
	const want = `{"consumer":"c","stream":"ledger","entity_id":"a","source":"","generation":2,"seq":1,"index":0,"event_id":"e1","type":"Posted",` +
		`"published_at":"2026-03-01T12:00:00Z","data":{"amount":12345678901234567890.1230,"at":null,"list":[true,1E400],"note":"<a&b>\uffff"}}`
	if got := *fake.sent[0].MessageBody; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if url := *fake.sent[0].QueueUrl; url != "https://sqs/effects.fifo" {
		t.Errorf("sent to %s", url)
	}
}

// The group is the entity, the deduplication id the effect; both are stable, and no two entities or effects share one.
func TestEffectIDs(t *testing.T) {
	fake := &fakeSQS{}
	send := func(key ordering.Key, e ordering.Effect) (group, dedup string) {
		if _, err := (&Effects{SQS: fake}).Send(t.Context(), key, []ordering.Effect{e}); err != nil {
			t.Fatal(err)
		}
		in := fake.sent[len(fake.sent)-1]
		return *in.MessageGroupId, *in.MessageDeduplicationId
	}
	e := ordering.Effect{Generation: 1, Seq: 11, Index: 1}
	group, dedup := send(ledgerA, e)
	if again, same := send(ledgerA, e); again != group || same != dedup || len(group) > 128 || len(dedup) > 128 {
		t.Errorf("%s %s, then %s %s", group, dedup, again, same)
	}
	for _, other := range []ordering.Effect{{Generation: 11, Seq: 1, Index: 1}, {Generation: 1, Seq: 1, Index: 11}, {Generation: 1, Seq: 11, Index: 2}} {
		if g, d := send(ledgerA, other); g != group || d == dedup {
			t.Errorf("%+v: %s %s", other, g, d)
		}
	}
	for _, key := range []ordering.Key{
		{Consumer: "c", Stream: "ledger", ID: "a", PerSource: true},
		{Consumer: "c", Stream: "ledger", ID: "b"},
		{Consumer: "c", Stream: "led", ID: "ger/a"},
		{Consumer: "c", Stream: "ledger", PerSource: true, Source: "a"},
	} {
		if g, d := send(key, e); g == group || d == dedup {
			t.Errorf("%+v shares %s %s", key, g, d)
		}
	}
}

// EffectOrder: after a failure nothing later may be on its way.
func TestEffectsStopAtTheFirstFailure(t *testing.T) {
	fake := &fakeSQS{err: errThrottledSend, nth: 3}
	sent, err := (&Effects{SQS: fake}).Send(t.Context(), ledgerA, someEffects(5))
	if !errors.Is(err, errThrottledSend) || sent != 2 || len(fake.sent) != 2 || !strings.Contains(err.Error(), "number 3") {
		t.Errorf("%v after %d", err, len(fake.sent))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&Effects{SQS: fake}).Send(ctx, ledgerA, someEffects(1)); !errors.Is(err, context.Canceled) || len(fake.sent) != 2 {
		t.Errorf("%v after %d", err, len(fake.sent))
	}
}
