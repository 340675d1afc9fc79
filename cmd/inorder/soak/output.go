package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Lines adds up what functions write: a line for each event of a message, and at the end of an invocation its metrics. The two
// must agree for each invocation that came to its end. It is safe for concurrent use.
type Lines struct {
	// Each is told of every line about a message, one after the other.
	Each func(Line)

	mu          sync.Mutex
	by          map[string]int64 // lines, by disposition
	counted     map[string]int64 // by the metrics, by disposition
	cut         int64            // lines of invocations that were killed
	invocations int64
	loud        map[string]int64 // lines at error level, by message
	faults      Faults
}

// Line is one about a message.
type Line struct {
	Level        string
	Message      string `json:"msg"`
	MessageID    string `json:"message_id"`
	Disposition  string
	ReceiveCount int `json:"receive_count"`
}

// Output is what the processes of one execution environment write, one process after the other.
type Output struct {
	lines   *Lines
	partial []byte
	waiting map[string]int64 // lines that no metrics have told of yet
	metrics map[string]int64
}

// Output returns a new one.
func (l *Lines) Output() *Output { return &Output{lines: l} }

// Write implements io.Writer.
func (o *Output) Write(text []byte) (int, error) {
	o.partial = append(o.partial, text...)
	for {
		end := bytes.IndexByte(o.partial, '\n')
		if end < 0 {
			return len(text), nil
		}
		o.read(o.partial[:end])
		o.partial = o.partial[end+1:]
	}
}

// Idle is for when no invocation is under way: what there is must agree.
func (o *Output) Idle() {
	o.lines.mu.Lock()
	defer o.lines.mu.Unlock()
	o.compare()
}

// Killed is for when the process is gone: of its last invocation there may be lines and no metrics, or not all of them.
func (o *Output) Killed() {
	o.lines.mu.Lock()
	defer o.lines.mu.Unlock()
	o.partial = nil
	o.cut()
}

func (o *Output) cut() {
	if o.agrees() {
		o.compare()
	}
	for _, n := range o.waiting {
		o.lines.cut += n
	}
	o.waiting, o.metrics = nil, nil
}

func (o *Output) read(text []byte) {
	o.lines.mu.Lock()
	defer o.lines.mu.Unlock()
	if bytes.HasPrefix(text, []byte(`{"_aws"`)) {
		o.count(text)
		return
	}
	var l Line
	if json.Unmarshal(text, &l) != nil {
		return // it is none of our own
	}
	if l.Message == "started" {
		o.cut() // it is another process, and the one before it was killed
	}
	if len(o.metrics) > 0 {
		o.compare()
	}
	if l.Level == "ERROR" {
		o.lines.loud = add(o.lines.loud, l.Message, 1)
	}
	if l.Message != "event" {
		return
	}
	o.waiting = add(o.waiting, l.Disposition, 1)
	if o.lines.Each != nil {
		o.lines.Each(l)
	}
}

// count reads a document of metrics.
func (o *Output) count(text []byte) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal(text, &document); err != nil {
		o.lines.faults.Add("metrics that cannot be read: %v: %.200s", err, text)
		return
	}
	for name, value := range document {
		var n int64
		if disposition, ok := dispositionOf(name); ok && json.Unmarshal(value, &n) == nil {
			o.metrics = add(o.metrics, disposition, n)
		}
	}
}

const consumed = "consumed"

// dispositionOf tells which metrics are compared. What the loop counts beside the dispositions is about no message.
func dispositionOf(metric string) (string, bool) {
	middle, counts := strings.CutSuffix(strings.TrimPrefix(metric, "events_"), "_total")
	if !counts {
		return "", false
	}
	switch middle {
	case consumed, "applied", "coalesced", "stale", "duplicate", "parked", "conflict", "quarantined", "deferred":
		return middle, true
	}
	return "", false
}

// agrees tells whether the metrics tell of these lines and no others.
func (o *Output) agrees() bool {
	var all int64
	for _, n := range o.waiting {
		all += n
	}
	return maps.Equal(add(maps.Clone(o.waiting), consumed, all), o.metrics)
}

// compare ends an invocation.
func (o *Output) compare() {
	if len(o.metrics) == 0 && len(o.waiting) == 0 {
		return
	}
	if !o.agrees() {
		o.lines.faults.Add("an invocation's lines are %v, and its metrics %v", o.waiting, o.metrics)
	}
	for disposition, n := range o.waiting {
		o.lines.by = add(o.lines.by, disposition, n)
	}
	for disposition, n := range o.metrics {
		o.lines.counted = add(o.lines.counted, disposition, n)
	}
	o.lines.invocations++
	o.waiting, o.metrics = nil, nil
}

// add makes the map where it is not there yet.
func add(to map[string]int64, name string, n int64) map[string]int64 {
	if to == nil {
		to = map[string]int64{}
	}
	to[name] += n
	return to
}

// Faults is where lines and metrics did not agree.
func (l *Lines) Faults() *Faults {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.faults
	return &f
}

// Total is how many lines there are, those that no metrics tell of included.
func (l *Lines) Total() (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, of := range l.by {
		n += of
	}
	return n + l.cut
}

// Loud is what was said at error level, by message.
func (l *Lines) Loud() map[string]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.loud)
}

// String says what the lines come to.
func (l *Lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var parts []string
	for _, disposition := range slices.Sorted(maps.Keys(l.by)) {
		parts = append(parts, fmt.Sprintf("%s %s", Thousands(l.by[disposition]), disposition))
	}
	return fmt.Sprintf("%s lines in %s invocations, as their metrics count (%s), and %s lines of invocations that were killed",
		Thousands(l.counted[consumed]), Thousands(l.invocations), strings.Join(parts, ", "), Thousands(l.cut))
}
