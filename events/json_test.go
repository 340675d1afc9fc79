package events

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestJSONIsReadStrictly(t *testing.T) {
	for _, text := range []string{
		``, ` `, `hello`, `NaN`, `0x10`, `'a'`, `{`, `{"a":1`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{,}`, `{1:2}`, `[1,]`, `[1 2]`, `[,1]`,
		`{"a":1} {}`, `{}{}`, `{}}`, `1 2`, `01`, `+1`, `.5`, `1.`, `1e`, `-`, `nul`, `True`, `"`, `"\x"`, `"\ud800"`, `"\udc00\ud800"`,
		"\"a\nb\"", "\"a\x00\"", "\"\xe9\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\xff\xfe{\x00}\x00",
		`{"a":1,"a":1}`, `{"a":{"b":1,"b":2}}`, `[{"a":1,"\u0061":2}]`,
		byteOrderMark, byteOrderMark + byteOrderMark + `{}`, `{}` + byteOrderMark, ` ` + byteOrderMark + `{}`, "{}\u00a0",
	} {
		if v, refusal := readJSON(text); refusal == nil || refusal.Reason != NotJSON {
			t.Errorf("%q: %v, %v", text, v, refusal)
		}
	}
}

func TestWhatIsJSONIsReadWhole(t *testing.T) {
	for text, want := range map[string]any{
		byteOrderMark + `{}`:                     map[string]any{},
		"\t\r\n [ ] ":                            []any{},
		`null`:                                   nil,
		`[true,false,null]`:                      []any{true, false, nil},
		`{"a":1,"A":2}`:                          map[string]any{"a": Number("1"), "A": Number("2")},
		`{"":{"x":[{}]}}`:                        map[string]any{"": map[string]any{"x": []any{map[string]any{}}}},
		`"\u00e9\ud83d\ude00\n\/\\"`:             "é😀\n/\\",
		`{"\u0061\n":"plain"}`:                   map[string]any{"a\n": "plain"},
		`"` + byteOrderMark + `x"`:               byteOrderMark + "x",
		`12345678901234567890.123456789012e-400`: Number("12345678901234567890.123456789012e-400"),
		`[-0, 1.0, 1E+2]`:                        []any{Number("-0"), Number("1.0"), Number("1E+2")},
	} {
		got, refusal := readJSON(text)
		if refusal != nil || !reflect.DeepEqual(got.Any(), want) {
			t.Errorf("%s: %#v, %v", text, got, refusal)
		}
	}
}

func TestDepthHasALimitForAnyText(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Reason // empty: it is taken
	}{
		{"a thousand levels", nested("[", 1000, "]"), ""},
		{"a thousand objects", nested(`{"a":`, 1000, "}", `1`), ""},
		{"one more", nested("[", 1001, "]"), TooDeep},
		{"one more object", nested(`{"a":`, 1001, "}", `1`), TooDeep},
		{"deeper than the library's own limit", nested("[", 12_000, "]"), TooDeep},
		{"never closed", strings.Repeat("[", 100_000), TooDeep},
		{"never closed objects", strings.Repeat(`{"a":`, 100_000), TooDeep},
		{"broken before it gets deep", `[1 2` + strings.Repeat("[", 2000), NotJSON},
		{"broken where it is shallow", nested("[", 900, "]") + "]", NotJSON},
	} {
		_, refusal := readJSON(c.text)
		if got := reasonOf(refusal); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// nested is so many openings around an innermost text.
func nested(open string, levels int, end string, inner ...string) string {
	return strings.Repeat(open, levels) + strings.Join(inner, "") + strings.Repeat(end, levels)
}

func reasonOf(r *Refusal) Reason {
	if r == nil {
		return ""
	}
	return r.Reason
}

// A name is all that a detail may show of an event, and a long one is cut.
func TestTheDetailOfARefusalHoldsNoData(t *testing.T) {
	for _, text := range []string{
		`{"secret":"hunter2","secret":"hunter2"}`, `{"a":"hunter2`, `{"a":"hunter2" "b"}`, `{"a":hunter2}`, `hunter2`,
		`{"a":"hunter2\q"}`, `{"` + strings.Repeat("n", 5000) + `":1,"` + strings.Repeat("n", 5000) + `":1}`,
	} {
		_, refusal := readJSON(text)
		if strings.Contains(refusal.Detail, "hunter2") || len(refusal.Detail) > maxDetail+len("…") {
			t.Errorf("%.60s: %s", text, refusal.Detail)
		}
	}
}

// A reader that is used again must not know the text before.
func TestAReaderOfJSONKeepsNothing(t *testing.T) {
	for range 50 {
		if v, _ := readJSON(`{"name":"first","\u006eame2":"x"}`); v.object().Get("name") != "first" {
			t.Fatal(v)
		}
		if _, refusal := readJSON(`{"name":`); refusal == nil {
			t.Fatal("taken")
		}
		if v, _ := readJSON(`{"name":"second"}`); v.object().Get("name") != "second" {
			t.Fatal(v)
		}
	}
}

// Whatever number of names an object has, each is found, and no other.
func TestEachNameOfAnObjectIsFound(t *testing.T) {
	for _, members := range []int{0, 1, fewMembers, fewMembers + 1, 1000} {
		var text strings.Builder
		for i := range members {
			fmt.Fprintf(&text, `,"n%d":%d`, members-i, members-i)
		}
		v, refusal := readJSON("{" + strings.TrimPrefix(text.String(), ",") + "}")
		if refusal != nil || len(v.Inside()) != members {
			t.Fatal(members, refusal)
		}
		for _, o := range []Object{v.object(), ObjectOf(v.object().Map())} {
			for i := range members + 2 {
				got, want := o.Get(fmt.Sprint("n", i)), any(Number(fmt.Sprint(i)))
				if i == 0 || i > members {
					want = nil
				}
				if got != want {
					t.Errorf("%d of %d: %v", i, members, got)
				}
			}
		}
	}
}
