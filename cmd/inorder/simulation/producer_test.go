package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"inorder/ddb/local"
	"inorder/events"
	"inorder/ordering"
)

// An entity is what a producer says about one thing, in the order in which it happened.
type entity struct {
	name  string // as an element
	id    string
	lane  int
	about *events.Stream
	facts []*fact
	left  bool
}

// A fact is one event, and what becomes of its messages.
type fact struct {
	name   string
	entity *entity
	left   bool

	source string
	gen    int64
	kind   factKind
	fields []field // of a partial state
	at     time.Duration

	delay time.Duration // of what comes out of order

	lost   int  // so many of its messages never arrive
	gone   bool // none of them does, and the producer has it no longer
	never  bool // there is no event with this number
	copies int  // SQS delivers it so often again
	rival  bool // another event claims the same number

	seq  int64 // given when all is drawn
	body string
}

type factKind int

const (
	plain   factKind = iota
	dropped          // a tombstone
	ignored          // it occupies its number
	broken           // its projection never takes it
	flaky            // its projection takes it once it is mended
)

type field struct {
	name string
	null bool
}

func (k factKind) word() string { return [...]string{"said", "dropped", "ignored", "said", "said"}[k] }

// quirk is what is special about a fact, and how that is left out.
func (f *fact) quirks() (all []keeps) {
	add := func(is bool, name string, drop func()) {
		if is {
			all = append(all, keeps{name, drop})
		}
	}
	add(f.lost > 0, "lost", func() { f.lost = 0 })
	add(f.gone, "gone", func() { f.gone = false })
	add(f.never, "never", func() { f.never = false })
	add(f.copies > 0, "twice", func() { f.copies = 0 })
	add(f.rival, "rival", func() { f.rival = false })
	add(f.kind != plain, "kind", func() { f.kind = plain })
	return all
}

// trail is the projection in Go: the state says which numbers ran, in their order.
const trail = "trail"

// mostEntities is how many a life may have. Their numbers are digits, by which a request is known.
const mostEntities = 6

func (l *life) drawEntities(rng *rand.Rand) {
	n := 1 + rng.IntN(mostEntities)
	for i := range n {
		s := l.pickStream(rng)
		e := &entity{name: fmt.Sprintf("e%d", i), id: fmt.Sprintf("e%d-%s", i, s.Name), lane: i, about: s}
		l.drawFacts(rng, e)
		l.entities = append(l.entities, e)
	}
}

// onMinidyn are the streams that minidyn can keep: it is not exact with numbers and has no partial states.
var onMinidyn = []string{"whole", "step", "loud", "go", "joins"}

func (l *life) pickStream(rng *rand.Rand) *events.Stream {
	at := rng.IntN(1000)
	if l.engine == local.Minidyn {
		return l.config.Stream(onMinidyn[at%len(onMinidyn)])
	}
	return l.config.Streams[at%len(l.config.Streams)]
}

func (l *life) drawFacts(rng *rand.Rand, e *entity) {
	generations := int64(1)
	if e.hasGenerations() && rng.IntN(4) == 0 {
		generations = 2
	}
	at := time.Duration(rng.IntN(120)) * time.Second
	for g := range generations {
		for range 1 + rng.IntN(7) {
			f := &fact{name: fmt.Sprintf("%s.m%d", e.name, len(e.facts)), entity: e, gen: g, at: at}
			at += time.Duration(rng.IntN(int(writesWithin/8/time.Millisecond))) * time.Millisecond
			if e.about.PerSource || e.about.Clock == events.ClockSource {
				f.source = []string{"p", "q"}[rng.IntN(2)]
			}
			f.delay = time.Duration(rng.IntN(600)) * time.Second
			f.drawKind(rng, l.heals)
			f.drawFields(rng)
			e.facts = append(e.facts, f)
			l.acts = append(l.acts, act{at: f.at, what: write, fact: f})
		}
	}
	for _, f := range e.facts {
		l.drawFate(rng, e, f)
	}
}

func (e *entity) hasGenerations() bool {
	switch e.about.Name {
	case "whole", "part", "loud", "delta", "step":
		return true
	}
	return false
}

func (f *fact) drawKind(rng *rand.Rand, heals bool) {
	s := f.entity.about
	switch draw := rng.IntN(8); {
	case draw == 0 && len(s.Tombstone) > 0:
		f.kind = dropped
	case draw == 0 && len(s.Ignore) > 0:
		f.kind = ignored
	case draw == 1 && heals && slices.Contains([]string{"step", "loud", "delta"}, s.Name) && rng.IntN(2) == 0:
		f.kind = broken
	case draw < 3 && s.Name == "go" && heals:
		f.kind = flaky
	}
}

func (f *fact) drawFields(rng *rand.Rand) {
	s := f.entity.about
	switch {
	case s.Mode != events.State:
		return
	case s.Clock == events.ClockAttribute:
		for _, name := range []string{"a", "b", "c"}[:1+rng.IntN(3)] {
			f.fields = append(f.fields, field{name, rng.IntN(5) == 0})
		}
	case s.Clock == events.ClockSource:
		f.fields = []field{{fmt.Sprintf("%s%d", f.source, 1+rng.IntN(2)), false}}
	default:
		f.fields = []field{{"v", false}}
	}
}

// drawFate draws what becomes of the messages. Of a state only the newest may be lost: of what an older one said alone
// nobody would ever know.
func (l *life) drawFate(rng *rand.Rand, e *entity, f *fact) {
	s := e.about
	if rng.IntN(4) == 0 {
		f.copies = 1 + rng.IntN(2)
	}
	f.rival = rng.IntN(12) == 0 && s.Order.By == events.BySeq && f.kind == plain && s.Name != "joins" && !s.Marker && s.Clock != events.ClockAttribute
	draw, may := rng.IntN(9), l.heals && s.Order.By == events.BySeq && !s.Marker
	counts := s.Mode != events.State && s.Name != "joins" && s.Name != "go"
	switch {
	case draw < 2 && may:
		f.lost = 1 + rng.IntN(3)
	case draw == 2 && may && counts && f.kind != broken && !f.rival:
		f.gone = true
	case draw == 3 && may && counts && f.kind != broken && !f.rival && l.engine == "":
		f.never = true
	}
}

// number gives every fact its number and its body, now that it is known who is left.
func (l *life) number() {
	for _, e := range l.entities {
		next := map[[2]any]int64{}
		for i, f := range e.facts {
			of := [2]any{f.gen, ""}
			if e.about.PerSource {
				of[1] = f.source
			}
			next[of]++
			f.seq = next[of]
			if f.lost > 0 && e.about.Mode == events.State && !e.isNewest(i) {
				f.lost = 0
			}
			if f.never && e.isNewest(i) { // nobody would ever hear of it
				f.never = false
			}
			f.body = f.written(f.eventID())
		}
	}
}

// isNewest reports whether a fact is the last one of all, or of its source.
func (e *entity) isNewest(at int) bool {
	for _, later := range e.facts[at+1:] {
		if later.source == e.facts[at].source {
			return false
		}
	}
	return true
}

func (f *fact) eventID() string {
	return fmt.Sprintf("%s:%s:%d.%d", f.entity.id, f.source, f.gen, f.seq)
}

// rivalBody is what another event says that claims the same number. It means the same, so that it does not matter which
// of them wins.
func (f *fact) rivalBody() string { return f.written("rival of " + f.eventID()) }

// written is the event in JSON.
func (f *fact) written(id string) string {
	s := f.entity.about
	order := ""
	switch s.Order.By {
	case events.ByTime:
		order = fmt.Sprintf(`"at":"%s",`, f.instant().Format(time.RFC3339Nano))
	case events.BySeq:
		order = fmt.Sprintf(`"generation":%d,"seq":%d,`, f.gen, f.seq)
	case events.ByNone, events.ByText, events.ByHex:
	}
	return fmt.Sprintf(`{"event_id":%q,"type":"%s.%s","entity_id":%q,"source":%q,%s"data":{%s}}`,
		id, s.Name, f.kind.word(), f.entity.id, f.source, order, f.data())
}

// instant is the order key of an event that is ordered by time.
func (f *fact) instant() time.Time { return begin.Add(-time.Hour + time.Duration(f.seq)*time.Second) }

func (f *fact) data() string {
	if f.entity.about.Mode == events.State {
		var parts []string
		for _, field := range f.fields {
			value := fmt.Sprint(f.value())
			if field.null {
				value = "null"
			}
			parts = append(parts, fmt.Sprintf("%q:%s", field.name, value))
		}
		return strings.Join(parts, ",")
	}
	switch f.kind {
	case broken:
		return fmt.Sprintf(`"n":"none","k":%d`, f.seq)
	case flaky:
		return fmt.Sprintf(`"n":%d,"k":%d,"flaky":true`, f.amount(), f.seq)
	case plain, dropped, ignored:
	}
	return fmt.Sprintf(`"n":%d,"k":%d`, f.amount(), f.seq)
}

func (f *fact) value() int64 { return f.gen*100 + f.seq }

// amount is a digit of its own in base 8, so that a sum tells how often each event was counted.
func (f *fact) amount() int64 { return 1 << (3 * (f.seq - 1)) }

func (f *fact) position() ordering.Position { return ordering.Position{Gen: f.gen, Seq: f.seq} }

func (e *entity) keyOf(source string) ordering.Key {
	key := ordering.Key{Consumer: "c", Stream: e.about.Name, ID: e.id}
	if e.about.PerSource {
		key.PerSource, key.Source = true, source
	}
	return key
}

// histories are the facts of an entity, apart where each source has a history of its own.
func (e *entity) histories() map[ordering.Key][]*fact {
	all := map[ordering.Key][]*fact{}
	for _, f := range e.facts {
		all[e.keyOf(f.source)] = append(all[e.keyOf(f.source)], f)
	}
	return all
}
