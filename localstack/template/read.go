package template

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Template is template.yaml, or what SAM makes of it: maps, lists, text, int, float64, bool and nil. CloudFormation's
// functions stand in their long form, {"Ref": ...} or {"Fn::GetAtt": [..., ...]}, however the file writes them.
type Template map[string]any

// Read reads a template's file.
func Read(path string) (Template, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(text)
}

// Parse reads a template's YAML, with CloudFormation's short tags such as !Ref. It refuses what a template has no need of
// and a reader could take for something else: anchors, merged maps, repeated keys, other tags, and words without quotes
// that YAML 1.1, which CloudFormation reads, takes for true and false.
//
// Not with github.com/goccy/go-yaml, which reads our other files: it takes the key of {aws:SourceArn: x} for a map.
func Parse(text []byte) (Template, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	var r reader
	root, ok := r.value(&doc).(map[string]any)
	if !ok {
		r.fault(&doc, "a template is a map")
	}
	return root, errors.Join(r.faults...)
}

type reader struct{ faults []error }

func (r *reader) fault(n *yaml.Node, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("line %d: %s", n.Line, fmt.Sprintf(format, args...)))
}

func (r *reader) value(n *yaml.Node) any {
	if n.Anchor != "" {
		r.fault(n, "an anchor")
	}
	if short := !strings.HasPrefix(n.ShortTag(), "!!"); short && n.Tag != "" {
		return r.function(n)
	}
	return r.plain(n)
}

func (r *reader) plain(n *yaml.Node) any {
	switch n.Kind {
	case yaml.DocumentNode:
		return r.value(n.Content[0])
	case yaml.MappingNode:
		return r.mapping(n)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, v := range n.Content {
			list[i] = r.value(v)
		}
		return list
	case yaml.ScalarNode:
		return r.scalar(n)
	case yaml.AliasNode, yaml.StreamNode:
	}
	r.fault(n, "an alias")
	return nil
}

func (r *reader) mapping(n *yaml.Node) map[string]any {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		name := n.Content[i].Value
		if _, twice := m[name]; twice || name == "<<" {
			r.fault(n.Content[i], "%s stands here twice, or merges", name)
		}
		m[name] = r.value(n.Content[i+1])
	}
	return m
}

func (r *reader) scalar(n *yaml.Node) any {
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch strings.ToLower(n.Value) {
	case "on", "off", "yes", "no":
		if !quoted {
			r.fault(n, "%s without quotes is a bool", n.Value)
		}
	}
	var v any
	switch n.ShortTag() {
	case "!!str", "!!int", "!!float", "!!bool", "!!null":
		if err := n.Decode(&v); err != nil {
			r.fault(n, "%v", err)
		}
	default:
		r.fault(n, "%s is neither text nor a number nor a bool", n.Value)
	}
	return v
}

// function is one in its long form. "Intrinsic function reference", AWS CloudFormation Template Reference Guide.
func (r *reader) function(n *yaml.Node) any {
	inner := *n
	if inner.Tag = ""; n.Kind == yaml.ScalarNode {
		inner.Tag = "!!str"
	}
	argument := r.plain(&inner)
	switch name := strings.TrimPrefix(n.Tag, "!"); name {
	case "Ref", "Condition":
		return map[string]any{name: argument}
	case "GetAtt":
		text, _ := argument.(string)
		resource, attribute, ok := strings.Cut(text, ".")
		if !ok {
			r.fault(n, "!GetAtt names a resource and its attribute, with a dot between")
		}
		return map[string]any{"Fn::GetAtt": []any{resource, attribute}}
	case "And", "Equals", "If", "Join", "Not", "Or", "Select", "Split", "Sub":
		return map[string]any{"Fn::" + name: argument}
	default:
		r.fault(n, "the tag %s is not known here", n.Tag)
		return nil
	}
}
