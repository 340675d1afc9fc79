package functions

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/events"
	"inorder/ordering"
)

// gossipFrom is at how many of an invocation's requests the database begins to refuse.
var gossipFrom = flag.Int("gossip-from", 1, "the database begins to quote at each of so many first requests")

// closedStreams has a stream for each way that data can take.
const closedStreams = `
consumer: c
streams:
  - {name: doc, types: [DocSet], mode: state, clock: entity, tombstone: [DocGone]}
  - {name: part, types: [PartSet], mode: state, clock: attribute, dedup: marker, order: {by: time, path: at}}
  - {name: own, types: [OwnSet], mode: state, clock: source, owns: {crm: [secret]}}
  - {name: ledger, types: [Posted], mode: step, on_expired: skip, gap_deadline: 1m, window: 50, projection: {sum: {balance: data.amount}, set: {note: data.note}}, effects: true}
  - {name: told, types: [Told], mode: step, gap_deadline: 1m, projection: telling, effects: true}
  - {name: seats, types: [Seated], mode: delta, gap_deadline: 1m, window: 50, projection: {sum: {seats: data.amount}}}
  - {name: loose, types: [Loose], mode: delta, order: {by: none}, projection: {sum: {n: data.amount}}}
`

// secretData is data with a secret in each place that data has: values and names, nested, in numbers, with a quote and a line
// break around it.
const secretData = `{"secret":"` + secretText + `","amount":` + secretNumber + `,"note":"a\"\n` + secretText + `",` +
	`"in":{"` + secretText + `":["` + secretText + `",{"deep":"` + secretText + `"}]},"` + secretText + `":null`

// telling is a projection that tells all it knows in each way that it has.
func telling(state map[string]any, e *events.Event) (map[string]any, []any, error) {
	all := fmt.Sprintf("%v %v", state, e.Data())
	switch e.Data()["how"] {
	case "error":
		return nil, nil, errors.New(all)
	case "panic":
		panic(all)
	case "panic with an error":
		panic(errors.New(all))
	case "index":
		return nil, nil, fmt.Errorf("%w", errors.Join(errors.New(all), error(nil)))
	case "type":
		_ = e.Data()["secret"].(map[string]any) // Go says of which type it is
	case "too large":
		return map[string]any{"x": strings.Repeat(secretText, 100_000)}, nil, nil
	case "cannot be stored":
		return map[string]any{"x": map[string]any{secretText: make(chan int)}}, nil, nil
	case "cannot be sent":
		return map[string]any{}, []any{map[string]any{secretText: make(chan int)}}, nil
	case "an effect too large":
		return map[string]any{}, []any{strings.Repeat(secretText, 100_000)}, nil
	}
	return map[string]any{"last": e.Data()["secret"]}, []any{e.Data()}, nil
}

// closedWorld is all three functions over one engine, at the finest level of logs, with a clock that a test sets.
type closedWorld struct {
	way     gossiping
	sqs     gossipingSQS
	out     bytes.Buffer
	now     time.Time
	streams *events.Config
	store   *ddb.Store
	endings map[string][]string
	serial  int
}

func newClosedWorld(t *testing.T, engine *local.Engine, prefix string) *closedWorld {
	t.Helper()
	streams, err := events.ParseStreams([]byte(closedStreams), events.Options{Projections: []string{"telling"}})
	if err != nil {
		t.Fatal(err)
	}
	w := &closedWorld{now: sampleNow, streams: streams, endings: map[string][]string{}}
	client := ddb.NewClient(engine.Config(), ddb.ClientOptions{
		Endpoint: engine.Endpoint, TryTimeout: patience, MaxPause: time.Nanosecond, Transport: http.RoundTripper(&w.way),
	})
	w.store = &ddb.Store{API: client, Tables: ddb.Tables{Entities: prefix + "-entities", Items: prefix + "-items"}}
	if err := ddb.CreateTables(t.Context(), client, w.store.Tables); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *closedWorld) parts() SweeperParts {
	return SweeperParts{
		Parts: Parts{
			Streams: w.streams, Projections: map[string]ordering.Projector{"telling": telling}, Store: w.store, SQS: &w.sqs,
			QuarantineURL: quarantineQueue, EffectsURL: effectsQueue, EffectsMode: ordering.EffectsOn,
			Metrics: &w.out, Log: NewLogger(&w.out, slog.LevelDebug), Now: func() time.Time { return w.now },
			Parallel: 1, RowsAtOnce: 1, Wait: func(context.Context, int) {},
			Observe: func(m events.Message, outcomes []ordering.Outcome) {
				for _, o := range outcomes {
					w.endings[o.Disposition.String()] = append(w.endings[o.Disposition.String()], m.ID)
					if o.Reason != "" {
						w.endings[string(o.Reason)] = append(w.endings[string(o.Reason)], m.ID)
					}
				}
			},
		},
		Upkeep: w.store, RepublishURL: republishQueue,
	}
}

// deliver hands over bodies in one batch, each with attributes that hold the secret, too.
func (w *closedWorld) deliver(t *testing.T, bodies ...string) {
	t.Helper()
	var batch awsevents.SQSEvent
	for _, body := range bodies {
		w.serial++
		r := record(fmt.Sprint("m", w.serial), body)
		text := secretText
		r.MessageAttributes = map[string]awsevents.SQSMessageAttribute{
			"x-text": {DataType: "String", StringValue: &text}, "x-bytes": {DataType: "Binary", BinaryValue: []byte(secretText)},
		}
		batch.Records = append(batch.Records, r)
	}
	if _, err := NewConsumer(w.parts().Parts).Handle(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

// sweep passes some time and sweeps. What cannot be read is an error, which Lambda logs: so it counts as a line.
func (w *closedWorld) sweep(t *testing.T, later time.Duration) {
	t.Helper()
	w.now = w.now.Add(later)
	if err := NewSweeper(w.parts()).Sweep(t.Context()); err != nil {
		fmt.Fprintln(&w.out, err)
	}
	for _, in := range w.sqs.sent {
		if *in.QueueUrl != quarantineQueue {
			continue
		}
		if mark, ok := MarkOf(receiveUnopened(delivered(in))); ok {
			w.endings[string(mark.Reason)] = append(w.endings[string(mark.Reason)], mark.MessageID)
		}
	}
}

// check fails where a line holds something of the data, and empties the log.
func (w *closedWorld) check(t *testing.T, path string) (lines int) {
	t.Helper()
	for _, line := range leaks(w.out.String()) {
		t.Errorf("%s: data was logged: %s", path, line)
	}
	lines = strings.Count(w.out.String(), "\n")
	w.out.Reset()
	return lines
}

// event is one of a type, with the secret in its data and more members if wanted.
func event(typ, entity string, seq int, more string) string {
	return fmt.Sprintf(`{"event_id":"%s:%s:%d","type":%q,"entity_id":%q,"seq":%d,"at":"2026-09-05T10:00:%02dZ","data":%s%s}}`,
		typ, entity, seq, typ, entity, seq, seq%60, secretData, more)
}

// Event data stands in no log line and no metric, at the finest level, whatever becomes of the event: DESIGN says so of every
// path, and each is walked here with a secret in all of the data, until each disposition and each reason has been seen.
func TestNoDataIsLogged(t *testing.T) {
	engine := startEngine(t)
	w := newClosedWorld(t, engine, "closed")
	lines := 0
	for _, path := range closedPaths {
		path.walk(t, w)
		lines += w.check(t, path.name)
	}
	for _, d := range ordering.Dispositions() {
		if len(w.endings[d.String()]) == 0 {
			t.Errorf("nothing ended as %s: the way was not walked", d)
		}
	}
	for _, reason := range everyReason {
		if len(w.endings[string(reason)]) == 0 && (reason != events.TooLarge || engine.Name != local.Minidyn) { // which takes any item
			t.Errorf("nothing was refused as %s: the way was not walked", reason)
		}
	}
	t.Logf("proof: no event data in %d log lines and metric documents, over %d paths, %d dispositions and %d quarantine reasons",
		lines, len(closedPaths), len(ordering.Dispositions()), len(everyReason))
}

// everyReason is the list of events/event.go, which is closed.
var everyReason = []events.Reason{
	events.NotJSON, events.NotAnEvent, events.NoRoute, events.NoEntityID, events.BadEntityID, events.BadOrderKey, events.BadEventID,
	events.ReservedAttribute, events.NotOwner, events.NumberRange, events.TooLarge, events.TooDeep, events.FutureTime, events.Conflict,
	events.ParkExpired, events.OldGeneration, events.ProjectionError, events.Skipped,
}

var closedPaths = []struct {
	name string
	walk func(t *testing.T, w *closedWorld)
}{
	{"applied, stale, duplicate, coalesced, conflict", func(t *testing.T, w *closedWorld) {
		for range 2 {
			w.deliver(t, event("DocSet", "a", 2, ""), event("DocSet", "a", 3, ""), event("PartSet", "a", 3, ""), event("Posted", "a", 1, ""),
				event("Told", "a", 1, ""), event("Seated", "a", 1, ""), event("Loose", "a", 1, ""))
		}
		w.deliver(t, event("DocSet", "a", 1, ""), event("PartSet", "a", 1, ""), event("DocGone", "b", 1, ""),
			strings.Replace(event("DocSet", "a", 3, `,"other":1`), "DocSet:a:3", "other", 1), event("Posted", "a", 1, `,"other":1`))
	}},
	{"parked, deferred beyond the window, drained, blocked", func(t *testing.T, w *closedWorld) {
		w.deliver(t, event("Posted", "p", 3, ""), event("Posted", "p", 2, ""), event("Posted", "p", 900, ""), event("Seated", "p", 3, ""),
			event("Seated", "p", 900, ""))
		w.deliver(t, event("Posted", "p", 2, `,"other":1`), event("Posted", "p", 1, ""), event("Seated", "p", 1, ""))
		for i, how := range []string{"error", "panic", "panic with an error", "index", "type", "too large", "cannot be stored", "cannot be sent", "an effect too large"} {
			w.deliver(t, event("Told", fmt.Sprint("t", i), 1, fmt.Sprintf(`,"how":%q`, how)), event("Told", fmt.Sprint("t", i), 2, ""))
			w.deliver(t, event("Told", fmt.Sprint("t", i), 1, fmt.Sprintf(`,"how":%q`, how)))
		}
		w.deliver(t, strings.Replace(event("Posted", "n", 1, ""), secretNumber, `"`+secretText+`"`, 1),
			strings.Replace(event("Posted", "n", 2, ""), secretNumber, secretNumber+"e999", 1))
	}},
	{"every reason of the decoder and of the loop", func(t *testing.T, w *closedWorld) {
		w.deliver(t,
			secretText, `{"`+secretText, `{"a":`+secretText+`}`, `{"data":{"`+secretText+`":1,"`+secretText+`":2}}`, `"`+secretText+`"`, "\xff"+secretText,
			`{"Message":"`+secretText+`","Type":"Notification"}`, `{"specversion":"1.0","type":"DocSet","data_base64":"`+secretText+`"}`,
			`{"specversion":"`+secretText+`","type":"DocSet","data":{}}`, `["`+secretText+`"]`, `{"event_id":"e","type":"DocSet","entity_id":"a","seq":9,"data":"`+secretText+`"}`,
			`{"type":"inorder.void","stream":"ledger","entity_id":"a","ranges":[["`+secretText+`",2]],"reason":"expired"}`,
			`{"type":"inorder.void","stream":"ledger","entity_id":"a","ranges":[[1,2]],"reason":"`+secretText+`"}`,
			`{"type":"inorder.`+secretText+`","stream":"ledger","entity_id":"a"}`, `{"type":"inorder.mark","stream":"ledger","entity_id":"a","seq":"`+secretText+`"}`,
			event("Nobodys", "a", 1, ""), strings.Replace(event("DocSet", "a", 7, ""), `"entity_id":"a"`, `"entity_id":{"x":"`+secretText+`"}`, 1),
			event("DocSet", strings.Repeat("i", 2049), 1, ""), strings.Replace(event("DocSet", "a", 7, ""), `"seq":7`, `"seq":"`+secretText+`"`, 1),
			strings.Replace(event("DocSet", "a", 7, ""), `"seq":7`, `"seq":1.`+secretNumber, 1),
			strings.Replace(event("DocSet", "a", 7, ""), `"DocSet:a:7"`, `{"`+secretText+`":1}`, 1),
			strings.Replace(event("PartSet", "a", 7, ""), `"at":"2026-09-05T10:00:07Z"`, `"at":"`+secretText+`"`, 1),
			strings.Replace(event("PartSet", "a", 7, ""), `"at":"2026`, `"at":"2036`, 1),
			event("DocSet", "r", 1, `,"_`+secretText+`":1`), strings.Replace(event("OwnSet", "o", 1, ""), `"seq"`, `"source":"crm","seq"`, 1),
			event("DocSet", "n", 1, `,"x":`+secretNumber+`e999`), event("Seated", "n", 1, `,"amount2":1`),
			strings.Replace(event("Seated", "n", 2, ""), secretNumber, secretNumber+"e999", 1),
			strings.Replace(event("Seated", "n", 3, ""), secretNumber, `"`+secretText+`"`, 1),
			event("DocSet", "l", 1, `,"x":"`+strings.Repeat(secretText, 40_000)+`"`),
			event("PartSet", "l", 1, `,"x":"`+strings.Repeat(secretText, 40_000)+`"`),
			event("Posted", "l", 1, `,"note2":"`+noise(700_000, "abcdefghijklmnopqrstuvwxyz0123456789")+`"`),
			event("Posted", "l", 2, `,"note2":"`+noise(700_000, "abcdefghijklmnopqrstuvwxyz0123456789")+`"`),
			event("DocSet", "d", 1, `,"x":`+strings.Repeat(`{"`+secretText+`":`, 40)+"1"+strings.Repeat("}", 40)),
			event("DocSet", "d", 1, `,"x":`+strings.Repeat(`[`, 1001)+`"`+secretText+`"`+strings.Repeat("]", 1001)),
		)
		w.deliver(t, strings.Replace(event("Posted", "g", 5, ""), `"seq"`, `"generation":1,"seq"`, 1))
		w.deliver(t, strings.Replace(event("Posted", "g", 1, ""), `"seq"`, `"generation":2,"seq"`, 1))
	}},
	{"relay's words: voids and marks with data beside", func(t *testing.T, w *closedWorld) {
		for _, stream := range []string{"ledger", "seats"} {
			w.deliver(t, fmt.Sprintf(`{"type":"inorder.mark","stream":%q,"entity_id":"v","seq":9,"data":%s}}`, stream, secretData),
				fmt.Sprintf(`{"type":"inorder.void","stream":%q,"entity_id":"v","ranges":[[1,2]],"reason":"expired","data":%s}}`, stream, secretData),
				fmt.Sprintf(`{"type":"inorder.void","stream":%q,"entity_id":"v","ranges":[[3,900]],"reason":"never_existed","data":%s}}`, stream, secretData))
		}
	}},
	{"the sweeper: escalation, blocked ones, drains, what is too old", func(t *testing.T, w *closedWorld) {
		w.deliver(t, event("Posted", "s", 2, ""), event("Seated", "s", 2, ""))
		w.sweep(t, 2*time.Minute)
		w.sweep(t, 2*time.Minute)
		w.sweep(t, 29*24*time.Hour)
	}},
	{"the operator: skips, and what turns up after", func(t *testing.T, w *closedWorld) {
		w.deliver(t, event("Posted", "k", 3, ""))
		key := ordering.Key{Consumer: "c", Stream: "ledger", ID: "k"}
		if _, err := NewKeeper(w.parts()).Skip(t.Context(), key, w.streams.Stream("ledger"), ordering.Skip{Through: 2, Reason: secretText, By: "me"}); err != nil {
			t.Fatal(err)
		}
		w.deliver(t, event("Posted", "k", 2, ""))
		w.sweep(t, time.Minute)
	}},
	{"what comes back from quarantine", func(t *testing.T, w *closedWorld) {
		for _, in := range slices.Clone(w.sqs.sent) {
			if *in.QueueUrl == quarantineQueue {
				if _, err := NewConsumer(w.parts().Parts).Handle(t.Context(), awsevents.SQSEvent{Records: []awsevents.SQSMessage{delivered(in)}}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}},
	{"the database refuses, in words that quote", func(t *testing.T, w *closedWorld) {
		for i := range gossips {
			for from := 1; from <= *gossipFrom; from++ {
				id := fmt.Sprintf("g%d-%d", i, from)
				w.way.set(&gossips[i], from)
				for _, body := range []string{
					event("DocSet", id, 1, ""), event("PartSet", id, 1, ""), event("Posted", id, 2, ""), event("Posted", id, 1, ""), event("Told", id, 1, ""),
					event("Seated", id, 1, ""), event("Seated", id, 3, ""), event("Loose", id, 1, ""),
				} {
					w.way.set(&gossips[i], from)
					w.deliver(t, body)
				}
				w.way.set(&gossips[i], from)
				w.sweep(t, time.Minute)
			}
		}
		w.way.set(nil, 0)
	}},
	{"the queues refuse, in words that quote", func(t *testing.T, w *closedWorld) {
		for i, code := range []string{"InvalidMessageContents", "InvalidParameterValue", "InternalError", "SomethingNew", "panics"} {
			w.sqs.code, w.sqs.panics = code, code == "panics"
			id := fmt.Sprint("q", i)
			w.deliver(t, event("Posted", id, 1, ""), event("Told", id, 1, ""), secretText, event("DocSet", id, 1, `,"_x":1`))
			w.deliver(t, event("Told", id, 2, `,"how":"error"`), event("Posted", id, 3, ""))
			w.sweep(t, time.Hour)
		}
		w.sqs.code, w.sqs.panics = "", false
		w.sweep(t, time.Hour)
	}},
	{"out of time", func(t *testing.T, w *closedWorld) {
		ctx, cancel := context.WithDeadline(t.Context(), time.Now())
		defer cancel()
		if _, err := NewConsumer(w.parts().Parts).Handle(ctx, awsevents.SQSEvent{Records: []awsevents.SQSMessage{record("late", event("DocSet", "late", 1, ""))}}); err != nil {
			t.Fatal(err)
		}
	}},
	{"the relay", relayPath},
}

// relayPath is a producer's rows with the secret in them, sent, sent again, refused, and rows and messages that are none.
func relayPath(t *testing.T, w *closedWorld) {
	outbox := newFakeOutbox().wrote("ledger/a", 1, 2)
	for at := range maps.Keys(outbox.rows["ledger/a"]) {
		outbox.rows["ledger/a"][at] = event("Posted", "a", int(at.Seq), "")
	}
	relay := NewRelay(RelayParts{
		Streams: w.streams, Outbox: outbox, SQS: &w.sqs, EventsURL: eventsURL, RepublishURL: republishURL, MarkDelay: defaultMarkDelay,
		Metrics: &w.out, Log: NewLogger(&w.out, slog.LevelDebug), Now: func() time.Time { return w.now }, Parallel: 1,
	})
	batches := []string{
		streamBatch(streamRow(1, "ledger/a", 1, event("Posted", "a", 1, "")), streamRow(2, "nobodys/a", 1, event("Posted", "a", 1, "")),
			streamRow(3, "ledger/a", 2, "\uffff"+secretText),
			streamRecord(4, "ledger/a", "0000000000.0000000000000000009", `,"event":{"M":{"`+secretText+`":{"S":"`+secretText+`"}}}`),
			streamRecord(5, "ledger", "0000000000.0000000000000000009", `,"event":{"S":"`+secretText+`"}`)),
		queueBatch(t, `{"stream":"ledger","entity_id":"a","ranges":[[1,3]]}`, `{"type":"inorder.note","stream":"ledger","entity_id":"a","seq":2}`,
			secretText, `{"`+secretText, event("Posted", "a", 1, ""), `{"ranges":[["`+secretText+`"]]}`, `{"ranges":["`+secretText+`"],"stream":"ledger"}`,
			`{"stream":"ledger","entity_id":"a","ranges":[[1,3]],"data":`+secretData+`}}`, `{"stream":"ledger","entity_id":"a","ranges":[[1,3]],"seq":"`+secretText+`"}`),
		`{"Records":"` + secretText + `"}`, `{"Records":[{"eventSource":"aws:sqs","body":{"x":"` + secretText + `"}}]}`,
		`{"Records":[{"eventSource":"aws:dynamodb","dynamodb":"` + secretText + `"}]}`,
		`{"Records":[{"eventSource":"aws:dynamodb","dynamodb":{"NewImage":{"x":{"S":{"` + secretText + `":1}}}}}]}`,
	}
	for _, code := range []string{"", "InvalidMessageContents", "InternalError", "SomethingNew", "panics"} {
		w.sqs.code, w.sqs.panics = code, code == "panics"
		for _, batch := range append(batches, batches[:2]...) {
			if _, err := relay.Handle(t.Context(), []byte(batch)); err != nil {
				fmt.Fprintln(&w.out, err) // Lambda logs it
			}
		}
	}
	w.sqs.code, w.sqs.panics = "", false
}
