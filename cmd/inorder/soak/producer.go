package soak

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

// A Plan is what is to be sent. The same plan sends the same.
type Plan struct {
	Seed   uint64
	Events int
	Chain  bool // with [ChainStream]
}

// What the network and the entities are like.
const (
	// reorderDistance is how many messages wait in the network; which of them is next is drawn. So a message is overtaken by as
	// many in the middle, and by several times as many now and then.
	reorderDistance = 400

	copiedPercent = 2  // of the messages come twice
	lostPercent   = 10 // of the events of entities whose outbox can be asked
	outboxOneIn   = 20 // of the entities of a stream that can
	hotEntities   = 2  // of each stream
	hotPercent    = 30 // of a stream's events are theirs
	poisonOneIn   = 4000

	eventsPerEntity           = 40
	fewestCrowd, largestCrowd = 100, 6000
)

// Message is what the queue gets.
type Message struct {
	Body   string
	Reason string // why it ends in quarantine; empty: it does not
}

// Row is what the outbox gets: an event, and with it its history's head.
type Row struct {
	Stream, Entity string
	Seq            int64
	Body           string
}

// Sent counts what was made.
type Sent struct {
	Events   int // of the plan
	Lost     int // of them, on the way
	Copies   int
	Marks    int
	Poison   map[string]string // body → reason
	Messages int               // all that the queue got from the producer
}

// Producer makes events, and is the network that brings them. It is safe for concurrent use.
type Producer struct {
	plan Plan

	mu       sync.Mutex
	random   *rand.Rand
	kinds    []kind
	entities map[string][]*entity // by stream
	shares   int
	onTheWay []Message
	sent     Sent
	marked   bool
}

// NewProducer returns a producer that has said nothing yet.
func NewProducer(p Plan) *Producer {
	out := &Producer{
		plan: p, random: rand.New(rand.NewPCG(p.Seed, 7)), kinds: kinds(p.Chain),
		entities: map[string][]*entity{}, sent: Sent{Poison: map[string]string{}},
	}
	crowd := min(max(p.Events/eventsPerEntity, fewestCrowd), largestCrowd)
	for i := range out.kinds {
		out.shares += out.kinds[i].share
		out.populate(&out.kinds[i], max(2*hotEntities, crowd*out.kinds[i].crowd/100))
	}
	return out
}

func (p *Producer) populate(k *kind, n int) {
	for i := range n {
		p.entities[k.stream] = append(p.entities[k.stream], &entity{
			kind: k, id: fmt.Sprintf("%s-%d", k.stream, i), state: map[string]string{},
			asks: k.asks && i >= hotEntities && i%outboxOneIn == hotEntities,
		})
	}
}

// Next returns what the queue gets next, at most so many messages, and what must lie in the outbox before. At the end it
// returns none.
func (p *Producer) Next(most int) (messages []Message, rows []Row) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(messages) < most {
		for p.sent.Events < p.plan.Events && len(p.onTheWay) < reorderDistance {
			rows = append(rows, p.say()...)
		}
		if len(p.onTheWay) == 0 && !p.marked {
			p.mark()
		}
		if len(p.onTheWay) == 0 {
			break
		}
		messages = append(messages, p.draw())
	}
	p.sent.Messages += len(messages)
	return messages, rows
}

// draw takes one out of the network.
func (p *Producer) draw() Message {
	last := len(p.onTheWay) - 1
	i := p.random.IntN(last + 1)
	m := p.onTheWay[i]
	p.onTheWay[i] = p.onTheWay[last]
	p.onTheWay = p.onTheWay[:last]
	return m
}

// say makes one event, and the network what it likes of it.
func (p *Producer) say() (rows []Row) {
	p.sent.Events++
	if p.random.IntN(poisonOneIn) == 0 {
		p.poison()
	}
	e := p.whose()
	e.seq++
	m := Message{Body: e.kind.say(e, p.random)}
	if e.asks {
		rows = []Row{{Stream: e.kind.stream, Entity: e.id, Seq: e.seq, Body: m.Body}}
		if p.random.IntN(100) < lostPercent {
			p.sent.Lost++
			return rows
		}
	}
	p.onTheWay = append(p.onTheWay, m)
	if p.random.IntN(100) < copiedPercent {
		p.sent.Copies++
		p.onTheWay = append(p.onTheWay, m)
	}
	return rows
}

// whose draws a stream, and one of its entities.
func (p *Producer) whose() *entity {
	at := p.random.IntN(p.shares)
	for i := range p.kinds {
		if at -= p.kinds[i].share; at < 0 {
			all := p.entities[p.kinds[i].stream]
			if p.random.IntN(100) < hotPercent {
				return all[p.random.IntN(hotEntities)]
			}
			return all[hotEntities+p.random.IntN(len(all)-hotEntities)]
		}
	}
	panic("the shares do not add up")
}

// poison is what can never succeed. Each is told apart by its body.
func (p *Producer) poison() {
	id, m := fmt.Sprintf("poison-%d", len(p.sent.Poison)), Message{}
	switch len(p.sent.Poison) % 4 {
	case 0:
		m = Message{fmt.Sprintf(`{"event_id":%q, <`, id), "not_json"}
	case 1:
		m = Message{fmt.Sprintf(`{"event_id":%q,"type":"InvoiceSent","entity_id":"e","seq":1,"data":{}}`, id), "no_route"}
	case 2:
		m = Message{fmt.Sprintf(`{"event_id":%q,"type":"PlanChanged","seq":1,"data":{"plan":"p"}}`, id), "no_entity_id"}
	case 3:
		m = Message{fmt.Sprintf(`{"event_id":%q,"type":"LineWritten","entity_id":"e","seq":"7.0","data":{"amount":1}}`, id), "bad_order_key"}
	}
	p.sent.Poison[m.Body] = m.Reason
	p.onTheWay = append(p.onTheWay, m)
}

// mark says of each entity with an outbox how far its numbers go, for the last ones may be lost, and nothing else tells.
func (p *Producer) mark() {
	p.marked = true
	for i := range p.kinds {
		for _, e := range p.entities[p.kinds[i].stream] {
			if e.asks && e.seq > 0 {
				p.sent.Marks++
				p.onTheWay = append(p.onTheWay, Message{Body: fmt.Sprintf(
					`{"type":"inorder.mark","stream":%q,"entity_id":%q,"source":"","generation":0,"seq":%d}`, e.kind.stream, e.id, e.seq)})
			}
		}
	}
}

// Sent tells what was made so far.
func (p *Producer) Sent() Sent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}
