package producer

import (
	"fmt"
	"maps"
	"strings"
)

// victim draws what poison imitates: an event that really happened, as its envelope has it. Whatever the poison says
// about its entity, the entity must end as if it had never been sent.
type victim func(stream string) (*Event, object)

// poisons is one way after the other of being impossible to apply, with the reason that must stand on the copy.
var poisons = []struct {
	reason string
	brew   func(victim) string
}{
	{"not_json", func(v victim) string {
		_, o := v(Subscription)
		whole := text(o)
		return whole[:len(whole)*2/3]
	}},
	{"not_an_event", func(v victim) string {
		v(Webhook)
		return `["ping"]`
	}},
	{"no_route", func(v victim) string {
		_, o := v(Subscription)
		return text(changed(o, "type", "InvoicePaid"))
	}},
	{"no_entity_id", func(v victim) string {
		e, o := v(Subscription)
		data := maps.Clone(e.Data)
		delete(data, "subscription_id")
		return text(changed(o, "data", data))
	}},
	{"bad_entity_id", func(v victim) string {
		_, o := v(Seats)
		return text(changed(o, "subject", strings.Repeat("long", 800)))
	}},
	{"bad_order_key", func(v victim) string {
		_, o := v(Ledger)
		return text(changed(o, "seq", 2.5))
	}},
	{"bad_event_id", func(v victim) string {
		_, o := v(Webhook)
		return text(changed(o, "id", " "))
	}},
	{"reserved_attribute", func(v victim) string {
		e, o := v(Subscription)
		data := maps.Clone(e.Data)
		data["_rev"] = 1
		return text(changed(changed(o, "data", data), "seq", e.Seq+1000))
	}},
	{"number_range", func(v victim) string {
		// A counter of its own: a number that is refused stays open, and the others shall close.
		_, o := v(Seats)
		o = changed(changed(o, "subject", nobody), "sequence", "1")
		return text(changed(o, "data", object{"delta": "1e130"}))
	}},
	{"future_time", func(v victim) string {
		e, o := v(Webhook)
		return text(changed(changed(o, "created_at", "2099-01-01T00:00:00Z"), "id", e.ID+":early"))
	}},
	{"too_deep", func(v victim) string {
		_, o := v(Ledger)
		deep := strings.Repeat(`{"in":`, 1200) + "1" + strings.Repeat("}", 1200)
		return strings.Replace(text(changed(o, "data", "DEEP")), `"DEEP"`, deep, 1)
	}},
}

// nobody is the one entity that poison speaks of alone: it must never come to be.
const nobody = "team_of_nobody"

// changed returns an envelope with one of its members replaced.
func changed(o object, name string, value any) object {
	o = maps.Clone(o)
	o[name] = value
	return o
}

// poison brews n messages, every kind at least once. Each is sent when its victim is.
func (s *shipping) poison(n int) {
	for i := range max(n, len(poisons)) {
		p := poisons[i%len(poisons)]
		m := &Message{
			ID: fmt.Sprintf("poison-%03d", i+1), Reason: p.reason, Body: p.brew(s.victim),
		}
		m.SentAt = s.lastVictim
		s.send(m, s.delay())
		s.day.Poison++
	}
	s.day.Meant = append(s.day.Meant, &Meant{Stream: Seats, Entity: nobody})
}

func (s *shipping) victim(stream string) (*Event, object) {
	events := s.byStream[stream]
	e := events[s.rng.IntN(len(events))]
	for e.Type == "SubscriptionDeleted" { // takes no attributes, so that none of them could be wrong
		e = events[s.rng.IntN(len(events))]
	}
	s.lastVictim = e.At
	switch stream {
	case Seats:
		return e, e.cloudEvent()
	case Webhook:
		return e, e.webhook()
	default:
		return e, e.own()
	}
}
