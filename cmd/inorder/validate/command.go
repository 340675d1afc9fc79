// Package validate checks a streams.yaml before a function does.
package validate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"inorder/events"
	"inorder/functions/projections"
)

// Command is `inorder validate`.
type Command struct {
	File string `arg:"" optional:"" name:"file" help:"A streams.yaml." default:"events/streams.yaml"`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// The exit codes.
const (
	exitOK     = 0
	exitFaults = 1
	exitUsage  = 2
)

// Result is what --json prints.
type Result struct {
	File    string  `json:"file"`
	OK      bool    `json:"ok"`
	Streams int     `json:"streams"`
	Faults  []Fault `json:"faults"`
}

// Fault is one thing that is wrong; lines and columns begin at 1.
type Fault struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text"`
}

// Run checks the file. The exit code is 0 when it is right, 1 when it has faults, 2 when it cannot be read.
func (c *Command) Run(_ context.Context, out, _ io.Writer) (exitCode int, err error) {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return exitUsage, err
	}
	result, err := check(c.File, text)
	if err != nil {
		return exitUsage, err
	}
	if c.JSON {
		err = json.NewEncoder(out).Encode(result)
	} else {
		result.print(out)
	}
	if !result.OK {
		return exitFaults, err
	}
	return exitOK, err
}

func check(name string, text []byte) (Result, error) {
	options := events.Options{Projections: slices.Collect(maps.Keys(projections.All()))}
	config, err := events.ParseStreams(text, options)
	r := Result{File: name, OK: err == nil, Faults: []Fault{}}
	if err == nil {
		r.Streams = len(config.Streams)
		return r, nil
	}
	faults := events.Faults(nil)
	if !errors.As(err, &faults) {
		return r, err
	}
	for _, f := range faults {
		r.Faults = append(r.Faults, Fault{f.Line, f.Column, f.Text})
	}
	return r, nil
}

func (r Result) print(out io.Writer) {
	if r.OK {
		fmt.Fprintf(out, "ok: %s in %s\n", count(r.Streams, "stream"), r.File)
		return
	}
	fmt.Fprintf(out, "%s has %s:\n", r.File, count(len(r.Faults), "fault"))
	for _, f := range r.Faults {
		fmt.Fprintf(out, "  line %d: %s\n", f.Line, f.Text)
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
