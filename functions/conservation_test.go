package functions

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	awsevents "github.com/aws/aws-lambda-go/events"
	"pgregory.net/rapid"

	"inorder/events"
	"inorder/ordering"
)

// Guarantee 6, Conservation: events_consumed_total is the sum of the eight, for every batch, under each event type.
func TestConservation(t *testing.T) {
	schema := emfSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(t)
		b.Observe = nil
		w := &lineWriter{}
		b.Metrics = NewMetrics(w, "c", b.Now)
		if rapid.Bool().Draw(t, "quarantine down") {
			b.quarantine.err = errThrottledSend
		}
		b.Loop = randomLoop{t: t, mu: &sync.Mutex{}}
		records := drawBatch(t)
		var n int
		for _, r := range records {
			n += strings.Count(r.Body, `"s3":`) + 1 - min(strings.Count(r.Body, `"s3":`), 1)
		}
		out, err := b.Handle(t.Context(), awsevents.SQSEvent{Records: records})
		if err != nil || out.BatchItemFailures == nil {
			t.Fatalf("%v, %v", out, err)
		}
		total := 0.0
		for _, line := range w.writes {
			_, values := emfValues(t, schema, line)
			sum := 0.0
			for _, d := range ordering.Dispositions() {
				for _, v := range values[d.Metric()] {
					sum += v
				}
			}
			consumed := append(values[MetricConsumed], 0)[0]
			if sum != consumed {
				t.Fatalf("the eight sum up to %v of %v in %s", sum, consumed, line)
			}
			total += consumed
		}
		if total != float64(n) {
			t.Fatalf("consumed %v of %d", total, n)
		}
	})
}

// randomLoop ends deliveries at random, forgets some, and panics now and then.
type randomLoop struct {
	t  *rapid.T
	mu *sync.Mutex
}

func (l randomLoop) Apply(_ context.Context, _ ordering.Key, batch []ordering.Delivery) ordering.Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	var report ordering.Report
	for range batch {
		n := rapid.IntRange(-1, len(ordering.Dispositions())).Draw(l.t, "disposition")
		if n < 0 {
			panic("bug")
		}
		if n == len(ordering.Dispositions()) {
			break
		}
		report.Outcomes = append(report.Outcomes, ordering.Outcome{Disposition: ordering.Dispositions()[n], Reason: events.Conflict})
	}
	report.Distances = []ordering.Distance{{EventType: "DocSet", Numbers: 7}}
	report.Counts = map[ordering.Count]int{{Metric: ordering.MetricDrained, EventType: "DocSet"}: 2}
	return report
}

func drawBatch(t *rapid.T) []awsevents.SQSMessage {
	var out []awsevents.SQSMessage
	for i := range rapid.IntRange(0, 12).Draw(t, "records") {
		id := fmt.Sprintf("m%d", rapid.IntRange(0, i).Draw(t, "id"))
		entity := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "entity")
		r := docSet(id, entity, i+1)
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			r = record(id, "{{")
		case 1:
			r = s3Notice(id, s3Record(entity, "01"), s3Record("x", "zz"), s3Record("y", "03"))
		case 2:
			r = record(id, `{"type":"inorder.void","entity_id":"a"}`)
		}
		if rapid.Bool().Draw(t, "fifo") {
			r = inGroup(r, rapid.SampledFrom([]string{"g", "h"}).Draw(t, "group"))
		}
		out = append(out, r)
	}
	return out
}
