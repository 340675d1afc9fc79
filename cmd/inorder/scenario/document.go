package scenario

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"inorder/events"
)

// A fault is one thing that makes a file unplayable, with its place.
type fault struct {
	line int // 0: the file as a whole
	text string
}

func (f fault) String() string {
	if f.line == 0 {
		return f.text
	}
	return fmt.Sprintf("line %d: %s", f.line, f.text)
}

// maxValues is how many values one file may come to, with its aliases written out: they make a mountain of a few lines.
const maxValues = 100_000

// parseDocument reads a YAML text that holds exactly one mapping.
func parseDocument(text []byte) (*value, []fault) {
	file, wrong := events.ParseYAML(text)
	if wrong != nil {
		return nil, []fault{{wrong.Line, wrong.Text}}
	}
	docs := slices.DeleteFunc(file.Docs, func(d *ast.DocumentNode) bool { return isDirective(d.Body) })
	if len(docs) != 1 || docs[0].Body == nil {
		return nil, []fault{{0, "a scenario is one YAML document, no more and no less"}}
	}
	c := converter{anchors: map[string]*value{}}
	root := c.convert(docs[0].Body)
	if len(c.faults) == 0 && root.kind != mapKind {
		c.fault(docs[0].Body, "a scenario is a mapping of keys to values")
	}
	if root.size > maxValues {
		c.fault(docs[0].Body, "more than %d values, its aliases written out", maxValues)
	}
	return root, c.faults
}

// isDirective reports whether a document is the line %YAML before one, which the parser takes for a document.
func isDirective(body ast.Node) bool {
	_, is := body.(*ast.DirectiveNode)
	return is
}

// converter turns the parser's tree into values, aliases resolved. It goes on after a fault, to list them all.
type converter struct {
	anchors map[string]*value
	faults  []fault
}

func (c *converter) fault(n ast.Node, format string, args ...any) *value {
	line := 0
	if n != nil && n.GetToken() != nil {
		line = n.GetToken().Position.Line
	}
	c.faults = append(c.faults, fault{line, fmt.Sprintf(format, args...)})
	return &value{kind: nullKind, line: line}
}

func (c *converter) convert(n ast.Node) *value {
	switch n := n.(type) {
	case *ast.MappingNode:
		return c.mapping(n, n.Values)
	case *ast.MappingValueNode:
		return c.mapping(n, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		return c.sequence(n)
	case *ast.AnchorNode:
		v := c.convert(n.Value)
		c.anchors[n.Name.GetToken().Value] = v
		return v
	case *ast.AliasNode:
		v, found := c.anchors[n.Value.GetToken().Value]
		if !found {
			return c.fault(n, "alias *%s has no anchor before it", n.Value.GetToken().Value)
		}
		return v
	case *ast.TagNode:
		return c.tagged(n)
	case *ast.LiteralNode:
		return text(n.Value.Value, lineOf(n))
	case *ast.StringNode:
		return c.scalar(n.GetToken(), n.Value)
	case *ast.NullNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return c.scalar(n.GetToken(), n.GetToken().Value)
	default:
		return c.fault(n, "a scenario has no use for YAML's %s", n.Type())
	}
}

func lineOf(n ast.Node) int { return n.GetToken().Position.Line }

// scalar resolves plain scalars by YAML 1.2's core schema and not by the parser's reading, which takes numbers that
// no Go number holds for texts.
func (c *converter) scalar(tk *token.Token, plain string) *value {
	line := tk.Position.Line
	if tk.Type == token.SingleQuoteType || tk.Type == token.DoubleQuoteType {
		return text(plain, line)
	}
	v, err := resolve(plain)
	if err != nil {
		c.faults = append(c.faults, fault{line, err.Error()})
	}
	v.line = line
	return v
}

func (c *converter) tagged(n *ast.TagNode) *value {
	if n.GetToken().Value == "!!str" {
		if s, ok := n.Value.(ast.ScalarNode); ok {
			return text(s.GetToken().Value, lineOf(n))
		}
	}
	return c.fault(n, "a scenario has no use for the tag %s", n.GetToken().Value)
}

func (c *converter) sequence(n *ast.SequenceNode) *value {
	v := &value{kind: listKind, line: lineOf(n), items: make([]*value, 0, len(n.Values))}
	for _, item := range n.Values {
		v.items = append(v.items, c.convert(item))
	}
	return v.closed()
}

func (c *converter) mapping(n ast.Node, entries []*ast.MappingValueNode) *value {
	v := &value{kind: mapKind, line: lineOf(n)}
	var merges []*ast.MappingValueNode
	for _, entry := range entries {
		if _, is := entry.Key.(*ast.MergeKeyNode); is {
			merges = append(merges, entry)
			continue
		}
		child := c.convert(entry.Value)
		name, line, ok := c.key(entry.Key)
		switch {
		case !ok:
		case v.get(name) != nil:
			c.fault(entry.Key, "key %q stands twice", name)
		default:
			v.items = append(v.items, child)
			v.keys = append(v.keys, key{name, line})
		}
	}
	for _, entry := range merges {
		c.merge(v, entry)
	}
	if len(v.keys) > 0 {
		v.line = min(v.line, v.keys[0].line)
	}
	return v.closed()
}

func (c *converter) key(k ast.MapKeyNode) (name string, line int, ok bool) {
	switch k := k.(type) {
	case *ast.AnchorNode, *ast.AliasNode:
		v := c.convert(k)
		return v.text, lineOf(k), v.kind != mapKind && v.kind != listKind
	case *ast.StringNode:
		return k.Value, lineOf(k), true
	case ast.ScalarNode:
		return k.GetToken().Value, lineOf(k), true
	}
	c.fault(k, "a key must be a plain name")
	return "", 0, false
}

// merge takes over what `<<: *other` brings and the mapping does not say itself.
func (c *converter) merge(into *value, entry *ast.MappingValueNode) {
	from := c.convert(entry.Value)
	sources := []*value{from}
	if from.kind == listKind {
		sources = from.items
	}
	for _, source := range sources {
		if source.kind != mapKind {
			c.fault(entry.Value, "<< takes a mapping, or a list of them")
			continue
		}
		for i, k := range source.keys {
			if into.get(k.name) == nil {
				into.keys = append(into.keys, k)
				into.items = append(into.items, source.items[i])
			}
		}
	}
}
