package run

import (
	"slices"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/terminal"
	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

// keyring collects the entities that messages are about.
type keyring struct {
	consumer string
	known    map[ordering.Key]bool
	inOrder  []ordering.Key
}

func (k *keyring) add(m *message) {
	for _, ending := range m.endings {
		e := ending.decoded.Event
		if e == nil {
			continue
		}
		key := ordering.Key{Consumer: k.consumer, Stream: e.Stream.Name, ID: e.EntityID, PerSource: e.Stream.PerSource}
		if e.Stream.PerSource {
			key.Source = e.Source
		}
		if !k.known[key] && ddb.CheckKey(key) == nil {
			k.known[key] = true
			k.inOrder = append(k.inOrder, key)
		}
	}
}

func entity(streams *events.Config, key ordering.Key, e *ordering.Entity) Entity {
	stream := streams.Stream(key.Stream)
	out := Entity{
		Stream: key.Stream, EntityID: key.ID, Source: key.Source,
		Absent: e.Absent(), Applied: applied(stream, e), State: backend.StateJSON(e.State),
		Waiting: e.Waiting.Above(e.Applied), Missing: missing(stream, e), Blocked: e.Blocked,
	}
	return out
}

// applied is how far an entity has come: its cursor, or its newest clock.
func applied(s *events.Stream, e *ordering.Entity) string {
	switch {
	case !e.Exists || s.Order.By == events.ByNone:
		return ""
	case s.Mode != events.State:
		return terminal.OrderKey(s, events.SeqClock(e.Gen, e.Effective()))
	}
	newest := e.Clock
	for _, clock := range e.Clocks {
		newest = max(newest, clock)
	}
	return terminal.OrderKey(s, newest)
}

// missing lists the numbers between the cursor and the highest known one that nobody has seen.
func missing(s *events.Stream, e *ordering.Entity) (gaps [][2]int64) {
	if s.Mode == events.State {
		return nil
	}
	at := e.Effective()
	known := slices.Concat(e.Waiting.Above(at), e.Ahead.Above(at))
	if e.MaxSeen > at && !slices.Contains(known, e.MaxSeen) {
		known = append(known, e.MaxSeen+1) // beyond the window: known by its number, and not here
	}
	slices.Sort(known)
	for _, n := range known {
		if n > at+1 {
			gaps = append(gaps, [2]int64{at + 1, n - 1})
		}
		at = n
	}
	return gaps
}
