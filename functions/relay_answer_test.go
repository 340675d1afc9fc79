package functions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"
	"pgregory.net/rapid"

	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/events"
	"inorder/ordering"
)

// What a request is answered with, row by row and range by range.
func TestRelayAnswers(t *testing.T) {
	void := func(reason, ranges string) string {
		return `{"type":"inorder.void","stream":"ledger","entity_id":"a","source":"","generation":0,"ranges":` + ranges + `,"reason":"` + reason + `"}`
	}
	for _, tt := range []struct {
		name   string
		rows   []int64
		never  []events.Range
		ranges string
		want   []string
		warns  bool
	}{
		{"all there", []int64{1, 2, 3}, nil, "[[1,3]]", []string{`{"n":1}`, `{"n":2}`, `{"n":3}`}, false},
		{"some gone, neighbours in one range", []int64{1, 5}, nil, "[[1,5]]", []string{`{"n":1}`, `{"n":5}`, void("expired", "[[2,4]]")}, false},
		{"gone at the ends of ranges that touch", []int64{2, 9}, nil, "[[4,6],[1,3]]", []string{`{"n":2}`, void("expired", "[[1,1],[3,6]]")}, false},
		{"ranges that overlap are answered once", []int64{1, 2, 3}, nil, "[[2,3],[1,2],[2,2]]", []string{`{"n":1}`, `{"n":2}`, `{"n":3}`}, false},
		{"some above the head", []int64{1, 3}, nil, "[[2,9]]", []string{`{"n":3}`, void("expired", "[[2,2]]")}, true},
		{"all above the head", []int64{1}, nil, "[[2,9]]", nil, true},
		{"no such history", nil, nil, "[[1,2]]", nil, true},
		{"proved in part", []int64{6}, []events.Range{{First: 2, Last: 3}, {First: 5, Last: 9}}, "[[1,6]]", []string{
			`{"n":6}`, void("never_existed", "[[2,3],[5,5]]"), void("expired", "[[1,1],[4,4]]"),
		}, false},
		{"what is there is sent, whatever is proved", []int64{1, 2}, []events.Range{{First: 1, Last: 2}}, "[[1,1]]", []string{`{"n":1}`}, false},
		{"the last of all numbers", []int64{1<<63 - 1}, nil, "[[9223372036854775805,9223372036854775807]]", []string{
			`{"n":9223372036854775807}`, void("expired", "[[9223372036854775805,9223372036854775806]]"),
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newRelayBench(t)
			b.outbox.wrote("ledger/a", tt.rows...)
			if tt.never != nil {
				b.Relay.outbox = &provingOutbox{b.outbox, tt.never}
			}
			got := b.handle(t, t.Context(), queueBatch(t, `{"consumer":"c","stream":"ledger","entity_id":"a","ranges":`+tt.ranges+`}`))
			if got != failures() {
				t.Errorf("%s: %s", got, b.logs)
			}
			wantBodies(t, b.sqs, eventsURL, tt.want...)
			if strings.Contains(b.logs.String(), `"level":"WARN"`) != tt.warns {
				t.Errorf("said: %s", b.logs)
			}
		})
	}
}

// A generation that is over is answered in full, for nothing more will be written there; one that has not begun not at all.
func TestRelayAnswersByGeneration(t *testing.T) {
	for gen, want := range map[int]int{0: 3, 1: 1, 2: 0} {
		b := newRelayBench(t)
		b.outbox.wrote("ledger/a", 1, 2)
		b.outbox.heads["ledger/a"] = ordering.Position{Gen: 1, Seq: 2}
		b.handle(t, t.Context(), queueBatch(t, fmt.Sprintf(`{"stream":"ledger","entity_id":"a","generation":%d,"ranges":[[1,5]]}`, gen)))
		if got := b.sqs.bodies(eventsURL); len(got) != want {
			t.Errorf("generation %d: %q", gen, got)
		}
	}
}

// A row that cannot be sent again is neither sent nor said to be gone: the consumer goes on asking, and says so.
func TestRelayAnswersNothingForWhatItCannotSend(t *testing.T) {
	b := newRelayBench(t)
	b.outbox.wrote("ledger/a", 1, 2, 3)
	b.outbox.rows["ledger/a"][ordering.Position{Seq: 2}] = ""
	if got := b.handle(t, t.Context(), queueBatch(t, `{"stream":"ledger","entity_id":"a","ranges":[[1,3]]}`)); got != failures() {
		t.Error(got)
	}
	wantBodies(t, b.sqs, eventsURL, `{"n":1}`, `{"n":3}`)
	if !strings.Contains(b.logs.String(), `"level":"ERROR"`) || !strings.Contains(b.logs.String(), `"seq":2`) {
		t.Errorf("said: %s", b.logs)
	}
}

// A request that comes again, after a failure in its middle or because SQS says so, is answered from the start.
func TestRelayAnswersAgain(t *testing.T) {
	b := newRelayBench(t)
	b.outbox.wrote("ledger/a", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13)
	b.sqs.fail = func(_, body string) string { return when(body == `{"n":11}`, "ServiceUnavailable") }
	request := queueBatch(t, `{"stream":"ledger","entity_id":"a","ranges":[[1,13]]}`)
	if got := b.handle(t, t.Context(), request); got != failures("m1") {
		t.Error(got)
	}
	if n := len(b.sqs.bodies(eventsURL)); n != 11 { // the one behind the failed one is in the queue, too
		t.Errorf("%d messages before the failure", n)
	}
	b.sqs.fail = nil
	for range 2 {
		before := len(b.sqs.bodies(eventsURL))
		if got := b.handle(t, t.Context(), request); got != failures() {
			t.Error(got)
		}
		if got := b.sqs.bodies(eventsURL)[before:]; len(got) != 13 || !strings.Contains(got[12], "[[12,12]]") {
			t.Errorf("answered %q", got)
		}
	}
	b.wantTotals(t, map[string]float64{MetricRequests: 2, MetricRowsRepublished: 35, MetricNumbersExpired: 2, MetricRelayFailures: 1})
}

// A request of very many ranges is answered in part: the next one asks for the rest.
func TestRelayBoundsRanges(t *testing.T) {
	wide := strings.Replace(relayStreams, "window: 20", "window: 100000", 1)
	config, err := events.ParseStreams([]byte(wide), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := newRelayBench(t, func(p *RelayParts) { p.Streams = config })
	b.outbox.wrote("ledger/a", 10_000)
	request := events.RepublishRequest{Stream: "ledger", EntityID: "a"}
	for n := int64(1); n <= 4000; n += 2 {
		request.Ranges = append(request.Ranges, events.Range{First: n, Last: n})
	}
	if err := b.Answer(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	got := b.sqs.bodies(eventsURL)
	if len(got) != 1 || strings.Count(got[0], "],[") != maxAnsweredRanges-1 || !strings.Contains(b.logs.String(), "only the first ranges") {
		t.Errorf("%d messages; said %s", len(got), b.logs)
	}
}

// AnswerOnce: whatever the outbox holds and whatever is asked for, every number up to the head is answered once, by its
// row, unchanged, or in one void event, and no other number is answered at all.
func TestRelayAnswerOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newRelayBench(t, func(p *RelayParts) {
			p.EventsURL = rapid.SampledFrom([]string{eventsURL, eventsFIFOURL}).Draw(t, "queue")
		})
		head := ordering.Position{Gen: rapid.Int64Range(0, 2).Draw(t, "gen"), Seq: rapid.Int64Range(1, 30).Draw(t, "head")}
		b.outbox.heads["ledger/a"], b.outbox.rows["ledger/a"] = head, map[ordering.Position]string{}
		for gen := range head.Gen + 1 {
			for seq := int64(1); seq <= 30; seq++ {
				if at := (ordering.Position{Gen: gen, Seq: seq}); !isBefore(head, at) && rapid.Bool().Draw(t, "there") {
					b.outbox.rows["ledger/a"][at] = fmt.Sprintf(`{"g":%d, "n":%d}`, gen, seq)
				}
			}
		}
		ranges := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) events.Range {
			first := rapid.Int64Range(1, 35).Draw(t, "first")
			return events.Range{First: first, Last: min(first+rapid.Int64Range(0, 6).Draw(t, "more"), 40)}
		}), 1, 4)
		request := events.RepublishRequest{
			Stream: "ledger", EntityID: "a", Ranges: ranges.Draw(t, "ranges"), Generation: rapid.Int64Range(0, 3).Draw(t, "asked gen"),
		}
		var never []events.Range
		if rapid.Bool().Draw(t, "prover") {
			never = ranges.Draw(t, "never")
			b.Relay.outbox = &provingOutbox{b.outbox, never}
		}
		asked := map[int64]bool{}
		for _, r := range request.Ranges {
			for n := r.First; n <= r.Last; n++ {
				asked[n] = true
			}
		}
		err := b.Answer(t.Context(), request)
		if len(asked) > 20 { // the window
			if !errors.Is(err, errTooMuch) || b.sqs.requests > 0 {
				t.Fatalf("more than the window: %v after %d requests", err, b.sqs.requests)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		answered := readAnswer(t, b)
		for n := int64(1); n <= 45; n++ {
			want := wantAnswer(b.outbox, head, ordering.Position{Gen: request.Generation, Seq: n}, asked[n], never)
			if got := answered[n]; strings.Join(got, ";") != want {
				t.Errorf("number %d is answered with %q, want %q", n, got, want)
			}
		}
	})
}

// wantAnswer is what a number should be answered with, worked out one by one.
func wantAnswer(f *fakeOutbox, head, at ordering.Position, asked bool, never []events.Range) string {
	if !asked || isBefore(head, at) && (at.Gen >= head.Gen) {
		return ""
	}
	if row, there := f.rows["ledger/a"][at]; there {
		return row
	}
	for _, r := range never {
		if r.First <= at.Seq && at.Seq <= r.Last {
			return "never_existed"
		}
	}
	return "expired"
}

// readAnswer reads what was sent, by number: rows by their text, void events by their reason.
func readAnswer(t *rapid.T, b *relayBench) map[int64][]string {
	answered := map[int64][]string{}
	last, voids := int64(0), map[events.VoidReason]bool{}
	for _, body := range append(b.sqs.bodies(eventsURL), b.sqs.bodies(eventsFIFOURL)...) {
		var m struct {
			N int64
			events.VoidEvent
		}
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			t.Fatal(err)
		}
		if m.Type == "" {
			if m.N <= last || len(voids) > 0 {
				t.Errorf("number %d comes out of order", m.N)
			}
			last = m.N
			answered[m.N] = append(answered[m.N], body)
			continue
		}
		if voids[m.Reason] {
			t.Errorf("two void events for %s", m.Reason)
		}
		voids[m.Reason] = true
		for i, r := range m.Ranges {
			if i > 0 && r.First <= m.Ranges[i-1].Last+1 {
				t.Errorf("ranges that touch: %v", m.Ranges)
			}
			for n := r.First; n <= r.Last; n++ {
				answered[n] = append(answered[n], string(m.Reason))
			}
		}
	}
	return answered
}

// The whole way on a real engine: written through the outbox, found by the relay in several pages, sent byte for byte in
// requests that SQS takes; what was deleted is expired; and a note of the newest becomes a mark.
func TestRelayOnAnOutbox(t *testing.T) {
	engine := startEngine(t)
	client := ddb.NewClient(engine.Config(), ddb.ClientOptions{TryTimeout: patience})
	if err := ddb.CreateOutbox(t.Context(), client, "outbox"); err != nil {
		t.Fatal(err)
	}
	outbox := &ddb.Outbox{API: client, Table: "outbox", Now: func() time.Time { return testNow }}
	key := ddb.OutboxKey{Stream: "meter", EntityID: "house", Source: "north", PerSource: true}
	var want []string
	for range 12 {
		_, err := outbox.Write(t.Context(), ddb.OutboxWrite{Key: key, Draft: func(at ordering.Position) (ddb.OutboxDraft, error) {
			event := fmt.Sprintf(`{"type":"Read", "seq":%d,"data":{"x":%q}}`, at.Seq, strings.Repeat("x", 300_000))
			want = append(want, event)
			return ddb.OutboxDraft{Event: []byte(event)}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	b := newRelayBench(t, func(p *RelayParts) { p.Outbox = outbox })
	got := b.handle(t, t.Context(), queueBatch(t,
		`{"stream":"meter","entity_id":"house","source":"north","ranges":[[3,12]]}`,
		`{"stream":"meter","entity_id":"house","source":"south","ranges":[[1,1]]}`,
		`{"type":"inorder.note","stream":"meter","entity_id":"house","source":"north","generation":0,"seq":11}`,
		`{"type":"inorder.note","stream":"meter","entity_id":"house","source":"north","generation":0,"seq":12}`))
	if got != failures() {
		t.Errorf("%s: %s", got, b.logs)
	}
	sent := b.sqs.bodies(eventsURL)
	if len(sent) != 11 || !slices.Equal(sent[:10], want[2:]) || !strings.Contains(sent[10], `"inorder.mark"`) || !strings.Contains(sent[10], `"seq":12`) {
		t.Errorf("%d messages, the last %.200s", len(sent), sent[len(sent)-1])
	}
}

// What notes and marks cost, in requests as they leave the clients and in DynamoDB's units as the engine tells them.
func TestRelayCostsAreDocumented(t *testing.T) {
	engine := startEngine(t)
	telling := tellsUnits(t, engine)
	measured := map[string]string{}
	all := relayCosts(t, engine)
	maps.Copy(all, markCosts(t, engine))
	for name, c := range all {
		measured[name] = fmt.Sprintf("%v | %v | %v", c.requests, c.reads, c.writes)
	}
	if !telling {
		t.Skipf("this engine does not tell units: %v", measured)
	}
	documented(t, "../docs/outbox.md", `(?m)^\| ([^|]+) \| ([0-9.]+ \| [0-9.]+ \| [0-9.]+) \|$`, measured)
}

// relayCost is what one event costs: SQS requests, read units and write units.
type relayCost struct{ requests, reads, writes float64 }

// relayCosts measures each step for an event of less than 1 KB, ten at a time and alone.
func relayCosts(t *testing.T, engine *local.Engine) map[string]relayCost {
	t.Helper()
	meter := &ddb.Meter{}
	client := ddb.NewClient(engine.Config(), ddb.ClientOptions{Meter: meter, TryTimeout: patience})
	if err := ddb.CreateOutbox(t.Context(), client, "costs"); err != nil {
		t.Fatal(err)
	}
	outbox := &ddb.Outbox{API: client, Table: "costs", Now: func() time.Time { return testNow }}
	costs := map[string]relayCost{}
	measure := func(name string, events int, delay time.Duration, do func(b *relayBench)) {
		b := newRelayBench(t, func(p *RelayParts) { p.Outbox, p.MarkDelay = outbox, delay })
		meter.Reset()
		do(b)
		used, n := meter.Reset(), float64(events)
		costs[name] = relayCost{float64(b.sqs.requests) / n, used.ReadUnits / n, used.WriteUnits / n}
	}
	write := func(entity string) {
		_, err := outbox.Write(t.Context(), ddb.OutboxWrite{
			Key: ddb.OutboxKey{Stream: "ledger", EntityID: entity},
			Draft: func(at ordering.Position) (ddb.OutboxDraft, error) {
				body, err := ddb.OutboxEvent{Type: "Posted", EntityID: entity, Data: map[string]any{"amount": 1}}.Body(at)
				return ddb.OutboxDraft{Event: body}, err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ask := func(seq int, entities ...int) string {
		var notes []string
		for _, e := range entities {
			notes = append(notes, fmt.Sprintf(`{"type":"inorder.note","stream":"ledger","entity_id":"%d","source":"","generation":0,"seq":%d}`, e, seq))
		}
		return queueBatch(t, notes...)
	}
	ten := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	var rows, hot []string
	for i := range ten {
		rows = append(rows, streamRow(i+1, fmt.Sprint("ledger/", i), 1, "{}"))
		hot = append(hot, streamRow(i+1, "ledger/0", i+1, "{}"))
	}
	relayed := func(records ...string) func(*relayBench) {
		return func(b *relayBench) { b.handle(t, t.Context(), streamBatch(records...)) }
	}
	noted := func(batch string) func(*relayBench) {
		return func(b *relayBench) { b.handle(t, t.Context(), batch) }
	}
	measure("written through the outbox", 10, 0, func(*relayBench) {
		for _, e := range ten {
			write(fmt.Sprint(e))
		}
	})
	measure("relayed alone, marks off", 1, 0, relayed(rows[0]))
	measure("relayed alone, with its note", 1, time.Minute, relayed(rows[0]))
	measure("relayed in a batch of ten, marks off", 10, 0, relayed(rows...))
	measure("relayed in a batch of ten, each of another entity, with notes", 10, time.Minute, relayed(rows...))
	measure("relayed in a batch of ten of one entity, with its note", 10, time.Minute, relayed(hot...))
	measure("a note alone, its event still the newest: a mark", 1, 0, noted(ask(1, 3)))
	measure("a note in a batch of ten, each still the newest: marks", 10, 0, noted(ask(1, ten...)))
	for range ten {
		write("hot")
	}
	measure("sent again, ten of one entity in a request", 10, 0, noted(queueBatch(t, `{"stream":"ledger","entity_id":"hot","ranges":[[1,10]]}`)))
	measure("gone, ten of one entity in a request: one void event", 10, 0, func(b *relayBench) {
		b.Relay.outbox = &forgetful{outbox}
		b.handle(t, t.Context(), queueBatch(t, `{"stream":"ledger","entity_id":"hot","ranges":[[1,10]]}`))
	})
	for _, e := range ten {
		write(fmt.Sprint(e))
	}
	measure("a note whose entity has moved on", 10, 0, noted(ask(1, ten...)))
	return costs
}

// markCosts measures what the consumer spends on a mark of a step stream.
func markCosts(t *testing.T, engine *local.Engine) map[string]relayCost {
	t.Helper()
	costs := map[string]relayCost{}
	for i, tt := range []struct {
		name string
		seq  int
		cold bool
	}{
		{"a mark at the consumer, its event applied, the entity in its cache", 2, false},
		{"a mark at the consumer, its event applied, the entity not in its cache", 2, true},
		{"a mark at the consumer, its event lost: it opens the gap", 3, true},
	} {
		w := newMeasured(t, engine, fmt.Sprint("mark-", i), plain)
		c := w.instance()
		w.deliver(t, c, "1 2")
		if tt.cold {
			c = w.instance()
		}
		w.requests.reset()
		w.meter.Reset()
		mark := written(events.MarkEvent{Type: events.MarkType, Stream: "s", EntityID: "x", Seq: int64(tt.seq)})
		if out, err := c.Handle(t.Context(), awsevents.SQSEvent{Records: []awsevents.SQSMessage{record("k", mark)}}); err != nil || len(out.BatchItemFailures) > 0 {
			t.Errorf("%s: %+v, %v", tt.name, out, err)
		}
		costs[tt.name] = relayCost{0, w.meter.Used().ReadUnits, w.units()}
	}
	return costs
}

// forgetful is an outbox whose rows of generation 0 are gone.
type forgetful struct{ *ddb.Outbox }

func (f *forgetful) Rows(ctx context.Context, key ddb.OutboxKey, _, first, last int64) iter.Seq2[ddb.OutboxRow, error] {
	return f.Outbox.Rows(ctx, key, ddb.MaxGeneration, first, last)
}

// documented compares a page's table with what was measured: every row is measured, and everything measured is a row.
func documented(t *testing.T, page, row string, measured map[string]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, m := range regexp.MustCompile(row).FindAllStringSubmatch(string(text), -1) {
		found[m[1]] = m[2]
	}
	for name, want := range measured {
		if found[name] != want {
			t.Errorf("%s: %s says %q, measured is %q", name, page, found[name], want)
		}
		delete(found, name)
	}
	for name := range found {
		t.Errorf("%s says what nobody measures: %s", page, name)
	}
}
