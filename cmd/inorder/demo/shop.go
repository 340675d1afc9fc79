package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/demo/producer"
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
type shop struct {
	*run
	outbox   *ddb.Outbox
	wire     *wire // the relay's requests
	stream   *tableStream
	letters  *letterbox
	written  map[string]*producer.Event              // by the body that the row holds
	arrivals map[*producer.Event][]*producer.Arrival // of its first message, copies included

	mu     sync.Mutex
	first  map[*producer.Event]bool // its first message is sent
	resent map[*producer.Event]int  // how many were sent in its place
	odd    faults                   // what nobody could have meant to send
	marks  int
}

func newShop(r *run, outbox string, streams *events.Config, w *wire) *shop {
	s := &shop{
		run: r, outbox: r.backend.Outbox(outbox, nil, r.queue.Now), wire: w,
		written: map[string]*producer.Event{}, arrivals: map[*producer.Event][]*producer.Arrival{},
		first: map[*producer.Event]bool{}, resent: map[*producer.Event]int{},
	}
	relay := functions.NewRelay(functions.RelayParts{
		Streams: streams, Outbox: r.backend.Outbox(outbox, w, r.queue.Now),
		SQS:       post{r.queues.Client(nil), s.deliver},
		EventsURL: backend.SourceURL, RepublishURL: backend.RepublishURL,
		MarkDelay: markDelay, Metrics: io.Discard, Now: r.queue.Now,
	})
	s.stream, s.letters = &tableStream{run: r, relay: relay}, &letterbox{run: r, relay: relay}
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
	s.stream.add(ctx, ddb.OutboxPK(key), at, e)
	return nil
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
		s.letters.add(ctx, m)
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
