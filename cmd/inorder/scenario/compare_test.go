package scenario

import (
	"testing"

	"inorder/events"
)

// Numbers are compared as exact decimals, and a string is no number.
func TestStatesAreCompared(t *testing.T) {
	state := map[string]any{
		"n": events.Number("0.30"), "big": events.Number("9007199254740993"), "s": "0.3", "none": nil, "yes": true,
		"list": []any{events.Number("1"), map[string]any{"a": nil}},
	}
	for _, row := range []struct {
		want string
		same bool
	}{
		{`{n: 0.3, big: 9007199254740993, s: "0.3", none: null, yes: true, list: [1.0, {a: ~}]}`, true},
		{`{n: 3e-1, big: 9007199254740993.0, s: "0.3", none: null, yes: true, list: [1, {a: null}]}`, true},
		{`{n: "0.30", big: 9007199254740993, s: "0.3", none: null, yes: true, list: [1, {a: null}]}`, false},
		{`{n: 0.3, big: 9007199254740992, s: "0.3", none: null, yes: true, list: [1, {a: null}]}`, false},
		{`{n: 0.3, big: 9007199254740993, s: 0.3, none: null, yes: true, list: [1, {a: null}]}`, false},
		{`{n: 0.3, big: 9007199254740993, s: "0.3", yes: true, list: [1, {a: null}]}`, false},
		{`{n: 0.3, big: 9007199254740993, s: "0.3", none: null, yes: "true", list: [1, {a: null}]}`, false},
		{`{n: 0.3, big: 9007199254740993, s: "0.3", none: null, yes: true, list: [{a: null}, 1]}`, false},
		{`{n: 0.3, big: 9007199254740993, s: "0.3", none: null, yes: true, list: [1]}`, false},
		{`{n: 0.3, big: 9007199254740993, s: "0.3", none: null, yes: true, list: [1, {b: null}]}`, false},
	} {
		if got := same(parse(t, row.want), state); got != row.same {
			t.Errorf("%s: %v", row.want, got)
		}
	}
}

func TestRangesOfNumbers(t *testing.T) {
	for _, n := range numbers(parse(t, "{a: 3, b: {ge: 3}, c: {le: 3}, d: {ge: 2, le: 4}}")) {
		for got, holds := range map[string]bool{
			"1": n.name == "c", "3": true, "4": n.name == "b" || n.name == "d", "5": n.name == "b", "3.00": true,
		} {
			if n.holds(decimal(got)) != holds {
				t.Errorf("%s is %s: %v", got, n, !holds)
			}
		}
	}
}
