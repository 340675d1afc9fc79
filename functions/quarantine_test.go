package functions

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"inorder/events"
	"inorder/ordering"
)

func messageOf(body string, attributes map[string]events.Attribute) events.Message {
	return events.Message{ID: "m1", Body: body, Attributes: attributes, QueueARN: standardARN, ReceivedAt: testNow}
}

func copyOf(m events.Message, reason events.Reason, detail string) ordering.Copy {
	return ordering.Copy{
		Delivery: ordering.Delivery{Message: &m},
		Outcome:  ordering.Outcome{Disposition: ordering.Quarantined, Reason: reason, Detail: detail},
	}
}

func TestCopyKeepsTheMessageAndAddsTheMark(t *testing.T) {
	fake := &fakeSQS{}
	q := &Quarantine{SQS: fake, URL: "https://sqs/quarantine"}
	m := messageOf("{\"a\":1}\n", map[string]events.Attribute{
		"n": {Type: "Number.int", Text: "0012"}, "b": {Type: "Binary", Binary: []byte{0, 255}}, "s": {Type: "String", Text: "ü"},
	})
	if err := q.Copy(t.Context(), copyOf(m, events.BadOrderKey, "seq is \x01 \"x\"")); err != nil {
		t.Fatal(err)
	}
	in := fake.sent[0]
	if *in.QueueUrl != q.URL || *in.MessageBody != m.Body || len(in.MessageAttributes) != 4 {
		t.Errorf("sent %v %q %v", *in.QueueUrl, *in.MessageBody, in.MessageAttributes)
	}
	const want = `{"reason":"bad_order_key","detail":"seq is \u0001 \"x\"","message_id":"m1","received_at":"2026-03-01T12:00:00Z",` +
		`"queue":"arn:aws:sqs:eu-west-1:123456789012:events"}`
	if got := *in.MessageAttributes["inorder"].StringValue; got != want {
		t.Errorf("mark %s\nwant %s", got, want)
	}
	if got := *in.MessageAttributes["n"].StringValue; got != "0012" {
		t.Errorf("number became %q", got)
	}
}

// Whatever SQS would not take beside the mark is wrapped, and comes back as it was.
func TestWrappedWhereSQSWouldRefuse(t *testing.T) {
	ten := map[string]events.Attribute{}
	for i := range 10 {
		ten[fmt.Sprintf("a%d", i)] = events.Attribute{Type: "String", Text: "x"}
	}
	for _, tt := range []struct {
		name string
		m    events.Message
		want wrapping
	}{
		{"nine attributes leave room", messageOf("{}", without(ten, "a0")), ""},
		{"ten attributes", messageOf("{}", ten), inBody},
		{"an attribute named inorder of the producer's own", messageOf("{}", map[string]events.Attribute{"inorder": {Type: "String", Text: "v1"}}), inBody},
		{"a character that XML lacks", messageOf("a\x00b", nil), inBody},
		{"a noncharacter", messageOf("a\uffff\ufffeb", nil), inBody},
		{"the replacement character itself is fine", messageOf("a\ufffdb", nil), ""},
		{"no UTF-8", messageOf("\xff\xfe{", nil), inBody},
		{"no UTF-8 in an attribute", messageOf("{}", map[string]events.Attribute{"a": {Type: "String", Text: "\xc3"}}), inBody},
		{"an empty body", messageOf("", nil), inBody},
		{"an empty attribute", messageOf("{}", map[string]events.Attribute{"a": {Type: "Binary"}}), inBody},
		{"a large body that still fits", messageOf(strings.Repeat("x", 1<<20-1000), nil), ""},
		{"a full body", messageOf(strings.Repeat("x", 1<<20), nil), inAttribute},
		{"a full body of base64, which hardly compresses", messageOf(noise(1<<20, alphabet64), nil), inAttribute},
		{"a full body of all printable characters", messageOf(noise(1<<20, alphabet94), nil), inAttribute},
		{"a full body with ten attributes", messageOf(noise(1<<20-130, alphabet64), ten), inAttribute},
		{"quotes that JSON doubles", messageOf(strings.Repeat(`"`, 1<<20), nil), inAttribute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fake := &fakeSQS{}
			if err := (&Quarantine{SQS: fake}).Copy(t.Context(), copyOf(tt.m, events.NotJSON, strings.Repeat("d", 2000))); err != nil {
				t.Fatal(err)
			}
			back := Unwrap(receive(delivered(fake.sent[0]), testNow))
			sameMessage(t, back, tt.m)
			mark, ok := MarkOf(events.Message{Attributes: attributes(delivered(fake.sent[0]).MessageAttributes)})
			if !ok || mark.Wrapped != tt.want || mark.Reason != events.NotJSON || mark.MessageID != "m1" {
				t.Errorf("mark %+v %v, want it wrapped as %q", mark, ok, tt.want)
			}
		})
	}
}

// What fits in no form is an error, so that the message is deferred and SQS keeps it whole in the dead-letter queue.
func TestTooLargeForAnyCopy(t *testing.T) {
	random := make([]byte, 1<<20-20)
	source := rand.NewChaCha8([32]byte{})
	if _, err := source.Read(random); err != nil {
		t.Fatal(err)
	}
	m := messageOf("{}", map[string]events.Attribute{"b": {Type: "Binary", Binary: random}})
	fake := &fakeSQS{}
	err := (&Quarantine{SQS: fake}).Copy(t.Context(), copyOf(m, events.NotJSON, ""))
	if !errors.Is(err, ErrTooLargeToCopy) || len(fake.sent) > 0 {
		t.Errorf("got %v, sent %d", err, len(fake.sent))
	}
}

func TestCopyReportsWhatSQSSays(t *testing.T) {
	fake := &fakeSQS{err: errThrottledSend}
	if err := (&Quarantine{SQS: fake}).Copy(t.Context(), copyOf(messageOf("{}", nil), events.NotJSON, "")); !errors.Is(err, errThrottledSend) {
		t.Errorf("got %v", err)
	}
}

// The quarantined message keeps body and attributes byte for byte through any number of redrives, the wrapped and the
// direct form mixed, by our own redrive or by the console's, which sends the message on with its mark. Always one mark,
// the latest reason in it.
func TestQuarantineRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMessage(t)
		now := m
		for round := range rapid.IntRange(1, 4).Draw(t, "redrives") {
			fake := &fakeSQS{}
			reason := rapid.SampledFrom([]events.Reason{events.NotJSON, events.Conflict, events.ProjectionError}).Draw(t, "reason")
			now.ID = fmt.Sprintf("delivery-%d", round)
			if err := (&Quarantine{SQS: fake}).Copy(context.Background(), copyOf(now, reason, rapid.String().Draw(t, "detail"))); err != nil {
				t.Fatal(err)
			}
			raw := delivered(fake.sent[0])
			asSent := events.Message{Body: raw.Body, Attributes: attributes(raw.MessageAttributes)}
			mark, ok := MarkOf(asSent)
			if !ok || mark.Reason != reason || mark.MessageID != now.ID {
				t.Fatalf("mark %+v %v, want reason %s of %s", mark, ok, reason, now.ID)
			}
			sameMessage(t, Unwrap(asSent), m)
			if rapid.Bool().Draw(t, "by our redrive") {
				now = Unwrap(asSent)
			} else {
				now = asSent // a copy that was moved back as it is, and reached Copy without having been received
			}
		}
	})
}

func drawMessage(t *rapid.T) events.Message {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`\{"a":[0-9]+\}`), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	m := events.Message{Body: text.Draw(t, "body"), ReceivedAt: testNow, QueueARN: standardARN}
	if rapid.IntRange(0, 39).Draw(t, "large") == 0 {
		size := rapid.IntRange(1<<20-2000, 1<<20).Draw(t, "size")
		m.Body = noise(size, rapid.SampledFrom([]string{"x", alphabet64, alphabet94, `"\`}).Draw(t, "alphabet"))
		return m
	}
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z0-9_-]{1,12}|inorder`), 0, 10, rapid.ID).Draw(t, "names")
	for _, name := range names {
		if m.Attributes == nil {
			m.Attributes = map[string]events.Attribute{}
		}
		kind := rapid.SampledFrom([]string{"String", "Number", "Binary", "Binary.png", "String.json"}).Draw(t, "type")
		a := events.Attribute{Type: kind}
		if isBinary(kind) {
			a.Binary = rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "binary")
		} else {
			a.Text = text.Draw(t, "text")
		}
		m.Attributes[name] = a
	}
	return m
}

// An `inorder` attribute, or a wrapped message, that somebody else wrote leaves the message as it is.
func TestForeignMarksChangeNothing(t *testing.T) {
	mark := func(text string) map[string]events.Attribute {
		return map[string]events.Attribute{"inorder": {Type: "String", Text: text}}
	}
	bomb, err := pack(bytes.Repeat([]byte(" "), 7<<20))
	if err != nil {
		t.Fatal(err)
	}
	withBomb := mark(`{"reason":"conflict","detail":"","message_id":"m","received_at":"2026-03-01T12:00:00Z","queue":"q","wrapped":"attribute"}`)
	withBomb["inorder.message"] = events.Attribute{Type: "Binary", Binary: bomb}
	for _, m := range []events.Message{
		messageOf("{}", mark(`not JSON`)),
		messageOf("{}", mark(`{"reason":""}`)),
		messageOf("{}", mark(`{"reason":"x","color":"red"}`)),
		messageOf("{}", map[string]events.Attribute{"inorder": {Type: "Binary", Binary: []byte(`{"reason":"conflict"}`)}}),
		messageOf(`{"event_id":"1"}`, mark(`{"reason":"conflict","detail":"","message_id":"m","received_at":"2026-03-01T12:00:00Z","queue":"q","wrapped":"body"}`)),
		messageOf(`{}`, mark(`{"reason":"conflict","detail":"","message_id":"m","received_at":"2026-03-01T12:00:00Z","queue":"q","wrapped":"paper"}`)),
		messageOf(`{}`, withBomb),
	} {
		if got := Unwrap(m); !reflect.DeepEqual(got, m) {
			t.Errorf("became %+v", got)
		}
	}
}

// A message that comes back wrapped, by whatever hand, is judged as what its producer sent.
func TestHandlerJudgesTheOriginalOfAWrappedMessage(t *testing.T) {
	fake := &fakeSQS{}
	sent := messageOf(docSet("m1", "a", 1).Body, map[string]events.Attribute{"inorder": {Type: "String", Text: "theirs"}})
	if err := (&Quarantine{SQS: fake}).Copy(t.Context(), copyOf(sent, events.FutureTime, "")); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.loop.apply = func(_ context.Context, _ ordering.Key, batch []ordering.Delivery) ordering.Report {
		sameMessage(t, *batch[0].Message, sent)
		return applied(batch)
	}
	b.handle(t, t.Context(), delivered(fake.sent[0]))
	b.want(t, map[string][]string{"again": {"applied"}})
}

const (
	alphabet64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	alphabet94 = alphabet64 + "!\"#$%&'()*,-.:;<=>?@[\\]^_`{|}~"
)

// noise is text without repetition over an alphabet.
func noise(size int, alphabet string) string {
	out := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(out)
	for i, b := range out {
		out[i] = alphabet[int(b)%len(alphabet)]
	}
	return string(out)
}

func without(attributes map[string]events.Attribute, name string) map[string]events.Attribute {
	out := maps.Clone(attributes)
	delete(out, name)
	return out
}

type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

func sameMessage(t fatal, got, want events.Message) {
	t.Helper()
	if got.Body != want.Body {
		t.Fatalf("body of %d bytes (%x) came back as %d (%x)", len(want.Body), md5.Sum([]byte(want.Body)), len(got.Body), md5.Sum([]byte(got.Body)))
	}
	if len(got.Attributes) != len(want.Attributes) {
		t.Fatalf("attributes %v, want %v", got.Attributes, want.Attributes)
	}
	for name, a := range want.Attributes {
		g, ok := got.Attributes[name]
		if !ok || g.Type != a.Type || g.Text != a.Text || !slices.Equal(g.Binary, a.Binary) {
			t.Fatalf("attribute %s is %+v, want %+v", name, g, a)
		}
	}
}
