package template

import (
	"strings"
	"testing"
)

const small = `
Parameters:
  Kind: {Type: String, Default: a, AllowedValues: [a, b]}
  Size: {Type: Number, Default: 5, MinValue: 1, MaxValue: 10}
  Who: {Type: String, Default: "", AllowedPattern: "|[a-z]{2}"}
  Some: {Type: CommaDelimitedList, Default: "x,y"}
Rules:
  Both: {RuleCondition: !Equals [!Ref Kind, b], Assertions: [{Assert: !Not [!Equals [!Ref Who, ""]], AssertDescription: b wants somebody}]}
Conditions:
  IsB: !Equals [!Ref Kind, b]
  Known: !And [!Condition IsB, !Not [!Equals [!Ref Who, ""]]]
  Any: !Or [!Condition Known, !Equals [!Ref Size, 5]]
Resources:
  Queue: {Type: AWS::SQS::Queue, Properties: {QueueName: !Sub "${Kind}-queue"}}
  Other: {Type: AWS::SQS::Queue, Condition: IsB, Properties: {QueueName: other}}
  Table:
    Type: AWS::DynamoDB::Table
    DependsOn: [Queue, Other]
    Properties:
      Choice: !If [IsB, !GetAtt Other.Arn, !Ref AWS::NoValue]
      Text: !Join ["-", [!Ref Size, !Select [1, !Ref Some], !Sub ["${x}${!y}", {x: !GetAtt Queue.QueueName}]]]
      List: [!If [Any, 1, !Ref AWS::NoValue], !If [Known, 2, !Ref AWS::NoValue]]
Outputs:
  Url: {Value: !Ref Queue}
  Arn: {Condition: IsB, Value: !GetAtt Other.Arn}
`

func deployed(t *testing.T, text string, parameters map[string]string) (*Stack, error) {
	t.Helper()
	tpl, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return tpl.Deploy(parameters)
}

// Conditions decide what is there, functions give what they give on AWS, and nothing of either is left.
func TestDeploy(t *testing.T) {
	var f faults
	s, err := deployed(t, small, nil)
	f.want("the error", err, nil)
	f.want("the table", s.Resources["Table"].Properties, map[string]any{"Text": "5-y-a-queue${y}", "List": []any{1}})
	f.want("what it depends on", s.Resources["Table"].DependsOn, []string{"Queue"})
	f.want("the other queue", s.Resources["Other"], (*Resource)(nil))
	f.want("the outputs", s.Outputs, map[string]any{"Url": "https://sqs.eu-west-1.amazonaws.com/123456789012/a-queue"})
	s, err = deployed(t, small, map[string]string{"Kind": "b", "Who": "me", "Size": "6"})
	f.want("the error", err, nil)
	f.want("the table", s.Resources["Table"].Properties, map[string]any{
		"Choice": "arn:aws:sqs:eu-west-1:123456789012:other", "Text": "6-y-b-queue${y}", "List": []any{1, 2},
	})
	f.want("the outputs", s.Outputs["Arn"], "arn:aws:sqs:eu-west-1:123456789012:other")
	for _, wrong := range f {
		t.Error(wrong)
	}
}

// What CloudFormation refuses is refused, in words.
func TestDeployRefuses(t *testing.T) {
	for _, tt := range []struct {
		from, to   string
		parameters map[string]string
		says       string
	}{
		{"", "", map[string]string{"Kind": "c"}, `parameter Kind: "c" is none of [a b]`},
		{"", "", map[string]string{"Size": "11"}, "parameter Size: 11 is not between 1 and 10"},
		{"", "", map[string]string{"Size": "many"}, `"many" is no whole number`},
		{"", "", map[string]string{"Who": "abc"}, `"abc" does not match`},
		{"", "", map[string]string{"Nobody": "1"}, "parameter Nobody: the template has none of this name"},
		{"", "", map[string]string{"Kind": "b"}, "rule Both: b wants somebody"},
		{`Default: "", `, "", nil, "parameter Who: has no value"},
		{"!Ref Queue", "!Ref Other", nil, "output Url: refers to Other, which is not there under these parameters"},
		{"!Ref Queue", "!Ref Queues", nil, "refers to Queues, which there is not"},
		{"!GetAtt Other.Arn}", "!GetAtt Queue.Url}", map[string]string{"Kind": "b", "Who": "me"}, "Url of Queue, a AWS::SQS::Queue, is not known here"},
		{"[Queue, Other]", "Others", nil, "Table: depends on Others, which there is not"},
		{"IsB: !Equals [!Ref Kind, b]", "IsB: !Not [!Condition Known]", nil, "it asks for itself"},
		{"[Any, 1,", "[None, 1,", nil, "no condition None"},
		{`"${Kind}-queue"`, `"${Queue}-queue"`, nil, "the name of Queue depends on itself"},
		{"!Select [1,", "!Select [2,", nil, "Fn::Select: no 2 of [x y]"},
		{"!If [Any, 1, !Ref AWS::NoValue]", "!If [Any, 1]", nil, "Fn::If takes three"},
		{"!Not [!Equals [!Ref Who, \"\"]]]", "!Not [!Ref Who]]", nil, "is no condition"},
	} {
		_, err := deployed(t, strings.Replace(small, tt.from, tt.to, 1), tt.parameters)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s for %s, %v: %v, want %q", tt.to, tt.from, tt.parameters, err, tt.says)
		}
	}
}

// What SAM refuses is an error, and the translator goes on.
func TestTransformRefuses(t *testing.T) {
	tpl, err := Parse([]byte("Transform: AWS::Serverless-2016-10-31\nResources: {F: {Type: AWS::Serverless::Function, Properties: {Runtime: x, Handler: y}}}"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := needSAM(t).Transform(tpl, nil); err == nil || !strings.Contains(err.Error(), "SAM takes no such template: ") {
			t.Errorf("got %v", err)
		}
	}
}
