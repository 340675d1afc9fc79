package ordering

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"pgregory.net/rapid"

	"inorder/events"
)

// decimals draws the text of decimals, and sometimes of what only looks like one.
func decimals() *rapid.Generator[string] {
	digits := rapid.StringMatching(`[0-9]{1,20}`)
	return rapid.Custom(func(t *rapid.T) string {
		text := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign") + digits.Draw(t, "whole")
		if rapid.Bool().Draw(t, "point") {
			text += "." + digits.Draw(t, "fraction")
		}
		return text + rapid.SampledFrom([]string{"", "", "", "", "e3", "E-7", ".", "-", " ", "x"}).Draw(t, "end")
	})
}

// The short way to read a decimal reads what the library reads, digit by digit, and nothing else.
func TestTheShortWayToReadADecimalIsTheLibrarys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { readsAlike(t, decimals().Draw(t, "text")) })
	for _, text := range []string{"0", "-0", "0.00", "-0.00", "-0.5", "-0.05", "0.50", "-12.30", "007", "-007.10", "999999999999999999", "-0.99999999999999999"} {
		readsAlike(t, text)
	}
	for _, text := range []string{"", "-", ".", ".5", "5.", "-.5", "+1", "--1", "1.2.3", "1e3", "٧", "1_0", "1234567890123456789"} {
		if setShort(new(apd.Decimal), text) {
			t.Errorf("%q is read", text)
		}
	}
}

// readsAlike holds what setShort makes of a text against what the library makes of it.
func readsAlike(t rapid.TB, text string) {
	t.Helper()
	var short apd.Decimal
	if !setShort(&short, text) {
		if len(text) <= shortDigits && !strings.ContainsAny(text, "eE .-x") {
			t.Fatalf("%s is not read the short way", text)
		}
		return
	}
	long, _, err := apd.NewFromString(text)
	if err != nil || !decimalText.MatchString(text) || long.CmpTotal(&short) != 0 && !long.IsZero() || long.Exponent != short.Exponent {
		t.Fatalf("%s: %s, and the library's is %s, %v", text, &short, long, err)
	}
}

// A number is held by the table where its digits and its size fit, whatever way it is written.
func TestTheTableHoldsWhatFits(t *testing.T) {
	nines := strings.Repeat("9", numberDigits)
	for n, want := range map[events.Number]bool{
		"0": true, "-0.0": true, events.Number(nines): true, events.Number("-" + nines): true, events.Number(nines + "0"): true,
		events.Number(nines + "1"): false, events.Number("0." + nines): true, events.Number("1." + nines): false,
		"1E125": true, "1E126": false, "10E125": false, "1E-130": true, "1E-131": false, "10E-131": true, "0E999": true, "1E99999999999": false,
	} {
		if got := holds(n); got != want {
			t.Errorf("%s: %t", n, got)
		}
	}
}

// A tally ends where adding one by one ends, and amounts that cannot be added leave it as it was.
func TestATallyIsTheSumOfWhatWasTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		held := map[string]any{"a": events.Number("1.50"), "text": "here before"}
		sums := tally{state: held}
		want := map[string]*apd.Decimal{"a": apd.New(15, -1)}
		for i := range rapid.IntRange(0, 8).Draw(t, "events") {
			var amounts []amount
			refused := false
			for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "text"}), rapid.ID).Draw(t, "names") {
				cents := rapid.Int64Range(-1_000_000, 1_000_000).Draw(t, "cents")
				amounts = append(amounts, amount{name, *apd.New(cents, -2)})
				refused = refused || name == "text"
			}
			if err := sums.try(amounts); (err != nil) != refused {
				t.Fatalf("event %d: %v", i, err)
			}
			if refused || rapid.Bool().Draw(t, "given up") {
				continue
			}
			sums.take()
			for _, a := range amounts {
				if want[a.name] == nil {
					want[a.name] = new(apd.Decimal)
				}
				if _, err := apd.BaseContext.Add(want[a.name], want[a.name], &a.value); err != nil {
					t.Fatal(err)
				}
			}
		}
		next := sums.next()
		if next["text"] != "here before" || held["a"] != events.Number("1.50") || len(next) != len(want)+1 {
			t.Fatalf("%v, and it was %v", next, held)
		}
		for name, sum := range want {
			got, _, err := apd.NewFromString(fmt.Sprint(next[name]))
			if err != nil || got.Cmp(sum) != 0 {
				t.Fatalf("%s is %v, want %s", name, next[name], sum)
			}
		}
	})
}

// An event that fails leaves nothing behind for the events after it, not even where part of what it sets was looked at: an operator's
// skip passes it and goes on.
func TestAnEventThatFailsSetsNothing(t *testing.T) {
	config := configOf(t, "{name: s, types: [T], mode: step, projection: {sum: {n: data.n}, set: {a: data.a, b: data.b}}}")
	var changes builtIn
	for _, tt := range []struct {
		data  string
		fails bool
	}{
		{`{"n":1}`, false}, {`{"a":"bad","b":1e126}`, true}, {`{"a":"bad","b":"bad","n":"words"}`, true}, {`{"a":"bad","b":"bad","n":9e999}`, true}, {`{"n":2}`, false},
	} {
		m := events.Message{Body: `{"event_id":"e","type":"T","entity_id":"x","seq":1,"data":` + tt.data + `}`}
		err := changes.try(config.Streams[0].Projection, config.Decode(m, someNow)[0].Event)
		if (err != nil) != tt.fails {
			t.Fatalf("%s: %v", tt.data, err)
		}
		if err == nil {
			changes.take()
		}
	}
	if next := changes.next(); len(next) != 1 || next["n"] != events.Number("3") {
		t.Errorf("the state is %v", next)
	}
}
