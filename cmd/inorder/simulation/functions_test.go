package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/backend"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// invocationTimeout is the template's for every function.
const invocationTimeout = 30 * time.Second

// parts are those of every function, with one request after the other, so that a seed decides their order.
func (w *world) parts(i *instance) functions.Parts {
	return functions.Parts{
		Streams:       w.config,
		Projections:   map[string]ordering.Projector{trail: trailing(func() bool { return !time.Now().Before(begin.Add(w.fixedAt)) })},
		Store:         w.upkeep(),
		SQS:           w.sqs,
		QuarantineURL: backend.QuarantineURL,
		EffectsURL:    backend.EffectsURL,
		Metrics:       &i.lines,
		Now:           i.clock.Now,
		Parallel:      1,
		RowsAtOnce:    1,
		Wait:          func(ctx context.Context, round int) { pause(ctx, time.Duration(round+1)*time.Millisecond) },
		NewToken: func() string {
			i.tokens++
			return fmt.Sprintf("t%d-%d", i.number, i.tokens)
		},
		Observe: func(_ events.Message, outcomes []ordering.Outcome) { i.outcomes = append(i.outcomes, outcomes) },
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// upkeep is the store as the functions have it.
func (w *world) upkeep() ordering.Upkeep {
	if w.site != nil {
		return w.store()
	}
	var store ordering.Upkeep = w.memory
	if w.plant != nil {
		store = w.plant(store)
	}
	return view{store, w}
}

func (w *world) sweeperParts(i *instance) functions.SweeperParts {
	return functions.SweeperParts{Parts: w.parts(i), Upkeep: w.upkeep(), RepublishURL: backend.RepublishURL}
}

func (w *world) newInstance() *instance {
	w.numbered++
	return &instance{number: w.numbered, clock: &clock{}}
}

// consume starts an invocation of a consumer with at most so many messages, and reports whether there are any.
func (w *world) consume(most int) bool {
	visible, dead := w.events.visible(time.Now())
	w.bury(dead)
	if len(visible) == 0 {
		return false
	}
	if w.isWild() {
		w.rng.Shuffle(len(visible), func(i, j int) { visible[i], visible[j] = visible[j], visible[i] })
	}
	batch := visible[:min(most, len(visible))]
	i := w.warm()
	for _, l := range batch {
		if l.held > 0 {
			w.count["overlapping receives"]++
		}
		l.held++
	}
	in := w.events.receive(batch, time.Now())
	var out awsevents.SQSEventResponse
	var err error
	var t *thread
	t = w.hire(consumerName, i.clock, invocationTimeout, func(t *thread) { out, err = i.consumer.Handle(t.ctx, in) }, func(died bool) {
		for _, l := range batch {
			l.held--
		}
		if died {
			w.traced(t, "died")
			for _, l := range batch {
				w.untold[l.fact] = true
			}
			return
		}
		w.consumed(t, i, batch, out, err)
		w.idle = append(w.idle, i)
	})
	w.traced(t, "gets", ids(batch))
	return true
}

func ids(batch []*letter) (all []string) {
	for _, l := range batch {
		all = append(all, l.ID)
	}
	return all
}

// warm is an instance that waits, or a new one.
func (w *world) warm() *instance {
	if n := len(w.idle); n > 0 && (!w.isWild() || w.rng.IntN(6) > 0) {
		at := n - 1
		if w.isWild() {
			at = w.rng.IntN(n)
		}
		i := w.idle[at]
		w.idle = slices.Delete(w.idle, at, at+1)
		return i
	}
	i := w.newInstance()
	i.consumer = functions.NewConsumer(w.parts(i))
	return i
}

// consumed takes an answer as Lambda does.
func (w *world) consumed(t *thread, i *instance, batch []*letter, out awsevents.SQSEventResponse, err error) {
	if err != nil {
		w.fault("NoSilentLoss", "the consumer refused a whole batch: %v", err)
		return
	}
	w.checkConservation(i, batch)
	if len(i.outcomes) != len(batch) {
		return // and that was told
	}
	for n, o := range i.outcomes {
		w.traced(t, batch[n].ID, "is", o[0].Disposition, o[0].Reason, o[0].Err)
	}
	w.checkFrugality(t, i, batch)
	for n, ok := range acked(batch, out.BatchItemFailures) {
		l := batch[n]
		outcomes := i.outcomes[n]
		for _, o := range outcomes {
			w.count["disposition: "+o.Disposition.String()]++
			if ok != o.Disposition.Ack() {
				w.fault("NoSilentLoss", "%s is %s, and acknowledged: %t", l.ID, o.Disposition, ok)
			}
			w.checkRepeated(l, o)
			w.said[l.fact] = append(w.said[l.fact], o.Disposition)
		}
		if !ok {
			continue
		}
		w.events.remove(l)
		if !slices.Contains(w.finished, l) {
			w.finished = append(w.finished, l)
		}
		if f := l.fact; f != nil && outcomes[0].Disposition != ordering.Quarantined {
			if _, before := w.acknowledged[f]; !before {
				w.acknowledged[f] = time.Now()
			}
		}
	}
	i.outcomes = nil
}

// bury moves messages into the dead-letter queue.
func (w *world) bury(dead []*letter) {
	for _, l := range dead {
		w.count["dead letters"]++
		w.traced(nil, "dead:", l.ID)
		w.post(backend.SourceURL+"-dlq", l.Message)
	}
}

// post puts a message into a queue as SQS itself does, or somebody who has nothing to do with all this.
func (w *world) post(url string, m events.Message) {
	type value struct {
		DataType, StringValue string
		BinaryValue           []byte `json:",omitempty"`
	}
	in := struct {
		QueueUrl, MessageBody string
		MessageAttributes     map[string]value
	}{url, m.Body, map[string]value{}}
	for name, a := range m.Attributes {
		in.MessageAttributes[name] = value{a.Type, a.Text, a.Binary}
	}
	body, err := json.Marshal(in)
	if err != nil {
		panic(err) // texts only
	}
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("X-Amz-Target", "AmazonSQS.SendMessage")
	if answer, err := w.queues.RoundTrip(request); err != nil || answer.StatusCode != http.StatusOK { //nolint:bodyclose // it is a text in memory
		panic(fmt.Sprintf("SQS does not take %s: %v", m.Body, err))
	}
}

// sweep starts a sweeper. It remembers nothing from one run to the next.
func (w *world) sweep() {
	i := w.newInstance()
	var err error
	var t *thread
	t = w.hire(sweeperName, i.clock, invocationTimeout, func(t *thread) { err = functions.NewSweeper(w.sweeperParts(i)).Sweep(t.ctx) }, func(died bool) {
		w.traced(t, "swept", died, err)
		if !t.disturbed && !died && err == nil {
			w.sweptAt = t.began
		}
		if err != nil && !died && w.calm {
			w.fault("NoLostWakeup", "nothing was in its way, and a sweep failed: %v", err)
		}
	})
}

func (w *world) relay(i *instance) *functions.Relay {
	p := functions.RelayParts{
		Streams: w.config, SQS: w.sqs, EventsURL: backend.SourceURL, RepublishURL: backend.RepublishURL,
		MarkDelay: markDelay, Metrics: io.Discard, Now: i.clock.Now, Parallel: 1,
	}
	if w.site != nil {
		p.Outbox = w.outbox(fmt.Sprint("r", i.number))
	} else {
		p.Outbox = &w.told
	}
	return functions.NewRelay(p)
}

const markDelay = 5 * time.Minute

// relayRows starts the relay on what its table's stream has, and reports whether there is any.
func (w *world) relayRows() bool {
	if len(w.records) == 0 || w.reading {
		return false
	}
	most := 20
	if w.isWild() {
		most = 1 + w.rng.IntN(most)
	}
	batch := slices.Clone(w.records[:min(len(w.records), most)])
	i := w.newInstance()
	var out awsevents.DynamoDBEventResponse
	var err error
	w.reading = true
	w.hire(relayName, i.clock, invocationTimeout, func(t *thread) { out, err = w.relay(i).HandleStream(t.ctx, awsevents.DynamoDBEvent{Records: batch}) }, func(died bool) {
		w.reading = false
		done := len(batch)
		if len(out.BatchItemFailures) > 0 {
			done = slices.IndexFunc(batch, func(r awsevents.DynamoDBEventRecord) bool {
				return r.Change.SequenceNumber == out.BatchItemFailures[0].ItemIdentifier
			})
		}
		if !died && err == nil {
			w.records = w.records[done:]
		}
	})
	return true
}

// relayRequests starts the relay on requests and notes. Where nothing heals nobody answers.
func (w *world) relayRequests() bool {
	visible, _ := w.requests.visible(time.Now())
	if len(visible) == 0 || !w.heals {
		return false
	}
	batch := visible[:min(10, len(visible))]
	in := w.requests.receive(batch, time.Now())
	i, began, before := w.newInstance(), time.Now(), len(w.sent)
	var out awsevents.SQSEventResponse
	var err error
	w.hire(relayName, i.clock, invocationTimeout, func(t *thread) { out, err = w.relay(i).HandleQueue(t.ctx, in) }, func(died bool) {
		if died || err != nil {
			return
		}
		for n, ok := range acked(batch, out.BatchItemFailures) {
			if ok {
				w.requests.remove(batch[n])
				w.checkAnswer(batch[n].Body, began, w.sent[before:])
			}
		}
	})
	return true
}

// collect takes what was sent to where it goes: the mailboxes' queues are read as soon as something is in them.
func (w *world) collect() {
	for _, m := range w.queues.Empty(backend.SourceURL) {
		w.sent = append(w.sent, m.Body)
		w.arrive(m)
	}
	for _, m := range w.queues.Empty(backend.RepublishURL) {
		l := &letter{Message: m, at: time.Now()}
		if bytes.Contains([]byte(m.Body), []byte(functions.NoteType)) {
			l.at = l.at.Add(markDelay) // SQS's DelaySeconds
		} else {
			w.checkRequest(m.Body)
		}
		w.requests.put(l)
	}
}

// arrive puts a message into the events queue, or loses it on its way, or delivers it more often than once.
func (w *world) arrive(m events.Message) {
	f := w.byBody[m.Body]
	w.countControl(m.Body)
	if f != nil && !w.calm && f.lost > 0 {
		f.lost--
		w.count[lost]++
		w.traced(nil, "lost:", f.eventID())
		return
	}
	if f != nil && f.gone {
		w.count[lost]++
		return
	}
	w.count[messages]++
	l := &letter{Message: m, at: time.Now(), fact: f}
	l.ID = fmt.Sprintf("m%d", w.count[messages])
	if f != nil {
		l.ID += "=" + f.eventID()
	}
	w.events.put(l)
	if f == nil || f.copies == 0 || w.calm {
		return
	}
	for n := range f.copies { // by SQS itself under one id, or sent twice
		again := *l
		if n%2 == 1 {
			again.ID += "-again"
		}
		again.at = time.Now().Add(f.delay / time.Duration(n+1))
		w.events.put(&again)
		w.count[copies]++
	}
	f.copies = 0
}

// countControl takes note of what the relay says about numbers.
func (w *world) countControl(body string) {
	var said struct{ Type, Reason string }
	if json.Unmarshal([]byte(body), &said) != nil {
		return
	}
	switch said.Type {
	case events.VoidType:
		w.count["void: "+said.Reason]++
	case events.MarkType:
		w.count["marks"]++
	}
}
