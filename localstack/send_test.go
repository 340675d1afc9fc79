package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// A file is whole SQS records, one body, or a body on each line; what is sent is byte for byte what stands there.
func TestMessagesOfAFile(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		want []string
	}{
		"records":        {`{"Records": [{"eventSource": "aws:sqs", "body": " {\"a\":1.0} "}, {"eventSource": "aws:sqs", "body": "b"}]}`, []string{` {"a":1.0} `, "b"}},
		"S3's own":       {`{"Records": [{"eventSource": "aws:s3"}]}`, []string{`{"Records": [{"eventSource": "aws:s3"}]}`}},
		"a body":         {"{\n  \"a\": 1.0\n}\n", []string{"{\n  \"a\": 1.0\n}"}},
		"a body a line":  {"{\"a\":1}\n\n{\"a\":2}\n", []string{`{"a":1}`, `{"a":2}`}},
		"no JSON at all": {"hello\n", []string{"hello"}},
		"nothing":        {"", nil},
	} {
		var got []string
		for _, m := range messages([]byte(row.text)) {
			got = append(got, m.Body)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// Each of the samples can be sent to a queue, with its attributes; to a FIFO queue too, which wants a group and an id.
func TestSamplesCanBeSent(t *testing.T) {
	files, err := filepath.Glob("../events/samples/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	attributes := 0
	for _, file := range files {
		all, err := read(file)
		if err != nil || len(all) == 0 {
			t.Errorf("%s: %d messages, %v", file, len(all), err)
		}
		for _, m := range all {
			input := m.to("http://h/000000000000/q.fifo")
			if aws.ToString(input.MessageBody) != m.Body || len(input.MessageAttributes) != len(m.MessageAttributes) {
				t.Errorf("%s: sent %v of %v", file, input, m)
			}
			if aws.ToString(input.MessageGroupId) == "" || aws.ToString(input.MessageDeduplicationId) == "" {
				t.Errorf("%s: no group or no id for a FIFO queue", file)
			}
			if standard := m.to("http://h/000000000000/q"); standard.MessageGroupId != nil {
				t.Errorf("%s: a group for a standard queue", file)
			}
			attributes += len(input.MessageAttributes)
		}
	}
	if attributes == 0 {
		t.Error("no sample has attributes")
	}
}

// The parameter Consumer follows events/streams.yaml; another one is refused, and nothing is built.
func TestTheConsumerIsTheStreams(t *testing.T) {
	d := deployCommand{Stack: "inorder"}
	if err := d.nameConsumer(); err != nil || d.parameters()["Consumer"] != "billing-view" {
		t.Errorf("the consumer is %q, %v", d.parameters()["Consumer"], err)
	}
	d.Set = map[string]string{"Consumer": "other"}
	if err := d.nameConsumer(); err == nil || !strings.Contains(err.Error(), "the consumer of ") || !strings.Contains(err.Error(), "streams.yaml is billing-view") {
		t.Errorf("another one: %v", err)
	}
	other := deployCommand{Stack: "inorder", Template: "other.yaml"}
	if err := other.nameConsumer(); err != nil || len(other.Set) > 0 {
		t.Errorf("another template, of whose parameters nothing is known: %v, %v", other.Set, err)
	}
}

// A parameter that the template does not have, or a value that it does not take, is refused before anything is built: SAM and
// LocalStack would pass over both.
func TestParametersAreChecked(t *testing.T) {
	for _, row := range []struct {
		set  map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"BatchSize": "7"}, ""},
		{map[string]string{"Nope": "1"}, "parameter Nope: the template has none of this name"},
		{map[string]string{"GapDeadline": "soon"}, `GapDeadline: "soon" does not match`},
		{map[string]string{"ReceiveCount": "NaN"}, `ReceiveCount: "NaN" is no whole number`},
		{map[string]string{"ReceiveCount": "2.5"}, `ReceiveCount: "2.5" is no whole number`},
		{map[string]string{"BatchSize": "0"}, "BatchSize: 0 is not between 1 and 10000"},
	} {
		d := deployCommand{Stack: "inorder", Set: row.set}
		if err := d.allowed(); row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%v: got %v, want %q", row.set, err, row.want)
		}
	}
	d := deployCommand{Stack: "inorder", Set: map[string]string{"QueueType": "fifo", "SenderBucketArn": "arn:aws:s3:::b"}}
	if err := d.allowed(); err == nil || !strings.Contains(err.Error(), "S3 sends notifications to standard queues only") {
		t.Errorf("a rule that does not hold: %v", err)
	}
	d = deployCommand{Stack: "bad_Name"}
	if err := d.allowed(); err == nil || !strings.Contains(err.Error(), `Name: "bad_Name" does not match`) {
		t.Errorf("a stack that the template can give no names to: %v", err)
	}
}
