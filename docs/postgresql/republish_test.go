//go:build unix

package postgresql_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"inorder/events"
)

// life is a random history of one entity, and what was asked about it.
type life struct {
	bodies  map[int64]string // of the rows that are left
	head    int64
	proven  int64 // a number above it without a row never existed; head where nothing can be proved
	request events.RepublishRequest
}

func drawRanges(t *rapid.T, upTo int64) []events.Range {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) events.Range {
		first := rapid.Int64Range(1, upTo).Draw(t, "first")
		return events.Range{First: first, Last: rapid.Int64Range(first, upTo).Draw(t, "last")}
	}), 1, 5).Draw(t, "ranges")
}

// check compares the answer with the model, number by number.
func (l life) check(t *rapid.T, a answered) {
	var sent []int64
	want := map[events.VoidReason][]int64{}
	for n := int64(1); n <= l.head; n++ {
		body, kept := l.bodies[n]
		switch {
		case !slices.ContainsFunc(l.request.Ranges, func(r events.Range) bool { return r.First <= n && n <= r.Last }):
		case kept:
			sent = append(sent, n)
			if a.bodies[n] != body {
				t.Fatalf("number %d is sent as %s, first it was %s", n, a.bodies[n], body)
			}
		case n > l.proven:
			want[events.NeverExisted] = append(want[events.NeverExisted], n)
		default:
			want[events.Expired] = append(want[events.Expired], n)
		}
	}
	if !slices.Equal(a.sent, sent) {
		t.Fatalf("sent %v instead of %v", a.sent, sent)
	}
	for _, reason := range []events.VoidReason{events.NeverExisted, events.Expired} {
		if !slices.Equal(a.void[reason], merged(want[reason])) {
			t.Fatalf("%s: %v instead of %v", reason, a.void[reason], want[reason])
		}
	}
}

func merged(numbers []int64) []events.Range {
	var out []events.Range
	for _, n := range numbers {
		if last := len(out) - 1; last >= 0 && out[last].Last == n-1 {
			out[last].Last = n
		} else {
			out = append(out, events.Range{First: n, Last: n})
		}
	}
	return out
}

// Every number that is asked for is answered once: by its row, byte for byte, or as expired, or, above the head, not at
// all. Nothing that was numbered with the row is ever said not to have existed.
func TestARequestIsAnsweredNumberByNumber(t *testing.T) {
	db := newDatabase(t, schemaSQL)
	var lives atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		id := fmt.Sprintf("s%d", lives.Add(1))
		l := life{bodies: map[int64]string{}}
		l.head = rapid.Int64Range(0, 12).Draw(rt, "head")
		l.proven = l.head
		for i := range l.head {
			mustWrite(rt, db, id, fmt.Sprintf("p%d", i))
			mustWrite(rt, db, id+"'s neighbour", "p")
		}
		gone := rapid.SliceOfDistinct(rapid.Int64Range(1, 12), rapid.ID).Draw(rt, "gone")
		run(rt, db, `DELETE FROM outbox WHERE entity_id = $1 AND seq = ANY ($2)`, id, gone)
		for _, body := range column[string](rt, db, `SELECT body FROM outbox WHERE entity_id = $1`, id) {
			l.bodies[decode(rt, body).Seq] = body
		}
		l.request = request(id, drawRanges(rt, 15)...)
		l.check(rt, answer(rt, db, l.request))
	})
}

// What became of the business row does not matter as long as there is a row of the outbox above.
func TestADeletedSubscriptionIsAnswered(t *testing.T) {
	db := newDatabase(t, schemaSQL)
	for range 3 {
		mustWrite(t, db, "s1", "p")
	}
	run(t, db, `DELETE FROM subscription`)
	run(t, db, `DELETE FROM outbox WHERE seq = 2`)
	a := answer(t, db, request("s1", events.Range{First: 1, Last: 9}))
	if !slices.Equal(a.sent, []int64{1, 3}) || !slices.Equal(a.void[events.Expired], []events.Range{{First: 2, Last: 2}}) {
		t.Errorf("answered: %+v", a)
	}
}
