package scenario

import (
	"strings"
	"testing"
)

func parse(t *testing.T, text string) *value {
	t.Helper()
	v, faults := parseDocument([]byte(text))
	if len(faults) > 0 {
		t.Fatalf("%s: %v", text, faults)
	}
	return v
}

// A body is written with every digit of the file's numbers, and in its order.
func TestAnObjectIsWrittenAsJSONWithEveryDigit(t *testing.T) {
	for _, row := range []struct{ yaml, json string }{
		{"{b: 9223372036854775807, a: 90071992547409931234}", `{"b":9223372036854775807,"a":90071992547409931234}`},
		{"{a: 0.10, b: -0.0, c: 1e300, d: 1.5E+3, e: 0.30}", `{"a":0.10,"b":-0.0,"c":1e300,"d":1.5E+3,"e":0.30}`},
		{"{a: .5, b: 1., c: +7, d: 012, e: -.5e1, f: 1.e3}", `{"a":0.5,"b":1,"c":7,"d":12,"e":-0.5e1,"f":1e3}`},
		{"{a: 0x1F, b: 0o17}", `{"a":31,"b":15}`},
		{"{a: ~, b: null, c: , d: True, e: yes, f: 1_000, g: 2026-01-01}", `{"a":null,"b":null,"c":null,"d":true,"e":"yes","f":"1_000","g":"2026-01-01"}`},
		{`{a: "5", b: '5', c: !!str 5}`, `{"a":"5","b":"5","c":"5"}`},
		{`{a: "\uFEFFx\u0000\"\\", "null": <&>}`, `{"a":"` + "\uFEFF" + `x\u0000\"\\","null":"<&>"}`},
		{"{a: &x [1, &y {z: 2}], b: *x, c: *y}", `{"a":[1,{"z":2}],"b":[1,{"z":2}],"c":{"z":2}}`},
		{"base: &b {x: 1, y: 2}\nmore: {y: 3, <<: *b}", `{"base":{"x":1,"y":2},"more":{"y":3,"x":1}}`},
		{"a: |\n  two\n  lines\nb: >-\n  one\n  line", `{"a":"two\nlines\n","b":"one line"}`},
		{"1: a\ntrue: b", `{"1":"a","true":"b"}`},
	} {
		if got := string(parse(t, row.yaml).json(nil)); got != row.json {
			t.Errorf("%s\ngot  %s\nwant %s", row.yaml, got, row.json)
		}
	}
}

func TestWhatIsNoJSONIsAFaultWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: .inf":        "line 2: .inf is no number of JSON",
		"a: 1\n\nb: *nowhere":  "line 3: alias *nowhere has no anchor before it",
		"a: 1\nb: !!binary aa": "line 2: a scenario has no use for the tag !!binary",
		"a: 1\nb: {<<: 5}":     "line 2: << takes a mapping, or a list of them",
	} {
		_, faults := parseDocument([]byte(text))
		if len(faults) != 1 || faults[0].String() != want {
			t.Errorf("%q: %v, want %s", text, faults, want)
		}
	}
}

// Lines that another parser names must be the file's.
func TestFlowStyleKeepsEverythingOnItsLine(t *testing.T) {
	text := "name: x\n\nstreams:\n  # a comment\n  - {a: 1,\n     b: \"two\"}\n  - c: |\n      text\n    d: [1,\n        2]\n"
	var w lineWriter
	parse(t, text).lines(&w)
	again := parse(t, w.String())
	for path, line := range map[string]int{"name": 1, "streams.0.a": 5, "streams.0.b": 6, "streams.1.c": 7, "streams.1.d": 9, "streams.1.d.1": 10} {
		if got := again.lineAt(strings.Split(path, ".")); got != line {
			t.Errorf("%s is on line %d of\n%s\nwant %d", path, got, w.String(), line)
		}
	}
}

// A few lines of aliases come to more than any machine holds: neither is that built, nor a body of what is just small
// enough to be read.
func TestAliasesDoNotMultiplyWithoutEnd(t *testing.T) {
	tenOfTen := func(word string, last byte) string {
		text := "a: &a [" + strings.Repeat(word+", ", 9) + word + "]\n"
		for i := byte('b'); i <= last; i++ {
			before := string(i - 1)
			text += string(i) + ": &" + string(i) + " [" + strings.Repeat("*"+before+", ", 9) + "*" + before + "]\n"
		}
		return text
	}
	_, faults := parseDocument([]byte(tenOfTen("x", 'j')))
	if len(faults) != 1 || faults[0].String() != "line 1: more than 100000 values, its aliases written out" {
		t.Errorf("ten to the tenth values: %v", faults)
	}
	if n := parse(t, tenOfTen(strings.Repeat("x", 1000), 'd')).bytes(maxBodyBytes); n <= maxBodyBytes {
		t.Errorf("ten thousand times a thousand bytes in %d", n)
	}
}
