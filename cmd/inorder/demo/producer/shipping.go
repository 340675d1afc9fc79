package producer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Arrival is one time that SQS hands out a message of its own accord. What is not acknowledged comes again besides.
type Arrival struct {
	At time.Time
	*Message
}

// shipping is the way from the producer to the queue.
type shipping struct {
	rng      *rand.Rand
	day      *Day
	byStream map[string][]*Event

	lastVictim time.Time // when the event happened that poison imitated last
}

// deliver draws how the day's events arrive: most of them soon, many overtaken by later ones, a few hours late; some
// twice, by SQS or by a producer that sent again; and some poison among them.
func (d *Day) deliver(rng *rand.Rand) {
	s := &shipping{rng: rng, day: d, byStream: map[string][]*Event{}}
	for _, e := range d.Events {
		s.byStream[e.Stream] = append(s.byStream[e.Stream], e)
	}
	for i, e := range d.Events {
		m := &Message{ID: fmt.Sprintf("m-%06d", i+1), Body: e.Body(), SentAt: e.At, Event: e}
		s.send(m, max(e.held, s.delay()))
		switch draw := rng.IntN(1000); {
		case draw < 40: // SQS delivers at least once
			s.send(m, s.delay()+s.soon(time.Minute))
			d.Copies++
		case draw < 70: // the producer's own retry: another message, another envelope, the same event
			s.send(e.again(m), s.delay()+s.soon(time.Minute))
			d.Copies++
		}
	}
	s.poison(len(d.Events) / 100)
	slices.SortStableFunc(d.Arrivals, func(a, b *Arrival) int { return a.At.Compare(b.At) })
}

// again is the same event in a message of its own.
func (e *Event) again(m *Message) *Message {
	body := m.Body
	if e.Stream == Subscription {
		body = text(notification(e.Type, e.At, e.own()))
	}
	return &Message{ID: m.ID + "-again", Body: body, SentAt: e.At.Add(time.Second), Event: e}
}

func (s *shipping) send(m *Message, delay time.Duration) {
	s.day.Arrivals = append(s.day.Arrivals, &Arrival{At: m.SentAt.Add(delay), Message: m})
}

// delay is bounded for most messages: what is sent more than 45 seconds later never overtakes them. A few stragglers are
// held up by minutes, and a handful by hours.
func (s *shipping) delay() time.Duration {
	switch draw := s.rng.IntN(1000); {
	case draw < 700:
		return s.soon(1500 * time.Millisecond)
	case draw < 960:
		return s.soon(45 * time.Second)
	case draw < 994:
		return time.Minute + s.soon(9*time.Minute)
	default:
		return 30*time.Minute + s.soon(3*time.Hour)
	}
}

func (s *shipping) soon(limit time.Duration) time.Duration {
	return time.Duration(s.rng.Int64N(int64(limit))).Truncate(time.Millisecond)
}
