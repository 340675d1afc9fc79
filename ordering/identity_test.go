package ordering

import (
	"testing"

	"inorder/events"
)

// A conflict says what tells the two events apart: where both have one id, that it is another source or other content.
func TestAConflictSaysWhatDiffers(t *testing.T) {
	for _, row := range []struct {
		id, source         string // of the event
		holder, holderFrom string
		want               string
	}{
		{"a", "shop", "b", "shop", `event "b"`},
		{"a", "shop", "b", "crm", `event "b"`},
		{"a", "shop", "", "shop", "an event without an id"},
		{"a", "shop", "a", "crm", `an event of the same id from source "crm"; its own is from source "shop"`},
		{"a", "", "a", "crm", `an event of the same id from source "crm"; its own is from no source`},
		{"a", "shop", "a", "shop", "an event of the same id with other content"},
		{"", "shop", "", "shop", "an event without an id and with other content"},
	} {
		e := &events.Event{ID: row.id, Source: row.source}
		tie := atTie(e, Last{EventID: row.holder, Source: row.holderFrom, Fingerprint: "2"})
		if want := "its position is held by " + row.want; tie.Disposition != Conflict || tie.Detail != want {
			t.Errorf("%v: %v: %s, want %s", row, tie.Disposition, tie.Detail, want)
		}
		logged := atRow(e, Row{EventID: row.holder, Source: row.holderFrom, Fingerprint: "2"}, "")
		if want := "its number is taken by " + row.want; logged.Disposition != Conflict || logged.Detail != want {
			t.Errorf("%v: %v: %s, want %s", row, logged.Disposition, logged.Detail, want)
		}
	}
}
