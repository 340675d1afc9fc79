package events

import "time"

// Config is a whole streams.yaml, checked: a Config that ParseStreams returned holds no fault.
type Config struct {
	Consumer string
	Streams  []*Stream

	routes router
}

// Stream is the stream of that name, or nil.
func (c *Config) Stream(name string) *Stream {
	for _, s := range c.Streams {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Stream is one rule of streams.yaml with every default filled in.
type Stream struct {
	Name   string
	Types  []string // exact, or a prefix with *, or "*"
	Mode   Mode
	Entity Path
	Order  Order

	// State streams.
	Clock     ClockKind
	Marker    bool // dedup: marker; always true for a delta stream ordered by none
	Tombstone []string
	Owns      map[string][]string // source → attributes; no attribute has two owners
	MaxFuture time.Duration
	MarkerTTL time.Duration // at least 28 days; zero without markers

	// Step and delta streams.
	Window    int64 // at most 100,000 in a step stream, 10,000 in a delta stream: what the item must hold grows with it
	Ignore    []string
	PerSource bool

	// Step streams. Projection.Sum is delta's too.
	Projection Projection
	StartAny   bool
	LogAll     bool
	Effects    bool
	ParkTTL    time.Duration
	MaxParkAge time.Duration

	// Whatever has gaps.
	GapDeadline time.Duration
	GapAttempts int
	SkipExpired bool // on_expired: skip
}

// Mode is how a stream's events change their entity.
type Mode string

// The modes.
const (
	State Mode = "state"
	Step  Mode = "step"
	Delta Mode = "delta"
)

// ClockKind is what has a clock of its own in a state stream.
type ClockKind string

// The clocks of a state stream.
const (
	ClockEntity    ClockKind = "entity"
	ClockAttribute ClockKind = "attribute"
	ClockSource    ClockKind = "source"
)

// Order is where an event's position is and how it compares.
type Order struct {
	By OrderBy
	// Path is empty for the envelope's own place: published_at for a time, seq for all others, which are CloudEvents' time
	// and sequence, a webhook's created_at, and for hex an S3 record's sequencer.
	Path Path
}

// OrderBy is a kind of order key.
type OrderBy string

// The kinds of order key.
const (
	BySeq  OrderBy = "seq"
	ByTime OrderBy = "time"
	ByText OrderBy = "text"
	ByHex  OrderBy = "hex"
	ByNone OrderBy = "none"
)

// Projection is how a step or a delta changes the state: by the built-in rules, or by a Go function of that name.
type Projection struct {
	Sum  []Field // attributes, and where their amounts are
	Set  []Field // attributes, and where their values are
	Name string  // registered in functions/projections
}

// Field is an attribute and where what it holds comes from.
type Field struct {
	Attribute string
	From      Path
}

// Path is a place in a decoded event: names, and numbers of array elements, joined by dots. It starts at the event's top
// level, where data is the event's data, in a flat event and a bare payload too.
type Path []string
