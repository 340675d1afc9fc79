package events

// record is one event as its envelope shows it, before a stream has judged it.
type record struct {
	shape  shape
	typ    string // empty where a bare payload names none
	fields Object // the envelope's top level, under the envelope's own names
	data   Object
}

// shape is which envelope an event came in.
type shape int

const (
	ownShape   shape = iota // the project's own, webhooks included
	cloudEvent              // CloudEvents 1.0, structured or binary
	storage                 // one record of an S3 notification
	payload                 // none of these: whatever a stream for "*" can make of it
)

// alias is what the shape calls one of the event's own names, where that differs.
func (s shape) alias(name string) string {
	switch s {
	case ownShape: // a webhook's names stand in only where the own ones are absent
		switch name {
		case "event_id":
			return "id"
		case "published_at":
			return "created_at"
		}
	case cloudEvent:
		switch name {
		case "event_id":
			return "id"
		case "entity_id":
			return "subject"
		case "seq":
			return "sequence"
		case "published_at":
			return "time"
		}
	case storage, payload: // decoded under the own names, or under none
	}
	return ""
}

// top finds a name at the top level of the decoded event.
func (r *record) top(name string) Value {
	if name == "data" {
		return Value{form: formObject, inner: r.data}
	}
	v := r.fields.Find(name)
	if other := r.shape.alias(name); other != "" && !v.Exists() {
		return r.fields.Find(other)
	}
	return v
}

func (r *record) lookup(p Path) Value {
	if len(p) == 0 {
		return Value{}
	}
	return p[1:].within(r.top(p[0]))
}

// orderKey finds the order key at the stream's path, or where the envelope has its place for one of that kind.
func (r *record) orderKey(o Order) Value {
	if len(o.Path) > 0 {
		return r.lookup(o.Path)
	}
	return r.top(r.orderPlace(o))
}

func (r *record) orderPlace(o Order) string {
	switch {
	case len(o.Path) > 0:
		return o.Path.String()
	case o.By == ByTime:
		return "published_at"
	case o.By == ByHex && r.shape == storage:
		return "sequencer"
	}
	return "seq"
}

// text is a name's value at top level where it is a string, else empty.
func (r *record) text(name string) string {
	s, _ := r.top(name).Text()
	return s
}
