package template

import (
	"fmt"
	"strings"
)

// What a stack is deployed into.
const (
	Account = "123456789012"
	Region  = "eu-west-1"

	streamLabel = "2026-01-01T00:00:00.000" // when a table's stream began
)

var pseudo = map[string]any{
	"AWS::AccountId": Account, "AWS::Region": Region, "AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com",
	"AWS::StackName": "stack", "AWS::StackId": arn("cloudformation", "stack/stack/1"), "AWS::NoValue": noValue{},
}

func arn(service, resource string) string {
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, Region, Account, resource)
}

// ref is what Ref gives for a parameter or a resource.
func (d *deployment) ref(name string) any {
	if v, ok := pseudo[name]; ok {
		return v
	}
	if v, ok := d.stack.Parameters[name]; ok {
		return d.parameter(name, v)
	}
	r := d.there(name)
	if r == nil {
		return nil
	}
	switch physical := d.physical(r); r.Type {
	case "AWS::SQS::Queue":
		return fmt.Sprintf("https://sqs.%s.amazonaws.com/%s/%s", Region, Account, physical)
	case "AWS::IAM::ManagedPolicy", "AWS::SNS::Topic":
		return d.attribute(name, "Arn")
	default:
		return physical
	}
}

// parameter is a list where the template says so.
func (d *deployment) parameter(name, value string) any {
	body, _ := d.template.section("Parameters")[name].(map[string]any)
	if kind := text(body["Type"]); kind == "CommaDelimitedList" || strings.HasPrefix(kind, "List<") {
		return split(value, ",")
	}
	return value
}

// there is a resource that is part of the stack. CloudFormation refuses a template that refers to another one.
func (d *deployment) there(id string) *Resource {
	r := d.stack.Resources[id]
	switch {
	case r != nil:
	case d.template.section("Resources")[id] != nil:
		d.fault("refers to %s, which is not there under these parameters", id)
	default:
		d.fault("refers to %s, which there is not", id)
	}
	return r
}

// nameOf says which property names a resource.
var nameOf = map[string]string{
	"AWS::SQS::Queue": "QueueName", "AWS::DynamoDB::Table": "TableName", "AWS::Logs::LogGroup": "LogGroupName",
	"AWS::Lambda::Function": "FunctionName", "AWS::Serverless::Function": "FunctionName", "AWS::Events::Rule": "Name",
	"AWS::IAM::Role": "RoleName", "AWS::IAM::ManagedPolicy": "ManagedPolicyName", "AWS::SNS::Topic": "TopicName",
	"AWS::CloudWatch::Alarm": "AlarmName", "AWS::CloudWatch::CompositeAlarm": "AlarmName", "AWS::CloudWatch::Dashboard": "DashboardName",
}

// physical is a resource's own name, or else its logical id.
func (d *deployment) physical(r *Resource) string {
	if name, known := d.names[r.ID]; known {
		return name
	}
	if d.under[r.ID] {
		d.fault("the name of %s depends on itself", r.ID)
		return r.ID
	}
	d.under[r.ID] = true
	defer delete(d.under, r.ID)
	name := r.ID
	if given := At(d.template.section("Resources")[r.ID], "Properties", nameOf[r.Type]); given != nil {
		name = fmt.Sprint(d.value(given))
	}
	d.names[r.ID] = name
	return name
}

// attributes are those that a template may ask for, with what stands in an ARN before the resource's name.
var attributes = map[string]map[string]string{
	"AWS::SQS::Queue":           {"Arn": "sqs:", "QueueName": ""},
	"AWS::DynamoDB::Table":      {"Arn": "dynamodb:table/", "StreamArn": "dynamodb:table/"},
	"AWS::Logs::LogGroup":       {"Arn": "logs:log-group:"},
	"AWS::Lambda::Function":     {"Arn": "lambda:function:"},
	"AWS::Serverless::Function": {"Arn": "lambda:function:"},
	"AWS::Events::Rule":         {"Arn": "events:rule/"},
	"AWS::IAM::Role":            {"Arn": "iam:role/"},
	"AWS::IAM::ManagedPolicy":   {"Arn": "iam:policy/"},
	"AWS::SNS::Topic":           {"Arn": "sns:", "TopicName": ""},
	"AWS::CloudWatch::Alarm":    {"Arn": "cloudwatch:alarm:"},
}

// attribute is what Fn::GetAtt gives.
func (d *deployment) attribute(id, name string) any {
	r := d.there(id)
	if r == nil {
		return nil
	}
	prefix, known := attributes[r.Type][name]
	if !known {
		d.fault("%s of %s, a %s, is not known here", name, id, r.Type)
		return nil
	}
	service, kind, _ := strings.Cut(prefix, ":")
	switch {
	case prefix == "":
		return d.physical(r)
	case name == "StreamArn":
		return arn(service, kind+d.physical(r)+"/stream/"+streamLabel)
	case service == "logs":
		return arn(service, kind+d.physical(r)+":*") // "AWS::Logs::LogGroup": Arn ends with it
	default:
		return arn(service, kind+d.physical(r))
	}
}
