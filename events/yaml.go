package events

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// yamlReader walks a YAML file and notes every fault with its place, instead of stopping at the first.
type yamlReader struct {
	faults  Faults
	anchors map[string]ast.Node
}

// entry is one key of a mapping with its value.
type entry struct {
	name  string
	key   ast.Node
	value ast.Node
}

// root parses the one document of a file. It returns nil where there is nothing to go on with.
func (y *yamlReader) root(text []byte) ast.Node {
	file, fault := ParseYAML(text, parser.AllowDuplicateMapKey())
	if fault != nil {
		y.faults = append(y.faults, Fault{max(1, fault.Line), max(1, fault.Column), "not YAML: " + fault.Text})
		return nil
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0:
		y.faults = append(y.faults, Fault{1, 1, "the file is empty"})
		return nil
	case 1:
	default:
		y.fault(bodies[1], "a second YAML document: the file must hold one")
	}
	y.anchors = make(map[string]ast.Node)
	ast.Walk(y, bodies[0])
	return bodies[0]
}

// Visit notes every anchor, for the aliases that follow it.
func (y *yamlReader) Visit(n ast.Node) ast.Visitor {
	if anchor, ok := n.(*ast.AnchorNode); ok {
		y.anchors[anchor.Name.GetToken().Value] = anchor.Value
	}
	return y
}

func (y *yamlReader) fault(at ast.Node, format string, args ...any) {
	fault := Fault{1, 1, fmt.Sprintf(format, args...)}
	if at != nil {
		if tok := at.GetToken(); tok != nil && tok.Position != nil {
			fault.Line, fault.Column = tok.Position.Line, tok.Position.Column
		}
	}
	y.faults = append(y.faults, fault)
}

// plain follows anchors and aliases to the value that is meant. An alias of itself, or of nothing, is none.
func (y *yamlReader) plain(n ast.Node) ast.Node {
	for range 20 {
		switch node := n.(type) {
		case *ast.AnchorNode:
			n = node.Value
		case *ast.AliasNode:
			n = y.anchors[node.Value.GetToken().Value]
		default:
			return n
		}
	}
	return nil
}

// mapping reads a mapping with its merge keys (<<) worked in. ok is false, and a fault noted, where it is none.
func (y *yamlReader) mapping(n ast.Node, what string) (entries []entry, ok bool) {
	values, ok := mappingValues(y.plain(n))
	if !ok {
		y.fault(n, "%s must be a mapping", what)
		return nil, false
	}
	seen := make(map[string]bool)
	var merged []ast.Node
	for _, v := range values {
		if v.Key.IsMergeKey() {
			merged = append(merged, v.Value)
			continue
		}
		name, ok := keyName(v.Key)
		if !ok {
			y.fault(v.Key, "a key of %s must be a plain name", what)
			continue
		}
		if seen[name] {
			y.fault(v.Key, "%s stands twice in %s", name, what)
			continue
		}
		seen[name] = true
		entries = append(entries, entry{name, v.Key, v.Value})
	}
	return y.merge(entries, seen, merged), true
}

// maxMerged bounds what a merge key may lead to: a list that merges itself has no end.
const maxMerged = 100

// merge adds what the mapping does not say itself; of several merged mappings the first that says it wins.
func (y *yamlReader) merge(entries []entry, seen map[string]bool, merged []ast.Node) []entry {
	for i := 0; i < len(merged) && i < maxMerged; i++ {
		n := y.plain(merged[i])
		if list, ok := n.(*ast.SequenceNode); ok {
			merged = slices.Insert(merged, i+1, list.Values...)
			continue
		}
		values, ok := mappingValues(n)
		if !ok {
			y.fault(merged[i], "<< must lead to a mapping")
		}
		for _, v := range values {
			if name, ok := keyName(v.Key); ok && !seen[name] && !v.Key.IsMergeKey() {
				seen[name] = true
				entries = append(entries, entry{name, v.Key, v.Value})
			}
		}
	}
	if len(merged) > maxMerged {
		y.fault(merged[0], "<< leads to more than %d mappings", maxMerged)
	}
	return entries
}

func mappingValues(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch node := n.(type) {
	case *ast.MappingNode:
		return node.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{node}, true
	}
	return nil, false
}

func keyName(key ast.MapKeyNode) (string, bool) {
	switch node := key.(type) {
	case *ast.StringNode:
		return node.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return node.GetToken().Value, true
	}
	return "", false
}
