package events

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

func (y *yamlReader) sequence(n ast.Node, what string) (values []ast.Node, ok bool) {
	list, ok := y.plain(n).(*ast.SequenceNode)
	if !ok {
		y.fault(n, "%s must be a list", what)
		return nil, false
	}
	if len(list.Values) == 0 {
		y.fault(n, "%s must not be empty", what)
	}
	return list.Values, true
}

// text reads a string that is not blank.
func (y *yamlReader) text(n ast.Node, what string) (string, bool) {
	s := ""
	switch node := y.plain(n).(type) {
	case *ast.StringNode:
		s = node.Value
	case *ast.LiteralNode:
		s = node.Value.Value
	default:
		y.fault(n, "%s must be a string; put it in quotes", what)
		return "", false
	}
	if strings.TrimSpace(s) == "" {
		y.fault(n, "%s must not be blank", what)
		return "", false
	}
	return s, true
}

func (y *yamlReader) integer(n ast.Node, what string, low, high int64) (int64, bool) {
	var v int64
	node, ok := y.plain(n).(*ast.IntegerNode)
	if ok {
		switch value := node.Value.(type) {
		case int64:
			v = value
		case uint64:
			v = int64(min(value, 1<<63-1))
		}
	}
	if !ok || v < low || v > high {
		y.fault(n, "%s must be an integer from %d to %d", what, low, high)
		return 0, false
	}
	return v, true
}

func (y *yamlReader) boolean(n ast.Node, what string) bool {
	node, ok := y.plain(n).(*ast.BoolNode)
	if !ok {
		y.fault(n, "%s must be true or false", what)
		return false
	}
	return node.Value
}

// choice reads one of a few words.
func (y *yamlReader) choice(n ast.Node, what string, words ...string) (string, bool) {
	node, _ := y.plain(n).(*ast.StringNode)
	if node != nil {
		for _, w := range words {
			if node.Value == w {
				return w, true
			}
		}
	}
	hint := ""
	if node != nil {
		hint = suggestion(node.Value, words)
	}
	y.fault(n, "%s must be %s%s", what, strings.Join(words, " or "), hint)
	return "", false
}

func suggestion(name string, known []string) string {
	if meant := nearest(name, known); meant != "" {
		return fmt.Sprintf(" (did you mean %s?)", meant)
	}
	return ""
}
