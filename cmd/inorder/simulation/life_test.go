package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"inorder/ddb/local"
	"inorder/events"
	"inorder/ordering"
)

// A life is all that a seed decides beforehand. What it consists of are elements, each with a name: every one of them may
// be left out, and what remains is a life, too.
type life struct {
	seed   uint64
	engine string // where its tables are; empty: in memory
	text   string // streams.yaml
	config *events.Config

	heals    bool // events get lost, and sweeper, relay and operator make up for it; else nobody answers the sweeper
	entities []*entity
	poison   []string // bodies that can never succeed
	mishaps  []mishap
	acts     []act
	sends    ordering.EffectsMode
	wild     map[int]bool // the stretches of steps in which anybody may be next
	fixedAt  time.Duration

	visibility  time.Duration
	maxReceives int

	elements []string // the names of all that it holds
}

// An act is something that somebody does at a time.
type act struct {
	at   time.Duration
	what actKind
	fact *fact // of a write
}

type actKind int

const (
	write actKind = iota
	sweep
	redriveDLQ
	redriveQuarantine
	skip
	republish
	expire
	poisoned
	actKinds
)

var actNames = [actKinds]string{"write", "sweep", "redrive dlq", "redrive quarantine", "skip", "republish", "expire", "poison"}

func (k actKind) String() string { return actNames[k] }

// stretch is how many steps one of life.wild covers, of which there are so many.
const (
	stretch   = 64
	stretches = 40
)

// How long the producer writes, and how long it takes until all are left in peace.
const (
	writesWithin = 8 * time.Minute
	troubleFor   = 150 * time.Minute
)

// One life in so many plays on an engine, where a request takes a hundred times as long, and one of so many of those on
// minidyn.
const (
	engineEvery  = 8
	minidynEvery = 4
)

func engineOf(seed uint64) string {
	switch {
	case seed%engineEvery != 0:
		return ""
	case seed/engineEvery%minidynEvery == 0:
		return local.Minidyn
	}
	return local.Dynoxide
}

// newLife draws a life. only, where it is not nil, says which elements it keeps.
func newLife(seed uint64, only []string) *life {
	rng := rand.New(rand.NewPCG(seed, 1))
	l := &life{seed: seed, engine: engineOf(seed), wild: map[int]bool{}}
	l.heals = rng.IntN(3) > 0
	l.visibility = []time.Duration{3 * time.Second, 20 * time.Second, 3 * time.Minute}[rng.IntN(3)]
	l.maxReceives = []int{3, 5, 30}[rng.IntN(3)]
	l.fixedAt = time.Duration(rng.IntN(100)) * time.Minute
	l.streams(rng)
	l.drawEntities(rng)
	l.drawActs(rng)
	l.drawMishaps(rng)
	for i := range stretches {
		if rng.IntN(3) > 0 {
			l.wild[i] = true
		}
	}
	if rng.IntN(8) == 0 {
		l.sends = []ordering.EffectsMode{ordering.EffectsOff, ordering.EffectsHold}[rng.IntN(2)]
	}
	l.name()
	if only != nil {
		l.keep(only)
	}
	l.number()
	return l
}

func (l *life) drawActs(rng *rand.Rand) {
	within := func(d time.Duration) time.Duration { return time.Duration(rng.IntN(int(d/time.Second))) * time.Second }
	for range 3 + rng.IntN(5) {
		at := within(troubleFor)
		for range 1 + rng.IntN(4)/3 { // EventBridge may start one run twice
			l.acts = append(l.acts, act{at: at, what: sweep})
		}
	}
	for _, what := range []actKind{redriveDLQ, redriveQuarantine, skip, republish, expire} {
		for range rng.IntN(3) {
			l.acts = append(l.acts, act{at: within(troubleFor), what: what})
		}
	}
	for i := range rng.IntN(3) {
		l.poison = append(l.poison, poisons[rng.IntN(len(poisons))](i))
		l.acts = append(l.acts, act{at: within(writesWithin), what: poisoned})
	}
}

// The poisonous messages, by how many of them came before.
var poisons = []func(n int) string{
	func(n int) string { return fmt.Sprintf(`{"this is no JSON %d`, n) },
	func(n int) string {
		return fmt.Sprintf(`{"event_id":"poison-%d","type":"nobody.knows","entity_id":"x","seq":1,"data":{}}`, n)
	},
	func(n int) string {
		return fmt.Sprintf(`{"event_id":"poison-%d","type":"step.poison","entity_id":"x","seq":-1,"data":{}}`, n)
	},
	func(n int) string {
		return fmt.Sprintf(`{"event_id":"poison-%d","type":"whole.poison","seq":1,"data":{}}`, n)
	},
}

// keeps is one element, and how it is left out.
type keeps struct {
	name string
	drop func()
}

// parts are the elements, the large ones first, so that whoever leaves them out one after the other is done soon.
func (l *life) parts() (all []keeps) {
	for _, e := range l.entities {
		all = append(all, keeps{e.name, func() { e.left = true }})
	}
	for i := range l.mishaps {
		all = append(all, keeps{fmt.Sprintf("f%d", i), func() { l.mishaps[i].kind = noMishap }})
	}
	for i := range stretches {
		if l.wild[i] {
			all = append(all, keeps{fmt.Sprintf("w%d", i), func() { delete(l.wild, i) }})
		}
	}
	for i, a := range l.acts {
		if a.fact == nil {
			all = append(all, keeps{fmt.Sprintf("a%d", i), func() { l.acts[i].at = -1 }})
		}
	}
	for _, e := range l.entities {
		for _, f := range e.facts {
			all = append(all, keeps{f.name, func() { f.left = true }})
			for _, q := range f.quirks() {
				all = append(all, keeps{f.name + "." + q.name, q.drop})
			}
		}
	}
	return all
}

func (l *life) name() {
	for _, p := range l.parts() {
		l.elements = append(l.elements, p.name)
	}
}

func (l *life) keep(only []string) {
	kept := map[string]bool{}
	for _, name := range only {
		kept[name] = true
	}
	for _, p := range l.parts() {
		if !kept[p.name] {
			p.drop()
		}
	}
	l.elements = slices.DeleteFunc(l.elements, func(name string) bool { return !kept[name] })
	l.acts = slices.DeleteFunc(l.acts, func(a act) bool { return a.at < 0 || a.fact != nil && (a.fact.left || a.fact.entity.left) })
	l.entities = slices.DeleteFunc(l.entities, func(e *entity) bool {
		e.facts = slices.DeleteFunc(e.facts, func(f *fact) bool { return f.left })
		return e.left || len(e.facts) == 0
	})
	l.poison = l.poison[:min(len(l.poison), count(l.acts, poisoned))]
}

func count(acts []act, what actKind) (n int) {
	for _, a := range acts {
		if a.what == what {
			n++
		}
	}
	return n
}
