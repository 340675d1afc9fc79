package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"inorder/events"
	"inorder/ordering"
)

func row(seq int64) ordering.Row {
	id := fmt.Sprint("e", seq)
	return ordering.Row{
		Seq: seq, EventID: id, Source: "shop", Fingerprint: "f-" + id, Type: "Changed",
		ReceivedAt: start.Add(time.Nanosecond), Record: 1, ExpiresAt: start.Add(time.Hour),
		Message: events.Message{
			ID: "m-" + id, Body: `{"event_id": "` + id + `"}`, ReceivedAt: start.Add(time.Nanosecond), ReceiveCount: 2,
		},
	}
}

// putRow puts a row that is free. A client that got no answer in time has tried again, and then finds its own.
func (s *suite) putRow(key ordering.Key, r ordering.Row) {
	s.Helper()
	err := s.store.PutRow(s.ctx, key, r)
	if taken := (*ordering.TakenError)(nil); errors.As(err, &taken) && sameRow(taken.Row, r) {
		return
	}
	s.ok(err)
}

// rows fails the test at once unless these are the rows of a range.
func (s *suite) rows(key ordering.Key, gen, first, last int64, want ...ordering.Row) {
	s.Helper()
	got, err := s.store.Rows(s.ctx, key, gen, first, last)
	s.ok(err)
	if len(got) != len(want) {
		s.Fatalf("%d rows from %d to %d, want %d", len(got), first, last, len(want))
	}
	for i := range want {
		if !sameRow(got[i], want[i]) {
			s.Fatalf("row %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
}

func rowFree(s *suite) {
	key, first := s.key(), row(7)
	s.putRow(key, first)
	other := row(7)
	other.EventID = "other"
	if there := s.taken(s.store.PutRow(s.ctx, key, other)); !sameRow(there, first) {
		s.Fatalf("the number is held by %+v, want %+v", there, first)
	}
	s.rows(key, 0, 1, 9, first)

	void := ordering.Row{Seq: 8, Void: "never_existed", EventID: "void", ReceivedAt: start, ExpiresAt: start.Add(time.Hour)}
	s.putRow(key, void)
	s.rows(key, 0, 8, 8, void)
}

func rowExact(s *suite) {
	key := s.key()
	for i, body := range []string{
		"", "x", "{\"b\" : 1,\n\t\"a\":1.0, \"a\\u00e9\": \"é\"}", "\x00\x01\xff\xfe not UTF-8", "\ufeff{}",
		strings.Repeat(`{"compresses": "well"} `, 5000), noise(5000), strings.Repeat("\xff", 5000),
		strings.Repeat("x", 1023), strings.Repeat("x", 1024), strings.Repeat("[", 900) + strings.Repeat("]", 900),
	} {
		r := row(int64(i) + 1)
		r.Message.Body = body
		r.Message.Attributes = map[string]events.Attribute{
			"text": {Type: "String", Text: "a <b> & é"}, "number": {Type: "Number.int", Text: "1.50"},
			"binary": {Type: "Binary", Binary: []byte{0, 255, 1}}, "empty": {Type: "Binary.x", Binary: []byte{}},
		}
		if i%2 == 1 {
			r.Message.Attributes["long"] = events.Attribute{Type: "String", Text: strings.Repeat("attribute ", 1000)}
		}
		s.putRow(key, r)
		s.rows(key, 0, r.Seq, r.Seq, r)
	}
}

// noise is a text that does not compress.
func noise(n int) string {
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(' ' + random.IntN(94))
	}
	return string(b)
}

func rowsInOrder(s *suite) {
	key := s.key()
	numbers := []int64{10, 9, 1, 100, 1<<63 - 1, 2}
	for _, n := range numbers {
		s.putRow(key, row(n))
	}
	other := row(9)
	other.Gen = 1
	s.putRow(key, other)
	other.Gen = 9_999_999_999
	s.putRow(key, other)
	s.putRow(s.key(), row(3)) // another entity's

	s.rows(key, 0, 1, 1<<63-1, row(1), row(2), row(9), row(10), row(100), row(1<<63-1))
	s.rows(key, 0, 2, 10, row(2), row(9), row(10))
	s.rows(key, 0, 3, 8)
	s.rows(key, 0, 8, 3)
	s.rows(key, 9_999_999_999, 1, 10, other)
	other.Gen = 1
	s.rows(key, 1, 1, 10, other)
}

func rowsPaged(s *suite) {
	key := s.key()
	var want []ordering.Row
	for i := range int64(8) {
		r := row(i + 1)
		r.Message.Body = noise(300_000)
		want = append(want, r)
		s.putRow(key, r)
	}
	s.rows(key, 0, 1, 8, want...)
}

func rowExpired(s *suite) {
	key, r := s.key(), row(7)
	r.ExpiresAt = time.Unix(1, 0).UTC()
	s.putRow(key, r)
	s.rows(key, 0, 1, 9, r)
	if there := s.taken(s.store.PutRow(s.ctx, key, row(7))); !sameRow(there, r) {
		s.Fatalf("the number is held by %+v, want %+v", there, r)
	}
	marker := s.marker()
	marker.ExpiresAt = time.Unix(1, 0).UTC()
	s.ok(s.store.PutMarker(s.ctx, marker))
	s.present(marker, true)
}

func extendRow(s *suite) {
	key, r := s.key(), row(7)
	s.putRow(key, r)
	s.ok(s.store.ExtendRow(s.ctx, key, r, start.Add(2*time.Hour)))
	extended := r
	extended.ExpiresAt = start.Add(2 * time.Hour)
	s.rows(key, 0, 1, 9, extended)

	if there := s.taken(s.store.ExtendRow(s.ctx, key, r, start.Add(3*time.Hour))); !sameRow(there, extended) {
		s.Fatalf("extended by someone else: %+v, want %+v", there, extended)
	}
	other := extended
	other.Fingerprint = "f2"
	s.taken(s.store.ExtendRow(s.ctx, key, other, start.Add(3*time.Hour)))
	s.rows(key, 0, 1, 9, extended)
}

func extendNoRow(s *suite) {
	key := s.key()
	if there := s.taken(s.store.ExtendRow(s.ctx, key, row(7), start.Add(time.Hour))); there.Seq != 0 || there.EventID != "" {
		s.Fatalf("no row is there, and the error tells %+v", there)
	}
	s.rows(key, 0, 1, 9)
}

func parallelRows(s *suite) {
	key := s.key()
	won := s.parallel(8, func(i int) error {
		r := row(7)
		r.EventID = fmt.Sprint("e", i)
		return s.store.PutRow(s.ctx, key, r)
	})
	if won != 1 {
		s.Fatalf("one number was logged %d times", won)
	}
}
