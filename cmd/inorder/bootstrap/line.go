package bootstrap

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"inorder/cmd/inorder/terminal"
	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

// line is one entity of the file.
type line struct {
	number   int
	stream   *events.Stream
	key      ordering.Key
	snapshot ordering.Snapshot
}

// name is what must stand only once in a file.
func (l *line) name() string { return fmt.Sprintf("%s %q", ddb.EntityPK(l.key), l.snapshot.Source) }

// The names of a line.
const (
	nameStream     = "stream"
	nameEntity     = "entity_id"
	nameSource     = "source"
	nameGeneration = "generation"
	nameApplied    = "applied"
	nameSeq        = "seq"
	nameClock      = "clock"
	nameEvent      = "event_id"
	nameState      = "state"
)

var allNames = []string{
	nameStream, nameEntity, nameSource, nameGeneration, nameApplied, nameSeq, nameClock, nameEvent, nameState,
}

// lineReader reads one line, and remembers what it used of it.
type lineReader struct {
	fields map[string]any
	used   map[string]bool
	line   line
}

// parse reads a line. The error is one sentence.
func parse(streams *events.Config, text string, number int) (*line, error) {
	fields, err := events.ReadObject(text)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(allNames, name) {
			return nil, fmt.Errorf("unknown name %.40q", name)
		}
	}
	r := lineReader{fields: fields, used: map[string]bool{}, line: line{number: number}}
	for _, step := range []func() error{
		func() error { return r.readStream(streams) }, r.readSource, r.readPosition, r.readState, r.nothingLeft,
		func() error { return ddb.CheckKey(r.line.key) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if refusal := r.line.snapshot.Check(r.line.stream); refusal != nil {
		return nil, errors.New(refusal.Detail)
	}
	return &r.line, nil
}

// take returns a value, and whether it is there; null is not.
func (r *lineReader) take(name string) (any, bool) {
	r.used[name] = true
	v := r.fields[name]
	return v, v != nil
}

func (r *lineReader) readStream(streams *events.Config) error {
	v, _ := r.take(nameStream)
	name, _ := v.(string)
	if r.line.stream = streams.Stream(name); r.line.stream == nil {
		return fmt.Errorf("streams.yaml has no stream %.80q", name)
	}
	id, _ := r.take(nameEntity)
	entity, ok := events.ReadID(id)
	if !ok {
		return errors.New("entity_id is a string that is not blank, or an integer")
	}
	r.line.key = ordering.Key{
		Consumer: streams.Consumer, Stream: r.line.stream.Name, ID: entity, PerSource: r.line.stream.PerSource,
	}
	return nil
}

// readSource: a source is part of the key, or owns the attributes, or breaks ties; elsewhere it has no place.
func (r *lineReader) readSource() error {
	s := r.line.stream
	if !s.PerSource && s.Clock != events.ClockSource && s.Order.By != events.ByTime {
		return nil
	}
	v, there := r.take(nameSource)
	source, ok := v.(string)
	switch {
	case there && !ok:
		return errors.New("source is a string")
	case !there && s.PerSource:
		return fmt.Errorf("in stream %s each source has a history of its own: source says whose", s.Name)
	case !there && s.Clock == events.ClockSource:
		return fmt.Errorf("in stream %s each source has attributes of its own: source says whose", s.Name)
	}
	if s.PerSource {
		r.line.key.Source = source
	}
	if s.Clock == events.ClockSource {
		r.line.snapshot.Source = source
	}
	return nil
}

func (r *lineReader) readPosition() error {
	s, p := r.line.stream, &r.line.snapshot
	if s.Order.By == events.BySeq {
		if v, there := r.take(nameGeneration); there {
			var err error
			if p.Generation, err = events.ReadGeneration(v); err != nil {
				return fmt.Errorf("generation is %w", err)
			}
		}
	}
	switch {
	case s.Mode != events.State && s.Order.By == events.ByNone: // increments without numbers
		return nil
	case s.Mode != events.State:
		v, _ := r.take(nameApplied)
		seq, err := events.ReadSeq(v)
		if err != nil {
			return fmt.Errorf("applied, the last number that the state holds, is %w", err)
		}
		p.Applied = seq
	case s.Order.By == events.BySeq:
		v, _ := r.take(nameSeq)
		seq, err := events.ReadSeq(v)
		if err != nil {
			return fmt.Errorf("seq, the number of the newest event that the state holds, is %w", err)
		}
		p.Clock = events.SeqClock(p.Generation, seq)
	default:
		return r.readClock()
	}
	return nil
}

func (r *lineReader) readClock() error {
	key, _ := r.take(nameClock)
	var id, source string
	if r.line.stream.Order.By == events.ByTime {
		v, there := r.take(nameEvent)
		var ok bool
		if id, ok = events.ReadID(v); there && !ok {
			return errors.New("event_id is a string that is not blank, or an integer")
		}
		source, _ = r.fields[nameSource].(string)
	}
	clock, err := r.line.stream.ReadClock(key, id, source)
	if err != nil {
		return fmt.Errorf("clock, the order key of the newest event that the state holds: %w", err)
	}
	r.line.snapshot.Clock = clock
	return nil
}

func (r *lineReader) readState() error {
	v, there := r.take(nameState)
	state, ok := v.(map[string]any)
	switch {
	case there && !ok:
		return errors.New("state is an object")
	case !there && r.line.stream.Mode != events.Step: // a step's history may be for its effects alone
		return errors.New("it lacks its state")
	}
	r.line.snapshot.State = state
	return nil
}

// nothingLeft: what a mode has no use for would be lost in silence.
func (r *lineReader) nothingLeft() error {
	for _, name := range slices.Sorted(maps.Keys(r.fields)) {
		if !r.used[name] {
			return fmt.Errorf("%s has no meaning in stream %s (%s)", name, terminal.Escape(r.line.stream.Name), kind(r.line.stream))
		}
	}
	return nil
}

func kind(s *events.Stream) string {
	if s.Mode == events.State {
		return fmt.Sprintf("state, clock: %s, by %s", s.Clock, s.Order.By)
	}
	return fmt.Sprintf("%s, by %s", s.Mode, s.Order.By)
}
