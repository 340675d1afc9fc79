package reconcile

import (
	"testing"

	"pgregory.net/rapid"

	"inorder/events"
	"inorder/ordering"
)

// Numbers are equal by value, to the last digit, and nothing else is a number.
func TestNumbersAreComparedByValue(t *testing.T) {
	for _, row := range []struct {
		a, b any
		same bool
	}{
		{events.Number("1.0"), events.Number("1"), true},
		{events.Number("-0"), events.Number("0"), true},
		{events.Number("1e3"), events.Number("1000"), true},
		{events.Number("0.1"), events.Number("0.10000000000000000000000000000000000001"), false},
		{events.Number("9007199254740993"), events.Number("9007199254740992"), false},
		{events.Number("1"), "1", false},
		{events.Number("1"), true, false},
		{nil, events.Number("0"), false},
		{nil, nil, true},
		{[]any{events.Number("1.0")}, []any{events.Number("1")}, true},
		{[]any{}, map[string]any{}, false},
		{map[string]any{"a": nil}, map[string]any{}, false},
	} {
		if same(row.a, row.b) != row.same || same(row.b, row.a) != row.same {
			t.Errorf("%v and %v: want %v", row.a, row.b, row.same)
		}
	}
}

// A state equals itself, and the two sides differ in the same places whichever way round they are compared.
func TestComparingIsSymmetric(t *testing.T) {
	value := rapid.OneOf(
		rapid.Just(any(nil)), rapid.Just(any(true)), rapid.Just(any("x")), rapid.Just(any(events.Number("1"))),
		rapid.Just(any(events.Number("1.0"))), rapid.Just(any([]any{"x"})), rapid.Just(any(map[string]any{"a": "x"})),
	)
	state := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), value, 0, 3)
	number := rapid.Ptr(rapid.Int64Range(1, 3), true)
	rapid.Check(t, func(t *rapid.T) {
		a := side{exists: rapid.Bool().Draw(t, "a is"), state: state.Draw(t, "a"), applied: number.Draw(t, "a's number")}
		b := side{exists: rapid.Bool().Draw(t, "b is"), state: state.Draw(t, "b"), applied: number.Draw(t, "b's number")}
		if found := compare(ordering.Key{}, a, a); len(found) > 0 {
			t.Fatalf("%+v differs from itself: %+v", a, found)
		}
		one, other := compare(ordering.Key{}, a, b), compare(ordering.Key{}, b, a)
		if len(one) != len(other) {
			t.Fatalf("%+v and %+v: %d mismatches, and %d the other way round", a, b, len(one), len(other))
		}
		for i := range one {
			if one[i].Attribute != other[i].Attribute || string(one[i].Here) != string(other[i].There) {
				t.Fatalf("%+v, and the other way round %+v", one[i], other[i])
			}
		}
	})
}
