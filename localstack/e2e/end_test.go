package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const endTimeout = 5 * time.Minute

// E9: in the end nothing is under way, nothing is open, and quarantine holds what was meant to go there, and nothing else.
func TestNothingIsLeftInTheEnd(t *testing.T) {
	s := afterAll(t)
	for _, queue := range []string{eventsQueue, dlqQueue, republishQueue, effectsQueue} {
		s.until(t, endTimeout, queue, func() string { return s.notEmpty(t, queue) })
	}
	for _, name := range []string{"republish-dlq", "relay-failures", "effects-dlq.fifo"} {
		out, err := s.sqs.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(s.name + "-" + name)})
		if err != nil {
			t.Fatalf("queue %s: %v", name, err)
		}
		if d := s.depths(t.Context(), aws.ToString(out.QueueUrl)); !d.empty() {
			t.Errorf("queue %s: %v", name, d)
		}
	}
	all, err := s.look(t.Context(), quarantineQueue)
	if err != nil {
		t.Fatal(err)
	}
	if lacks := holds(all, s.poison.list(), true); lacks != "" {
		t.Errorf("quarantine lacks %s", lacks)
	}
	s.run(t, 0, "gaps").has(t, "no open gap")
}

// E9: every metric line is valid against AWS's schema; each message that was sent is in the counters, and each
// invocation's adds up to what it consumed; the sweeper tells every gauge.
func TestMetricsAddUp(t *testing.T) {
	s := afterAll(t)
	want := float64(s.sent.Load())
	var sums map[string]float64
	s.until(t, endTimeout, "the metrics", func() string {
		if sums = s.sums(t, consumerFunction); sums["events_consumed_total"] < want {
			return fmt.Sprintf("%v consumed events: there are %v", want, sums["events_consumed_total"])
		}
		return ""
	})
	t.Logf("%v messages sent by the tests; consumer: %v; tries: %v", want, sums, s.tries(t))
	for _, metric := range dispositions {
		if metric != "events_deferred_total" && sums[metric] == 0 {
			t.Errorf("no %s", metric)
		}
	}
	if sums["events_quarantined_total"]+sums["events_conflict_total"] < float64(len(s.poison.list())) {
		t.Errorf("%v in quarantine, and %d were meant", sums["events_quarantined_total"], len(s.poison.list()))
	}
	if sums["effects_dispatched_total"] == 0 { // the counters of an invocation that is killed die with it: TestFIFO compares
		t.Error("no effects_dispatched_total")
	}
	s.checkHealing(t)
}

// tries is how many messages came how often.
func (s *stack) tries(t *testing.T) map[int]int {
	t.Helper()
	lines, err := s.about(t.Context(), consumerFunction, func(l line) bool { return l.ReceiveCount > 0 })
	if err != nil {
		t.Fatal(err)
	}
	most, all := map[string]int{}, map[int]int{}
	for _, l := range lines {
		most[l.MessageID] = max(most[l.MessageID], l.ReceiveCount)
	}
	for _, n := range most {
		all[n]++
	}
	return all
}

var dispositions = []string{
	"events_applied_total", "events_coalesced_total", "events_stale_total", "events_duplicate_total",
	"events_parked_total", "events_conflict_total", "events_quarantined_total", "events_deferred_total",
}

var gauges = []string{
	"events_parked_current", "gaps_open_current", "entities_blocked_current",
	"oldest_gap_age_seconds", "park_window_used_percent", "park_age_used_percent",
}

func (s *stack) checkHealing(t *testing.T) {
	t.Helper()
	swept := s.sums(t, sweeperFunction)
	for _, gauge := range gauges {
		if _, ok := swept[gauge]; !ok {
			t.Errorf("the sweeper tells no %s", gauge)
		}
	}
	lossy := 0
	for _, lost := range losses {
		lossy += min(1, len(lost))
	}
	if swept["event_gaps_escalated_total"] < float64(lossy) {
		t.Errorf("%d entities lost something, and the sweeper escalated %v", lossy, swept["event_gaps_escalated_total"])
	}
	relayed := s.sums(t, relayFunction)
	for _, metric := range []string{"outbox_rows_relayed_total", "republish_requests_total", "republish_rows_sent_total", "marks_sent_total"} {
		if relayed[metric] == 0 {
			t.Errorf("the relay tells no %s: %v", metric, relayed)
		}
	}
}

// sums reads the metric lines of a function, checks each, and adds them up.
func (s *stack) sums(t *testing.T, function string) map[string]float64 {
	t.Helper()
	lines, err := s.about(t.Context(), function, func(l line) bool { return strings.Contains(l.text, `"_aws"`) })
	if err != nil {
		t.Fatal(err)
	}
	all, wrong := map[string]float64{}, []string{}
	for _, l := range lines {
		document := s.checkDocument(t, l.text)
		for metric, value := range document {
			all[metric] += value
		}
		var judged float64
		for _, metric := range dispositions {
			judged += document[metric]
		}
		if consumed := document["events_consumed_total"]; consumed != judged {
			wrong = append(wrong, fmt.Sprintf("%v consumed, and the dispositions come to %v: %s", consumed, judged, l.text))
		}
	}
	if len(wrong) > 0 {
		t.Errorf("%d documents do not add up, such as %s", len(wrong), wrong[0])
	}
	return all
}

// checkDocument returns the metrics that a document declares; of a list of values their number.
func (s *stack) checkDocument(t *testing.T, text string) map[string]float64 {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if err := emfSchema(t).Validate(value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var directive struct {
		AWS struct {
			CloudWatchMetrics []struct {
				Namespace string
				Metrics   []struct{ Name string }
			}
		} `json:"_aws"`
		Consumer string
	}
	var members map[string]any
	if err := json.Unmarshal([]byte(text), &directive); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, d := range directive.AWS.CloudWatchMetrics {
		if d.Namespace != "inorder" || directive.Consumer != consumerName {
			t.Errorf("namespace %q, consumer %q: %s", d.Namespace, directive.Consumer, text)
		}
		for _, metric := range d.Metrics {
			switch v := members[metric.Name].(type) {
			case float64:
				all[metric.Name] = v
			case []any:
				all[metric.Name] = float64(len(v))
			default:
				t.Errorf("no value of %s: %s", metric.Name, text)
			}
		}
	}
	return all
}

func emfSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft4) // the schema names none; its $ids are pointers, which later drafts refuse
	schema, err := compiler.Compile(filepath.Join(projectRoot, "functions", "testdata", "emf.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// E9: nothing that an event says is in any line of any function.
func TestNoDataIsLogged(t *testing.T) {
	s := afterAll(t)
	for _, function := range functionNames {
		lines, err := s.about(t.Context(), function, func(l line) bool { return strings.Contains(l.text, secret) })
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) > 0 {
			t.Errorf("%d lines of %s, such as %.1000s", len(lines), function, lines[0].text)
		}
	}
}

// meant tells which errors these tests cause: gaps, and tries that take LocalStack, which is one process for all, more than two
// seconds on a busy machine: of that the HTTP client tells. A function whose own time is over says it otherwise.
func (l line) meant() bool {
	return l.Message == "sequence gap" || strings.Contains(l.text, "Client.Timeout")
}

// E9: no function complains of anything but what was done to it.
func TestNoOtherErrorIsLogged(t *testing.T) {
	s := afterAll(t)
	for _, function := range functionNames {
		lines, err := s.about(t.Context(), function, func(l line) bool { return l.Level == "ERROR" && !l.meant() })
		if err != nil {
			t.Fatal(err)
		}
		by := map[string][]string{}
		for _, l := range lines {
			by[l.Message] = append(by[l.Message], l.text)
		}
		for _, message := range slices.Sorted(maps.Keys(by)) {
			t.Errorf("%s says %d times %q, such as %.600s", function, len(by[message]), message, by[message][0])
		}
	}
}
