package events

import (
	"strings"
	"time"
)

// Decode turns a message into the events it holds: one, or several where an S3 notification has several records. There is
// always at least one element. It never panics on what a message holds, and depends on nothing but its arguments.
func (c *Config) Decode(m Message, now time.Time) []Decoded {
	l, refusal := openWrappers(m)
	if refusal != nil {
		return []Decoded{{Refusal: *refusal}}
	}
	var stack [1]record
	records, refusal := recognise(stack[:0], l)
	if refusal != nil {
		return []Decoded{{Refusal: *refusal}}
	}
	out := make([]Decoded, len(records))
	for i := range records {
		out[i] = c.judge(&records[i], now)
	}
	return out
}

// judge finds the stream of a record and makes an event of it.
func (c *Config) judge(r *record, now time.Time) Decoded {
	to, e, refusal := c.event(r, now)
	if refusal != nil {
		return refused(r, to, refusal)
	}
	return Decoded{Event: e, Stream: e.Stream, Pattern: e.Pattern, EventID: e.ID, Source: e.Source, EntityID: e.EntityID}
}

func (c *Config) event(r *record, now time.Time) (route, *Event, *Refusal) {
	if isControl(r.typ) {
		return c.control(r)
	}
	to, refusal := c.route(r)
	if refusal != nil {
		return to, nil, refusal
	}
	e, refusal := to.event(r, now)
	return to, e, refusal
}

// refused tells of a record what its log line can.
func refused(r *record, to route, refusal *Refusal) Decoded {
	d := Decoded{
		Refusal: *refusal, Stream: to.stream, Pattern: to.pattern,
		EventID: shown(r.top("event_id")), Source: shown(r.top("source")), EntityID: shown(r.top("entity_id")),
	}
	if to.stream != nil && !isControl(r.typ) {
		d.EntityID = shown(r.lookup(to.stream.Entity))
	}
	return d
}

// shown is an id where it can be read at all.
func shown(v Value) string {
	id, _ := identifier(v)
	return id
}

func (c *Config) route(r *record) (route, *Refusal) {
	if r.shape == storage && r.typ == "" {
		return route{}, refuse(NotAnEvent, "a record without an eventName")
	}
	if r.shape == payload {
		if to, ok := c.routes.findBare(r); ok {
			return to, nil
		}
		return route{}, refuse(NotAnEvent, "no known envelope, and no stream for * finds its entity and its order key in it")
	}
	if to, ok := c.routes.find(r.typ); ok {
		return to, nil
	}
	return route{}, refuse(NoRoute, "no stream takes its type, %.80q", r.typ)
}

// event checks what a stream needs of its events, in this order: entity, order key, identity.
func (to route) event(r *record, now time.Time) (*Event, *Refusal) {
	s := to.stream
	entityID, ok := identifier(r.lookup(s.Entity))
	if !ok {
		return nil, refuse(NoEntityID, "no entity id at %s: a string that is not blank, or an integer", s.Entity)
	}
	o, refusal := s.readOrder(r)
	if refusal != nil {
		return nil, refusal
	}
	id, source, refusal := s.identity(r)
	if refusal != nil {
		return nil, refusal
	}
	if s.Order.By == ByTime {
		if o.instant.After(now.Add(s.MaxFuture)) {
			return nil, refuse(FutureTime, "its time is more than %s ahead", s.MaxFuture)
		}
		o.clock = timeClock(o.clock, id, source)
	}
	published, _ := parseInstant(r.text("published_at")) // it only dates the event: what does not parse is as good as absent
	return &Event{
		Stream: s, Pattern: to.pattern, ID: id, Source: source, Type: r.typ, EntityID: entityID,
		Generation: o.generation, Seq: o.seq, Clock: o.clock, PublishedAt: published,
		Ignored: to.list == ignored, Tombstone: to.list == tombstone,
		Content: r.data, rec: *r,
	}, nil
}

// identity reads the event id and the source, unique together. Where a number and no marker tells events apart, the number
// is identity enough, and an id that is absent, null, empty or blank may stay so.
func (s *Stream) identity(r *record) (id, source string, refusal *Refusal) {
	source, ok := sourceOf(r)
	if !ok {
		return "", "", refuse(BadEventID, "its source is neither a string nor an integer, so its id is nobody's")
	}
	v := r.top("event_id")
	if id, ok := identifier(v); ok {
		return id, source, nil
	}
	if _, isText := v.Text(); !isText && !v.IsNull() {
		return "", "", refuse(BadEventID, "an event id must be a string or an integer")
	}
	if s.Order.By != BySeq || s.Marker {
		return "", "", refuse(BadEventID, "no event id, and nothing else tells it from its copies")
	}
	return "", source, nil
}

// sourceOf reads the producer's name, byte for byte; absent and null are the nameless one. A bare payload has no envelope,
// so what it calls source may be anything.
func sourceOf(r *record) (string, bool) {
	v := r.top("source")
	if name, ok := v.Text(); ok || v.IsNull() {
		return name, true
	}
	id, ok := identifier(v)
	return id, ok || r.shape == payload
}

// identifier reads an id: a string that is not blank, byte for byte, or an integer, by its digits.
func identifier(v Value) (string, bool) {
	switch v.form {
	case formText:
		return v.text, strings.TrimSpace(v.text) != ""
	case formNumber:
		digits := strings.TrimPrefix(v.text, "-")
		for i := range len(digits) {
			if !isDigit(digits[i]) {
				return "", false
			}
		}
		if digits == "0" {
			return "0", true // JSON's -0 too
		}
		return v.text, true
	case formNone, formNull, formTrue, formFalse, formArray, formObject:
	}
	return "", false
}
