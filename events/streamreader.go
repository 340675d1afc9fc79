package events

import (
	"regexp"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// The built-in defaults, and the bounds of what a stream may say.
const (
	defaultGapDeadline = 5 * time.Minute
	defaultGapAttempts = 8
	defaultWindow      = 1000
	defaultParkTTL     = 14 * 24 * time.Hour
	defaultMaxParkAge  = 28 * 24 * time.Hour
	defaultMaxFuture   = time.Hour
	// minMarkerTTL is the longest way back for a copy: 14 days in the queue and 14 more in the DLQ, the most that SQS
	// retains. A marker that leaves earlier counts the copy as new.
	minMarkerTTL = 28 * 24 * time.Hour

	// maxStepWindow bounds what _waiting takes of the item, window/8 bytes: 12.5 KB of its 400, written each time.
	maxStepWindow = 100_000
	// maxDeltaWindow bounds _ahead, a set of numbers of up to 12 bytes each: 120 KB of 400.
	maxDeltaWindow = 10_000
	// maxGapAttempts keeps a typing error from asking for ever: at an hour each it is six weeks.
	maxGapAttempts = 1000
)

// streamReader reads one stream: its options one by one, then what they must be to each other.
type streamReader struct {
	*configReader
	s  *Stream
	n  ast.Node
	at map[string]entry // the options that it has
}

// read fills the stream. What is wrong in it is noted, and reading goes on.
func (r *streamReader) read(n ast.Node) {
	r.n = n
	entries, ok := r.mapping(n, "a stream")
	if !ok {
		return
	}
	for _, e := range entries {
		r.at[e.name] = e
	}
	r.nameAndMode()
	for _, e := range entries {
		if o, ok := options[e.name]; !ok {
			r.fault(e.key, "unknown option %q%s", e.name, suggestion(e.name, optionNames))
		} else if !o.allows(r.s.Mode) {
			r.fault(e.key, "%s is an option of %s streams, and this one is a %s stream", e.name, join(o.modes), r.s.Mode)
		} else {
			o.read(r, e)
		}
	}
	r.require("name", "types", "mode")
	r.defaults()
	r.check()
}

func (r *streamReader) require(names ...string) {
	for _, name := range names {
		if !r.has(name) {
			r.fault(r.n, "a stream lacks %s", name)
		}
	}
}

func (r *streamReader) has(name string) bool {
	_, ok := r.at[name]
	return ok
}

// nameAndMode are read before all others: which options there are depends on the mode, and faults call the stream by name.
func (r *streamReader) nameAndMode() {
	if e, ok := r.at["name"]; ok {
		r.name(e)
	}
	if e, ok := r.at["mode"]; ok {
		r.s.Mode = Mode(r.word(e, string(State), string(Step), string(Delta)))
	}
}

var streamName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

func (r *streamReader) name(e entry) {
	name, ok := r.text(e.value, "name")
	switch {
	case !ok:
	case !streamName.MatchString(name):
		r.fault(e.value, "a stream's name is made of letters, digits, dots, dashes and underscores")
	case r.names[name]:
		r.fault(e.value, "a second stream with the name %s", name)
	}
	r.names[name], r.s.Name = true, name
}

func (r *streamReader) patternList(e entry) (patterns []string) {
	nodes, _ := r.sequence(e.value, e.name)
	for _, n := range nodes {
		if pattern, ok := r.pattern(n, "an entry of "+e.name, r.s.Name); ok {
			patterns = append(patterns, pattern)
		}
	}
	return patterns
}

func (r *streamReader) word(e entry, words ...string) string {
	w, _ := r.choice(e.value, e.name, words...)
	return w
}

func (r *streamReader) duration(e entry, d *time.Duration, least time.Duration) {
	text, ok := r.text(e.value, e.name)
	if !ok {
		return
	}
	v, err := ParseDuration(text)
	switch {
	case err != nil:
		r.fault(e.value, "%s: %v", e.name, err)
	case v < least && e.name == "marker_ttl":
		r.fault(e.value, "marker_ttl must be at least 28d, the longest that a copy may be on its way: 14 days in the queue, 14 in the DLQ")
	case v < least:
		r.fault(e.value, "%s must be at least %s", e.name, least)
	}
	*d = v
}

func (r *streamReader) path(n ast.Node, what string) Path {
	text, ok := r.text(n, what)
	if !ok {
		return nil
	}
	p, err := ParsePath(text)
	if err != nil {
		r.fault(n, "%s: %v", what, err)
	}
	return p
}

func (r *streamReader) window(e entry) {
	limit := int64(maxStepWindow)
	if r.s.Mode == Delta {
		limit = maxDeltaWindow
	}
	r.s.Window, _ = r.integer(e.value, e.name, 1, limit)
}

// start is the number 1 or the word any.
func (r *streamReader) start(e entry) {
	switch node := r.plain(e.value).(type) {
	case *ast.StringNode:
		r.s.StartAny = node.Value == "any"
	case *ast.IntegerNode:
		if node.Value == uint64(1) || node.Value == int64(1) {
			return
		}
	}
	if !r.s.StartAny {
		r.fault(e.value, "start must be 1 or any")
	}
}
