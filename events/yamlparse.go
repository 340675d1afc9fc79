package events

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// What a YAML file may have at most. The parser, which has no limits of its own, goes over all keys of a mapping again for
// each of them, and over all levels for each level: on a megabyte of brackets it spends minutes. With these limits it
// comes to an end within a second or two, whatever the file is, and they lie ten times above the largest honest one.
const (
	maxYAMLBytes   = 1 << 20
	maxYAMLTokens  = 20_000 // words and signs
	maxYAMLNesting = 100    // brackets and braces inside each other
)

// ParseYAML parses a YAML text within limits, or says what is wrong with it; Line and Column are 0 where that has no place.
func ParseYAML(text []byte, options ...parser.Option) (*ast.File, *Fault) {
	if len(text) > maxYAMLBytes {
		return nil, &Fault{Text: fmt.Sprintf("longer than %d bytes", maxYAMLBytes)}
	}
	if !utf8.Valid(text) {
		return nil, &Fault{Text: "not valid UTF-8"}
	}
	tokens := lexer.Tokenize(strings.TrimPrefix(string(text), byteOrderMark))
	if fault := withinLimits(tokens); fault != nil {
		return nil, fault
	}
	file, err := parseTokens(tokens, options)
	if err != nil {
		return nil, syntaxFault(err)
	}
	return file, nil
}

func withinLimits(tokens token.Tokens) *Fault {
	if len(tokens) > maxYAMLTokens {
		return faultAt(tokens[maxYAMLTokens], fmt.Sprintf("more than %d words and signs: too long for what a person writes", maxYAMLTokens))
	}
	depth := 0
	for _, t := range tokens {
		switch t.Type { //nolint:exhaustive // of dozens only these open and close
		case token.SequenceStartType, token.MappingStartType:
			if depth++; depth > maxYAMLNesting {
				return faultAt(t, fmt.Sprintf("nested deeper than %d levels", maxYAMLNesting))
			}
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
	}
	return nil
}

// parseTokens keeps a panic of the parser, on text that its authors did not think of, from taking the program with it: to the
// author of the file it is a fault like any other.
func parseTokens(tokens token.Tokens, options []parser.Option) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not readable as YAML (%v)", p)
		}
	}()
	return parser.Parse(tokens, 0, options...)
}

// syntaxFault takes the place out of the parser's error, which otherwise quotes half the file.
func syntaxFault(err error) *Fault {
	if at := yaml.Error(nil); errors.As(err, &at) {
		return faultAt(at.GetToken(), at.GetMessage())
	}
	return &Fault{Text: err.Error()}
}

func faultAt(t *token.Token, text string) *Fault {
	if t == nil || t.Position == nil {
		return &Fault{Text: text}
	}
	return &Fault{t.Position.Line, t.Position.Column, text}
}
