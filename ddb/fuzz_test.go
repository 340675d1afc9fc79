package ddb

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ordering"
)

// FuzzStored: what is kept in a form of our own comes back as it was, sorts as it should, and what somebody else wrote in
// its place is an error, never a panic or another value.
func FuzzStored(f *testing.F) {
	f.Add([]byte("\x00\x01\x09\x00\x02\x00\x00\x03"), "7,9-11", int64(7), int64(0))
	f.Add([]byte("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\xff"), "-1-5", int64(1<<62), int64(9_999_999_999))
	f.Add([]byte{}, strings.Repeat("\xff", 40), int64(0), int64(1))
	f.Add([]byte("{}"), strings.Repeat("long ", 400), int64(3), int64(1))
	f.Fuzz(func(t *testing.T, raw []byte, s string, seq, gen int64) {
		cursor := seq & (1<<62 - 1)
		checkWaiting(t, cursor, raw)
		checkRanges(t, s)
		checkPacked(t, s)
		checkRowKeys(t, gen&(1<<33-1), cursor, int64(len(raw)))
		if read, err := unzip(raw); err == nil && len(read) > maxUnpacked {
			t.Fatalf("%d bytes", len(read))
		}
	})
}

func checkWaiting(t *testing.T, cursor int64, raw []byte) {
	t.Helper()
	if numbers, err := decodeWaiting(cursor, raw); err == nil && len(numbers) > 0 && (numbers[0] <= cursor || !slices.IsSorted(numbers)) {
		t.Fatalf("%v above %d", numbers, cursor)
	}
	var numbers ordering.Numbers // steps of up to 64 Ki, out of the raw bytes
	at := cursor
	for ; len(raw) >= 2 && len(numbers) < 50; raw = raw[2:] {
		at += 1 + int64(binary.LittleEndian.Uint16(raw))
		numbers = append(numbers, at)
	}
	encoded, err := encodeWaiting(cursor, numbers)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := decodeWaiting(cursor, encoded); err != nil || !slices.Equal(again, numbers) {
		t.Fatalf("%v is read back as %v, %v", numbers, again, err)
	}
}

func checkRanges(t *testing.T, s string) {
	t.Helper()
	ranges, err := decodeRanges(s)
	if err != nil || slices.ContainsFunc(ranges, func(r ordering.Range) bool { return r.First < 0 || r.Last < 0 }) {
		return // no such ranges are written
	}
	if again, err := decodeRanges(encodeRanges(ranges)); err != nil || !slices.Equal(again, ranges) {
		t.Fatalf("%v is written as %s", ranges, encodeRanges(ranges))
	}
}

func checkPacked(t *testing.T, s string) {
	t.Helper()
	packed, err := pack(s)
	if err != nil {
		t.Fatal(err)
	}
	r := &itemReader{item: item{"m": packed}}
	if _, isText := packed.(*types.AttributeValueMemberS); r.packed("m") != s || r.err != nil || !isText && len(s) < packFrom && strings.ToValidUTF8(s, "") == s {
		t.Fatalf("%q comes back as %q, %v", s, r.packed("m"), r.err)
	}
}

func checkRowKeys(t *testing.T, gen, seq, more int64) {
	t.Helper()
	sk := rowSK(gen, seq)
	if g, n, err := parseRowSK(sk); err != nil && gen <= MaxGeneration || err == nil && (g != gen || n != seq) {
		t.Fatalf("%s is read as %d.%d, %v", sk, g, n, err)
	}
	if gen <= MaxGeneration && cmp.Compare(sk, rowSK(gen, seq+more)) != cmp.Compare(0, more) {
		t.Fatalf("%s does not sort before number %d", sk, seq+more)
	}
}
