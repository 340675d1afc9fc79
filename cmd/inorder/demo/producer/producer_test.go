package producer

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// A seed fixes everything: a day that went wrong can be played again.
func TestSeedFixesTheDay(t *testing.T) {
	a, b := Generate(7, 600), Generate(7, 600)
	if !reflect.DeepEqual(a, b) {
		t.Error("two days of one seed differ")
	}
	if reflect.DeepEqual(a.Arrivals, Generate(8, 600).Arrivals) {
		t.Error("two seeds make one day")
	}
}

// The number that is asked for is the number that happens, at every size.
func TestCountsAddUp(t *testing.T) {
	for _, n := range []int{10, 99, 1000, 4321} {
		d := Generate(uint64(n), n)
		if len(d.Events) != n {
			t.Errorf("asked for %d events, got %d", n, len(d.Events))
		}
		if got, want := len(d.Arrivals), n-d.Lost+d.Copies+d.Poison; got != want {
			t.Errorf("%d events: %d arrivals, want %d", n, got, want)
		}
	}
}

// What an entity should end with is its events in the producer's order, each once.
func TestMeaningIsTheProducersOrder(t *testing.T) {
	d := Generate(3, 2000)
	states, last, at := map[string]map[string]any{}, map[string]int{}, map[string]time.Time{}
	for _, e := range d.Events {
		key := e.Stream + "/" + e.Entity
		if e.Rank != last[key]+1 || !e.At.After(at[key]) {
			t.Fatalf("%s: event %d at %v comes after event %d at %v", key, e.Rank, e.At, last[key], at[key])
		}
		last[key], at[key], states[key] = e.Rank, e.At, e.Apply(states[key])
	}
	for _, m := range d.Meant {
		key := m.Stream + "/" + m.Entity
		if !reflect.DeepEqual(m.State, states[key]) {
			t.Errorf("%s should end with %v, meant %v", key, states[key], m.State)
		}
		if m.Stream != Webhook && m.Last != int64(last[key]) {
			t.Errorf("%s ends at number %d, meant %d", key, last[key], m.Last)
		}
		if want := map[bool]int{true: last[key]}[m.Stream == Wallet]; len(m.Effects) != want {
			t.Errorf("%s has %d effects, want %d", key, len(m.Effects), want)
		}
	}
}

// The story that this project is for: the upgrade arrives last and the customer stays downgraded.
func TestStaysDowngraded(t *testing.T) {
	d := Generate(1, 1000)
	var plans []string
	for _, a := range d.Arrivals {
		if a.Event != nil && a.Event.Entity == "sub_0001" {
			plans = append(plans, a.Event.Data["plan"].(string))
		}
	}
	if got := strings.Join(plans, " "); !strings.HasSuffix(got, "basic pro") {
		t.Errorf("arrivals: %s", got)
	}
	if m := d.Meant[0]; m.Entity != "sub_0001" || m.State["plan"] != "basic" {
		t.Errorf("meant: %+v", m)
	}
}

// Events really overtake each other, in every stream.
func TestArrivalsAreShuffled(t *testing.T) {
	overtaken, highest := map[string]int{}, map[string]int{}
	for _, a := range Generate(1, 3000).Arrivals {
		if e := a.Event; e != nil {
			key := e.Stream + "/" + e.Entity
			if e.Rank < highest[key] {
				overtaken[e.Stream]++
			}
			highest[key] = max(highest[key], e.Rank)
		}
	}
	for _, stream := range []string{Subscription, Ledger, Wallet, Seats, Webhook} {
		if overtaken[stream] < 20 {
			t.Errorf("%s: only %d events were overtaken", stream, overtaken[stream])
		}
	}
}

// Every kind of poison is in every day, and only what is meant to be broken is no JSON.
func TestPoison(t *testing.T) {
	d := Generate(5, 100)
	reasons := map[string]int{}
	for _, a := range d.Arrivals {
		if valid := json.Valid([]byte(a.Body)); valid == (a.Reason == "not_json") {
			t.Errorf("%s, poison by %q, is JSON: %v", a.ID, a.Reason, valid)
		}
		if a.Event == nil {
			reasons[a.Reason]++
		}
	}
	for _, p := range poisons {
		if reasons[p.reason] == 0 {
			t.Errorf("no message for %s", p.reason)
		}
	}
}

// What is lost never arrives, no copy of it either; it has a number, and it is the last of its entity now and then.
func TestLosses(t *testing.T) {
	d := Generate(1, 3000)
	last := map[string]int{}
	for _, e := range d.Events {
		last[e.Stream+"/"+e.Entity] = e.Rank
	}
	lost, lasts, again := 0, 0, 0
	for _, e := range d.Events {
		if e.Lost == 0 {
			continue
		}
		lost++
		if e.Seq == 0 {
			t.Errorf("%s of %s is lost, and nobody could miss it", e.ID, e.Stream)
		}
		if e.Rank == last[e.Stream+"/"+e.Entity] {
			lasts++
		}
		if e.Lost > 1 {
			again++
		}
	}
	if lost != d.Lost || lost < 30 || lasts < 5 || again < 2 {
		t.Errorf("%d lost (it says %d), %d of them the last, %d lost again", lost, d.Lost, lasts, again)
	}
	for _, a := range d.Arrivals {
		if a.Event != nil && a.Event.Lost > 0 {
			t.Errorf("%s is lost and arrives", a.ID)
		}
	}
	if wrong := d.StayWrong(); wrong < lasts || wrong > lost {
		t.Errorf("%d entities stay wrong where %d events are lost, %d of them the last", wrong, lost, lasts)
	}
}

// Sums are exact: no cent is lost to a float.
func TestAddIsExact(t *testing.T) {
	for _, tt := range []struct {
		sum, amount any
		want        json.Number
	}{
		{nil, "12.50", "12.5"},
		{json.Number("0.1"), json.Number("0.2"), "0.3"},
		{json.Number("12.5"), "-12.50", "0"},
		{json.Number("100"), json.Number("-0.01"), "99.99"},
		{json.Number("90"), json.Number("10"), "100"},
		{json.Number("9007199254740993"), "1", "9007199254740994"},
	} {
		if got := add(tt.sum, tt.amount); got != tt.want {
			t.Errorf("%v + %v = %v, want %v", tt.sum, tt.amount, got, tt.want)
		}
	}
}
