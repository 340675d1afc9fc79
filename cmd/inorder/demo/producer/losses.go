package producer

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
)

// What is lost, in thousandths. The last event of an entity is lost more often than its share, because it is the hardest
// to miss: nothing comes after it.
const (
	lostPerMille      = 15
	lastLostPerMille  = 60
	lostAgainPerMille = 200 // of the messages that are sent in the place of lost ones
)

// InOutbox tells the streams whose events have numbers: their producer keeps them in its outbox. Another company's
// webhooks have none, so nobody could see that one is missing, and none is lost here.
func InOutbox(stream string) bool { return stream != Webhook }

// lose draws which messages never arrive, and takes them out of the arrivals. What has a story to tell arrives.
func (d *Day) lose(rng *rand.Rand) {
	meant := map[string]*Meant{}
	for _, m := range d.Meant {
		meant[m.Stream+"/"+m.Entity] = m
	}
	for _, e := range d.Events {
		m := meant[e.Stream+"/"+e.Entity]
		if !InOutbox(e.Stream) || m.Story != "" {
			continue
		}
		perMille := lostPerMille
		if e.Seq == m.Last {
			perMille = lastLostPerMille
		}
		for rng.IntN(1000) < perMille {
			e.Lost++
			perMille = lostAgainPerMille
		}
		if e.Lost > 0 {
			d.Lost++
			d.Copies++ // its first arrival was none
		}
	}
	d.Arrivals = slices.DeleteFunc(d.Arrivals, func(a *Arrival) bool {
		gone := a.Event != nil && a.Event.Lost > 0
		if gone {
			d.Copies--
		}
		return gone
	})
}

// StayWrong counts the entities that would end otherwise than meant where nobody sends what is lost again, however careful
// the consumer: it is the least that losses do.
func (d *Day) StayWrong() int {
	states, stuck := map[string]map[string]any{}, map[string]bool{}
	for _, e := range d.Events {
		key := e.Stream + "/" + e.Entity
		if e.Lost > 0 && Waits(e.Stream) {
			stuck[key] = true
		}
		if e.Lost == 0 && !stuck[key] {
			states[key] = e.Apply(states[key])
		}
	}
	wrong := 0
	for _, m := range d.Meant {
		if !maps.EqualFunc(states[m.Stream+"/"+m.Entity], m.State, func(a, b any) bool { return reflect.DeepEqual(a, b) }) {
			wrong++
		}
	}
	return wrong
}

// Waits tells the streams whose events take effect in their order only.
func Waits(stream string) bool { return stream == Ledger || stream == Wallet }
