package producer

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// midnight begins the day. It is a fixed one, so that a seed tells everything.
var midnight = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// book takes down what happens, entity by entity.
type book struct {
	rng    *rand.Rand
	hours  float64 // how long the day is
	events []*Event
	meant  map[[2]string]*Meant
	all    []*Meant
}

// entity opens a page. An entity is told from its first event to its last before the next one begins.
func (b *book) entity(stream, id, story string) *page {
	m := &Meant{Stream: stream, Entity: id, Story: story}
	b.meant[[2]string{stream, id}] = m
	b.all = append(b.all, m)
	return &page{book: b, Meant: m}
}

// page is the history of one entity.
type page struct {
	*book
	*Meant
	rank int
	now  time.Time
}

// later lets some moments pass.
func (p *page) later() {
	p.now = p.now.Add(time.Duration(200+p.rng.IntN(4000)) * time.Millisecond)
}

// record writes one event down, and what it means.
func (p *page) record(typ string, data map[string]any) *Event {
	p.rank++
	e := &Event{
		Stream: p.Stream, Entity: p.Entity, Type: typ, Rank: p.rank, At: p.now, Data: maps.Clone(data),
		ID: fmt.Sprintf("%s:%d", p.Entity, p.rank),
	}
	if p.Stream != Webhook {
		e.Seq, p.Last = int64(p.rank), int64(p.rank)
	}
	if p.Stream == Wallet {
		p.Effects = append(p.Effects, e.ID)
	}
	p.State = e.Apply(p.State)
	p.events = append(p.events, e)
	return e
}

// at moves the page's clock; it never goes back.
func (p *page) at(t time.Time) {
	if t.After(p.now) {
		p.now = t
	}
}

// eventsOfFullDay are what fills a day of ten hours. Where fewer happen the day is shorter, not emptier.
const eventsOfFullDay = 5000

// moments draws n moments of a working day, in order. Most of them lie in its middle.
func (b *book) moments(n int) []time.Time {
	out := make([]time.Time, n)
	for i := range out {
		hours := 8 + b.hours/2*(b.rng.Float64()+b.rng.Float64())
		out[i] = midnight.Add(time.Duration(hours * float64(time.Hour))).Truncate(time.Millisecond)
	}
	slices.SortFunc(out, time.Time.Compare)
	return out
}

// bursts calls one n times, at moments of the day and some of them in quick succession.
func (p *page) bursts(n int, one func()) {
	for _, t := range p.moments(n) {
		p.at(t)
		size := p.burst(n)
		for range size {
			p.later()
			one()
		}
		if n -= size; n == 0 {
			return
		}
	}
}

// burst is how many events follow each other within seconds: often one, sometimes a dozen.
func (b *book) burst(left int) int {
	return min(left, 1+int(b.rng.ExpFloat64()*3))
}

// length is how long an entity's history gets: around the mean, a few many times that.
func (b *book) length(mean float64, left int) int {
	return min(left, 2+int(b.rng.ExpFloat64()*(mean-2)))
}
