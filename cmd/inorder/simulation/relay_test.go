package simulation

import (
	"fmt"
	"io"
	"slices"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/backend"
	"inorder/functions"
)

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
