package events

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzOrderKeys holds the readers of order keys to what they are for: clocks sort as what they were made of, and two
// different ones are never the same.
func FuzzOrderKeys(f *testing.F) {
	f.Add("2026-03-01T12:00:00Z", "2026-03-01t13:00:00.000000001+01:00", int64(1), int64(2))
	f.Add("0055AED6", "0055aed600", int64(9_999_999_999), int64(maxSeq))
	f.Add(`a|b\`, `a`, int64(-1), int64(0))
	f.Add("9223372036854775807", "09223372036854775808", int64(0), int64(1))
	f.Add("14d", "47h59m1.5s", int64(7), int64(7))
	f.Fuzz(func(t *testing.T, a, b string, m, n int64) {
		checkInstants(t, a, b)
		checkHexKeys(t, a, b)
		checkTies(t, a, b)
		checkSeqs(t, m, n)
		checkDigits(t, a)
		checkDuration(t, a)
	})
}

func checkInstants(t *testing.T, a, b string) {
	t.Helper()
	first, ok := parseInstant(a)
	if !ok {
		return
	}
	if byGo, err := time.Parse(time.RFC3339Nano, strings.ToUpper(a)); err != nil || !byGo.Equal(first) {
		t.Fatalf("%s is %s, and to Go %s, %v", a, first, byGo, err)
	}
	if again, ok := parseInstant(FormatInstant(first)); !ok || !again.Equal(first) {
		t.Fatalf("%s is written as %s", a, FormatInstant(first))
	}
	if second, ok := parseInstant(b); ok && first.Compare(second) != cmp.Compare(FormatInstant(first), FormatInstant(second)) {
		t.Fatalf("%s and %s do not sort as their texts do", a, b)
	}
}

// checkHexKeys compares as S3 says: the shorter one padded with zeros on its right.
func checkHexKeys(t *testing.T, a, b string) {
	t.Helper()
	first, wrong1 := readHexKey(textValue(a))
	second, wrong2 := readHexKey(textValue(b))
	if wrong1 != "" || wrong2 != "" {
		return
	}
	width := max(len(a), len(b))
	pad := func(s string) string { return strings.ToLower(s) + strings.Repeat("0", width-len(s)) }
	if cmp.Compare(first, second) != cmp.Compare(pad(a), pad(b)) {
		t.Fatalf("%s and %s sort as %s and %s", a, b, first, second)
	}
}

// checkTies: of two pairs of id and source no two share a clock.
func checkTies(t *testing.T, a, b string) {
	t.Helper()
	whole := a + "|" + b
	for at := range len(whole) {
		if whole[at] == '|' && (whole[:at] != a) && timeClock("t", a, b) == timeClock("t", whole[:at], whole[at+1:]) {
			t.Fatalf("%q of %q and %q of %q share a clock", a, b, whole[:at], whole[at+1:])
		}
	}
}

func checkSeqs(t *testing.T, m, n int64) {
	t.Helper()
	m, n = max(m, 0), max(n, 0)
	generation := min(m, n) % (maxGeneration + 1)
	first, second := SeqClock(generation, m), SeqClock(generation, n)
	if cmp.Compare(first, second) != cmp.Compare(m, n) {
		t.Fatalf("%d and %d sort as %s and %s", m, n, first, second)
	}
	if g, seq, ok := ParseSeqClock(first); !ok || g != generation || seq != m {
		t.Fatalf("%s is read as %d.%d", first, g, seq)
	}
}

// checkDigits: an integer is what the digits say, or none.
func checkDigits(t *testing.T, s string) {
	t.Helper()
	got, ok := parseDigits(s, maxSeq)
	plain := s != "" && strings.Trim(s, "0123456789") == ""
	want, _ := new(big.Int).SetString(s, 10)
	if ok != (plain && want.IsInt64()) || ok && got != want.Int64() {
		t.Fatalf("%q is read as %d, %t", s, got, ok)
	}
}

// checkDuration: what both we and Go read is as long.
func checkDuration(t *testing.T, s string) {
	t.Helper()
	got, err := ParseDuration(s)
	if err != nil {
		return
	}
	if want, err := time.ParseDuration(s); err == nil && (got-want).Abs() > time.Duration(strings.Count(s, ".")) {
		t.Fatalf("%q is %s, and to Go %s", s, got, want)
	}
	if got < 0 {
		t.Fatalf("%q is %s", s, got)
	}
}

// FuzzControl: a void event or a mark that a relay writes is read as it was meant, its ranges in order and joined; and a
// request for numbers is what it was.
func FuzzControl(f *testing.F) {
	f.Add("a1", "", int64(0), int64(3), int64(1), int64(9), int64(2), int64(5), "expired")
	f.Add(" ", "eu", int64(10_000_000_000), int64(maxSeq), int64(maxSeq), int64(maxSeq), int64(1), int64(0), "never_existed")
	c := mustParse(f, "consumer: c\nstreams:\n  - {name: s, types: [A], mode: step, per_source: true}\n")
	f.Fuzz(func(t *testing.T, entity, source string, generation, a, b, x, y, z int64, reason string) {
		ranges := []Range{{a, b}, {x, y}, {z % 8, z % 32}, {b, x}}
		ranges = ranges[:1+uint64(z)%4]
		void := VoidEvent{VoidType, "s", entity, source, generation, ranges, VoidReason(reason)}
		d := c.Decode(asMessage(t, void), decodeNow)[0]
		checkDecoded(t, d)
		valid := !slices.ContainsFunc(ranges, func(r Range) bool { return r.First < 1 || r.Last < r.First })
		known := void.Reason == Expired || void.Reason == NeverExisted
		if d.Event == nil && valid && known && generation >= 0 && generation <= maxGeneration && strings.TrimSpace(entity) != "" {
			t.Fatalf("refused: %+v", d.Refusal)
		}
		if e := d.Event; e != nil && (!valid || !slices.Equal(e.Ranges, JoinRanges(ranges)) || e.Generation != generation || e.VoidReason != void.Reason) {
			t.Fatalf("%+v of %+v", e, void)
		}
		checkJoined(t, ranges)
		mark := MarkEvent{MarkType, "s", entity, source, generation, a}
		if d := c.Decode(asMessage(t, mark), decodeNow)[0]; d.Event != nil && (d.Event.Kind != Mark || d.Event.Seq != a || d.Event.Generation != generation) {
			t.Fatalf("%+v of %+v", d.Event, mark)
		}
		checkRequest(t, RepublishRequest{"c", "s", entity, source, generation, ranges, int(z), "now"}, valid)
	})
}

func asMessage(t *testing.T, v any) Message {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return Message{Body: string(body)}
}

// checkJoined: joined ranges hold the same numbers, of those around their ends.
func checkJoined(t *testing.T, ranges []Range) {
	t.Helper()
	for _, r := range ranges {
		if r.First < 1 || r.Last < r.First {
			return
		}
	}
	holds := func(in []Range, n int64) bool {
		return slices.ContainsFunc(in, func(r Range) bool { return r.First <= n && n <= r.Last })
	}
	joined := JoinRanges(ranges)
	for _, r := range slices.Concat(ranges, joined) {
		for _, n := range []int64{r.First - 1, r.First, r.Last, r.Last + 1} {
			if holds(ranges, n) != holds(joined, n) {
				t.Fatalf("%d is in %v, or in %v, and not in both", n, ranges, joined)
			}
		}
	}
}

func checkRequest(t *testing.T, request RepublishRequest, valid bool) {
	t.Helper()
	body := asMessage(t, request).Body
	var again RepublishRequest
	err := json.Unmarshal([]byte(body), &again)
	if (err == nil) != valid {
		t.Fatalf("%s: %v", body, err)
	}
	if err == nil && !slices.Equal(again.Ranges, request.Ranges) {
		t.Fatalf("%s is read as %+v", body, again)
	}
}
