package functions

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"inorder/events"
	"inorder/ordering"
)

// Settings are what the consumer takes from the environment, checked.
type Settings struct {
	EntitiesTable, ItemsTable string // ENTITIES_TABLE, ITEMS_TABLE
	QuarantineURL             string // QUARANTINE_QUEUE_URL: a standard queue
	EffectsURL                string // EFFECTS_QUEUE_URL: a FIFO queue; empty where no stream sends effects
	EffectsMode               ordering.EffectsMode
	LogLevel                  slog.Level
	Streams                   *events.Config
}

// ReadSettings reads and checks everything before any message is judged. The error lists every fault, one a line.
// Projections are the names of the registered Go projections.
//
//	ENTITIES_TABLE, ITEMS_TABLE   names of the tables
//	QUARANTINE_QUEUE_URL          URL of a standard queue
//	EFFECTS_QUEUE_URL             URL of a FIFO queue; needed where a stream has effects and EFFECTS is on
//	EFFECTS                       on (default), off or hold
//	STREAMS_FILE                  default streams.yaml beside the binary
//	CONSUMER                      must be the streams' consumer; empty compares nothing
//	LOG_LEVEL                     debug, info (default), warn or error
//	GAP_DEADLINE, PARK_TTL        such as 5m, 14d; stand in for the built-in defaults of streams.yaml
func ReadSettings(getenv func(string) string, projections []string) (*Settings, error) {
	r := settingsReader{getenv: getenv}
	s := r.settings(projections)
	return s, errors.Join(r.faults...)
}

func (r *settingsReader) settings(projections []string) *Settings {
	s := &Settings{
		EntitiesTable: r.required("ENTITIES_TABLE"),
		ItemsTable:    r.required("ITEMS_TABLE"),
		QuarantineURL: r.requiredQueue("QUARANTINE_QUEUE_URL", false),
		EffectsMode:   oneOf(r, "EFFECTS", "on", effectsModes),
		LogLevel:      oneOf(r, "LOG_LEVEL", "info", logLevels),
		Streams: r.streams(events.Options{
			GapDeadline: r.duration("GAP_DEADLINE"),
			ParkTTL:     r.duration("PARK_TTL"),
			Projections: projections,
		}),
	}
	if r.text("EFFECTS_QUEUE_URL") != "" {
		s.EffectsURL = r.queue("EFFECTS_QUEUE_URL", true)
	}
	r.checkStreams(s)
	return s
}

var effectsModes = []choice[ordering.EffectsMode]{
	{"on", ordering.EffectsOn}, {"off", ordering.EffectsOff}, {"hold", ordering.EffectsHold},
}

var logLevels = []choice[slog.Level]{
	{"debug", slog.LevelDebug}, {"info", slog.LevelInfo}, {"warn", slog.LevelWarn}, {"error", slog.LevelError},
}

// choice is one of the words that a variable may be.
type choice[T any] struct {
	word  string
	means T
}

// settingsReader collects the faults of all variables.
type settingsReader struct {
	getenv func(string) string
	faults []error
}

func (r *settingsReader) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf(format, args...))
}

func (r *settingsReader) text(name string) string { return strings.TrimSpace(r.getenv(name)) }

func (r *settingsReader) required(name string) string {
	value := r.text(name)
	if value == "" {
		r.fault("%s is not set", name)
	}
	return value
}

// requiredQueue is queue for one that must be there.
func (r *settingsReader) requiredQueue(name string, fifo bool) string {
	r.required(name)
	return r.queue(name, fifo)
}

// queue reads a queue's URL. That the kind of queue is right shows in its name, and only there.
func (r *settingsReader) queue(name string, fifo bool) string {
	value := r.text(name)
	if value == "" {
		return ""
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") == "" {
		r.fault("%s is not the URL of a queue, such as https://sqs.eu-west-1.amazonaws.com/123456789012/name: %q", name, value)
		return ""
	}
	switch is := strings.HasSuffix(u.Path, ".fifo"); {
	case is && !fifo:
		r.fault("%s must be a standard queue, and %q is a FIFO queue", name, value)
	case !is && fifo:
		r.fault("%s must be a FIFO queue, whose name ends with .fifo, and %q is none", name, value)
	}
	return value
}

func (r *settingsReader) duration(name string) time.Duration {
	value := r.text(name)
	if value == "" {
		return 0
	}
	d, err := events.ParseDuration(value)
	switch {
	case err != nil:
		r.fault("%s: %w", name, err)
	case d <= 0:
		r.fault("%s must be longer than nothing: %q", name, value)
	}
	return d
}

// oneOf reads a variable that may only be one of some words.
func oneOf[T any](r *settingsReader, name, standard string, choices []choice[T]) T {
	value := strings.ToLower(r.text(name))
	if value == "" {
		value = standard
	}
	words := make([]string, len(choices))
	for i, c := range choices {
		if c.word == value {
			return c.means
		}
		words[i] = c.word
	}
	r.fault("%s must be one of %s: %q", name, strings.Join(words, ", "), r.text(name))
	var none T
	return none
}

func (r *settingsReader) streams(o events.Options) *events.Config {
	path, named := r.text("STREAMS_FILE"), r.getenv("CONSUMER")
	if path == "" {
		path = beside(r.getenv)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		r.fault("STREAMS_FILE: %w", err)
		return nil
	}
	config, err := events.ParseStreams(text, o)
	if err != nil {
		r.fault("%s:\n%w", path, err)
		return nil
	}
	r.checkConsumer(named, config.Consumer)
	return config
}

// checkConsumer compares the two places that name the consumer: what watches a deployment, and what stands in its keys. Which of
// them is wrong nobody here can tell. To go on under a wrong name would begin every entity anew, out of the alarms' sight; what
// does not start loses nothing, and the alarms on a function's errors ring.
func (r *settingsReader) checkConsumer(named, streams string) {
	if named != "" && named != streams {
		r.fault("CONSUMER is %q (the stack's parameter Consumer, by which alarms and dashboard watch), and the consumer of streams.yaml is %q: "+
			"make them the same", named, streams)
	}
}

// beside is where the build lays streams.yaml.
func beside(getenv func(string) string) string {
	dir := getenv("LAMBDA_TASK_ROOT")
	if dir == "" {
		if binary, err := os.Executable(); err == nil {
			dir = filepath.Dir(binary)
		}
	}
	return filepath.Join(dir, "streams.yaml")
}

// checkStreams compares the streams with the rest of the settings.
func (r *settingsReader) checkStreams(s *Settings) {
	if s.Streams == nil {
		return
	}
	for _, stream := range s.Streams.Streams {
		if stream.Effects && s.EffectsMode == ordering.EffectsOn && r.text("EFFECTS_QUEUE_URL") == "" {
			r.fault("stream %s has effects, so EFFECTS_QUEUE_URL must be set (or EFFECTS to off or hold)", stream.Name)
		}
	}
}
