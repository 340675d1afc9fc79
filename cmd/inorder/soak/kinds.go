package soak

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Consumer is the consumer of [Streams].
const Consumer = "soak"

// Streams is the streams.yaml that the events are made for.
//
//go:embed streams.yaml
var Streams []byte

// ChainStream is added to Streams where a projection in Go can be: [Link] is to be registered as "chain".
const ChainStream = `
  - name: chain
    types: [LinkAdded]
    mode: step
    projection: chain
`

// kind is a stream, and what its events say.
type kind struct {
	stream string
	share  int  // of the events
	crowd  int  // of the entities
	asks   bool // an outbox can keep its events: they have numbers, and one history each
	say    func(e *entity, r *rand.Rand) string
}

// kinds are shares of a hundred each, without the chain. An effect is a request of its own, so there are fewer of these.
func kinds(chain bool) []kind {
	all := []kind{
		{"subscription", 20, 20, true, subscription},
		{"contact", 12, 20, false, contact},
		{"profile", 6, 10, false, profile},
		{"message", 5, 5, false, message},
		{"ledger", 2, 1, true, ledger},
		{"journal", 28, 22, true, journal},
		{"seats", 22, 17, true, seats},
		{"clicks", 5, 5, false, clicks},
	}
	if chain {
		all = append(all, kind{"chain", 10, 5, true, chained})
	}
	return all
}

// An entity is its own history so far, and what it must be.
type entity struct {
	kind   *kind
	id     string
	seq    int64
	asks   bool // its events lie in the outbox, and some of them are lost
	sum    int64
	state  map[string]string // attribute → value, as text and number write it
	effect numbers           // that it must have sent
}

// text and number are how values are compared: [Producer] and [Table] write them in one way each.
func text(s string) string { return strconv.Quote(s) }

func number(s string) string {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return "no number: " + s
	}
	return r.RatString()
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func (e *entity) event(kind, fields, data string) string {
	return fmt.Sprintf(`{"event_id":"%s:%d","type":%q,%s"data":{%s}}`, e.id, e.seq, kind, fields, data)
}

func (e *entity) numbered() string { return fmt.Sprintf(`"seq":%d,`, e.seq) }

func (e *entity) named() string { return fmt.Sprintf(`"entity_id":%q,`, e.id) }

// subscription is a whole state: the last one said is the one that counts.
func subscription(e *entity, r *rand.Rand) string {
	if e.state = map[string]string{}; r.IntN(200) == 0 {
		return e.event("SubscriptionDeleted", e.numbered(), fmt.Sprintf(`"subscription_id":%q`, e.id))
	}
	plan := fmt.Sprintf("p%d", r.IntN(1000))
	e.state["subscription_id"], e.state["plan"], e.state["seats"] = text(e.id), text(plan), whole(e.seq)
	return e.event("PlanChanged", e.numbered(), fmt.Sprintf(`"subscription_id":%q,"plan":%q,"seats":%d`, e.id, plan, e.seq))
}

// contact is a partial state; null takes an attribute away.
func contact(e *entity, r *rand.Rand) string {
	phone := fmt.Sprintf("+46 %d", r.IntN(1e6))
	e.state["seen"] = whole(e.seq)
	switch said := e.named() + e.numbered(); r.IntN(4) {
	case 0:
		delete(e.state, "phone")
		return e.event("ContactUpdated", said, fmt.Sprintf(`"seen":%d,"phone":null`, e.seq))
	case 1:
		e.state["phone"] = text(phone)
		return e.event("ContactUpdated", said, fmt.Sprintf(`"seen":%d,"phone":%q`, e.seq, phone))
	default:
		return e.event("ContactUpdated", said, fmt.Sprintf(`"seen":%d`, e.seq))
	}
}

// profile has two producers with attributes of their own.
func profile(e *entity, r *rand.Rand) string {
	source, attribute := "crm", "name"
	if r.IntN(2) == 0 {
		source, attribute = "billing", "plan"
	}
	value := fmt.Sprintf("v%d", r.IntN(1e6))
	e.state[attribute] = text(value)
	return e.event("profile.changed", e.named()+e.numbered()+fmt.Sprintf(`"source":%q,`, source), fmt.Sprintf("%q:%q", attribute, value))
}

// sayings begin long ago, so that none lies in the future.
var sayings = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// message is a partial state by time.
func message(e *entity, r *rand.Rand) string {
	e.state["status"] = text(fmt.Sprintf("s%d", e.seq))
	data := fmt.Sprintf(`"status":"s%d"`, e.seq)
	if r.IntN(3) == 0 {
		e.state["cost"] = number(fmt.Sprintf("0.%03d1", e.seq%1000))
		data += fmt.Sprintf(`,"cost":0.%03d1`, e.seq%1000)
	}
	at := sayings.Add(time.Duration(e.seq) * time.Second).Format(time.RFC3339)
	return e.event("message.changed", e.named()+fmt.Sprintf(`"created_at":%q,`, at), data)
}

// amount adds to the sum, which is kept in hundredths.
func (e *entity) amount(r *rand.Rand) string {
	cents := int64(r.IntN(200_000) - 100_000)
	e.sum += cents
	return hundredths(cents)
}

func hundredths(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%02d", sign, n/100, n%100)
}

// ledger is a history of steps with effects. Some are only views, which hold their number and tell nobody.
func ledger(e *entity, r *rand.Rand) string {
	if r.IntN(8) == 0 {
		return e.event("EntryViewed", e.numbered(), fmt.Sprintf(`"account":%q`, e.id))
	}
	amount := e.amount(r)
	e.state["balance"], e.state["last"] = number(hundredths(e.sum)), whole(e.seq)
	e.effect.add(e.seq)
	return e.event("EntryPosted", e.numbered(), fmt.Sprintf(`"account":%q,"amount":%s,"n":%d`, e.id, amount, e.seq))
}

// journal is a history of steps without effects.
func journal(e *entity, r *rand.Rand) string {
	amount, name := e.amount(r), fmt.Sprintf("t%d", e.seq%5)
	e.state["balance"], e.state[name] = number(hundredths(e.sum)), whole(e.seq)
	return e.event("LineWritten", e.named()+e.numbered(), fmt.Sprintf(`"amount":%s,%q:%d`, amount, name, e.seq))
}

// seats are increments with numbers.
func seats(e *entity, r *rand.Rand) string {
	n := int64(r.IntN(21) - 10)
	e.sum += n
	e.state["seats"] = whole(e.sum)
	return e.event("SeatsAdded", e.numbered(), fmt.Sprintf(`"subscription_id":%q,"delta":%d`, e.id, n))
}

// clicks are increments without numbers.
func clicks(e *entity, r *rand.Rand) string {
	n := int64(r.IntN(5) + 1)
	e.sum += n
	e.state["clicks"] = whole(e.sum)
	return e.event("Clicked", e.named(), fmt.Sprintf(`"n":%d`, n))
}

// chained is a history of steps each of which goes into the next: any other order, a step too many or too few ends elsewhere.
func chained(e *entity, r *rand.Rand) string {
	said := fmt.Sprintf("w%d", r.IntN(1e6))
	before := strings.Trim(e.state["link"], `"`)
	e.state["link"] = text(Link(before, said))
	return e.event("LinkAdded", e.named()+e.numbered(), fmt.Sprintf(`"word":%q`, said))
}

// Link is the next link of a chain, of the one before, which is empty in the beginning, and a word.
func Link(before, word string) string {
	of := fnv.New64a()
	of.Write([]byte(before + "|" + word))
	return strconv.FormatUint(of.Sum64(), 16)
}

// numbers is a list of ascending numbers, in so few words that it does not grow.
type numbers struct{ count, sum, last int64 }

func (l *numbers) add(n int64) {
	l.count++
	l.sum += n
	l.last = n
}
