package events

// record is one event as its envelope shows it, before a stream has judged it.
type record struct {
	shape  shape
	typ    string         // empty where a bare payload names none
	fields map[string]any // the envelope's top level, under the envelope's own names
	data   map[string]any
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
func (r *record) top(name string) (any, bool) {
	if name == "data" {
		return r.data, true
	}
	if v, ok := r.fields[name]; ok {
		return v, true
	}
	if other := r.shape.alias(name); other != "" {
		v, ok := r.fields[other]
		return v, ok
	}
	return nil, false
}

func (r *record) lookup(p Path) (any, bool) {
	if len(p) == 0 {
		return nil, false
	}
	v, ok := r.top(p[0])
	if !ok {
		return nil, false
	}
	return p[1:].within(v)
}

// orderKey finds the order key at the stream's path, or where the envelope has its place for one of that kind.
func (r *record) orderKey(o Order) (any, bool) {
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
	v, _ := r.top(name)
	s, _ := v.(string)
	return s
}
