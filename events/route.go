package events

import (
	"cmp"
	"slices"
	"strings"
)

// route is where a type goes: the stream, by which of its patterns, and which list that pattern stands in.
type route struct {
	stream  *Stream
	pattern string
	list    list
}

// list is which of a stream's lists of patterns a type was found in.
type list int

const (
	taken     list = iota // types
	ignored               // ignore
	tombstone             // tombstone
)

// router finds the most specific pattern for a type: the exact name, then the longest prefix, then the star. No two
// patterns of a Config are equal, so the answer does not depend on the order of the file.
type router struct {
	exact    map[string]route
	prefixes []route // longest first; the star last
	bare     *Stream // the one with "*" among its types, which also takes bare payloads
}

func newRouter(streams []*Stream) router {
	r := router{exact: make(map[string]route)}
	for _, s := range streams {
		r.add(s, taken, s.Types)
		r.add(s, ignored, s.Ignore)
		r.add(s, tombstone, s.Tombstone)
	}
	slices.SortStableFunc(r.prefixes, func(a, b route) int { return cmp.Compare(len(b.pattern), len(a.pattern)) })
	return r
}

func (r *router) add(s *Stream, l list, patterns []string) {
	for _, pattern := range patterns {
		to := route{stream: s, pattern: pattern, list: l}
		if !strings.HasSuffix(pattern, "*") {
			r.exact[pattern] = to
			continue
		}
		r.prefixes = append(r.prefixes, to)
		if pattern == "*" && l == taken {
			r.bare = s
		}
	}
}

// find says where a type goes.
func (r *router) find(typ string) (route, bool) {
	if to, ok := r.exact[typ]; ok {
		return to, true
	}
	for _, to := range r.prefixes {
		if strings.HasPrefix(typ, to.pattern[:len(to.pattern)-1]) {
			return to, true
		}
	}
	return route{}, false
}

// findBare says where a bare payload goes: to the stream for everything else, if its paths find what it needs. A type that
// the payload names may be one that this stream ignores or takes as a tombstone.
func (r *router) findBare(rec *record) (route, bool) {
	if r.bare == nil || !r.bare.findsItself(rec) {
		return route{}, false
	}
	to := route{stream: r.bare, pattern: "*"}
	if named, ok := r.find(rec.typ); ok && named.stream == r.bare {
		to = named
	}
	return to, true
}

// findsItself reports whether the stream's paths find an entity and an order key in a record.
func (s *Stream) findsItself(r *record) bool {
	if r.lookup(s.Entity).IsNull() {
		return false
	}
	return s.Order.By == ByNone || !r.orderKey(s.Order).IsNull()
}
