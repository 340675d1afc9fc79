package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/demo/producer"
	"inorder/cmd/inorder/demo/queue"
	"inorder/ddb"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// markDelay is what MARK_DELAY is by default, in the demo's time.
const markDelay = 5 * time.Minute

// shop is the producer's side of the run. Each numbered event is written into the outbox at its time, the relay takes
// it from the table's stream, and what it sends reaches the queue as the day drew it: late, twice, or never. The relay
// also answers republish requests and its own notes.
//
// The stream of the table is played: the rows are those that were written, in the order of their commits.
type shop struct {
	*run
	outbox *ddb.Outbox
	relay  *functions.Relay
	wire   *wire // the relay's requests

	written  map[string]*producer.Event              // by the body that the row holds
	arrivals map[*producer.Event][]*producer.Arrival // of its first message, copies included

	mu        sync.Mutex
	changes   []awsevents.DynamoDBEventRecord // of the table's stream, not read yet
	reading   bool
	committed int
	first     map[*producer.Event]bool // its first message is sent
	resent    map[*producer.Event]int  // how many were sent in its place
	letters   []letter                 // of the republish queue
	requests  []request
	dead      []string // what came back too often
	odd       faults   // what nobody could have meant to send
	marks     int
	crashes   int
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

func newShop(r *run, outbox string, streams *events.Config, w *wire) *shop {
	s := &shop{
		run: r, outbox: r.backend.Outbox(outbox, nil, r.queue.Now), wire: w,
		written: map[string]*producer.Event{}, arrivals: map[*producer.Event][]*producer.Arrival{},
		first: map[*producer.Event]bool{}, resent: map[*producer.Event]int{},
	}
	s.relay = functions.NewRelay(functions.RelayParts{
		Streams: streams, Outbox: r.backend.Outbox(outbox, w, r.queue.Now),
		SQS:       post{r.queues.Client(nil), s.deliver},
		EventsURL: backend.SourceURL, RepublishURL: backend.RepublishURL,
		MarkDelay: markDelay, Metrics: io.Discard, Now: r.queue.Now,
	})
	return s
}

// open lets the day begin. What has no number is on its way already: another company sends it, or nobody meant to.
func (s *shop) open(ctx context.Context) {
	for _, a := range s.day.Arrivals {
		if a.Event != nil && producer.InOutbox(a.Event.Stream) {
			s.arrivals[a.Event] = append(s.arrivals[a.Event], a)
		} else {
			s.send(a.At, a.Message)
		}
	}
	perEntity := map[string][]*producer.Event{}
	for _, e := range s.day.Events {
		if producer.InOutbox(e.Stream) {
			s.written[e.Body()] = e
			perEntity[entityName(e.Stream, e.Entity)] = append(perEntity[entityName(e.Stream, e.Entity)], e)
		}
	}
	for _, history := range perEntity {
		s.writeAll(ctx, history)
	}
}

// writeAll writes the events of one entity, each at its time and after the one before.
func (s *shop) writeAll(ctx context.Context, history []*producer.Event) {
	if len(history) == 0 {
		return
	}
	s.queue.Call(history[0].At, func() {
		if err := s.write(ctx, history[0]); err != nil {
			s.fail(err)
			return
		}
		s.writeAll(ctx, history[1:])
	})
}

func (s *shop) write(ctx context.Context, e *producer.Event) error {
	key := ddb.OutboxKey{Stream: e.Stream, EntityID: e.Entity, Source: e.Source()}
	at, err := s.outbox.Write(ctx, ddb.OutboxWrite{Key: key, Draft: func(at ordering.Position) (ddb.OutboxDraft, error) {
		if at.Seq != e.Seq {
			return ddb.OutboxDraft{}, fmt.Errorf("the outbox gives %s the number %d", e.ID, at.Seq)
		}
		return ddb.OutboxDraft{Event: []byte(e.Body())}, nil
	}})
	if err != nil {
		return fmt.Errorf("the producer: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.committed++
	s.changes = append(s.changes, change(s.committed, ddb.OutboxPK(key), at, e))
	s.readSoon(ctx)
	return nil
}

// change is what the table's stream tells of a new row.
func change(number int, pk string, at ordering.Position, e *producer.Event) awsevents.DynamoDBEventRecord {
	return awsevents.DynamoDBEventRecord{
		EventName: string(awsevents.DynamoDBOperationTypeInsert), EventSource: "aws:dynamodb",
		Change: awsevents.DynamoDBStreamRecord{
			SequenceNumber: fmt.Sprintf("%021d", number),
			Keys: map[string]awsevents.DynamoDBAttributeValue{
				"_pk": awsevents.NewStringAttribute(pk),
				"_sk": awsevents.NewStringAttribute(fmt.Sprintf("%010d.%019d", at.Gen, at.Seq)),
			},
			NewImage: map[string]awsevents.DynamoDBAttributeValue{
				"event": awsevents.NewStringAttribute(e.Body()), "source": awsevents.NewStringAttribute(e.Source()),
			},
		},
	}
}

// pollEvery is how often Lambda looks for new records of a stream ("How Lambda processes records from stream and
// queue-based event sources").
const pollEvery = time.Second

// readSoon has the stream read unless it is read already: a shard has one reader. Call it with mu held.
func (s *shop) readSoon(ctx context.Context) {
	if s.reading || len(s.changes) == 0 {
		return
	}
	s.reading = true
	s.queue.Call(s.queue.Now().Add(pollEvery), func() { s.read(ctx) })
}

// streamBatch is how many records of a stream an invocation gets by default.
const streamBatch = 100

func (s *shop) read(ctx context.Context) {
	s.mu.Lock()
	batch := slices.Clone(s.changes[:min(len(s.changes), streamBatch)])
	s.mu.Unlock()
	ctx, l := withLife(context.WithValue(ctx, newRows, true), s.drawDoom())
	response, err := s.relay.HandleStream(ctx, awsevents.DynamoDBEvent{Records: batch})
	l.end()
	if err != nil {
		s.fail(fmt.Errorf("the relay refused a batch of its stream: %w", err))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = false
	done := len(batch)
	switch {
	case !l.answers():
		s.crashes++
		done = 0
	case len(response.BatchItemFailures) > 0:
		done = slices.IndexFunc(batch, func(r awsevents.DynamoDBEventRecord) bool {
			return r.Change.SequenceNumber == response.BatchItemFailures[0].ItemIdentifier
		})
	}
	s.changes = s.changes[max(done, 0):]
	s.readSoon(context.WithoutCancel(ctx))
}

type wayKey struct{}

// newRows marks the context of an invocation that sends new rows. Any other sends again.
var newRows wayKey

// deliver brings what SQS took to where it goes.
func (s *shop) deliver(ctx context.Context, m posted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := s.written[m.body]; {
	case m.url == backend.RepublishURL:
		s.deliverLetter(ctx, m)
	case m.url != backend.SourceURL: // a copy in quarantine, or an effect: these lie where they were sent
	case e == nil:
		s.deliverMark(m)
	case ctx.Value(newRows) != nil && !s.first[e]:
		s.first[e] = true
		for _, a := range s.arrivals[e] {
			s.send(a.At, a.Message)
		}
	case ctx.Value(newRows) != nil && e.Lost > 0: // the relay died, came back, and it is lost as before
	default:
		s.deliverAgain(e)
	}
}

// deliverAgain sends what is sent once more, unless that is lost, too.
func (s *shop) deliverAgain(e *producer.Event) {
	s.resent[e]++
	if s.resent[e] < e.Lost {
		return
	}
	s.more(1)
	s.send(s.queue.Now().Add(s.drawDelay()), &producer.Message{
		ID: fmt.Sprintf("%s-%s-again-%d", e.Stream, e.ID, s.resent[e]), Body: e.Body(), SentAt: s.queue.Now(), Event: e,
	})
}

func (s *shop) deliverMark(m posted) {
	var mark events.MarkEvent
	if err := json.Unmarshal([]byte(m.body), &mark); err != nil || mark.Type != events.MarkType {
		s.odd.add("the relay sent what nobody wrote: %s", m.body)
		return
	}
	s.marks++
	s.more(1)
	s.send(s.queue.Now().Add(s.drawDelay()), &producer.Message{
		ID: fmt.Sprintf("mark-%05d", s.marks), Body: m.body, SentAt: s.queue.Now(),
		Mark: &producer.Mark{Stream: mark.Stream, Entity: mark.EntityID, Seq: mark.Seq},
	})
}

// deliverLetter puts a note or a request into the republish queue.
func (s *shop) deliverLetter(ctx context.Context, m posted) {
	now := s.queue.Now()
	copies := 1
	if s.plants.letter != nil {
		copies = s.plants.letter(m.body)
	}
	for range copies {
		var r events.RepublishRequest
		if err := json.Unmarshal([]byte(m.body), &r); err == nil && len(r.Ranges) > 0 {
			s.requests = append(s.requests, request{now, r})
		}
		s.committed++
		s.put(context.WithoutCancel(ctx), letter{id: fmt.Sprintf("letter-%06d", s.committed), body: m.body, at: now.Add(m.delay)})
	}
}

func (s *shop) put(ctx context.Context, l letter) {
	s.letters = append(s.letters, l)
	s.queue.Call(l.at, func() { s.answer(ctx) })
}

// answer is an invocation of the relay with what is visible in the republish queue.
func (s *shop) answer(ctx context.Context) {
	batch := s.takeLetters()
	if len(batch) == 0 {
		return // an invocation before this one took them all
	}
	doomed := s.drawDoom()
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
	response, err := s.relay.HandleQueue(ctx, event)
	l.end()
	if err != nil {
		s.fail(fmt.Errorf("the relay refused a batch of its queue: %w", err))
		return
	}
	failed := map[string]bool{}
	for _, f := range response.BatchItemFailures {
		failed[f.ItemIdentifier] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !l.answers() {
		s.crashes++
	}
	for _, letter := range batch {
		if !l.answers() || failed[letter.id] {
			s.comeBack(context.WithoutCancel(ctx), letter)
		}
	}
}

func (s *shop) comeBack(ctx context.Context, l letter) {
	if l.receives >= queue.MaxReceives {
		s.dead = append(s.dead, l.body)
		return
	}
	l.at = s.queue.Now().Add(queue.Visibility)
	s.put(ctx, l)
}

// takeLetters receives what is visible.
func (s *shop) takeLetters() []letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.queue.Now()
	var batch []letter
	s.letters = slices.DeleteFunc(s.letters, func(l letter) bool {
		take := len(batch) < queue.BatchSize && !l.at.After(now)
		if take {
			l.receives++
			batch = append(batch, l)
		}
		return take
	})
	return batch
}
