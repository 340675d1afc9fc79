package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/demo/queue"
	"inorder/events"
	"inorder/functions"
)

// letterbox is the republish queue, by which sweeper and relay ask the relay: a letter becomes visible at its time, comes
// back where it was not answered, and is dead after too many receives.
type letterbox struct {
	*run
	relay *functions.Relay

	mu       sync.Mutex
	waiting  []letter
	number   int       // of letters that were ever here
	requests []request // of all that were sent
	dead     []string  // what came back too often
	crashes  int
}

// letter is a message of the republish queue.
type letter struct {
	id, body string
	at       time.Time // when it becomes visible
	receives int
}

// request is a republish request, and when it was sent.
type request struct {
	at time.Time
	events.RepublishRequest
}

// add puts a note or a request into the queue.
func (q *letterbox) add(ctx context.Context, m posted) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.queue.Now()
	copies := 1
	if q.plants.letter != nil {
		copies = q.plants.letter(m.body)
	}
	for range copies {
		var r events.RepublishRequest
		if err := json.Unmarshal([]byte(m.body), &r); err == nil && len(r.Ranges) > 0 {
			q.requests = append(q.requests, request{now, r})
		}
		q.number++
		q.put(context.WithoutCancel(ctx), letter{id: fmt.Sprintf("letter-%06d", q.number), body: m.body, at: now.Add(m.delay)})
	}
}

// put makes a letter visible at its time. Call it with mu held.
func (q *letterbox) put(ctx context.Context, l letter) {
	q.waiting = append(q.waiting, l)
	q.queue.Call(l.at, func() { q.answer(ctx) })
}

// answer is an invocation of the relay with what is visible in the republish queue.
func (q *letterbox) answer(ctx context.Context) {
	batch := q.take()
	if len(batch) == 0 {
		return // an invocation before this one took them all
	}
	doomed := q.drawDoom()
	if slices.ContainsFunc(batch, func(l letter) bool { return l.receives >= queue.MaxReceives }) {
		doomed = 0
	}
	ctx, l := withLife(context.WithValue(ctx, newRows, nil), doomed)
	var event awsevents.SQSEvent
	for _, letter := range batch {
		event.Records = append(event.Records, awsevents.SQSMessage{
			MessageId: letter.id, Body: letter.body, EventSource: "aws:sqs", EventSourceARN: backend.QueueARN(backend.RepublishURL),
		})
	}
	response, err := q.relay.HandleQueue(ctx, event)
	l.end()
	if err != nil {
		q.fail(fmt.Errorf("the relay refused a batch of its queue: %w", err))
		return
	}
	failed := map[string]bool{}
	for _, f := range response.BatchItemFailures {
		failed[f.ItemIdentifier] = true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !l.answers() {
		q.crashes++
	}
	for _, letter := range batch {
		if !l.answers() || failed[letter.id] {
			q.comeBack(context.WithoutCancel(ctx), letter)
		}
	}
}

// comeBack hides a letter until the visibility timeout is over, or gives it up. Call it with mu held.
func (q *letterbox) comeBack(ctx context.Context, l letter) {
	if l.receives >= queue.MaxReceives {
		q.dead = append(q.dead, l.body)
		return
	}
	l.at = q.queue.Now().Add(queue.Visibility)
	q.put(ctx, l)
}

// take receives what is visible.
func (q *letterbox) take() []letter {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.queue.Now()
	var batch []letter
	q.waiting = slices.DeleteFunc(q.waiting, func(l letter) bool {
		take := len(batch) < queue.BatchSize && !l.at.After(now)
		if take {
			l.receives++
			batch = append(batch, l)
		}
		return take
	})
	return batch
}
