package demo

import (
	"encoding/json"
	"slices"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/demo/producer"
	"inorder/cmd/inorder/demo/report"
	"inorder/events"
	"inorder/functions"
)

// notice is what the demo's receiver of effects reads of a message.
type notice struct {
	Stream     string `json:"stream"`
	EntityID   string `json:"entity_id"`
	Generation int64  `json:"generation"`
	Seq        int64  `json:"seq"`
	Index      int    `json:"index"`
	EventID    string `json:"event_id"`
}

// notices are the ids of the events that each owner was told about. A receiver gets an effect at least once, and drops
// what it has had: the message names the effect.
func (r *run) notices() (perEntity map[string][]string, unreadable int) {
	perEntity, seen := map[string][]string{}, map[notice]bool{}
	for _, m := range r.queues.Sent(backend.EffectsURL) {
		var n notice
		if err := json.Unmarshal([]byte(m.Body), &n); err != nil {
			unreadable++
			continue
		}
		if !seen[n] {
			seen[n] = true
			key := n.Stream + "/" + n.EntityID
			perEntity[key] = append(perEntity[key], n.EventID)
		}
	}
	return perEntity, unreadable
}

func (r *run) checkNotices() report.Check {
	var f faults
	got, unreadable := r.notices()
	if unreadable > 0 {
		f.add("%d notices cannot be read", unreadable)
	}
	owners, total := 0, 0
	for _, m := range r.day.Meant {
		key := m.Stream + "/" + m.Entity
		if !slices.Equal(got[key], m.Effects) {
			f.add("the owner of %s was told of %d events, meant %d: %s", m.Entity, len(got[key]), len(m.Effects), firstDifference(got[key], m.Effects))
		}
		if len(m.Effects) > 0 {
			owners++
			total += len(m.Effects)
		}
		delete(got, key)
	}
	for key := range got {
		f.add("%s has an owner who was told something that nobody meant", key)
	}
	return f.check("the owners of %s wallets got %s notices, in order and each once", report.Thousands(owners), report.Thousands(total))
}

func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return want[i] + " is missing"
		case i >= len(want):
			return got[i] + " is too much"
		case got[i] != want[i]:
			return got[i] + " instead of " + want[i]
		}
	}
	return "nothing differs"
}

// checkQuarantine asks for a copy of each poisoned message, byte for byte and with its reason, and for no others. An
// invocation that died may have left a copy more.
func (r *run) checkQuarantine() report.Check {
	var f faults
	poison := map[string]*producer.Message{}
	for _, a := range r.day.Arrivals {
		if a.Event == nil {
			poison[a.ID] = a.Message
		}
	}
	copied := map[string]bool{}
	for _, m := range r.queues.Sent(backend.QuarantineURL) {
		if id := judgeCopy(&f, m, poison); id != "" {
			copied[id] = true
		}
	}
	for id, m := range poison {
		if !copied[id] {
			f.add("no copy of %s, which should be there for %s", id, m.Reason)
		}
	}
	return f.check("%s poisoned messages lie in quarantine, unchanged, for their reason; no others",
		report.Thousands(len(poison)))
}

func judgeCopy(f *faults, m events.Message, poison map[string]*producer.Message) (id string) {
	mark, marked := functions.MarkOf(m)
	if !marked {
		f.add("a copy bears no mark")
		return ""
	}
	original, meant := poison[mark.MessageID]
	switch {
	case !meant:
		f.add("%s is in quarantine for %s, and nothing is wrong with it", mark.MessageID, mark.Reason)
	case string(mark.Reason) != original.Reason:
		f.add("%s is in quarantine for %s, meant for %s", mark.MessageID, mark.Reason, original.Reason)
	case functions.Unwrap(m).Body != original.Body:
		f.add("the copy of %s differs from it", mark.MessageID)
	default:
		return mark.MessageID
	}
	return ""
}
