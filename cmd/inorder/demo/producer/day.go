// Package producer plays the other side of the demo: a day of a small company, and the way its events arrive.
//
// It knows what every entity should end with, because it knows the order in which things happened. That knowledge is
// its own, and so is what gets lost: this package imports nothing of the code that the demo judges by it.
package producer

import (
	_ "embed"
	"math/rand/v2"
	"slices"
	"time"
)

// Streams is the streams.yaml of the consumer of this day.
//
//go:embed streams.yaml
var Streams []byte

// Consumer is the consumer's name in Streams.
const Consumer = "demo"

// The streams of the day, by their names in Streams.
const (
	Subscription = "subscription"
	Ledger       = "ledger"
	Wallet       = "wallet"
	Seats        = "seats"
	Webhook      = "message"
)

// Day is what happened, what was meant by it, and how it arrives.
type Day struct {
	Seed     uint64
	Events   []*Event   // in the producer's order
	Meant    []*Meant   // every entity that was ever spoken of
	Poison   int        // messages that no consumer can ever apply
	Copies   int        // arrivals beyond the first of an event
	Lost     int        // events whose first message never arrives
	Arrivals []*Arrival // in the order of their times
}

// Event is one fact.
type Event struct {
	Stream, Entity string
	ID, Type       string
	Seq            int64 // its number within the entity, from 1; 0 in the stream of webhooks
	Rank           int   // its place in the entity's history, from 1; Seq where there is one
	At             time.Time
	Data           map[string]any // strings and json.Numbers

	// Lost is how many of its messages never arrive: of a lost event the first, and now and then what is sent in its place.
	Lost int

	held time.Duration // how long its message is held up, where a story wants that
}

// Meant is what an entity should end with.
type Meant struct {
	Stream, Entity string
	Story          string         // what happened to it, where that is worth telling
	State          map[string]any // nil: it is deleted, or it must never have come to be
	Last           int64          // its highest number; 0 where it has none
	Effects        []string       // ids of the events that its owner is told about, in order
}

// share is how a day's events are spread over the streams, in hundredths; webhooks take the rest.
var share = []struct {
	percent int
	tell    func(*book, int)
}{
	{28, tellSubscriptions},
	{26, tellLedgers},
	{10, tellWallets},
	{18, tellSeats},
}

// Generate makes a day of n events. Equal seeds and numbers make equal days.
func Generate(seed uint64, n int) *Day {
	b := &book{rng: rand.New(rand.NewPCG(seed, 1)), meant: map[[2]string]*Meant{}}
	b.hours = 10 * min(1, float64(n)/eventsOfFullDay)
	left := n
	for _, s := range share {
		part := n * s.percent / 100
		s.tell(b, part)
		left -= part
	}
	tellWebhooks(b, left)
	slices.SortStableFunc(b.events, func(x, y *Event) int { return x.At.Compare(y.At) })

	day := &Day{Seed: seed, Events: b.events, Meant: b.all}
	day.deliver(rand.New(rand.NewPCG(seed, 2)))
	day.lose(rand.New(rand.NewPCG(seed, 5)))
	return day
}
