package e2e

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// secret stands in the data of every event, and in no log line.
const secret = "hush-7391"

// history is what a producer says, in the order in which it says it, and what must become of it. The expectation is
// told by the list alone: each maker below keeps its own books, in the plainest way there is.
type history struct {
	prefix string // of the ids of its entities
	random *rand.Rand
	t      testing.TB

	messages []message
	want     expectations
	effects  map[string][]int64 // by account
	poison   []poison
}

func newHistory(t testing.TB, prefix string) *history {
	of := fnv.New64a() // each history has random numbers of its own, whichever tests run
	of.Write([]byte(prefix))
	return &history{
		prefix: prefix, t: t, want: expectations{}, effects: map[string][]int64{},
		random: rand.New(rand.NewPCG(here.seed, of.Sum64())),
	}
}

func (h *history) say(body any) string {
	h.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	h.messages = append(h.messages, message{body: string(text), group: h.prefix})
	return string(text)
}

func (h *history) state(state any) string {
	h.t.Helper()
	text, err := json.Marshal(state)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

type data = map[string]any

// subscriptions are whole states: the last one said is the one that counts, whatever is delivered last.
func (h *history) subscription(name string, events int, deleted bool) {
	id, last := h.prefix+name, data{}
	for seq := 1; seq <= events; seq++ {
		last = data{"subscription_id": id, "plan": fmt.Sprintf("p%d", h.random.IntN(1000)), "seats": seq, "note": secret}
		if h.random.IntN(2) == 0 { // a field that some states lack must go when they come
			last["discount"] = json.Number(fmt.Sprintf("%d.%02d", h.random.IntN(100), h.random.IntN(100)))
		}
		h.say(data{"event_id": fmt.Sprintf("%s:%d", id, seq), "type": "PlanChanged", "seq": seq, "source": "shop", "data": last})
	}
	h.want[entityName{"subscription", id}] = expectation{state: h.state(last)}
	if deleted {
		h.say(data{
			"event_id": id + ":end", "type": "SubscriptionDeleted", "seq": events + 1, "source": "shop",
			"data": data{"subscription_id": id, "note": secret},
		})
		h.want[entityName{"subscription", id}] = expectation{}
	}
}

// messages are partial states by time: of each attribute the last value said counts.
func (h *history) partial(name string, events int) {
	id, state := h.prefix+name, data{}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for n := range events {
		said := data{"id": id, "status": fmt.Sprintf("s%d", n)}
		if h.random.IntN(3) == 0 {
			said["to"] = fmt.Sprintf("+49%d %s", h.random.IntN(1e6), secret)
		}
		if h.random.IntN(4) == 0 {
			said["cost"] = json.Number(fmt.Sprintf("0.%04d1", h.random.IntN(1e4)))
		}
		maps.Copy(state, said)
		h.say(data{
			"id": fmt.Sprintf("%s:%d", id, n), "type": "message.changed", "data": said,
			"created_at": start.Add(time.Duration(n) * time.Second).Format(time.RFC3339),
		})
	}
	h.want[entityName{"message", id}] = expectation{state: h.state(state)}
}

// account is a history of steps: all of them count, in their order. Some are only views, which hold their number.
func (h *history) account(name string, steps int) {
	id, balance, currency := h.prefix+name, new(big.Rat), ""
	for seq := int64(1); seq <= int64(steps); seq++ {
		kind, said := "EntryViewed", data{"account": id, "note": secret}
		if h.random.IntN(6) > 0 {
			amount := fmt.Sprintf("%d.%02d", h.random.IntN(2000)-1000, h.random.IntN(100))
			currency = []string{"EUR", "SEK", "CHF"}[h.random.IntN(3)]
			kind, said = "EntryPosted", data{"account": id, "amount": json.Number(amount), "currency": currency, "note": secret}
			balance.Add(balance, rational(amount))
			h.effects[id] = append(h.effects[id], seq)
		}
		h.say(data{"event_id": fmt.Sprintf("%s:%d", id, seq), "type": kind, "seq": seq, "source": "bank", "data": said})
	}
	state := data{"balance": json.Number(balance.FloatString(2))}
	if currency != "" {
		state["currency"] = currency
	}
	h.want[entityName{"ledger", id}] = expectation{state: h.state(state), applied: int64(steps)}
}

// seats are increments: all of them count, in any order.
func (h *history) seats(name string, events int) {
	id, sum := h.prefix+name, 0
	for seq := 1; seq <= events; seq++ {
		n := h.random.IntN(21) - 10
		sum += n
		h.say(data{
			"event_id": fmt.Sprintf("%s:%d", id, seq), "type": "SeatsAdded", "seq": seq,
			"data": data{"subscription_id": id, "delta": n, "note": secret},
		})
	}
	h.want[entityName{"seats", id}] = expectation{state: h.state(data{"seats": sum}), applied: int64(events)}
}

// profile has two producers, each with a numbering of its own and with attributes of its own.
func (h *history) profile(name string, events int) {
	id, state := h.prefix+name, data{}
	for seq := 1; seq <= events; seq++ {
		crm := data{"name": fmt.Sprintf("n%d", h.random.IntN(1e6)), "email": secret + "@example.org"}
		billing := data{"plan": fmt.Sprintf("p%d", h.random.IntN(1e6)), "balance": h.random.IntN(1e6)}
		maps.Copy(state, crm)
		maps.Copy(state, billing)
		h.say(data{"event_id": fmt.Sprintf("crm:%s:%d", id, seq), "type": "profile.changed", "entity_id": id, "seq": seq * 100, "source": "crm", "data": crm})
		h.say(data{"event_id": fmt.Sprintf("billing:%s:%d", id, seq), "type": "profile.changed", "entity_id": id, "seq": seq, "source": "billing", "data": billing})
	}
	h.want[entityName{"profile", id}] = expectation{state: h.state(state)}
}

// contact is a partial state by number; null takes an attribute away.
func (h *history) contact(name string, events int) {
	id, state := h.prefix+name, data{}
	for seq := 1; seq <= events; seq++ {
		said := data{"name": fmt.Sprintf("n%d %s", h.random.IntN(1e6), secret)}
		if h.random.IntN(2) == 0 {
			said["phone"] = []any{nil, "+46 8 1", "+46 8 2"}[h.random.IntN(3)]
		}
		maps.Copy(state, said)
		h.say(data{"event_id": fmt.Sprintf("%s:%d", id, seq), "type": "ContactUpdated", "entity_id": id, "seq": seq, "source": "crm", "data": said})
	}
	maps.DeleteFunc(state, func(_ string, value any) bool { return value == nil })
	h.want[entityName{"contact", id}] = expectation{state: h.state(state)}
}

// poisoned adds messages that can never succeed.
func (h *history) poisoned() {
	id := func(n string) string { return h.prefix + "poison-" + n }
	bad := func(reason, body string) {
		m := message{body: body, attributes: map[string]string{"trace": "t-" + reason}, group: h.prefix}
		h.messages = append(h.messages, m)
		h.poison = append(h.poison, poison{m, reason})
	}
	bad("not_json", fmt.Sprintf("{\"event_id\": \"%s\",\r\n\t\"data\":  <%s>\u00e4\n", id("a"), secret))
	bad("not_json", fmt.Sprintf(`{"event_id":%q,"type":"PlanChanged","seq":8,"seq":9,"data":{"subscription_id":%[1]q,"note":%q}}`, id("b"), secret))
	bad("not_an_event", fmt.Sprintf(`["%s", {"note": %q}]`, id("c"), secret))
	bad("no_route", fmt.Sprintf(`{"event_id":%q,"type":"InvoiceSent","entity_id":%[1]q,"seq":1,"data":{"note":%q}}`, id("d"), secret))
	bad("no_entity_id", fmt.Sprintf(`{"event_id":%q,"type":"PlanChanged","seq":1,"data":{"plan":"pro","note":%q}}`, id("e"), secret))
	bad("bad_entity_id", fmt.Sprintf(`{"event_id":%q,"type":"PlanChanged","seq":1,"data":{"subscription_id":%q,"note":%q}}`, id("f"), strings.Repeat("x", 2050), secret))
	bad("bad_order_key", fmt.Sprintf(`{"event_id":%q,"type":"EntryPosted","seq":"7.0","data":{"account":%[1]q,"amount":1,"note":%q}}`, id("g"), secret))
	bad("bad_event_id", fmt.Sprintf(`{"type":"message.changed","created_at":"2026-03-01T12:00:00Z","data":{"id":%q,"note":%q}}`, id("h"), secret))
	bad("reserved_attribute", fmt.Sprintf(`{"event_id":%q,"type":"PlanChanged","seq":1,"data":{"subscription_id":%[1]q,"_clock":"9","note":%q}}`, id("i"), secret))
	bad("not_owner", fmt.Sprintf(`{"event_id":%q,"type":"profile.changed","entity_id":%[1]q,"seq":1,"source":"crm","data":{"plan":%q}}`, id("j"), secret))
	bad("number_range", fmt.Sprintf(`{"event_id":%q,"type":"PlanChanged","seq":1,"data":{"subscription_id":%[1]q,"price":1e300,"note":%q}}`, id("k"), secret))
	bad("too_deep", fmt.Sprintf(`{"event_id":%q,"type":"PlanChanged","seq":1,"data":{"subscription_id":%[1]q,"note":%q,"tree":%s1%s}}`,
		id("l"), secret, strings.Repeat("[", 40), strings.Repeat("]", 40)))
	bad("too_large", fmt.Sprintf(`{"event_id":%q,"type":"PlanChanged","seq":1,"data":{"subscription_id":%[1]q,"note":"%s%s"}}`, id("m"), secret, strings.Repeat("x", 410_000)))
	bad("future_time", fmt.Sprintf(`{"id":%q,"type":"call.started","created_at":"9999-01-01T00:00:00Z","data":{"id":%[1]q,"note":%q}}`, id("n"), secret))
	for _, name := range "abcdefghijklmn" {
		for _, stream := range []string{"subscription", "ledger", "message", "profile", "call"} {
			h.want[entityName{stream, id(string(name))}] = expectation{}
		}
	}
}

// shuffled is what the network makes of the messages: any order, and some of them two or three times.
func (h *history) shuffled() []message {
	all := slices.Clone(h.messages)
	for _, m := range h.messages {
		if !h.isPoison(m) { // a copy of poison is poison of its own
			for range []int{0, 0, 0, 1, 2}[h.random.IntN(5)] {
				all = append(all, m)
			}
		}
	}
	h.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func (h *history) isPoison(m message) bool {
	return slices.ContainsFunc(h.poison, func(p poison) bool { return p.body == m.body })
}

// effectsMissing tells which accounts have not sent just their effects.
func (h *history) effectsMissing(s *stack) string {
	var lacks []string
	for _, account := range slices.Sorted(maps.Keys(h.effects)) {
		if lack := s.effects.lack(account, h.effects[account]); lack != "" {
			lacks = append(lacks, lack)
		}
	}
	return strings.Join(lacks, "\n  ")
}
