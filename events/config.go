package events

import (
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Options are what a streams.yaml is read with.
type Options struct {
	// GapDeadline and ParkTTL are the variables of those names: where they are not zero they stand in for the built-in
	// defaults. What a stream says itself beats them.
	GapDeadline, ParkTTL time.Duration
	// Projections are the names of the registered Go projections.
	Projections []string
}

// ParseStreams reads a streams.yaml strictly. The error is Faults: everything that is wrong, each with its line.
func ParseStreams(text []byte, o Options) (*Config, error) {
	p := configReader{options: o, names: make(map[string]bool), patterns: make(map[string]string)}
	c := &Config{}
	if root := p.root(text); root != nil {
		p.config(c, root)
	}
	if len(p.faults) > 0 {
		p.faults.sort()
		return nil, p.faults
	}
	c.routes = newRouter(c.Streams)
	return c, nil
}

// configReader is a yamlReader that knows what a streams.yaml may hold, and what its streams may not share.
type configReader struct {
	yamlReader
	options  Options
	names    map[string]bool
	patterns map[string]string // pattern → the stream that has it
}

func (p *configReader) config(c *Config, root ast.Node) {
	entries, ok := p.mapping(root, "the file")
	if !ok {
		return
	}
	known := []string{"consumer", "streams"}
	for _, e := range entries {
		switch e.name {
		case "consumer":
			c.Consumer, _ = p.text(e.value, "consumer")
		case "streams":
			p.streams(c, e.value)
		default:
			p.fault(e.key, "unknown key %q%s", e.name, suggestion(e.name, known))
		}
	}
	for _, name := range known {
		if !slices.ContainsFunc(entries, func(e entry) bool { return e.name == name }) {
			p.fault(root, "the file lacks %s", name)
		}
	}
}

func (p *configReader) streams(c *Config, n ast.Node) {
	nodes, _ := p.sequence(n, "streams")
	for _, node := range nodes {
		r := streamReader{configReader: p, at: make(map[string]entry), s: &Stream{}}
		r.read(node)
		c.Streams = append(c.Streams, r.s)
	}
}

// pattern checks one entry of types, ignore or tombstone. All three route, so a pattern may stand only once in a file:
// which stream took a type must not depend on the order of the file.
func (p *configReader) pattern(n ast.Node, what, stream string) (string, bool) {
	pattern, ok := p.text(n, what)
	if !ok {
		return "", false
	}
	if i := strings.IndexByte(pattern, '*'); i >= 0 && i < len(pattern)-1 {
		p.fault(n, "pattern %q: a * may stand at the end only", pattern)
		return "", false
	}
	if strings.HasPrefix(pattern, controlPrefix) {
		p.fault(n, "pattern %q: types that start with %s are the product's own and reach every stream they name", pattern, controlPrefix)
		return "", false
	}
	if other, taken := p.patterns[pattern]; taken {
		p.fault(n, "pattern %q stands twice, here and in stream %s: an event goes to one place", pattern, other)
		return "", false
	}
	p.patterns[pattern] = stream
	return pattern, true
}
