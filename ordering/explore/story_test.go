package explore

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"inorder/events"
	"inorder/ordering"
)

var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// endless is how long after everything else the last look at a state is taken: past every back-off.
const endless = 3 * time.Hour

// model is a situation with all that is known of it so far.
type model struct {
	Situation
	*histories
	*contents

	config  *events.Config
	stream  *events.Stream
	key     ordering.Key
	bodies  []*events.Message
	decoded []*events.Event
	byID    map[string]int // facts by event id
	instant []time.Time    // by clock; the last one is after everything
	effects []received
	longer  map[[2]uint32]uint32 // a list of effects and one more: the list
	tells   func(what string)    // of a transcript
}

// received is a list of effects, by its end.
type received struct {
	before uint32
	last   int // the event
	all    set
}

func newModel(s Situation) *model {
	m := &model{
		Situation: s, byID: map[string]int{}, key: ordering.Key{Consumer: "c", Stream: "s", ID: "x"},
		effects: []received{{}}, longer: map[[2]uint32]uint32{},
	}
	text := "consumer: c\nstreams:\n  - {name: s, types: [T], " + s.Stream + "}\n"
	config, err := events.ParseStreams([]byte(text), events.Options{Projections: []string{"record"}})
	if err != nil {
		panic(fmt.Sprintf("%s: %v", s.Name, err))
	}
	m.config, m.stream = config, config.Streams[0]
	m.histories, m.contents = newHistories(m), newContents(m)
	if len(s.Messages) > maxMessages {
		panic(s.Name + ": too many messages")
	}
	for i, message := range s.Messages {
		body := &events.Message{ID: strconv.Itoa(i), Body: message.body(i), SentAt: begin, ReceivedAt: begin, ReceiveCount: 1}
		event := config.Decode(*body, begin)[0].Event
		if event == nil {
			panic(fmt.Sprintf("%s: %s: %+v", s.Name, body.Body, config.Decode(*body, begin)[0].Refusal))
		}
		m.bodies, m.decoded = append(m.bodies, body), append(m.decoded, event)
		if event.Kind == events.Fact {
			m.byID[event.ID] = i
		}
	}
	m.instant = []time.Time{begin}
	for _, after := range s.Times {
		m.instant = append(m.instant, begin.Add(after))
	}
	m.instant = append(m.instant, m.instant[len(m.instant)-1].Add(endless))
	return m
}

// body is a message as its producer, or its relay, writes it. Each fact adds one at a decimal place of its own, so that
// the sum shows which were taken, and how often.
func (m Message) body(i int) string {
	ranges := []events.Range{{First: m.Seq, Last: m.Seq}}
	switch m.Kind {
	case Mark:
		return text(events.MarkEvent{Type: events.MarkType, Stream: "s", EntityID: "x", Generation: m.Gen, Seq: m.Seq})
	case NeverExisted:
		return text(events.VoidEvent{Type: events.VoidType, Stream: "s", EntityID: "x", Generation: m.Gen, Ranges: ranges, Reason: events.NeverExisted})
	case Expired:
		return text(events.VoidEvent{Type: events.VoidType, Stream: "s", EntityID: "x", Generation: m.Gen, Ranges: ranges, Reason: events.Expired})
	case Fact:
	}
	return fmt.Sprintf(`{"event_id":"%s","type":"T","entity_id":"x","generation":%d,"seq":%d,"data":{"n":1%s,"fails":%d}}`,
		m.name(), m.Gen, m.Seq, strings.Repeat("0", i), m.Fails)
}

func text(v any) string {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(body)
}

// record is a projection that keeps the order in which it ran, and refuses an event until its time has come.
func (m *model) record(clock int) ordering.Projector {
	return func(state map[string]any, e *events.Event) (map[string]any, []any, error) {
		if fails, _ := strconv.Atoi(string(e.Data()["fails"].(events.Number))); fails > clock {
			return nil, nil, fmt.Errorf("it cannot be applied yet")
		}
		ran, _ := state["ran"].(string)
		return map[string]any{"ran": strings.TrimSpace(ran + " " + e.ID)}, []any{e.ID}, nil
	}
}

// ranIn is what a state shows to have run, in that order where it keeps the order; a fault where one ran twice.
func (m *model) ranIn(state map[string]any) (ran set, fault string) {
	if list, _ := state["ran"].(string); list != "" {
		last := int64(0)
		for _, id := range strings.Fields(list) {
			i := m.byID[id]
			if seq := m.Messages[i].Seq; seq <= last {
				return ran, fmt.Sprintf("%s ran after number %d: %s", id, last, list)
			}
			last = m.Messages[i].Seq
			ran.put(i)
		}
		return ran, ""
	}
	sum, _ := state["n"].(events.Number)
	for i := range len(sum) {
		switch digit := sum[len(sum)-1-i]; digit {
		case '0':
		case '1':
			ran.put(i)
		default:
			return ran, fmt.Sprintf("%s ran %c times", m.Messages[i].name(), digit)
		}
	}
	return ran, ""
}

// receive adds an effect that a receiver of the queue gets; one that it has already is dropped there.
func (m *model) receive(list uint32, event int) (longer uint32, fault string) {
	before := m.effects[list]
	if before.all.has(event) {
		return list, ""
	}
	if list != 0 && !m.follows(event, before.last) {
		return list, fmt.Sprintf("the effect of %s comes after that of %s", m.Messages[event].name(), m.Messages[before.last].name())
	}
	at := [2]uint32{list, uint32(event)} //nolint:gosec // below maxMessages
	if known, ok := m.longer[at]; ok {
		return known, ""
	}
	after := received{list, event, before.all}
	after.all.put(event)
	m.effects = append(m.effects, after)
	m.longer[at] = uint32(len(m.effects) - 1) //nolint:gosec // few
	return m.longer[at], ""
}

func (m *model) follows(event, last int) bool {
	a, b := m.Messages[event], m.Messages[last]
	return a.Gen > b.Gen || a.Gen == b.Gen && a.Seq > b.Seq
}
