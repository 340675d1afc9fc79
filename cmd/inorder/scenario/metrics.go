package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/cockroachdb/apd/v3"
)

// counters are what CloudWatch would make of the lines that were written: sums of what counts, the last value of a
// gauge. It is the writer that the consumer's metrics go to.
type counters struct {
	mu     sync.Mutex
	sums   map[string]*apd.Decimal
	faults []error
}

// Write takes whole lines.
func (c *counters) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for line := range bytes.Lines(p) {
		if err := c.add(line); err != nil {
			c.faults = append(c.faults, fmt.Errorf("a metric line that CloudWatch would not take: %w", err))
		}
	}
	return len(p), nil
}

func (c *counters) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sums = nil
}

// copy returns what was counted so far, for restore: sums are replaced, never changed.
func (c *counters) copy() map[string]*apd.Decimal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.sums)
}

func (c *counters) restore(sums map[string]*apd.Decimal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sums = sums
}

// value is what a metric stands at; one that nobody wrote stands at 0.
func (c *counters) value(metric string) *apd.Decimal {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sum := c.sums[metric]; sum != nil {
		return sum
	}
	return &apd.Decimal{}
}

// takeFaults returns what was wrong with the lines so far, once.
func (c *counters) takeFaults() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	faults := c.faults
	c.faults = nil
	return faults
}

// emf is the part of an embedded metric format document that says what it measures.
type emf struct {
	AWS *struct {
		Timestamp         *int64
		CloudWatchMetrics []struct {
			Namespace  string
			Dimensions [][]string
			Metrics    []struct{ Name, Unit string }
		}
	} `json:"_aws"`
}

func (c *counters) add(line []byte) error {
	if !bytes.HasSuffix(line, []byte("\n")) {
		return errors.New("it does not end with a line break")
	}
	var doc emf
	values := map[string]json.RawMessage{}
	if err := errors.Join(json.Unmarshal(line, &doc), json.Unmarshal(line, &values)); err != nil {
		return err
	}
	if doc.AWS == nil || doc.AWS.Timestamp == nil || len(doc.AWS.CloudWatchMetrics) == 0 {
		return errors.New("it has no _aws with a Timestamp and CloudWatchMetrics")
	}
	for _, directive := range doc.AWS.CloudWatchMetrics {
		for _, set := range directive.Dimensions {
			for _, dimension := range set {
				if _, there := values[dimension]; !there {
					return fmt.Errorf("dimension %s has no value", dimension)
				}
			}
		}
		gauge := len(directive.Dimensions) == 1 // a document with counters declares two sets
		for _, metric := range directive.Metrics {
			if err := c.take(metric.Name, values[metric.Name], gauge); err != nil {
				return err
			}
		}
	}
	return nil
}

// take adds a metric's value, or all of them where it is a list.
func (c *counters) take(metric string, raw json.RawMessage, gauge bool) error {
	var list []json.Number
	if json.Unmarshal(raw, &list) != nil {
		var one json.Number
		if err := json.Unmarshal(raw, &one); err != nil {
			return fmt.Errorf("metric %s: %w", metric, err)
		}
		list = []json.Number{one}
	}
	sum := &apd.Decimal{}
	if before := c.sums[metric]; before != nil && !gauge {
		sum.Set(before)
	}
	for _, n := range list {
		if _, err := apd.BaseContext.WithPrecision(50).Add(sum, sum, decimal(n.String())); err != nil {
			return fmt.Errorf("metric %s: %w", metric, err)
		}
	}
	if c.sums == nil {
		c.sums = map[string]*apd.Decimal{}
	}
	c.sums[metric] = sum
	return nil
}
