package redrive

import (
	"slices"
	"strings"
	"time"

	"inorder/events"
	"inorder/functions"
)

// filter says which messages are meant. Its zero value takes all.
type filter struct {
	reasons []events.Reason
	stream  string
	entity  string
}

// message is one that was received, and what it says.
type message struct {
	received
	original events.Message // without quarantine's mark
	reason   events.Reason  // why it is in quarantine; empty without a mark
	detail   string         // the same in words
	decoded  []events.Decoded
}

func read(streams *events.Config, r received, now time.Time) message {
	m := message{received: r, original: functions.Unwrap(r.Message)}
	if mark, ok := functions.MarkOf(r.Message); ok {
		m.reason, m.detail = mark.Reason, mark.Detail
	}
	m.decoded = streams.Decode(m.original, now)
	return m
}

func (f filter) takes(m message) bool {
	if len(f.reasons) > 0 && !slices.Contains(f.reasons, m.reason) {
		return false
	}
	if f.stream == "" && f.entity == "" {
		return true
	}
	return slices.ContainsFunc(m.decoded, func(d events.Decoded) bool {
		return (f.stream == "" || d.Stream != nil && d.Stream.Name == f.stream) && (f.entity == "" || d.EntityID == f.entity)
	})
}

// streams are those that its events belong to; several where it holds several records.
func (m message) streams() string {
	var names []string
	for _, d := range m.decoded {
		if d.Stream != nil && !slices.Contains(names, d.Stream.Name) {
			names = append(names, d.Stream.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// example names its entity, where that is known, and says why it is here.
func (m message) example() string {
	var parts []string
	if id := m.entity(); id != "" {
		parts = append(parts, id)
	}
	if m.detail != "" {
		parts = append(parts, m.detail)
	}
	return strings.Join(parts, ": ")
}

// longestID is how many characters of an id tell a person which one it is.
const longestID = 80

func (m message) entity() string {
	for _, d := range m.decoded {
		if id := []rune(d.EntityID); len(id) > longestID {
			return string(id[:longestID]) + "…"
		} else if len(id) > 0 {
			return d.EntityID
		}
	}
	return ""
}

// place is what a message must stay in order with: its entity, or itself where that is not known.
func (m message) place() string {
	for _, d := range m.decoded {
		if d.Stream != nil && d.EntityID != "" {
			return d.Stream.Name + "/" + d.EntityID
		}
	}
	return m.ID
}
