package functions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"

	"inorder/events"
	"inorder/ordering"
)

// The messages that leave the relay, and its answers, are what consumers, other producers and Lambda read: as text.
func TestRelayGolden(t *testing.T) {
	b := newRelayBench(t)
	got := b.handle(t, t.Context(), streamBatch(
		streamRecord(1, "ledger/a%2F1", "head", `,"seq":{"N":"7"}`),
		streamRow(2, "ledger/a%2F1", 7, "{\"type\":\"Posted\", \"x\":1.50}\n"),
		streamRow(3, "meter/house/north", 1, `{"seq":1}`),
	))
	if got != `{"batchItemFailures":[]}` {
		t.Errorf("the stream's answer is %s", got)
	}
	wantBodies(t, b.sqs, eventsURL, "{\"type\":\"Posted\", \"x\":1.50}\n", `{"seq":1}`)
	wantBodies(t, b.sqs, republishURL,
		`{"type":"inorder.note","stream":"ledger","entity_id":"a/1","source":"shop","generation":0,"seq":7}`,
		`{"type":"inorder.note","stream":"meter","entity_id":"house","source":"north","generation":0,"seq":1}`)
	for _, m := range b.sqs.queues[republishURL] {
		if m.delay != 300 {
			t.Errorf("a note is delayed by %d seconds", m.delay)
		}
	}

	b = newRelayBench(t)
	b.outbox.wrote("ledger/a%2F1", 3, 4, 9).wrote("meter/house/north", 1)
	got = b.handle(t, t.Context(), queueBatch(t,
		`{"consumer":"c","stream":"ledger","entity_id":"a/1","source":"","generation":0,"ranges":[[1,3],[5,6],[8,12]],"attempt":2,"requested_at":"2026-01-01T00:00:00.000000000Z"}`,
		`{"type":"inorder.note","stream":"meter","entity_id":"house","source":"north","generation":0,"seq":1}`,
		`{"half":`))
	if got != `{"batchItemFailures":[{"itemIdentifier":"m3"}]}` {
		t.Errorf("the queue's answer is %s", got)
	}
	wantBodies(t, b.sqs, eventsURL, `{"n":3}`, `{"n":9}`,
		`{"type":"inorder.void","stream":"ledger","entity_id":"a/1","source":"","generation":0,"ranges":[[1,2],[5,6],[8,8]],"reason":"expired"}`,
		`{"type":"inorder.mark","stream":"meter","entity_id":"house","source":"north","generation":0,"seq":1}`)
	b.wantTotals(t, map[string]float64{
		MetricRequests: 1, MetricRowsRepublished: 2, MetricNumbersExpired: 5, MetricMarksSent: 1, MetricRelayFailures: 1,
	})
}

func wantBodies(t *testing.T, f *fakeBatchSQS, url string, want ...string) {
	t.Helper()
	if got := f.bodies(url); !slices.Equal(got, want) {
		t.Errorf("%s got\n%s\nwant\n%s", url, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What a relay says of numbers is what the consumer's decoder takes.
func TestRelaySpeaksToTheConsumer(t *testing.T) {
	b := newRelayBench(t)
	outbox := &provingOutbox{b.outbox, []events.Range{{First: 1, Last: 1}}}
	b.Relay.outbox = outbox
	b.outbox.wrote("meter/house/north", 4)
	err := b.Answer(t.Context(), events.RepublishRequest{Stream: "meter", EntityID: "house", Source: "north", Ranges: []events.Range{{First: 1, Last: 2}}})
	if err == nil {
		err = b.Marks(t.Context(), []events.MarkEvent{{Stream: "meter", EntityID: "house", Source: "north", Seq: 4}})
	}
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, body := range b.sqs.bodies(eventsURL) {
		for _, d := range b.streams.Decode(events.Message{Body: body}, testNow) {
			if d.Event == nil {
				t.Fatalf("%s is refused: %+v", body, d.Refusal)
			}
			kinds = append(kinds, fmt.Sprintf("%d %s %v %s %d", d.Event.Kind, d.Event.Source, d.Event.Ranges, d.Event.VoidReason, d.Event.Seq))
		}
	}
	want := []string{"1 north [{1 1}] never_existed 0", "1 north [{2 2}] expired 0", "2 north []  4"}
	if !slices.Equal(kinds, want) {
		t.Errorf("read as %q, want %q", kinds, want)
	}
}

// Batches of the two triggers are told apart by what Lambda writes into each record, and anything else is an error.
func TestRelayTriggers(t *testing.T) {
	b := newRelayBench(t)
	for _, batch := range []string{
		`{}`, `{"Records":[]}`, `[]`, `{"Records":[{"eventSource":"aws:s3"}]}`,
		`{"Records":[{"eventSource":"aws:sqs","messageId":"m"},{"eventSource":"aws:dynamodb","messageId":"n"}]}`,
		`{"Records":[{"eventSource":"aws:sqs"}]}`,
	} {
		if out, err := b.Handle(t.Context(), json.RawMessage(batch)); err == nil {
			t.Errorf("%s was taken: %+v", batch, out)
		}
	}
}

// Only new rows are sent: heads, other items, changes and deletions pass.
func TestRelayPassesWhatIsNoNewRow(t *testing.T) {
	b := newRelayBench(t)
	row := streamRow(1, "ledger/a", 1, "{}")
	got := b.handle(t, t.Context(), streamBatch(
		strings.Replace(row, "INSERT", "MODIFY", 1),
		strings.Replace(row, "INSERT", "REMOVE", 1),
		streamRecord(2, "ledger/a", "head", ""),
		streamRecord(3, "ledger/a", "basket", `,"event":{"S":"{}"}`),
	))
	if got != `{"batchItemFailures":[]}` || b.sqs.requests != 0 || b.logs.Len() != 0 {
		t.Errorf("%s after %d requests, said %s", got, b.sqs.requests, b.logs)
	}
}

// Rows leave in their order, ten in a request and no more bytes than one takes; of each history the newest has a note.
func TestRelayOrderAndBatches(t *testing.T) {
	b := newRelayBench(t)
	var records, want []string
	for i := range 23 {
		body := fmt.Sprintf(`{"n":%d,"x":%q}`, i, strings.Repeat("x", i*10_000))
		records, want = append(records, streamRow(i+1, fmt.Sprint("ledger/", i%3), i/3+1, body)), append(want, body)
	}
	if got := b.handle(t, t.Context(), streamBatch(records...)); got != `{"batchItemFailures":[]}` {
		t.Fatal(got)
	}
	wantBodies(t, b.sqs, eventsURL, want...)
	if got := fmt.Sprint(b.sqs.batches[eventsURL]); got != "[10 7 5 1]" {
		t.Errorf("requests of %s messages", got)
	}
	var notes []string
	for _, n := range b.sqs.bodies(republishURL) {
		notes = append(notes, n[strings.Index(n, `"entity_id":`):])
	}
	if got := strings.Join(notes, " "); strings.Count(got, "seq") != 3 || !strings.Contains(got, `"2","source":"shop","generation":0,"seq":7}`) ||
		!strings.Contains(got, `"1","source":"shop","generation":0,"seq":8}`) {
		t.Errorf("notes: %s", got)
	}
	b.wantTotals(t, map[string]float64{MetricRowsRelayed: 23})
}

// On a FIFO queue each entity is a group, each position has an id, and a request takes one row of an entity, so that no
// row overtakes another.
func TestRelayFIFO(t *testing.T) {
	b := newRelayBench(t, func(p *RelayParts) { p.EventsURL = eventsFIFOURL })
	b.handle(t, t.Context(), streamBatch(streamRow(1, "ledger/a", 1, "1"), streamRow(2, "ledger/b", 1, "2"), streamRow(3, "ledger/a", 2, "3")))
	wantBodies(t, b.sqs, eventsFIFOURL, "1", "2", "3")
	if got := fmt.Sprint(b.sqs.batches[eventsFIFOURL]); got != "[2 1]" {
		t.Errorf("requests of %s messages", got)
	}
	sent := b.sqs.queues[eventsFIFOURL]
	if sent[0].group != sent[2].group || sent[0].group == sent[1].group || sent[0].dedup == sent[2].dedup || sent[0].dedup == sent[1].dedup {
		t.Errorf("groups and ids: %+v", sent)
	}
	b.outbox.wrote("ledger/a", 1, 2)
	request := events.RepublishRequest{Stream: "ledger", EntityID: "a", Ranges: []events.Range{{First: 1, Last: 2}}, Attempt: 1}
	for range 2 {
		if err := b.Answer(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	again := b.sqs.queues[eventsFIFOURL][3:]
	if again[0].dedup == sent[0].dedup || again[0].dedup != again[2].dedup || again[0].group != sent[0].group {
		t.Errorf("sent again as %+v, at first as %+v", again, sent)
	}
}

// Of what fails only the first record is named, for Lambda brings everything behind it again; nothing behind it is
// tried. What becomes of notes does not matter.
func TestRelayStreamFailures(t *testing.T) {
	three := []string{streamRow(11, "ledger/a", 1, "1"), streamRow(12, "ledger/b", 1, "2"), streamRow(13, "ledger/c", 1, "3")}
	for _, tt := range []struct {
		name    string
		fail    func(url, body string) string
		before  func(request int, url string) error
		back    string // the sequence number that is named
		relayed float64
	}{
		{"none", nil, nil, "", 3},
		{"one of a request", func(_, body string) string { return when(body == "2", "InternalError") }, nil, "12", 1},
		{"all of it", nil, func(int, string) error { return errSQS }, "11", 0},
		{"a note", func(url, body string) string {
			return when(url == republishURL && strings.Contains(body, `"c"`), "ServiceUnavailable")
		}, nil, "", 3},
		{"a code that may be our own fault", func(_, body string) string { return when(body == "2", "KmsAccessDenied") }, nil, "12", 1},
		{"SQS refuses one for good", func(_, body string) string { return when(body == "2", "InvalidMessageContents") }, nil, "", 2},
		{"SQS refuses a note for good", func(url, _ string) string { return when(url == republishURL, "InvalidParameterValue") }, nil, "", 3},
		{"the client panics", nil, func(int, string) error { panic("secret data") }, "11", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newRelayBench(t)
			b.sqs.fail, b.sqs.before = tt.fail, tt.before
			want := `{"batchItemFailures":[]}`
			if tt.back != "" {
				want = `{"batchItemFailures":[{"itemIdentifier":"` + tt.back + `"}]}`
			}
			if got := b.handle(t, t.Context(), streamBatch(three...)); got != want {
				t.Errorf("the answer is %s, want %s", got, want)
			}
			if got := b.total(t, MetricRowsRelayed); got != tt.relayed {
				t.Errorf("%v rows counted, want %v", got, tt.relayed)
			}
			if strings.Contains(b.logs.String(), "secret") {
				t.Errorf("logged: %s", b.logs)
			}
		})
	}
}

func when(is bool, code string) string {
	if is {
		return code
	}
	return ""
}

// A republish queue that is down, or may not be sent to, stops no event: all rows go out once, and each note that is
// lost is told and counted.
func TestRelayWithoutTheRepublishQueue(t *testing.T) {
	b := newRelayBench(t)
	b.sqs.before = func(_ int, url string) error {
		if url == republishURL {
			return errSQS
		}
		return nil
	}
	var records, want []string
	for i := range 30 {
		records, want = append(records, streamRow(i+1, fmt.Sprint("ledger/", i), 1, fmt.Sprint(i))), append(want, fmt.Sprint(i))
	}
	if got := b.handle(t, t.Context(), streamBatch(records...)); got != `{"batchItemFailures":[]}` {
		t.Error(got)
	}
	wantBodies(t, b.sqs, eventsURL, want...)
	b.wantTotals(t, map[string]float64{MetricRowsRelayed: 30, MetricRelayFailures: 30})
	if n := strings.Count(b.logs.String(), `"level":"ERROR"`); n != 30 {
		t.Errorf("%d lines of errors for 30 lost notes", n)
	}
}

// Nothing behind the first failure is tried: Lambda brings it again anyway.
func TestRelayStopsAtTheFirstFailure(t *testing.T) {
	b := newRelayBench(t)
	b.sqs.fail = func(_, body string) string { return when(body == "3", "InternalError") }
	var records []string
	for i := range 30 {
		records = append(records, streamRow(i+1, fmt.Sprint("ledger/", i), 1, fmt.Sprint(i)))
	}
	if got := b.handle(t, t.Context(), streamBatch(records...)); got != `{"batchItemFailures":[{"itemIdentifier":"4"}]}` {
		t.Error(got)
	}
	if b.sqs.requests != 2 {
		t.Errorf("%d requests, want one for rows and one for notes", b.sqs.requests)
	}
}

// A message that a queue with a smaller limit of its own refuses does not take the others of its request with it.
func TestRelayFindsTheRefusedOne(t *testing.T) {
	b := newRelayBench(t)
	b.sqs.before = func(_ int, url string) error {
		if url == eventsURL && b.sqs.requests != 2 && b.sqs.requests != 4 {
			return &smithy.GenericAPIError{Code: "AWS.SimpleQueueService.BatchRequestTooLong", Message: "no"}
		}
		return nil
	}
	got := b.handle(t, t.Context(), streamBatch(streamRow(1, "ledger/a", 1, "1"), streamRow(2, "ledger/b", 1, "2"), streamRow(3, "ledger/c", 1, "3")))
	if got != `{"batchItemFailures":[]}` {
		t.Error(got)
	}
	wantBodies(t, b.sqs, eventsURL, "1", "3")
	b.wantTotals(t, map[string]float64{MetricRowsRelayed: 2, MetricRelayFailures: 1})
}

// A row that can never be sent is told loudly and passed, its note included: it must not hold up the rows behind it, and
// the consumer must learn that its number exists.
func TestRelayPassesWhatCannotBeSent(t *testing.T) {
	sk := "0000000000.0000000000000000001"
	for name, bad := range map[string]string{
		"no event":           streamRecord(5, "ledger/a", sk, ""),
		"not text":           streamRecord(5, "ledger/a", sk, `,"event":{"B":"AAEqQQ=="}`),
		"nothing":            streamRow(5, "ledger/a", 1, ""),
		"a bad character":    streamRow(5, "ledger/a", 1, "{\"x\":\"\uffff\"}"),
		"too large":          streamRow(5, "ledger/a", 1, strings.Repeat("x", 1<<20+1)),
		"a key of no entity": streamRecord(5, "ledger", sk, `,"event":{"S":"{}"}`),
	} {
		t.Run(name, func(t *testing.T) {
			b := newRelayBench(t)
			got := b.handle(t, t.Context(), streamBatch(bad, streamRow(6, "ledger/b", 1, "2")))
			if got != `{"batchItemFailures":[]}` {
				t.Error(got)
			}
			wantBodies(t, b.sqs, eventsURL, "2")
			b.wantTotals(t, map[string]float64{MetricRowsRelayed: 1, MetricRelayFailures: 1})
			if !strings.Contains(b.logs.String(), `"level":"ERROR"`) || !strings.Contains(b.logs.String(), `"stream_sequence_number":"5"`) {
				t.Errorf("said: %s", b.logs)
			}
			if notes := len(b.sqs.bodies(republishURL)); notes != 2 && !strings.Contains(name, "key") {
				t.Errorf("%d notes", notes)
			}
		})
	}
}

// A row that streams.yaml does not know is sent all the same, and somebody is told that it can be neither marked nor
// sent again.
func TestRelayStrangers(t *testing.T) {
	for _, pk := range []string{"nobody/a", "ledger/a/shop", "meter/house"} {
		b := newRelayBench(t)
		if got := b.handle(t, t.Context(), streamBatch(streamRow(1, pk, 1, "1"))); got != `{"batchItemFailures":[]}` {
			t.Error(got)
		}
		wantBodies(t, b.sqs, eventsURL, "1")
		if len(b.sqs.bodies(republishURL)) != 0 || !strings.Contains(b.logs.String(), `"level":"ERROR"`) {
			t.Errorf("%s: %s", pk, b.logs)
		}
	}
}

// Marks are for streams with numbers; MARK_DELAY 0 turns them off.
func TestRelayWithoutNotes(t *testing.T) {
	b := newRelayBench(t, func(p *RelayParts) { p.MarkDelay = 0 })
	b.handle(t, t.Context(), streamBatch(streamRow(1, "ledger/a", 1, "1")))
	c := newRelayBench(t)
	c.handle(t, t.Context(), streamBatch(streamRow(1, "chat/a", 1, "1")))
	for _, b := range []*relayBench{b, c} {
		wantBodies(t, b.sqs, eventsURL, "1")
		wantBodies(t, b.sqs, republishURL)
	}
}

// A note becomes a mark only while its row is the newest of its history; where sources share one, always.
func TestRelayNotes(t *testing.T) {
	for _, tt := range []struct {
		name, stream, source string
		seq                  int64
		head                 *ordering.Position
		mark, back           bool
	}{
		{"the newest", "ledger", "", 5, &ordering.Position{Seq: 5}, true, false},
		{"one behind it", "ledger", "", 5, &ordering.Position{Seq: 6}, false, false},
		{"a new generation", "ledger", "", 5, &ordering.Position{Gen: 1, Seq: 1}, false, false},
		{"above the head", "ledger", "", 5, &ordering.Position{Seq: 4}, false, false},
		{"the highest number there is", "ledger", "", math.MaxInt64, &ordering.Position{Seq: 4}, false, false},
		{"above the head that sources share", "profile", "crm", 5, &ordering.Position{Seq: 4}, false, false},
		{"the newest of sources that share a history", "profile", "crm", 5, &ordering.Position{Seq: 5}, true, false},
		{"sources that share a new generation", "profile", "crm", 5, &ordering.Position{Gen: 1, Seq: 6}, false, false},
		{"no head", "ledger", "", 5, nil, false, false},
		{"state", "plan", "", 5, &ordering.Position{Seq: 5}, true, false},
		{"a source of its own", "meter", "north", 5, &ordering.Position{Seq: 5}, true, false},
		{"sources that share a history", "profile", "crm", 5, &ordering.Position{Seq: 6}, true, false},
		{"a stream that is gone", "nobody", "", 5, nil, false, false},
		{"no number", "ledger", "", 0, &ordering.Position{Seq: 5}, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newRelayBench(t)
			for _, pk := range []string{tt.stream + "/e", tt.stream + "/e/" + tt.source} {
				if tt.head != nil && (strings.Count(pk, "/") == 2) == (tt.stream == "meter") {
					b.outbox.heads[pk] = *tt.head
				}
			}
			body := fmt.Sprintf(`{"type":"inorder.note","stream":%q,"entity_id":"e","source":%q,"generation":0,"seq":%d}`, tt.stream, tt.source, tt.seq)
			got := b.handle(t, t.Context(), queueBatch(t, body))
			if (got == failures("m1")) != tt.back {
				t.Errorf("the answer is %s", got)
			}
			want := []string{}
			if tt.mark {
				want = append(want, strings.Replace(body, "note", "mark", 1))
			}
			wantBodies(t, b.sqs, eventsURL, want...)
			wantBodies(t, b.sqs, republishURL)
		})
	}
}

// Marks of one batch share requests; one that fails brings back its own note only.
func TestRelayMarksTogether(t *testing.T) {
	b := newRelayBench(t)
	var bodies []string
	for i := range 10 {
		b.outbox.wrote(fmt.Sprint("ledger/", i), 1)
		bodies = append(bodies, fmt.Sprintf(`{"type":"inorder.note","stream":"ledger","entity_id":"%d","source":"","generation":0,"seq":1}`, i))
	}
	b.sqs.fail = func(_, body string) string { return when(strings.Contains(body, `"entity_id":"3"`), "InternalError") }
	if got := b.handle(t, t.Context(), queueBatch(t, bodies...)); got != failures("m4") {
		t.Error(got)
	}
	if b.sqs.requests != 1 {
		t.Errorf("%d requests", b.sqs.requests)
	}
	b.wantTotals(t, map[string]float64{MetricMarksSent: 9, MetricRelayFailures: 1})
}

// What is wrong with a message of the republish queue comes back until the dead-letter queue keeps it, is loud, and hurts
// no other message.
func TestRelayRefusesRequests(t *testing.T) {
	const good = `{"stream":"ledger","entity_id":"a","ranges":[[1,1]]}`
	for name, body := range map[string]string{
		"not JSON":               `{{`,
		"neither of the two":     `{"stream":"ledger","entity_id":"a"}`,
		"another type":           `{"type":"Posted","stream":"ledger","entity_id":"a","ranges":[[1,1]]}`,
		"an unknown stream":      `{"stream":"nobody","entity_id":"a","ranges":[[1,1]]}`,
		"a stream without order": `{"stream":"chat","entity_id":"a","ranges":[[1,1]]}`,
		"no entity":              `{"stream":"ledger","ranges":[[1,1]]}`,
		"a range of one":         `{"stream":"ledger","entity_id":"a","ranges":[[1]]}`,
		"a range from nothing":   `{"stream":"ledger","entity_id":"a","ranges":[[0,1]]}`,
		"a range back":           `{"stream":"ledger","entity_id":"a","ranges":[[2,1]]}`,
		"more than the window":   `{"stream":"ledger","entity_id":"a","ranges":[[1,10],[21,31]]}`,
		"all numbers":            `{"stream":"ledger","entity_id":"a","ranges":[[1,9223372036854775807],[2,9223372036854775807]]}`,
		"many of a state":        `{"stream":"plan","entity_id":"a","ranges":[[1,1001]]}`,
		"no generation":          `{"stream":"ledger","entity_id":"a","generation":10000000000,"ranges":[[1,1]]}`,
		"a negative one":         `{"stream":"ledger","entity_id":"a","generation":-1,"ranges":[[1,1]]}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newRelayBench(t)
			b.outbox.wrote("ledger/a", 1)
			if got := b.handle(t, t.Context(), queueBatch(t, body, good)); got != failures("m1") {
				t.Error(got)
			}
			wantBodies(t, b.sqs, eventsURL, `{"n":1}`)
			if !strings.Contains(b.logs.String(), `"level":"ERROR"`) || !strings.Contains(b.logs.String(), `"message_id":"m1"`) {
				t.Errorf("said: %s", b.logs)
			}
		})
	}
}

// A panic is its own message's, and its log line holds nothing of what it was about.
func TestRelayPanics(t *testing.T) {
	b := newRelayBench(t)
	b.outbox.panic = true
	got := b.handle(t, t.Context(), queueBatch(t, `{"stream":"ledger","entity_id":"a","ranges":[[1,1]]}`))
	if got != failures("m1") || !strings.Contains(b.logs.String(), "ERROR") || strings.Contains(b.logs.String(), "secret") {
		t.Errorf("%s: %s", got, b.logs)
	}
	b.wantTotals(t, map[string]float64{MetricRelayFailures: 1})
}

// A message comes back once, however often its id stands in the batch, and an error of the outbox brings it back.
func TestRelayQueueFailures(t *testing.T) {
	b := newRelayBench(t)
	b.outbox.err = errors.New("throttled")
	request := `{"stream":"ledger","entity_id":"a","ranges":[[1,1]]}`
	batch := strings.ReplaceAll(queueBatch(t, request, request), `"m2"`, `"m1"`)
	if got := b.handle(t, t.Context(), batch); got != failures("m1") {
		t.Error(got)
	}
	if strings.Contains(b.logs.String(), "ERROR") {
		t.Errorf("bad luck is no error: %s", b.logs)
	}
}

// The relay stops before Lambda does, gives back what it did not finish, and still writes its metrics.
func TestRelayStopsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newRelayBench(t)
		b.outbox.wrote("ledger/a", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
		slow := func(request int, _ string) error {
			time.Sleep(10 * time.Second)
			return nil
		}
		b.sqs.before = slow
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		var records []string
		for i := range 60 {
			records = append(records, streamRow(i+1, "ledger/a", i+1, fmt.Sprint(i)))
		}
		begin := time.Now()
		got := b.handle(t, ctx, streamBatch(records...))
		if got != `{"batchItemFailures":[{"itemIdentifier":"31"}]}` || time.Since(begin) > 30*time.Second {
			t.Errorf("%s after %v", got, time.Since(begin))
		}
		b.wantTotals(t, map[string]float64{MetricRowsRelayed: 30, MetricRelayFailures: 1})

		ctx, cancel = context.WithTimeout(t.Context(), 12*time.Second)
		defer cancel()
		begin = time.Now()
		got = b.handle(t, ctx, queueBatch(t, `{"stream":"ledger","entity_id":"a","ranges":[[1,12]]}`, `{"stream":"ledger","entity_id":"a","ranges":[[1,1]]}`))
		if got != failures("m1", "m2") || time.Since(begin) > 12*time.Second {
			t.Errorf("%s after %v", got, time.Since(begin))
		}
		time.Sleep(time.Minute) // whoever was too late ends
	})
}

// The relay's binary refuses to run with wrong settings, with status 1 and every fault on standard error.
func TestRelayMainStopsOnFaults(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "bootstrap")
	if out, err := exec.Command("go", "build", "-o", binary, "./relay").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), "MARK_DELAY=1h", "OUTBOX_TABLE=")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("ended with %v", err)
	}
	for _, want := range []string{"OUTBOX_TABLE is not set", "MARK_DELAY must be at most 15m", "streams.yaml: no such file"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("nothing about %q in:\n%s", want, out)
		}
	}
}
