package soak

import (
	"math/big"
	"strings"
	"testing"
)

// all plays a plan to its end: what the queue gets, and the rows.
func all(p *Producer) (messages []Message, rows []Row) {
	for {
		some, more := p.Next(100)
		if messages, rows = append(messages, some...), append(rows, more...); len(some) == 0 {
			return messages, rows
		}
	}
}

// asMeant is what must be stored.
func (p *Producer) asMeant() map[string]Item {
	stored := map[string]Item{}
	for stream, entities := range p.entities {
		for _, e := range entities {
			if e.seq > 0 {
				stored[Consumer+"/"+stream+"/"+e.id] = Item{State: e.state, Applied: e.seq}
			}
		}
	}
	return stored
}

// The same plan says the same, and brings everything but what is lost: each event once or twice, none in the order in which it was
// said.
func TestTheProducer(t *testing.T) {
	plan := Plan{Seed: 3, Events: 8000, Chain: true}
	p, again := NewProducer(plan), NewProducer(plan)
	messages, rows := all(p)
	if same, _ := all(again); len(same) != len(messages) || same[1000] != messages[1000] {
		t.Error("the same plan says something else")
	}
	sent := p.Sent()
	if len(messages) != sent.Events-sent.Lost+sent.Copies+sent.Marks+len(sent.Poison) || len(messages) != sent.Messages {
		t.Errorf("%d messages: %+v", len(messages), sent)
	}
	if sent.Lost == 0 || sent.Copies == 0 || sent.Marks == 0 || len(sent.Poison) == 0 || len(rows) < 5*sent.Lost {
		t.Errorf("too little of something, and %d rows: %+v", len(rows), sent)
	}
	came := map[string]int{}
	for _, m := range messages {
		came[m.Body]++
	}
	lost := 0
	for _, r := range rows {
		if came[r.Body] == 0 {
			lost++
		}
	}
	if lost != sent.Lost {
		t.Errorf("%d rows were not sent, and %d were lost", lost, sent.Lost)
	}
}

// Whatever is otherwise than it was meant is found.
func TestTheJudge(t *testing.T) {
	p := NewProducer(Plan{Seed: 3, Events: 5000})
	all(p)
	if f := p.Judge(p.asMeant()).String(); f != "" {
		t.Fatal(f)
	}
	const seats, journal = "soak/seats/seats-0", "soak/journal/journal-1"
	for what, change := range map[string]func(map[string]Item){
		"is stored, and nobody": func(stored map[string]Item) { stored["soak/seats/seats-none"] = Item{} },
		"the state is map[]":    func(stored map[string]Item) { delete(stored, seats) },
		"and 1/2 was meant":     func(stored map[string]Item) { p.entities["seats"][0].state = map[string]string{"seats": number("0.5")} },
		"journal-1: the cursor": func(stored map[string]Item) { i := stored[journal]; i.Applied--; stored[journal] = i },
		"seats-0: the sweeper":  func(stored map[string]Item) { i := stored[seats]; i.Open = true; stored[seats] = i },
		"journal-1: the state is": func(stored map[string]Item) {
			i := stored[journal]
			i.State = map[string]string{"t1": whole(7)}
			stored[journal] = i
		},
	} {
		stored := p.asMeant()
		change(stored)
		if f := p.Judge(stored).String(); !strings.Contains(strings.ReplaceAll(f, "map[seats:1/2]", "1/2"), what) {
			t.Errorf("%q is not in %q", what, f)
		}
	}
}

// An effect that is missing, comes again or too early is found.
func TestTheJudgeOfEffects(t *testing.T) {
	p := NewProducer(Plan{Seed: 3, Events: 5000})
	all(p)
	e := p.entities["ledger"][0]
	e.effect = numbers{}
	for _, n := range []int64{1, 2, 4} {
		e.effect.add(n)
	}
	for _, other := range p.entities["ledger"][1:] {
		other.effect = numbers{}
	}
	for came, right := range map[string]bool{"124": true, "12": false, "1224": false, "142": false, "134": false, "": false} {
		var r Effects
		for _, n := range came {
			r.Take(Effect{"ledger", e.id, int64(n - '0')})
		}
		if f := p.JudgeEffects(&r).String(); (f == "") != right {
			t.Errorf("%s: %s", came, f)
		}
	}
}

// Poison that is missing, or there because of something else, and what is no poison, is found.
func TestTheJudgeOfQuarantine(t *testing.T) {
	sent := Sent{Poison: map[string]string{"a": "not_json"}}
	for _, row := range []struct {
		got   map[string]string
		right bool
	}{
		{map[string]string{"a": "not_json"}, true},
		{map[string]string{}, false},
		{map[string]string{"a": "no_route"}, false},
		{map[string]string{"a": "not_json", "b": "conflict"}, false},
	} {
		var f Faults
		f.Poison(row.got, sent)
		if (f.String() == "") != row.right {
			t.Errorf("%v: %s", row.got, &f)
		}
	}
}

// Every link depends on all before it.
func TestAChainTellsItsOrder(t *testing.T) {
	if Link(Link("", "a"), "b") == Link(Link("", "b"), "a") {
		t.Error("the order makes no difference")
	}
}

// Amounts are exact, whatever their sign.
func TestHundredths(t *testing.T) {
	for n, want := range map[int64]string{0: "0.00", 5: "0.05", -5: "-0.05", 123: "1.23", -1999: "-19.99"} {
		got := hundredths(n)
		if r, ok := new(big.Rat).SetString(got); !ok || got != want || r.Cmp(big.NewRat(n, 100)) != 0 {
			t.Errorf("%d: %s", n, got)
		}
	}
}
