package explore

import (
	"fmt"
	"slices"
	"strings"
)

// transcript tells how a state is reached, from the beginning: who does what, hears what, and what the store holds then.
func (x *explorer) transcript(at uint32, last ...choice) []string {
	way := slices.Clone(last)
	for ; at != 0; at = x.parents[at].from {
		way = append(way, x.parents[at].choice)
	}
	slices.Reverse(way)
	s := x.begin()
	names := [maxSlots]string{}
	for i := range names {
		names[i] = x.nameOf(i)
	}
	var lines []string
	for i, message := range x.Messages {
		lines = append(lines, fmt.Sprintf("   m%d is %s", i, message.name()))
	}
	if held := x.shown(s.content); held != "nothing" {
		lines = append(lines, "   the store at first: "+held)
	}
	for i, c := range way {
		what := x.does(&s, c, names[c.slot])
		held := s.content
		x.heardBy(func() { x.happen(&s, c) }, &what)
		if s.content != held {
			what += "; the store: " + x.shown(s.content)
		}
		lines = append(lines, fmt.Sprintf("%2d %s", i+1, what))
		moved, before := s.sort(x.Consumers, x.Sweepers), names
		for to, from := range moved {
			names[to] = before[from]
		}
	}
	return lines
}

// heardBy adds to a line what is heard while something happens.
func (x *explorer) heardBy(happens func(), line *string) {
	x.tells = func(what string) { *line += what }
	defer func() { x.tells = nil }()
	happens()
}

func (a answer) text() string {
	return [...]string{noFailure: "", lostRace: ": lost, somebody else wrote", rowTaken: ": taken", noAnswer: ": no answer", throttled: ": throttled", contended: ": contended"}[a.failure]
}

func (x *explorer) nameOf(slot int) string {
	switch {
	case slot < x.Consumers:
		return fmt.Sprint("consumer ", slot+1)
	case slot < x.Consumers+x.Sweepers:
		return fmt.Sprint("sweeper ", slot+1-x.Consumers)
	default:
		return "operator"
	}
}

func (x *explorer) does(s *state, c choice, who string) string {
	verb := func() string { return x.requests[x.known[s.slots[c.slot].history].request].verb() }
	switch c.kind {
	case taking, takingNew:
		from := "cold"
		if cache := s.slots[c.slot].cache; c.kind == taking && cache != 0 {
			e := x.entities[cache]
			from = fmt.Sprintf("has cached cursor %d.%d%s", e.Gen, e.Applied, aside(e))
		}
		return fmt.Sprintf("%s takes %s (%s)", who, x.taken(s, c), from)
	case sweeping:
		return who + " begins"
	case skipping:
		return fmt.Sprintf("%s orders to skip through %d", who, x.Skips[c.of])
	case working:
		return who + " " + verb()
	case dying:
		return fmt.Sprintf("%s dies, before it %s", who, verb())
	case answerLost:
		return fmt.Sprintf("%s %s, and the answer is lost", who, verb())
	case failing:
		return fmt.Sprintf("%s fails, when it %s", who, verb())
	case throttling, contending:
		return who + " " + verb()
	case retrying:
		return fmt.Sprintf("%s %s, twice", who, verb())
	case comingAgain:
		return fmt.Sprintf("m%d comes again", c.of)
	case republishing:
		return fmt.Sprintf("the relay sends m%d", c.of)
	case arriving:
		return fmt.Sprintf("m%d arrives", c.of)
	case redriving:
		return fmt.Sprintf("m%d is redriven from quarantine", c.of)
	case passing:
		return fmt.Sprintf("it is %s later", x.instant[s.clock+1].Sub(x.instant[s.clock]))
	case deleting:
		row := x.all[s.content].rows[c.of]
		return fmt.Sprintf("the TTL deletes row %d.%d", row.Gen, row.Seq)
	}
	return "?"
}

func (x *explorer) taken(s *state, c choice) string {
	if c.of == everything {
		return "all: " + x.batchText(s.queue)
	}
	var names []string
	for i := range x.Messages {
		if c.of>>i&1 == 1 {
			names = append(names, fmt.Sprint("m", i))
		}
	}
	return strings.Join(names, ", ")
}
