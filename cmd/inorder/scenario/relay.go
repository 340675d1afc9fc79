package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/backend"
	"inorder/events"
	"inorder/functions"
)

type relay struct{ mark bool }

// play lets the relay answer every request once, and then mark the newest number of each history. What it could not
// answer stays in the republish queue; what it sent waits in the events queue.
func (a relay) play(w *world, s step) error {
	r := functions.NewRelay(functions.RelayParts{
		Streams: w.script.streams, Outbox: w.outbox, SQS: w.client,
		EventsURL: w.mailbox.url(), RepublishURL: backend.RepublishURL,
		Metrics: &w.metrics, Now: w.clock.Now, Parallel: 1,
	})
	asked := w.asked()
	w.requests = nil
	for batch := range slices.Chunk(asked, maxBatch) {
		if err := w.answer(r, batch); err != nil {
			return err
		}
	}
	if heads := w.outbox.heads(); a.mark && len(heads) > 0 {
		i, ctx, end := w.invocation()
		defer end()
		if err := r.Marks(ctx, marksOf(heads)); err != nil && !i.struck() {
			w.fail(s, "relay", "marks sent", err.Error())
		}
	}
	w.takeRelayed()
	return w.ctx.Err()
}

// answer is one invocation of the relay.
func (w *world) answer(r *functions.Relay, batch []events.Message) error {
	_, ctx, end := w.invocation()
	defer end()
	event := awsevents.SQSEvent{}
	for _, m := range batch {
		event.Records = append(event.Records, awsevents.SQSMessage{
			MessageId: m.ID, Body: m.Body, EventSource: "aws:sqs", EventSourceARN: backend.QueueARN(backend.RepublishURL),
		})
	}
	answer, err := r.HandleQueue(ctx, event)
	if w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	for _, m := range batch {
		back := slices.ContainsFunc(answer.BatchItemFailures, func(f awsevents.SQSBatchItemFailure) bool { return f.ItemIdentifier == m.ID })
		if back || err != nil {
			w.requests = append(w.requests, m)
		}
	}
	return nil
}

// asked are the republish requests that nobody has answered yet.
func (w *world) asked() []events.Message {
	w.requests = append(w.requests, w.queues.Empty(backend.RepublishURL)...)
	return w.requests
}

func marksOf(heads []outboxRow) []events.MarkEvent {
	marks := make([]events.MarkEvent, len(heads))
	for i, head := range heads {
		marks[i] = events.MarkEvent{
			Stream: head.of.stream, EntityID: head.of.id, Source: head.source, Generation: head.at.Gen, Seq: head.at.Seq,
		}
	}
	return marks
}

// takeRelayed moves what the relay has sent to the mailbox, under the ids that a script may name.
func (w *world) takeRelayed() {
	for _, m := range w.queues.Empty(w.mailbox.url()) {
		w.mailbox.send(message{id: w.relayedID(m), body: m.Body, attributes: m.Attributes, group: m.GroupID}, w.clock.Now())
	}
}

// relayed is how the ids of all messages begin that the relay sends.
const relayed = "relay:"

// relayedID names a message of the relay: relay:EVENT_ID, or relay:ENTITY:NUMBER where the event has no id, relay:mark:
// ENTITY:NUMBER, or relay:REASON:ENTITY:NUMBERS of a void.
func (w *world) relayedID(m events.Message) string {
	d := w.script.streams.Decode(m, w.clock.Now())[0]
	switch {
	case d.Event == nil:
		return relayed + d.EventID
	case d.Event.Kind == events.Void:
		return fmt.Sprintf("%s%s:%s:%s", relayed, d.Event.VoidReason, d.EntityID, rangesText(d.Event.Ranges))
	case d.Event.Kind == events.Mark:
		return fmt.Sprintf("%smark:%s:%d", relayed, d.EntityID, d.Event.Seq)
	case d.EventID == "":
		return fmt.Sprintf("%s%s:%d", relayed, d.EntityID, d.Event.Seq)
	}
	return relayed + d.EventID
}

// A wanted request is one that the script expects, or one that is there.
type wantedRequest struct {
	of     history // an empty source stands for any
	ranges []events.Range
}

func (r *reader) requests(v *value) *[]wantedRequest {
	if v == nil {
		return nil
	}
	all := []wantedRequest{}
	for _, item := range v.items {
		all = append(all, wantedRequest{r.history(item, "entity_id"), ranges(item.get("ranges"))})
	}
	return &all
}

func (a wantedRequest) String() string { return a.of.String() + ": " + rangesText(a.ranges) }

// isMet reports whether a request is the one that is wanted.
func (a wantedRequest) isMet(by wantedRequest) bool {
	if a.of.source == "" {
		by.of.source = ""
	}
	return a.of == by.of && slices.Equal(a.ranges, by.ranges)
}

// checkRequests compares the requests that are not answered, in any order.
func (e *expectation) checkRequests(w *world, s step) {
	if e.republish == nil {
		return
	}
	got, err := w.openRequests()
	if err != nil {
		w.fail(s, "republish", "requests that can be parsed", err.Error())
		return
	}
	left, met := slices.Clone(got), true
	wanted := slices.Clone(*e.republish)
	slices.SortStableFunc(wanted, func(a, b wantedRequest) int { return -strings.Compare(a.of.source, b.of.source) }) // those that name one first
	for _, want := range wanted {
		at := slices.IndexFunc(left, want.isMet)
		if met = met && at >= 0; at >= 0 {
			left = slices.Delete(left, at, at+1)
		}
	}
	if !met || len(left) > 0 {
		w.fail(s, "republish", listed(*e.republish), listed(got))
	}
}

func (w *world) openRequests() ([]wantedRequest, error) {
	var all []wantedRequest
	var errs []error
	for _, m := range w.asked() {
		var request events.RepublishRequest
		if err := json.Unmarshal([]byte(m.Body), &request); err != nil {
			errs = append(errs, err)
		}
		all = append(all, wantedRequest{history{request.Stream, request.EntityID, request.Source}, request.Ranges})
	}
	return all, errors.Join(errs...)
}

// listed shows a list in an order of its own.
func listed[T fmt.Stringer](all []T) string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = one.String()
	}
	slices.Sort(texts)
	return bracketed(texts)
}
