package events

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestClocksBySeqSortAsTheNumbersDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g1, s1 := drawPosition(t, "a")
		g2, s2 := drawPosition(t, "b")
		byNumber := cmp.Or(cmp.Compare(g1, g2), cmp.Compare(s1, s2))
		if byText := strings.Compare(SeqClock(g1, s1), SeqClock(g2, s2)); byText != byNumber {
			t.Fatalf("%d, not %d", byText, byNumber)
		}
		if g, s, ok := ParseSeqClock(SeqClock(g1, s1)); !ok || g != g1 || s != s1 {
			t.Fatalf("read back as %d %d %t", g, s, ok)
		}
	})
}

func drawPosition(t *rapid.T, label string) (generation, seq int64) {
	return rapid.Int64Range(0, maxGeneration).Draw(t, label+" generation"), rapid.Int64Range(0, maxSeq).Draw(t, label+" seq")
}

func TestAClockBySeqHasOneForm(t *testing.T) {
	if got, want := SeqClock(3, 12), "0000000003.0000000000000000012"; got != want {
		t.Error(got)
	}
	for _, clock := range []string{
		"", "3.12", "0000000003.000000000000000012", "0000000003-0000000000000000012", "000000000a.0000000000000000012",
		"0000000003.9223372036854775808", "+000000003.0000000000000000012", "0000000003.00000000000000000012",
	} {
		if g, s, ok := ParseSeqClock(clock); ok {
			t.Errorf("%q was read as %d %d", clock, g, s)
		}
	}
}

func TestTextsOfInstantsSortAsTheInstantsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawInstant(t, "a"), drawInstant(t, "b")
		if byText := strings.Compare(FormatInstant(a), FormatInstant(b)); byText != a.Compare(b) {
			t.Fatalf("%s, %s: %d", FormatInstant(a), FormatInstant(b), byText)
		}
		for _, layout := range []string{instantLayout, time.RFC3339Nano} {
			zone := time.FixedZone("", 60*rapid.IntRange(-23*60, 23*60).Draw(t, "zone"))
			text := a.In(zone).Format(layout)
			if layout == instantLayout {
				text = FormatInstant(a)
			}
			if back, ok := parseInstant(text); (!ok || !back.Equal(a)) && a.In(zone).Year() >= 0 && a.In(zone).Year() <= 9999 {
				t.Fatalf("%s was read as %v %t", text, back, ok)
			}
		}
	})
}

func drawInstant(t *rapid.T, label string) time.Time {
	first := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
	return time.Unix(rapid.Int64Range(first, last).Draw(t, label), rapid.Int64Range(0, 999_999_999).Draw(t, label+" ns")).UTC()
}

func TestATimeIsRFC3339WithAZone(t *testing.T) {
	for text, want := range map[string]string{
		"2026-05-10T11:00:00Z":                "2026-05-10T11:00:00.000000000Z",
		"2026-05-10T11:00:00.5Z":              "2026-05-10T11:00:00.500000000Z",
		"2026-05-10t11:00:00.123456789z":      "2026-05-10T11:00:00.123456789Z",
		"2026-05-10T16:30:00+05:30":           "2026-05-10T11:00:00.000000000Z",
		"2026-05-10T07:00:01.000000001-04:00": "2026-05-10T11:00:01.000000001Z",
		"2026-05-10T11:00:00-00:00":           "2026-05-10T11:00:00.000000000Z",
		"2024-02-29T23:59:59Z":                "2024-02-29T23:59:59.000000000Z",
		"0000-01-01T00:00:00Z":                "0000-01-01T00:00:00.000000000Z",
		"9999-12-31T23:59:59.999999999Z":      "9999-12-31T23:59:59.999999999Z",
		"2026-01-01T00:30:00+01:00":           "2025-12-31T23:30:00.000000000Z",
	} {
		if got, ok := parseInstant(text); !ok || FormatInstant(got) != want {
			t.Errorf("%s: %s %t", text, FormatInstant(got), ok)
		}
	}
	for _, text := range []string{
		"", "yesterday", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01T00:00Z", "2026-01-01 00:00:00Z", "20260101T000000Z",
		"2026-01-01T00:00:00.Z", "2026-01-01T00:00:00,5Z", "2026-01-01T00:00:00.1234567891Z", "2026-01-01T00:00:00.5",
		"2026-02-30T00:00:00Z", "2025-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-10T00:00:00Z", "2026-01-00T00:00:00Z",
		"2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-06-30T23:59:60Z", "2026-01-01T0:00:00Z", "2026-1-01T00:00:00Z",
		"2026-01-01T00:00:00+0100", "2026-01-01T00:00:00+01", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+01:60",
		"2026-01-01T00:00:00ZZ", " 2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z ", "2026-01-01T00:00:00\u22121:00",
		"+026-01-01T00:00:00Z", "2026-01-01T00:00:0\u0660Z", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "1767225600",
	} {
		if got, ok := parseInstant(text); ok {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// S3: "right pad the shorter value with zeros, and then do a lexicographic comparison".
func TestHexKeysSortAsIfTheShorterWerePaddedWithZeros(t *testing.T) {
	hex := rapid.StringMatching(`[0-9a-fA-F]{1,20}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := hex.Draw(t, "a"), hex.Draw(t, "b")
		if rapid.Bool().Draw(t, "related") {
			b = a + b
		}
		width := max(len(a), len(b))
		want := strings.Compare(padded(a, width), padded(b, width))
		ka, fault := readHexKey(textValue(a))
		kb, _ := readHexKey(textValue(b))
		if fault != "" || ka == "" || strings.Compare(ka, kb) != want {
			t.Fatalf("%s, %s: keys %q, %q %s", a, b, ka, kb, fault)
		}
	})
}

func padded(s string, width int) string {
	return strings.ToLower(s) + strings.Repeat("0", width-len(s))
}

func TestASequenceIsAnIntegerOrItsDigits(t *testing.T) {
	for _, v := range []any{Number("7"), "7", "007", "0000000000000000000000000007"} {
		if n, ok := integer(valueOf(v), maxSeq); !ok || n != 7 {
			t.Errorf("%#v: %d %t", v, n, ok)
		}
	}
	for _, v := range []any{
		nil, true,
		[]any{Number("7")},
		map[string]any{},
		"", " 7", "7 ", "7.0", "+7", "-7", "7e0", "0x7", "seven", "٧",
		Number("7.0"), Number("7e0"), Number("-1"), Number("-0"), Number("9223372036854775808"), "9223372036854775808", "1_000",
	} {
		if n, ok := integer(valueOf(v), maxSeq); ok {
			t.Errorf("%#v was read as %d", v, n)
		}
	}
}

// Two events of one instant end in one order everywhere, and never share a clock unless id and source are the same.
func TestTheTieBreakOfATimeIsInjective(t *testing.T) {
	texts := []string{""}
	for i := 0; len(texts[i]) < 3; i++ {
		texts = append(texts, texts[i]+"a", texts[i]+"|", texts[i]+`\`)
	}
	whose := map[string]string{}
	for _, id := range texts {
		for _, source := range texts {
			clock, pair := timeClock("t", id, source), fmt.Sprintf("%q, %q", id, source)
			if other, taken := whose[clock]; taken {
				t.Fatalf("%s is the clock of %s and of %s", clock, other, pair)
			}
			whose[clock] = pair
		}
	}
	if got := timeClock("2026-05-10T11:00:00.000000000Z", "ev-1", "/door"); got != "2026-05-10T11:00:00.000000000Z|ev-1|/door" {
		t.Error(got)
	}
}
