package storetest

import (
	"maps"
	"slices"
	"time"

	"github.com/cockroachdb/apd/v3"

	"inorder/events"
	"inorder/ordering"
)

// same fails the test at once unless two entities are the same: numbers by their value, instants as instants, and an
// empty list, map or set as none at all where no state tells them apart.
func (s *suite) same(got, want *ordering.Entity) {
	s.Helper()
	if got.Exists != want.Exists || got.Rev != want.Rev || got.Clock != want.Clock {
		s.Fatalf("got exists %t, revision %d, clock %q; want %t, %d, %q", got.Exists, got.Rev, got.Clock, want.Exists, want.Rev, want.Clock)
	}
	s.sameState(got.State, want.State)
	if !sameLast(got.Last, want.Last) {
		s.Fatalf("last event: got %+v, want %+v", got.Last, want.Last)
	}
	s.sameMarks(got, want.StateMarks)
	if got.Token != want.Token {
		s.Fatalf("token %q, want %q", got.Token, want.Token)
	}
	if !sameCursor(got.Cursor, want.Cursor) {
		s.Fatalf("cursor: got %+v, want %+v", got.Cursor, want.Cursor)
	}
}

func (s *suite) sameMarks(got *ordering.Entity, want ordering.StateMarks) {
	s.Helper()
	if got.Clock != want.Clock || !maps.Equal(got.Clocks, want.Clocks) || !maps.Equal(got.Marks, want.Marks) ||
		!sameSet(got.Tombs, want.Tombs) {
		s.Fatalf("got %+v, want %+v", got.StateMarks, want)
	}
}

func (s *suite) sameState(got, want map[string]any) {
	s.Helper()
	if !sameMap(got, want) {
		s.Fatalf("state: got %v, want %v", got, want)
	}
}

func sameMap(a, b map[string]any) bool { return maps.EqualFunc(a, b, sameValue) }

func sameValue(a, b any) bool {
	switch a := a.(type) {
	case events.Number:
		b, ok := b.(events.Number)
		return ok && sameNumber(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameValue)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && sameMap(a, b)
	default:
		return a == b
	}
}

func sameNumber(a, b events.Number) bool {
	x, _, err1 := apd.NewFromString(string(a))
	y, _, err2 := apd.NewFromString(string(b))
	return err1 == nil && err2 == nil && x.Cmp(y) == 0
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func sameLast(a, b ordering.Last) bool {
	if !a.PublishedAt.Equal(b.PublishedAt) || !a.ReceivedAt.Equal(b.ReceivedAt) || !a.AppliedAt.Equal(b.AppliedAt) {
		return false
	}
	return withoutInstants(a) == withoutInstants(b)
}

func withoutInstants(l ordering.Last) ordering.Last {
	l.PublishedAt, l.ReceivedAt, l.AppliedAt = time.Time{}, time.Time{}, time.Time{}
	return l
}

func sameCursor(a, b ordering.Cursor) bool {
	return a.Gen == b.Gen && a.Applied == b.Applied && a.MaxSeen == b.MaxSeen && a.Blocked == b.Blocked &&
		slices.Equal(a.Waiting, b.Waiting) && slices.Equal(a.Ahead, b.Ahead) && slices.Equal(a.Skipped, b.Skipped) &&
		samePosition(a.Dispatched, b.Dispatched) && sameGap(a.Gap, b.Gap) &&
		a.Park.Since.Equal(b.Park.Since) && a.Park.Look.Equal(b.Park.Look) &&
		slices.EqualFunc(a.Shown, b.Shown, sameWitness) && slices.EqualFunc(a.Owed, b.Owed, sameEffect)
}

func samePosition(a, b *ordering.Position) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func sameWitness(a, b ordering.Witness) bool { return a.Seq == b.Seq && a.At.Equal(b.At) }

func sameGap(a, b *ordering.Gap) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Since.Equal(b.Since) && a.Escalations == b.Escalations && a.EscalateAt.Equal(b.EscalateAt)
}

func sameEffect(a, b ordering.Effect) bool {
	sameData := sameValue(a.Data, b.Data)
	a.Data, b.Data = nil, nil
	return sameData && a == b
}

// sameRow compares rows as a store keeps them.
func sameRow(a, b ordering.Row) bool {
	am, bm := a.Message, b.Message
	return a.Gen == b.Gen && a.Seq == b.Seq && a.Void == b.Void && a.EventID == b.EventID && a.Source == b.Source &&
		a.Fingerprint == b.Fingerprint && a.Type == b.Type && a.Record == b.Record &&
		a.ReceivedAt.Equal(b.ReceivedAt) && a.ExpiresAt.Equal(b.ExpiresAt) &&
		am.ID == bm.ID && am.Body == bm.Body && am.ReceiveCount == bm.ReceiveCount &&
		maps.EqualFunc(am.Attributes, bm.Attributes, sameAttribute)
}

func sameAttribute(a, b events.Attribute) bool {
	return a.Type == b.Type && a.Text == b.Text && string(a.Binary) == string(b.Binary)
}
