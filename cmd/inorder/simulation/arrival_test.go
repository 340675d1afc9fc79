package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"

	"inorder/cmd/inorder/backend"
	"inorder/events"
	"inorder/functions"
)

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

// collect takes what was sent to where it goes: the mailboxes' queues are read as soon as something is in them.
func (w *world) collect() {
	for _, m := range w.queues.Empty(backend.SourceURL) {
		w.sent = append(w.sent, m.Body)
		w.arrive(m)
	}
	for _, m := range w.queues.Sent(backend.QuarantineURL) {
		mark, _ := functions.MarkOf(m)
		w.copied[m.ID] = mark.Reason
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
	w.checkWhole(f, m)
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

// checkWhole asks whether a message that somebody sent, or brought back, has all that it first had.
func (w *world) checkWhole(f *fact, m events.Message) {
	direct := f != nil && f.entity.about.Order.By != events.BySeq
	if (direct || slices.Contains(w.poison, m.Body)) && !reflect.DeepEqual(m.Attributes, someAttributes) {
		w.fault("NoSilentLoss", "a message came with the attributes %v: %s", m.Attributes, m.Body)
	}
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
