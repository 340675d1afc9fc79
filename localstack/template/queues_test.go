package template

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	longestRetention = 14 * 24 * 3600   // seconds; "Amazon SQS message quotas", Amazon SQS Developer Guide
	longestMessage   = 1 << 20          // bytes; the same
	longestInvisible = 12 * 60 * 60     // seconds; "Amazon SQS visibility timeout", the same
	timesTimeout     = 6                // "Creating and configuring an Amazon SQS event source mapping", AWS Lambda Developer Guide
	passing          = "RepublishQueue" // what was in it is asked for again
)

// Every queue is encrypted, takes TLS only and the longest messages, and keeps them as long as there is. It outlives the
// stack, if what is in it would not come again.
func checkQueues(v *views) (wrong []string) {
	var f faults
	each(v.source, func(name string, s *Stack) {
		tls := s.tlsOnly()
		for _, r := range s.Types("AWS::SQS::Queue") {
			is := func(property string, got, want any) { f.want(name+": "+property+" of "+r.ID, got, want) }
			queue := text(r.Properties["QueueName"])
			is("the retention", r.Properties["MessageRetentionPeriod"], longestRetention)
			is("the longest message", r.Properties["MaximumMessageSize"], longestMessage)
			if key := s.Parameters["KmsKeyArn"]; key != "" {
				is("the key", []any{r.Properties["KmsMasterKeyId"], r.Properties["SqsManagedSseEnabled"]}, []any{key, nil})
			} else {
				is("the encryption", []any{r.Properties["KmsMasterKeyId"], r.Properties["SqsManagedSseEnabled"]}, []any{nil, true})
			}
			is("whether its name is a FIFO queue's", strings.HasSuffix(queue, ".fifo"), r.Properties["FifoQueue"] == true)
			is("being refused without TLS", tls[arn("sqs", queue)], true)
			if r.ID != passing {
				is("DeletionPolicy", r.DeletionPolicy, "Retain")
				is("UpdateReplacePolicy", r.UpdateReplacePolicy, "Retain")
			}
		}
		f.want(name+": the events queue is a FIFO queue", isFIFO(s.Resources["EventsQueue"]), s.Parameters["QueueType"] == "fifo" && s.Parameters["EventsQueueArn"] == "")
		f.want(name+": the effects queue is a FIFO queue", isFIFO(s.Resources["EffectsQueue"]), true)
	})
	return f
}

func isFIFO(r *Resource) bool { return r != nil && r.Properties["FifoQueue"] == true }

// tlsOnly are the ARNs of the queues that refuse whoever comes without TLS.
func (s *Stack) tlsOnly() map[string]bool {
	refuse := map[string]bool{}
	for _, policy := range s.Types("AWS::SQS::QueuePolicy") {
		for _, st := range statements(policy.Properties["PolicyDocument"]) {
			for _, url := range toTexts(list(policy.Properties["Queues"])) {
				queue := arn("sqs", url[strings.LastIndexByte(url, '/')+1:])
				if st.effect == "Deny" && st.principal == "*" && slices.Equal(st.actions, []string{"sqs:*"}) && slices.Equal(st.resources, []string{queue}) &&
					fmt.Sprint(st.condition) == "map[Bool:map[aws:SecureTransport:false]]" {
					refuse[queue] = true
				}
			}
		}
	}
	return refuse
}

// Nobody else may send to the events queue but whom the parameters name, each by the ARN of what sends. No other queue
// lets anybody in by its policy.
func checkSenders(v *views) (wrong []string) {
	var f faults
	each(v.source, func(name string, s *Stack) {
		senders := map[string]any{}
		for _, policy := range s.Types("AWS::SQS::QueuePolicy") {
			for _, st := range statements(policy.Properties["PolicyDocument"]) {
				if st.effect != "Allow" {
					continue
				}
				if policy.ID != "EventsQueuePolicy" || st.principal == "*" || !slices.Contains(st.actions, "sqs:SendMessage") ||
					len(without(st.actions, []string{"sqs:SendMessage", "sqs:GetQueueUrl"})) > 0 {
					f.add("%s: %s lets somebody in: %v", name, policy.ID, st)
				}
				senders[st.principal] = st.condition
			}
		}
		want := map[string]any{}
		if s.Parameters["SenderTopicArn"] != "" {
			want = map[string]any{
				"sns.amazonaws.com": map[string]any{"ArnEquals": map[string]any{"aws:SourceArn": senderTopic}},
				"s3.amazonaws.com": map[string]any{
					"ArnEquals": map[string]any{"aws:SourceArn": senderBucket}, "StringEquals": map[string]any{"aws:SourceAccount": Account},
				},
				"events.amazonaws.com":      map[string]any{"ArnEquals": map[string]any{"aws:SourceArn": senderRule}},
				"210987654321 310987654321": nil,
			}
		}
		f.want(name+": who may send, and with which condition,", senders, want)
	})
	return f
}

// A message is not shown again while the invocation that has it may still run: for every Timeout that is allowed.
func checkVisibility(v *views) (wrong []string) {
	var f faults
	section := map[string]any(v.source)
	longestWindow, _ := number(At(section, "Parameters", "BatchWindowSeconds", "MaxValue"))
	for _, timeout := range toTexts(list(At(section, "Parameters", "Timeout", "AllowedValues"))) {
		s, _ := v.transformed().Deploy(map[string]string{"Timeout": timeout, "BatchWindowSeconds": fmt.Sprint(longestWindow)})
		for _, mapping := range s.Types("AWS::Lambda::EventSourceMapping") {
			queue := s.queue(text(mapping.Properties["EventSourceArn"]))
			if queue == nil {
				continue
			}
			function := s.function(text(mapping.Properties["FunctionName"]))
			least := timesTimeout*count(function.Properties["Timeout"]) + count(mapping.Properties["MaximumBatchingWindowInSeconds"])
			if is := count(queue.Properties["VisibilityTimeout"]); is < least || is > longestInvisible {
				f.add("with a timeout of %s s, %s hides a message for %d s, want %d s at least", timeout, queue.ID, is, least)
			}
		}
	}
	return f
}

// A message that is never taken gets to the dead-letter queue before SQS deletes it: with the most tries that are allowed, and
// every Timeout that is.
func checkTries(v *views) (wrong []string) {
	var f faults
	most := map[string]string{}
	for _, name := range []string{"ReceiveCount", "EffectsReceiveCount"} {
		most[name] = fmt.Sprint(At(map[string]any(v.source), "Parameters", name, "MaxValue"))
	}
	for _, timeout := range toTexts(list(At(map[string]any(v.source), "Parameters", "Timeout", "AllowedValues"))) {
		most["Timeout"] = timeout
		s, _ := v.source.Deploy(most)
		for _, r := range s.Types("AWS::SQS::Queue") {
			tries, hidden := count(At(r.Properties["RedrivePolicy"], "maxReceiveCount")), count(r.Properties["VisibilityTimeout"])
			if kept := count(r.Properties["MessageRetentionPeriod"]); tries*hidden >= kept {
				f.add("with a timeout of %s s, %d tries of a message of %s take %d s, and SQS deletes it after %d s", timeout, tries, r.ID, tries*hidden, kept)
			}
		}
	}
	return f
}

// Where a queue has a dead-letter queue, each names the other, and nobody else; both are FIFO queues, or none. What a
// function takes messages from has one; what only people take from lets no other queue use it.
func checkRedrive(v *views) (wrong []string) {
	var f faults
	each(v.transformed(), func(name string, s *Stack) {
		uses := map[string]*Resource{} // the queue that uses a dead-letter queue, by the ARN of that
		for _, r := range s.Types("AWS::SQS::Queue") {
			if policy := r.Properties["RedrivePolicy"]; policy != nil {
				uses[text(At(policy, "deadLetterTargetArn"))] = r
				f.want(name+": how often a message of "+r.ID+" is tried", At(policy, "maxReceiveCount"), s.tries(r))
			}
		}
		for target, r := range uses {
			if s.queue(target) == nil {
				f.add("%s: the dead-letter queue of %s is %s, which is not in the stack", name, r.ID, target)
			}
		}
		for _, r := range s.Types("AWS::SQS::Queue") {
			f.usedBy(name, r, uses[arn("sqs", text(r.Properties["QueueName"]))])
		}
		for _, mapping := range s.Types("AWS::Lambda::EventSourceMapping") {
			if queue := s.queue(text(mapping.Properties["EventSourceArn"])); queue != nil && queue.Properties["RedrivePolicy"] == nil {
				f.add("%s: %s is taken by a function and has no dead-letter queue", name, queue.ID)
			}
		}
		has := At(s.properties("EffectsQueue"), "RedrivePolicy") != nil
		f.want(name+": the effects queue has a dead-letter queue", has, s.Parameters["EffectsReceiveCount"] != "0")
	})
	return f
}

// tries is the parameter that says how often a queue's messages are tried.
func (s *Stack) tries(queue *Resource) string {
	if queue.ID == "EffectsQueue" {
		return s.Parameters["EffectsReceiveCount"]
	}
	return s.Parameters["ReceiveCount"]
}

// usedBy looks at who may use a queue as its dead-letter queue; user is nil where none does.
func (f *faults) usedBy(name string, r, user *Resource) {
	allow := r.Properties["RedriveAllowPolicy"]
	switch {
	case user != nil:
		source := arn("sqs", text(user.Properties["QueueName"]))
		f.want(name+": who may use "+r.ID, []any{At(allow, "redrivePermission"), At(allow, "sourceQueueArns")}, []any{"byQueue", []any{source}})
		f.want(name+": "+r.ID+" is a FIFO queue like "+user.ID, isFIFO(r), isFIFO(user))
	case r.Properties["RedrivePolicy"] == nil && r.ID != "EffectsQueue": // which has one or not, as is asked for
		f.want(name+": who may use "+r.ID, At(allow, "redrivePermission"), "denyAll")
	}
}

// queue is the stack's queue of an ARN; nil where it is somebody else's.
func (s *Stack) queue(queueARN string) *Resource {
	for _, r := range s.Types("AWS::SQS::Queue") {
		if arn("sqs", text(r.Properties["QueueName"])) == queueARN {
			return r
		}
	}
	return nil
}

// function is the stack's function of a name.
func (s *Stack) function(name string) *Resource {
	for _, r := range s.Types("AWS::Lambda::Function") {
		if text(r.Properties["FunctionName"]) == name {
			return r
		}
	}
	return &Resource{}
}

// count is a whole number, or 0.
func count(v any) int {
	n, _ := strconv.Atoi(fmt.Sprint(v))
	return n
}
