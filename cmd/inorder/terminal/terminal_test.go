package terminal

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// No text of a stranger makes a terminal do anything, and an escape shows which character it was.
func TestNothingThatATerminalObeysIsPrinted(t *testing.T) {
	for text, want := range map[string]string{
		"a/ü 漢":           "a/ü 漢",
		"\x1b[2J":         `\u001b[2J`,
		"a\nb\tc\r":       `a\u000ab\u0009c\u000d`,
		"\u009b31m":       `\u009b31m`,
		"a\u202eb":        `a\u202eb`,
		"\xff":            `\xff`,
		"\U000e0001":      `\U000e0001`,
		"":                "",
		"the sign \ufffd": "the sign \ufffd",
	} {
		if got := Escape(text); got != want {
			t.Errorf("%q is shown as %s, want %s", text, got, want)
		}
	}
}

// JSON on a terminal is harmless and still means the same.
func TestJSONIsEscapedAndStaysTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := map[string]string{"a": rapid.String().Draw(t, "text")}
		var b bytes.Buffer
		if err := JSON(&b, in); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && !printable(r) }); i >= 0 {
			t.Fatalf("%q is printed as it is", b.String()[i:])
		}
		var out map[string]string
		if err := json.Unmarshal(b.Bytes(), &out); err != nil || out["a"] != in["a"] {
			t.Fatalf("%q became %q: %v", in["a"], out["a"], err)
		}
	})
}

// A table never is wider than the terminal as long as its columns can be shortened, whatever the letters.
func TestATableFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.StringOfN(rapid.RuneFrom([]rune("aü漢👍🏽 \x1b")), 0, 60, -1)
		table := Table{Titles: []string{"one", "other", "third"}, Width: rapid.IntRange(40, 100).Draw(t, "width"), Indent: "  "}
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			table.Rows = append(table.Rows, []string{cell.Draw(t, "1"), cell.Draw(t, "2"), cell.Draw(t, "3")})
		}
		var b bytes.Buffer
		table.Write(&b)
		for line := range strings.Lines(b.String()) {
			if got := Columns(strings.TrimRight(line, "\n")); got > table.Width {
				t.Fatalf("%d columns of %d: %s", got, table.Width, line)
			}
		}
	})
}

func TestAges(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0 seconds", 0: "0 seconds", 1500 * time.Millisecond: "1 second", 59 * time.Second: "59 seconds",
		5 * time.Minute: "5 minutes", 2*time.Hour + 5*time.Minute: "2 hours 5 minutes", time.Hour: "1 hour",
		25 * time.Hour: "1 day 1 hour", 72 * time.Hour: "3 days",
	} {
		if got := Age(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	if got := ShortAge(25*time.Hour) + ", " + ShortAge(125*time.Minute) + ", " + ShortAge(time.Second); got != "1 d 1 h, 2 h 5 min, 1 s" {
		t.Error(got)
	}
	now := time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC)
	if got := When(now.Add(time.Minute), now) + "; " + When(now.Add(-time.Minute), now); got !=
		"2026-02-01T10:01:00Z, in 1 minute; 2026-02-01T09:59:00Z, 1 minute ago" {
		t.Error(got)
	}
}
