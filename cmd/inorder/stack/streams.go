package stack

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"inorder/events"
	"inorder/functions/projections"
)

// defaultStreams is where a checkout has it.
const defaultStreams = "events/streams.yaml"

func (f *Flags) readStreams(o events.Options) (*events.Config, error) {
	path := cmp.Or(f.Streams, f.getenv("STREAMS_FILE"), defaultStreams)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, Usagef("there is no %s: say with --streams FILE, or STREAMS_FILE, what each type of event means", path)
	case err != nil:
		return nil, Usagef("%v", err)
	}
	o.Projections = slices.Collect(maps.Keys(projections.All()))
	config, err := events.ParseStreams(text, o)
	if err != nil {
		return nil, Usagef("%s has faults:\n%v", path, err)
	}
	return config, nil
}

// duration reads a value that may be there.
func duration(r Resource, c *Connection) (time.Duration, error) {
	value := c.Get(r)
	if value == "" {
		return 0, nil
	}
	d, err := events.ParseDuration(value)
	if err != nil || d <= 0 {
		return 0, Usagef("%s (%s) is no length of time such as 5m or 14d: %q", r, c.flags.from(r), value)
	}
	return d, nil
}
