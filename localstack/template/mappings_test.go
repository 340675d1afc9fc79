package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	mostOfFIFO      = 10    // messages of a batch; "CreateEventSourceMapping", AWS Lambda API Reference
	withoutWindow   = 10    // messages of a batch that Lambda does not wait for; the same
	streamRemembers = 86400 // seconds; "Change data capture for DynamoDB Streams", Amazon DynamoDB Developer Guide
)

// What has to come back comes back, and only that: every source reports batch item failures. A queue is bounded by the
// mapping's concurrency, a stream by tries and age, and what the relay gave up is told to a queue.
func checkMappings(v *views) (wrong []string) {
	var f faults
	each(v.transformed(), func(name string, s *Stack) {
		for _, r := range s.Types("AWS::Lambda::EventSourceMapping") {
			is := func(property string, want any) {
				f.want(name+": "+r.ID+"."+property, At(r.Properties, strings.Split(property, ".")...), want)
			}
			is("FunctionResponseTypes", []any{"ReportBatchItemFailures"})
			source := text(r.Properties["EventSourceArn"])
			if strings.HasPrefix(source, "arn:aws:dynamodb:") {
				f.stream(name, s, r)
				continue
			}
			is("ScalingConfig.MaximumConcurrency", s.Parameters["MaximumConcurrency"])
			batch, window := count(r.Properties["BatchSize"]), r.Properties["MaximumBatchingWindowInSeconds"]
			switch fifo := strings.HasSuffix(source, ".fifo"); {
			case fifo && (batch > mostOfFIFO || window != nil):
				f.add("%s: %s: a FIFO queue gives batches of %d at most, and knows no window: %d, %v", name, r.ID, mostOfFIFO, batch, window)
			case !fifo && batch > withoutWindow && count(window) < 1:
				f.add("%s: %s: batches of %d need a window", name, r.ID, batch)
			case !fifo && r.ID == "ConsumerFunctionEvents" && batch != count(s.Parameters["BatchSize"]):
				f.add("%s: %s: batches of %d of a standard queue, and %s were asked for", name, r.ID, batch, s.Parameters["BatchSize"])
			}
		}
	})
	return f
}

func (f *faults) stream(name string, s *Stack, r *Resource) {
	is := func(property string, want any) {
		f.want(name+": "+r.ID+"."+property, At(r.Properties, strings.Split(property, ".")...), want)
	}
	is("StartingPosition", "TRIM_HORIZON")
	is("BisectBatchOnFunctionError", true)
	is("FilterCriteria.Filters", []any{map[string]any{"Pattern": `{"eventName": ["INSERT"]}`}})
	if tries := count(r.Properties["MaximumRetryAttempts"]); tries < 1 || tries > 10000 {
		f.add("%s: %s is tried %d times", name, r.ID, tries)
	}
	if age := count(r.Properties["MaximumRecordAgeInSeconds"]); age < 60 || age >= streamRemembers {
		f.add("%s: %s is tried for %d s, and the stream remembers %d s", name, r.ID, age, streamRemembers)
	}
	if queue := s.queue(text(At(r.Properties, "DestinationConfig", "OnFailure", "Destination"))); queue == nil || isFIFO(queue) {
		f.add("%s: %s tells no standard queue of the stack what it gave up", name, r.ID)
	}
}

// Each function has the sources that it is written for, and no others, and only the consumer can be paused by its queue.
func checkSources(v *views) (wrong []string) {
	var f faults
	each(v.transformed(), func(name string, s *Stack) {
		sources := map[string][]string{}
		for _, r := range s.Types("AWS::Lambda::EventSourceMapping") {
			function := strings.TrimPrefix(text(r.Properties["FunctionName"]), "inorder-")
			sources[function] = append(sources[function], text(r.Properties["EventSourceArn"]))
			enabled := "<nil>"
			if function == "consumer" {
				enabled = s.Parameters["ConsumerEnabled"]
			}
			f.want(name+": "+r.ID+".Enabled", r.Properties["Enabled"], enabled)
		}
		events := s.Parameters["EventsQueueArn"]
		if events == "" {
			events = arn("sqs", text(At(s.properties("EventsQueue"), "QueueName")))
		}
		want := map[string][]string{"consumer": {events}}
		if s.Parameters["Outbox"] == "own" {
			want["relay"] = []string{arn("dynamodb", "table/inorder-outbox/stream/"+streamLabel), arn("sqs", "inorder-republish")}
		}
		for _, all := range sources {
			slices.Sort(all)
		}
		f.want(name+": the sources", sources, want)
	})
	return f
}

func (s *Stack) properties(id string) map[string]any {
	if r := s.Resources[id]; r != nil {
		return r.Properties
	}
	return nil
}

// A rule of EventBridge's calls the sweeper every minute, and nothing else is called by any. It is a rule and not a
// schedule, which LocalStack never fires. A sweep that failed is not tried again.
func checkSchedule(v *views) (wrong []string) {
	var f faults
	each(v.transformed(), func(name string, s *Stack) {
		sweeper := arn("lambda", "function:inorder-sweeper")
		var called []string
		for _, r := range s.Types("AWS::Events::Rule") {
			f.want(name+": "+r.ID+" is due", r.Properties["ScheduleExpression"], "rate(1 minute)")
			f.want(r.ID+" with SweeperEnabled "+s.Parameters["SweeperEnabled"], r.Properties["State"], map[string]string{"true": "ENABLED", "false": "DISABLED"}[s.Parameters["SweeperEnabled"]])
			for _, target := range list(r.Properties["Targets"]) {
				called = append(called, fmt.Sprint(At(target, "Arn")))
			}
			f.want(name+": who may call the sweeper", s.mayCall("inorder-sweeper"), []string{"events.amazonaws.com for " + arn("events", "rule/"+r.ID)})
		}
		f.want(name+": what a rule calls", called, []string{sweeper})
		f.want(name+": schedules", len(s.Types("AWS::Scheduler::Schedule")), 0)
		retries := map[string]any{}
		for _, r := range s.Types("AWS::Lambda::EventInvokeConfig") {
			retries[text(r.Properties["FunctionName"])] = r.Properties["MaximumRetryAttempts"]
		}
		f.want(name+": how often a call is repeated", retries, map[string]any{"inorder-sweeper": 0})
		for _, function := range []string{"inorder-consumer", "inorder-relay"} {
			f.want(name+": who may call "+function, s.mayCall(function), []string{})
		}
	})
	return f
}

// mayCall says whom a function lets call it, beside its mappings, which need no leave of it.
func (s *Stack) mayCall(function string) []string {
	callers := map[string]bool{}
	for _, r := range s.Types("AWS::Lambda::Permission") {
		if r.Properties["FunctionName"] == function {
			callers[fmt.Sprint(r.Properties["Principal"], " for ", r.Properties["SourceArn"])] = true
		}
	}
	return slices.Sorted(maps.Keys(callers))
}
