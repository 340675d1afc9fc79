package events

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// jsonValue draws any JSON value.
func jsonValue() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.Just[any](nil),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.SampledFrom([]string{"", "a", "b", "0", "n", "é", "\x00", "{", "a\"b"}), func(s string) any { return s }),
		rapid.Map(rapid.SampledFrom([]string{"0", "1", "1.0", "10", "1e0", "-1"}), func(s string) any { return Number(s) }),
		rapid.Map(rapid.SliceOfN(rapid.Deferred(jsonValue), 0, 3), func(a []any) any { return a }),
		rapid.Map(jsonObject(), func(m map[string]any) any { return m }),
	)
}

func jsonObject() *rapid.Generator[map[string]any] {
	return rapid.MapOfN(rapid.SampledFrom([]string{"", "a", "b", "aa", "s\x01a"}), rapid.Deferred(jsonValue), 0, 3)
}

func TestKeyOrderAndWhiteSpaceDoNotChangeAFingerprint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := jsonObject().Draw(t, "data")
		read, refusal := readJSON(scrambled(t, data))
		if refusal != nil || !reflect.DeepEqual(read.Any(), any(data)) {
			t.Fatalf("%v, %v", read, refusal)
		}
		if Fingerprint("T", read.object()) != Fingerprint("T", ObjectOf(data)) {
			t.Fatal("another fingerprint")
		}
	})
}

// scrambled writes a value as JSON with its names in any order, white space anywhere, and some letters as escapes.
func scrambled(t *rapid.T, v any) string {
	space := func() string { return rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "space") }
	switch v := v.(type) {
	case string:
		return space() + quoted(v, rapid.Bool().Draw(t, "escape"))
	case Number:
		return space() + string(v) + space()
	case []any:
		parts := make([]string, len(v))
		for i, element := range v {
			parts[i] = scrambled(t, element)
		}
		return space() + "[" + strings.Join(parts, ",") + space() + "]"
	case map[string]any:
		var parts []string
		for name, member := range v {
			parts = append(parts, space()+quoted(name, rapid.Bool().Draw(t, "escape"))+space()+":"+scrambled(t, member))
		}
		slices.Sort(parts)
		if len(parts) > 1 {
			parts = rapid.Permutation(parts).Draw(t, "order")
		}
		return space() + "{" + strings.Join(parts, ",") + space() + "}" + space()
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

func quoted(s string, escape bool) string {
	var b strings.Builder
	for _, r := range s {
		if escape || r < ' ' || r == '"' || r == '\\' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

func TestDifferentContentHasADifferentCanonicalForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := jsonObject().Draw(t, "a"), jsonObject().Draw(t, "b")
		typeA, typeB := rapid.SampledFrom([]string{"", "T", "TU"}).Draw(t, "ta"), rapid.SampledFrom([]string{"", "T", "TU"}).Draw(t, "tb")
		same := typeA == typeB && reflect.DeepEqual(a, b)
		if got := Fingerprint(typeA, ObjectOf(a)) == Fingerprint(typeB, ObjectOf(b)); got != same {
			t.Fatalf("same fingerprint: %t, same content: %t", got, same)
		}
	})
}

func TestAFingerprintStaysWhatItIs(t *testing.T) {
	data := map[string]any{"plan": "basic", "price": Number("1.50"), "tags": []any{nil, true}}
	if got, want := Fingerprint("PlanChanged", ObjectOf(data)), "SXjdepVA58o8OloZAQz5VQ"; got != want {
		t.Errorf("%s: stored ones would all look like other content", got)
	}
	data["price"] = Number("1.5")
	if Fingerprint("PlanChanged", ObjectOf(data)) == "SXjdepVA58o8OloZAQz5VQ" {
		t.Error("numbers count by their text")
	}
}

func TestAFingerprintOfManyNamesIsOfAllOfThem(t *testing.T) {
	a, b := map[string]any{}, map[string]any{}
	for i := range 100 {
		a[strconv.Itoa(i)], b[strconv.Itoa(i)] = "x", "x"
	}
	b["99"] = "y"
	if Fingerprint("T", ObjectOf(a)) == Fingerprint("T", ObjectOf(b)) {
		t.Error("the last name does not count")
	}
}
