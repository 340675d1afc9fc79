package functions

import (
	"errors"
	"fmt"
	"strings"

	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

// outcome is an Outcome that may still be open.
type outcome struct {
	ordering.Outcome
	open bool // nobody decided yet; it stands as deferred in case nobody ever does
}

func deferred(err error) outcome {
	return outcome{Outcome: ordering.Outcome{Disposition: ordering.Deferred, Err: err}}
}

func refused(r events.Refusal) outcome {
	return outcome{Outcome: ordering.Outcome{Disposition: ordering.Quarantined, Reason: r.Reason, Detail: r.Detail}}
}

// acked reports whether SQS may delete the message: when each of its events may be.
func (r *received) acked() bool {
	for _, o := range r.outcomes {
		if !o.Disposition.Ack() {
			return false
		}
	}
	return true
}

// part is what a batch holds of one entity, in the order of arrival.
type part struct {
	key   ordering.Key
	batch []ordering.Delivery
	to    []*outcome // where the outcome of each delivery goes
}

// judge decides all open events of some messages: entities in parallel, the events of one in their order. Then it
// copies into quarantine what has to lie there before the ack.
func (c *Consumer) judge(until limits, messages []*received) {
	parts := c.parts(messages)
	spread(until.work, c.Parallel, len(parts), until.margin/4,
		func(i int) ordering.Report { return c.Loop.Apply(until.work, parts[i].key, parts[i].batch) },
		func(i int, report ordering.Report, panicked error) { c.settle(parts[i], report, panicked) })
	c.setAside(until, messages)
}

// setAside copies into quarantine what must lie there before its ack. What could not be copied is deferred instead.
func (c *Consumer) setAside(until limits, messages []*received) {
	var poisoned []*received
	var copies []ordering.Copy // made here: a copy that comes too late shares nothing with what goes on
	for _, r := range messages {
		if which := r.copied(); len(which) > 0 {
			poisoned = append(poisoned, r)
			copies = append(copies, r.copyOf(which))
		}
	}
	errs := make([]error, len(copies))
	for i := range errs {
		errs[i] = errOutOfTime
	}
	spread(until.rest, c.Parallel, len(copies), until.margin/4,
		func(i int) error { return c.Quarantine.Copy(until.rest, copies[i]) },
		func(i int, err, panicked error) { errs[i] = errors.Join(err, panicked) })
	for i, err := range errs {
		if err != nil {
			poisoned[i].uncopied(err)
		}
	}
}

// parts groups the open events by entity, and settles those that never reach one.
func (c *Consumer) parts(messages []*received) []*part {
	var parts []*part
	byKey := map[ordering.Key]*part{}
	for _, r := range messages {
		for i := range r.decoded {
			e, o := r.decoded[i].Event, &r.outcomes[i]
			if !o.open {
				continue
			}
			if e == nil {
				*o = refused(r.decoded[i].Refusal)
				continue
			}
			key := c.key(e)
			if err := ddb.CheckKey(key); err != nil {
				*o = refused(events.Refusal{Reason: events.BadEntityID, Detail: err.Error()})
				continue
			}
			p := byKey[key]
			if p == nil {
				p = &part{key: key}
				byKey[key] = p
				parts = append(parts, p)
			}
			p.batch = append(p.batch, ordering.Delivery{Event: e, Message: &r.message, Record: i})
			p.to = append(p.to, o)
		}
	}
	return parts
}

func (c *Consumer) key(e *events.Event) ordering.Key {
	key := ordering.Key{Consumer: c.Streams.Consumer, Stream: e.Stream.Name, ID: e.EntityID}
	if e.Stream.PerSource {
		key.PerSource, key.Source = true, e.Source
	}
	return key
}

// settle takes over what the loop reports. Its panic defers this entity's events and no others.
func (c *Consumer) settle(p *part, report ordering.Report, panicked error) {
	for i, to := range p.to {
		switch {
		case panicked != nil:
			*to = deferred(panicked)
		case i >= len(report.Outcomes):
			*to = deferred(errNoOutcome)
		default:
			*to = outcome{Outcome: report.Outcomes[i]}
		}
	}
	for count, n := range report.Counts {
		c.Metrics.Count(count.Metric, count.EventType, int64(n))
	}
	for _, d := range report.Distances {
		c.Metrics.Observe(MetricReorderDistance, d.EventType, float64(d.Numbers))
	}
}

// copied lists which events of a message want a copy in quarantine.
func (r *received) copied() []int {
	var out []int
	for i, o := range r.outcomes {
		if o.Disposition.Copied() {
			out = append(out, i)
		}
	}
	return out
}

// copyOf is a message's one copy, however many of its events are refused: a redrive brings all of them back and must
// not multiply them. The first one's reason stands for all, the details are joined.
func (r *received) copyOf(which []int) ordering.Copy {
	first := which[0]
	said := r.outcomes[first].Outcome
	if len(r.outcomes) > 1 {
		details := make([]string, len(which))
		for n, i := range which {
			details[n] = fmt.Sprintf("record %d: %s: %s", i, r.outcomes[i].Reason, r.outcomes[i].Detail)
		}
		said.Detail = strings.Join(details, "; ")
	}
	delivery := ordering.Delivery{Event: r.decoded[first].Event, Message: &r.message, Record: first}
	return ordering.Copy{Delivery: delivery, Outcome: said}
}

// uncopied takes back what was promised about a message whose copy is not durable.
func (r *received) uncopied(err error) {
	for _, i := range r.copied() {
		stored := r.outcomes[i].Stored
		r.outcomes[i] = deferred(fmt.Errorf("copy into quarantine: %w", err))
		r.outcomes[i].Stored = stored
	}
}
