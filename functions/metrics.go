package functions

import (
	"errors"
	"io"
	"math"
	"slices"
	"sync"
	"time"
)

// The metrics that this package raises itself. The counters of the dispositions are Disposition.Metric, the loop's are
// named in ordering.
const (
	MetricConsumed        = "events_consumed_total"
	MetricReorderDistance = "event_reorder_distance"
)

// NoEventType is the event type of what no stream took.
const NoEventType = "none"

// Metrics collects values and writes them as CloudWatch embedded metric format, one line per document. It is safe for
// concurrent use; what one invocation counted may then be written by the flush of another.
type Metrics struct {
	w        io.Writer
	consumer string
	now      func() time.Time

	mu       sync.Mutex
	counters map[string]map[string]int64     // event type → metric → sum
	values   map[string]map[string][]float64 // event type → metric → values
	gauges   map[string]float64
}

// NewMetrics writes to w, which on Lambda is standard output, for one consumer.
func NewMetrics(w io.Writer, consumer string, now func() time.Time) *Metrics {
	m := &Metrics{w: w, consumer: consumer, now: now}
	m.reset()
	return m
}

// Count raises a counter. The event type must be a pattern of streams.yaml, or empty for what no stream took.
func (m *Metrics) Count(metric, eventType string, n int64) {
	if n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	entry(m.counters, eventType)[metric] += n
}

// Observe adds one value to a distribution. What is no number is left out: a document with it would be refused whole.
func (m *Metrics) Observe(metric, eventType string, value float64) {
	if !isNumber(value) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	of := entry(m.values, eventType)
	of[metric] = append(of[metric], value)
}

// Gauge sets a value that has the dimension consumer only.
func (m *Metrics) Gauge(metric string, value float64) {
	if !isNumber(value) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gauges[metric] = value
}

// Flush writes what was collected since the last one, each document as one line by one Write.
//
// A document has one event type and declares two sets of dimensions, [consumer] and [consumer, event_type]: under
// [consumer] CloudWatch adds up the documents of all event types, which an alarm could not.
func (m *Metrics) Flush() error {
	var errs []error
	for _, line := range m.take() {
		if _, err := m.w.Write(line); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// take renders and forgets what was collected.
func (m *Metrics) take() [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.now().UnixMilli()
	types := map[string]bool{}
	for eventType := range m.counters {
		types[eventType] = true
	}
	for eventType := range m.values {
		types[eventType] = true
	}
	var lines [][]byte
	for _, eventType := range sortedKeys(types) {
		d := document{at: at, consumer: m.consumer, eventType: eventType}
		lines = append(lines, d.lines(points(m.counters[eventType], m.values[eventType]))...)
	}
	d := document{at: at, consumer: m.consumer}
	lines = append(lines, d.lines(gaugePoints(m.gauges))...)
	m.reset()
	return lines
}

func (m *Metrics) reset() {
	m.counters = map[string]map[string]int64{}
	m.values = map[string]map[string][]float64{}
	m.gauges = map[string]float64{}
}

// entry is the inner map of an event type, made where it is not there yet.
func entry[V any](of map[string]map[string]V, eventType string) map[string]V {
	if eventType == "" {
		eventType = NoEventType
	}
	if of[eventType] == nil {
		of[eventType] = map[string]V{}
	}
	return of[eventType]
}

func isNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
