package events

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzJSON holds the reader of JSON against two others. What it takes encoding/json takes, too, for the same value with the
// same digits. What it refuses is too deep, or is refused by jsontext's own check of RFC 7493.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,-0,1e5,"\u00e9\ud83d\ude00",null,true,{"b":{}}]}`, `{"a":1,"\u0061":2}`, `"\ud800"`, `[12345678901234567890.10]`,
		"\ufeff{}", `{"":{"":[[]]}} `, "\"\xff\"", `[1 2]`, nested("[", 40, "]"), `{"a":"x\ny","a\n":"\\"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, refusal := readJSON(text)
		text = strings.TrimPrefix(text, byteOrderMark)
		switch {
		case refusal == nil:
			if want := byTheStandardLibrary(t, text); !reflect.DeepEqual(got.Any(), want) {
				t.Fatalf("%#v, and encoding/json reads %#v", got.Any(), want)
			}
		case refusal.Reason == TooDeep:
			if strings.Count(text, "[")+strings.Count(text, "{") <= maxDepth {
				t.Fatalf("%+v", refusal)
			}
		case refusal.Reason != NotJSON || jsontext.Value(text).IsValid():
			t.Fatalf("refused: %+v", refusal)
		}
	})
}

// byTheStandardLibrary is the value with our numbers.
func byTheStandardLibrary(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return withNumbers(v)
}

func withNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return Number(v)
	case []any:
		for i := range v {
			v[i] = withNumbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = withNumbers(v[name])
		}
	}
	return v
}
