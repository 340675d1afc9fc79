package template

import (
	"context"
	"strings"
	"time"

	"inorder/cmd/inorder/stack"
	"inorder/functions"
)

// `inorder --stack` finds every resource that it knows among the outputs, under the name that it looks for, and so does a
// producer with its variables. Each is the resource or the parameter that it is called like.
func checkOutputs(v *views) (wrong []string) {
	var f faults
	each(v.source, func(name string, s *Stack) {
		for _, r := range stack.All() {
			value, there := s.Outputs[r.Output()]
			unknown := r == stack.DLQ && s.Parameters["EventsQueueArn"] != "" && s.Parameters["EventsDlqArn"] == ""
			if there == unknown {
				f.add("%s: there is an output %s: %v", name, r.Output(), there)
			}
			if want := s.resource(r.Output()); there && want != "" && value != want {
				f.add("%s: the output %s is %v, want %s", name, r.Output(), value, want)
			}
		}
		for _, variable := range outboxVariables() {
			if _, there := s.Outputs[camel(variable)]; there != (s.Parameters["Outbox"] == "own") {
				f.add("%s: there is an output %s: %v", name, camel(variable), there)
			}
		}
	})
	return f
}

// resource is what an output is to be: the name of a table or a log group, the URL of a queue, the value of a parameter.
// It is empty for what is somebody else's.
func (s *Stack) resource(output string) string {
	id, isQueue := strings.CutSuffix(output, "Url")
	if id == "Dlq" {
		id = "EventsDlq"
	}
	r := s.Resources[id]
	switch {
	case !isQueue && r == nil:
		return s.Parameters[output]
	case r == nil:
		return ""
	case isQueue:
		return "https://sqs." + Region + ".amazonaws.com/" + Account + "/" + text(r.Properties["QueueName"])
	}
	return text(r.Properties[nameOf[r.Type]])
}

// outboxVariables are those that a producer's outbox reads.
func outboxVariables() []string {
	return asked(func(getenv func(string) string, _ []string) error {
		_, err := functions.StartOutbox(context.Background(), getenv, time.Now)
		return err
	}, nil)
}
