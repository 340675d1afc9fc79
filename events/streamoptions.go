package events

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// option is a key of a stream: whose it is, and how it is read.
type option struct {
	modes []Mode // empty: every mode's
	read  func(*streamReader, entry)
}

var options = map[string]option{
	"name":       {nil, func(*streamReader, entry) {}}, // read before all others, as is the mode
	"types":      {nil, func(r *streamReader, e entry) { r.s.Types = r.patternList(e) }},
	"mode":       {nil, func(*streamReader, entry) {}},
	"entity":     {nil, func(r *streamReader, e entry) { r.s.Entity = r.path(e.value, "entity") }},
	"order":      {nil, (*streamReader).order},
	"marker_ttl": {[]Mode{State, Delta}, func(r *streamReader, e entry) { r.duration(e, &r.s.MarkerTTL, minMarkerTTL) }},

	"gap_deadline": {nil, func(r *streamReader, e entry) { r.duration(e, &r.s.GapDeadline, time.Second) }},
	"gap_attempts": {nil, func(r *streamReader, e entry) {
		n, _ := r.integer(e.value, e.name, 1, maxGapAttempts)
		r.s.GapAttempts = int(n)
	}},
	"on_expired": {nil, func(r *streamReader, e entry) { r.s.SkipExpired = r.word(e, "alarm", "skip") == "skip" }},

	"clock": {[]Mode{State}, func(r *streamReader, e entry) {
		r.s.Clock = ClockKind(r.word(e, string(ClockEntity), string(ClockAttribute), string(ClockSource)))
	}},
	"dedup":      {[]Mode{State}, func(r *streamReader, e entry) { r.s.Marker = r.word(e, "marker") != "" }},
	"max_future": {[]Mode{State}, func(r *streamReader, e entry) { r.duration(e, &r.s.MaxFuture, 0) }},
	"tombstone":  {[]Mode{State}, func(r *streamReader, e entry) { r.s.Tombstone = r.patternList(e) }},
	"owns":       {[]Mode{State}, (*streamReader).owns},

	"projection": {[]Mode{Step, Delta}, (*streamReader).projection},
	"window":     {[]Mode{Step, Delta}, (*streamReader).window},
	"ignore":     {[]Mode{Step, Delta}, func(r *streamReader, e entry) { r.s.Ignore = r.patternList(e) }},
	"per_source": {[]Mode{Step, Delta}, func(r *streamReader, e entry) { r.s.PerSource = r.boolean(e.value, e.name) }},

	"start":        {[]Mode{Step}, (*streamReader).start},
	"log":          {[]Mode{Step}, func(r *streamReader, e entry) { r.s.LogAll = r.word(e, "parked", "all") == "all" }},
	"effects":      {[]Mode{Step}, func(r *streamReader, e entry) { r.s.Effects = r.boolean(e.value, e.name) }},
	"park_ttl":     {[]Mode{Step}, func(r *streamReader, e entry) { r.duration(e, &r.s.ParkTTL, time.Second) }},
	"max_park_age": {[]Mode{Step}, func(r *streamReader, e entry) { r.duration(e, &r.s.MaxParkAge, time.Second) }},
}

var optionNames = slices.Sorted(maps.Keys(options))

// allows reports whether a stream of that mode may have the option. Where the mode is not known, any may stand.
func (o option) allows(m Mode) bool {
	return m == "" || len(o.modes) == 0 || slices.Contains(o.modes, m)
}

func join(modes []Mode) string {
	words := make([]string, len(modes))
	for i, m := range modes {
		words[i] = string(m)
	}
	return strings.Join(words, " and ")
}
