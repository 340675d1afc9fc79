package template

import (
	"reflect"
	"strings"
	"testing"
)

// A template reads as CloudFormation reads it: functions in their long form, whatever stands for a key or a text.
func TestParse(t *testing.T) {
	got, err := Parse([]byte(`
Resources:
  A: !Ref B
  C: {aws:SourceArn: !GetAtt D.Arn, "200": [1, 1.5, true, "on", 2012-x, ~]}
  E: !If [F, !Sub "${G}.h", !Sub ["${I}", {I: !Select [0, !Split [":", !Ref J]]}]]
  K: !Sub >-
    two
    lines
`))
	if err != nil {
		t.Fatal(err)
	}
	f := func(name string, argument any) any { return map[string]any{name: argument} }
	want := map[string]any{
		"A": f("Ref", "B"),
		"C": map[string]any{"aws:SourceArn": f("Fn::GetAtt", []any{"D", "Arn"}), "200": []any{1, 1.5, true, "on", "2012-x", nil}},
		"E": f("Fn::If", []any{"F", f("Fn::Sub", "${G}.h"), f("Fn::Sub", []any{"${I}", map[string]any{
			"I": f("Fn::Select", []any{0, f("Fn::Split", []any{":", f("Ref", "J")})}),
		}})}),
		"K": f("Fn::Sub", "two lines"),
	}
	if !reflect.DeepEqual(map[string]any(got), map[string]any{"Resources": want}) {
		t.Errorf("read %v", got)
	}
}

// What could be read as something else than it looks like is refused, with its line.
func TestParseRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"A: on":                  "line 1: on without quotes is a bool",
		"A: 1\nB: No":            "line 2: No without quotes is a bool",
		"A: 2012-10-17":          "line 1: 2012-10-17 is neither text nor a number nor a bool",
		"A: &x 1\nB: *x":         "line 1: an anchor",
		"A: 1\nA: 2":             "A",
		"A: !GetAtt B":           "line 1: !GetAtt names a resource and its attribute",
		"A: !Cidr [1]":           "line 1: the tag !Cidr is not known here",
		"- A":                    "a template is a map",
		"A: {B: 1\nC":            "line",
		"A: {<<: {B: 1}, C: 2 }": "merges",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}
