package template

import (
	"net/url"
	"slices"
	"strings"
)

// grant is an action on a resource, by its ARN.
type grant struct{ action, arn string }

// granted are all pairs that statements allow.
func granted(all []statement) (grants []grant) {
	for _, st := range all {
		for _, action := range st.actions {
			for _, resource := range st.resources {
				grants = append(grants, grant{action, resource})
			}
		}
	}
	return grants
}

func (f *faults) same(who string, got, want []grant) {
	for _, g := range want {
		if !slices.Contains(got, g) {
			f.add("%s may not %s on %s, and has to", who, g.action, g.arn)
		}
	}
	for i, g := range got {
		if !slices.Contains(want, g) {
			f.add("%s may %s on %s, and never does", who, g.action, g.arn)
		}
		if slices.Contains(got[:i], g) {
			f.add("%s may %s on %s, twice", who, g.action, g.arn)
		}
	}
}

// grants are permissions on what there is in a stack.
func (s *Stack) grants(all permissions) (grants []grant) {
	for _, p := range all.list() {
		if resource := s.arnOf(p.on); resource != "" {
			grants = append(grants, grant{p.action, resource})
		}
	}
	return grants
}

// arnOf is the ARN of what an output tells; empty where there is none.
func (s *Stack) arnOf(output string) string {
	name, index, isIndex := strings.Cut(output, "/")
	value := text(s.Outputs[name])
	switch {
	case output == theStack:
		// "Actions, resources, and condition keys for AWS CloudFormation", Service Authorization Reference: a stack is
		// stack/NAME/ID. Who names it by NAME may not know the ID.
		return arn("cloudformation", "stack/"+text(pseudo["AWS::StackName"])) + "/*"
	case value == "":
		return ""
	case isIndex:
		return arn("dynamodb", "table/"+value) + "/" + index
	case strings.HasSuffix(output, "Table"):
		return arn("dynamodb", "table/"+value)
	case strings.HasSuffix(output, "LogGroup"):
		return arn("logs", "log-group:"+value) + ":*"
	}
	u, err := url.Parse(value)
	if err != nil {
		return value
	}
	path := strings.Split(u.Path, "/")
	return "arn:aws:sqs:" + strings.Split(u.Host, ".")[1] + ":" + path[1] + ":" + path[2]
}

// forLambda is what Lambda does in a function's name: takes messages and rows, tells what it gave up, keeps log lines and
// traces, and decrypts. "Defining Lambda function permissions with an execution role", AWS Lambda Developer Guide.
func (s *Stack) forLambda(function *Resource) (grants []grant) {
	allow := func(on string, actions ...string) {
		for _, action := range actions {
			grants = append(grants, grant{action, on})
		}
	}
	for _, mapping := range s.Types("AWS::Lambda::EventSourceMapping") {
		if mapping.Properties["FunctionName"] != function.Properties["FunctionName"] {
			continue
		}
		source := text(mapping.Properties["EventSourceArn"])
		if table, _, stream := strings.Cut(source, "/stream/"); stream {
			allow(source, "dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator")
			allow(table+"/stream/*", "dynamodb:ListStreams")
		} else {
			allow(source, "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
		}
		if failed := text(At(mapping.Properties, "DestinationConfig", "OnFailure", "Destination")); failed != "" {
			allow(failed, "sqs:SendMessage")
		}
	}
	allow(arn("logs", "log-group:"+text(At(function.Properties, "LoggingConfig", "LogGroup")))+":*", "logs:CreateLogStream", "logs:PutLogEvents")
	if At(function.Properties, "TracingConfig", "Mode") == "Active" {
		allow("*", traces...)
	}
	return append(grants, s.forKey("kms:Decrypt", "kms:GenerateDataKey")...)
}

// forKey are actions on the key, where there is one.
func (s *Stack) forKey(actions ...string) (grants []grant) {
	for _, action := range actions {
		if key := s.Parameters["KmsKeyArn"]; key != "" {
			grants = append(grants, grant{action, key})
		}
	}
	return grants
}
