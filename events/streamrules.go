package events

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// order reads where the order key is and how it compares. Each mode can be ordered by some kinds of key only: a park needs
// to know which number is missing, a count needs a number or a marker, and a state without an order is no state.
func (r *streamReader) order(e entry) {
	entries, ok := r.mapping(e.value, "order")
	if !ok {
		return
	}
	if len(entries) == 0 {
		r.fault(e.value, "order must not be empty")
	}
	for _, e := range entries {
		switch e.name {
		case "by":
			r.s.Order.By = OrderBy(r.word(e, string(BySeq), string(ByTime), string(ByText), string(ByHex), string(ByNone)))
			r.checkOrderKind(e)
		case "path":
			r.s.Order.Path = r.path(e.value, "path")
		default:
			r.fault(e.key, "unknown key %q in order%s", e.name, suggestion(e.name, []string{"by", "path"}))
		}
	}
}

func (r *streamReader) checkOrderKind(e entry) {
	switch by := r.s.Order.By; {
	case by == "":
	case r.s.Mode == Step && by != BySeq:
		r.fault(e.value, "a step stream is ordered by seq only: a park needs to know which number is missing")
	case r.s.Mode == Delta && by != BySeq && by != ByNone:
		r.fault(e.value, "a delta stream is ordered by seq or none")
	case r.s.Mode == State && by == ByNone:
		r.fault(e.value, "a state stream needs an order: which of two states is newer?")
	}
}

// owns reads which attributes each source has. An attribute of two sources would have two clocks.
func (r *streamReader) owns(e entry) {
	sources, ok := r.mapping(e.value, "owns")
	if !ok {
		return
	}
	if len(sources) == 0 {
		r.fault(e.value, "owns must not be empty")
	}
	r.s.Owns = make(map[string][]string)
	owner := make(map[string]string)
	for _, source := range sources {
		nodes, _ := r.sequence(source.value, "the attributes of source "+source.name)
		for _, n := range nodes {
			name, ok := r.attribute(n)
			if other, taken := owner[name]; ok && taken {
				r.fault(n, "attribute %s is owned twice, by %s and by %s", name, other, source.name)
			} else if ok {
				owner[name] = source.name
				r.s.Owns[source.name] = append(r.s.Owns[source.name], name)
			}
		}
	}
}

func (r *streamReader) attribute(n ast.Node) (string, bool) {
	name, ok := r.text(n, "the name of an attribute")
	if ok && strings.HasPrefix(name, "_") {
		r.fault(n, "attribute %s: names that start with _ are the bookkeeping's", name)
		return "", false
	}
	return name, ok
}

// projection reads the built-in rules, or the name of a Go function.
func (r *streamReader) projection(e entry) {
	if node, ok := r.plain(e.value).(*ast.StringNode); ok {
		r.namedProjection(e, node.Value)
		return
	}
	entries, ok := r.mapping(e.value, "projection")
	if !ok {
		return
	}
	if len(entries) == 0 {
		r.fault(e.value, "projection must not be empty")
	}
	for _, rule := range entries {
		switch {
		case rule.name == "sum":
			r.s.Projection.Sum = r.fields(rule)
		case rule.name == "set" && r.s.Mode == Delta:
			r.fault(rule.key, "a delta stream knows sum only: what is set depends on the order, which is a step stream's")
		case rule.name == "set":
			r.s.Projection.Set = r.fields(rule)
		default:
			r.fault(rule.key, "unknown key %q in projection%s", rule.name, suggestion(rule.name, []string{"sum", "set"}))
		}
	}
	for _, rule := range entries {
		r.checkSummedAndSet(rule)
	}
}

func (r *streamReader) checkSummedAndSet(rule entry) {
	if rule.name != "set" {
		return
	}
	fields, _ := mappingValues(r.plain(rule.value))
	for _, f := range fields {
		name, _ := keyName(f.Key)
		is := func(f Field) bool { return f.Attribute == name }
		if slices.ContainsFunc(r.s.Projection.Sum, is) && slices.ContainsFunc(r.s.Projection.Set, is) {
			r.fault(f.Key, "attribute %s is both summed and set", name)
		}
	}
}

func (r *streamReader) namedProjection(e entry, name string) {
	switch {
	case r.s.Mode == Delta:
		r.fault(e.value, "a projection in Go needs a step stream: a delta stream knows sum only")
	case !slices.Contains(r.options.Projections, name):
		r.fault(e.value, "no projection %q is registered%s", name, suggestion(name, r.options.Projections))
	}
	r.s.Projection.Name = name
}

// fields are in the order of the attributes' names.
func (r *streamReader) fields(rule entry) []Field {
	entries, ok := r.mapping(rule.value, rule.name)
	if !ok {
		return nil
	}
	if len(entries) == 0 {
		r.fault(rule.value, "%s must not be empty", rule.name)
	}
	fields := make([]Field, 0, len(entries))
	for _, e := range entries {
		if strings.HasPrefix(e.name, "_") || e.name == "" {
			r.fault(e.key, "attribute %q: a name must not be empty, and those that start with _ are the bookkeeping's", e.name)
		}
		if p := r.path(e.value, e.name); p != nil {
			fields = append(fields, Field{e.name, p})
		}
	}
	slices.SortFunc(fields, func(a, b Field) int { return strings.Compare(a.Attribute, b.Attribute) })
	return fields
}

// defaults fills in what the stream does not say.
func (r *streamReader) defaults() {
	s, o := r.s, r.options
	if len(s.Entity) == 0 {
		s.Entity = Path{"entity_id"}
	}
	if s.Order.By == "" {
		s.Order.By = BySeq
	}
	setDefault(&s.GapDeadline, o.GapDeadline, defaultGapDeadline)
	setDefault(&s.GapAttempts, defaultGapAttempts)
	if s.Mode == Delta && s.Order.By == ByNone {
		s.Marker = true
	}
	if s.Marker {
		setDefault(&s.MarkerTTL, minMarkerTTL)
	}
	if s.Mode == State && !r.has("max_future") {
		s.MaxFuture = defaultMaxFuture
	}
	if s.Mode == Step || s.Mode == Delta {
		setDefault(&s.Window, defaultWindow)
	}
	if s.Mode == Step {
		setDefault(&s.ParkTTL, o.ParkTTL, defaultParkTTL)
		setDefault(&s.MaxParkAge, max(s.ParkTTL, defaultMaxParkAge))
	}
}

// setDefault gives a field that is zero the first value that is not.
func setDefault[T comparable](field *T, values ...T) {
	var zero T
	for _, v := range values {
		if *field == zero {
			*field = v
		}
	}
}

// check compares the options with each other.
func (r *streamReader) check() {
	switch r.s.Mode {
	case State:
		r.checkState()
	case Step:
		if r.s.MaxParkAge < r.s.ParkTTL {
			r.fault(r.at["max_park_age"].value, "max_park_age must not be below park_ttl (%s)", r.s.ParkTTL)
		}
	case Delta:
		r.checkDelta()
	}
}

func (r *streamReader) checkState() {
	r.require("clock")
	owns, hasOwns := r.at["owns"]
	switch {
	case r.s.Clock == ClockSource && !hasOwns:
		r.fault(r.at["clock"].key, "clock: source needs owns: which attributes are whose?")
	case r.s.Clock != ClockSource && r.s.Clock != "" && hasOwns:
		r.fault(owns.key, "owns goes with clock: source only")
	}
	if ttl, ok := r.at["marker_ttl"]; ok && !r.has("dedup") {
		r.fault(ttl.key, "marker_ttl goes with markers (dedup: marker)")
	}
}

func (r *streamReader) checkDelta() {
	r.require("projection")
	if r.has("projection") && r.s.Projection.Sum == nil && r.s.Projection.Name == "" {
		r.fault(r.at["projection"].value, "a delta stream needs a sum")
	}
	if r.s.Order.By == ByNone {
		for _, name := range []string{"window", "ignore", "gap_deadline", "gap_attempts", "on_expired"} {
			if e, ok := r.at[name]; ok {
				r.fault(e.key, "%s needs a sequence, and this stream is ordered by none", name)
			}
		}
	} else if ttl, ok := r.at["marker_ttl"]; ok {
		r.fault(ttl.key, "marker_ttl goes with markers: a delta stream with a sequence has none")
	}
}
