package events

import "testing"

// A snapshot's order key is the clock that an event with it would have; a time without an event id is the lowest of its
// instant, so that no event of that instant is taken for old.
func TestASnapshotsClockIsAnEvents(t *testing.T) {
	const at = "2026-02-01T10:00:00+01:00"
	for _, row := range []struct {
		by       OrderBy
		key      any
		id, want string
	}{
		{ByTime, at, "e1", "2026-02-01T09:00:00.000000000Z|e1|crm"},
		{ByTime, at, "", "2026-02-01T09:00:00.000000000Z|"},
		{ByTime, "yesterday", "", ""},
		{ByText, "v7", "", "v7"},
		{ByText, "", "", ""},
		{ByHex, "00AF00", "", "00af"},
		{ByHex, "xyz", "", ""},
		{BySeq, "7", "", ""},
	} {
		s := &Stream{Order: Order{By: row.by}}
		got, err := s.ReadClock(row.key, row.id, "crm")
		if got != row.want || (err != nil) != (row.want == "") {
			t.Errorf("by %s %v: %q, %v, want %q", row.by, row.key, got, err, row.want)
		}
	}
	s := &Stream{Order: Order{By: ByTime}}
	lowest, _ := s.ReadClock(at, "", "")
	if event := timeClock("2026-02-01T09:00:00.000000000Z", "!", ""); lowest >= event {
		t.Errorf("%q is not below %q", lowest, event)
	}
}

func TestASnapshotsObjectIsReadStrictly(t *testing.T) {
	for text, ok := range map[string]bool{`{"a":1}`: true, `{"a":1,"a":2}`: false, `[]`: false, `{} {}`: false, ``: false} {
		if _, err := ReadObject(text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
