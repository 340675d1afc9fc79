package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	awsevents "github.com/aws/aws-lambda-go/events"
)

// powertoolsFolder is where the Makefile installs what docs/benchmarks/powertools pins.
var powertoolsFolder = filepath.Join(".tools", "powertools")

//go:embed powertools/handler.mjs
var powertoolsHandler string

// wantPowertools is how many times as fast the consumer should be.
const wantPowertools = 5

const (
	againstPowertools = "events/s against Powertools"

	whyPowertools = "both wait for the same engine, which answers one request after the other: of three writes against one not more than " +
		"about three times can come out where nothing is coalesced"
	powertoolsText = "The handler of `docs/benchmarks/powertools`: `processPartialResponse` of @aws-lambda-powertools/batch 2.35.0 over a record " +
		"handler that @aws-lambda-powertools/idempotency 2.35.0 makes idempotent by the message's id, and that writes the entity on a " +
		"condition. Same engine, same events, batches of 100, one function instance each, of one processor each (GOMAXPROCS=1)."
)

// powertools runs Powertools for AWS Lambda (TypeScript) and the consumer in turns.
func powertools(ctx context.Context, b *bench) (result, error) {
	r := result{Tables: []table{{
		Title: "Powertools for AWS Lambda (TypeScript)", Text: powertoolsText,
		Head: []string{"state events", "consumer, events/s", "Powertools, events/s", "ratio", "consumer, write units per event", "Powertools, write units per event"},
	}}}
	cases := []struct {
		events, bar string
		each        int
	}{{"one of each entity", "1 each", 1}, {"ten of each entity in a batch", "10 each", 10}}
	node, err := startNode(ctx, b)
	if missing := (*missingError)(nil); errors.As(err, &missing) {
		b.say("not run: %v", err)
		for _, c := range cases {
			r.Tables[0].Rows = append(r.Tables[0].Rows, []string{c.events, "–", notRun, "–", "–", "–"})
			r.Goals = append(r.Goals, goal{
				What: againstPowertools, Of: "state, " + c.events, Want: fmt.Sprintf("≥ %d", wantPowertools), Got: "–", Verdict: notRun, WhyNot: err.Error(),
			})
		}
		return r, nil
	}
	if err != nil {
		return r, err
	}
	defer func() { _ = node.close() }()
	bars := chart{Name: "Times as fast as Powertools", Series: []series{{Name: "times as fast"}}}
	for _, c := range cases {
		b.say("%s", c.events)
		row, ratio, err := b.besidePowertools(ctx, node, c.events, bursts("p", b.n(2000), c.each))
		if err != nil {
			return r, err
		}
		r.Tables[0].Rows = append(r.Tables[0].Rows, row)
		r.Goals = append(r.Goals, atLeast(againstPowertools, "state, "+c.events, wantPowertools, ratio, whyPowertools))
		bars.X, bars.Series[0].Values = append(bars.X, c.bar), append(bars.Series[0].Values, ratio.Median)
	}
	r.Charts = []chart{bars}
	return r, nil
}

func (b *bench) besidePowertools(ctx context.Context, node *node, events string, places []place) (row []string, ratio spread, err error) {
	batches := batched(places, batchSize)
	file, err := writeBatches(batches)
	if err != nil {
		return nil, ratio, err
	}
	defer func() { _ = os.Remove(file) }()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var theirs []float64
	seconds, err := interleave(ctx, b.rounds, b.fresh("consumer", batches, 1, b.ours), side{"Powertools", func(ctx context.Context) (func(context.Context) error, error) {
		command, err := b.command(ctx, file, false)
		return func(context.Context) error {
			answer, err := node.ask(command)
			theirs = append(theirs, answer.Seconds)
			return err
		}, err
	}})
	if err != nil {
		return nil, ratio, err
	}
	theirs = theirs[1:] // their own clock, after the round that warmed up: reading the file does not count
	command, err := b.command(ctx, file, true)
	if err != nil {
		return nil, ratio, err
	}
	metered, err := node.ask(command)
	if err != nil {
		return nil, ratio, err
	}
	cost, err := b.cost(ctx, modes[0], places)
	n := float64(len(places))
	ratio = spreadOf(ratios(seconds[0], theirs))
	return []string{
		events, short(spreadOf(rates(len(places), seconds[0])).Median), short(spreadOf(rates(len(places), theirs)).Median), ratio.with(),
		short(cost.writeUnits / n), short(metered.Units / n),
	}, ratio, err
}

// nodeCommand is a line that the handler's program reads.
type nodeCommand struct {
	Table   string `json:"table"`
	Keys    string `json:"keys"`
	Batches string `json:"batches"`
	Metered bool   `json:"metered"`
}

// command names new tables.
func (b *bench) command(ctx context.Context, file string, metered bool) (nodeCommand, error) {
	entities, err := b.tables(ctx)
	if err != nil {
		return nodeCommand{}, err
	}
	keys, err := b.tables(ctx)
	return nodeCommand{entities.Entities, keys.Entities, file, metered}, err
}

func writeBatches(batches []awsevents.SQSEvent) (string, error) {
	file, err := os.CreateTemp("", "batches-*.json")
	if err != nil {
		return "", err
	}
	return file.Name(), errors.Join(json.NewEncoder(file).Encode(batches), file.Close())
}

// nodeAnswer is a line that it writes.
type nodeAnswer struct {
	Seconds float64 `json:"seconds"`
	Units   float64 `json:"units"`
	Failed  int     `json:"failed"`
}

// node is the running program.
type node struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// missingError says what has to be there.
type missingError struct{ what string }

func (e *missingError) Error() string { return e.what }

func startNode(ctx context.Context, b *bench) (*node, error) {
	program, err := exec.LookPath("node")
	if err != nil {
		return nil, &missingError{"there is no Node.js here; Powertools needs Node.js 20 or later"}
	}
	folder := filepath.Join(b.folder, powertoolsFolder)
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		return nil, &missingError{"Powertools is not installed; `make bench` installs it"}
	}
	cmd := exec.CommandContext(ctx, program, "--input-type=module", "--eval", powertoolsHandler)
	cmd.Dir = folder // where its imports are looked up
	cmd.Env = append(os.Environ(), "ENDPOINT="+b.engine.Endpoint, "NODE_ENV=production", "NODE_NO_WARNINGS=1", "AWS_LAMBDA_FUNCTION_NAME=consumer")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &node{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

func (n *node) ask(command nodeCommand) (answer nodeAnswer, err error) {
	if err := json.NewEncoder(n.in).Encode(command); err != nil {
		return answer, fmt.Errorf("ask Node: %w", err)
	}
	line, err := n.out.ReadBytes('\n')
	if err != nil {
		return answer, fmt.Errorf("no answer from Node: %w", err)
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return answer, fmt.Errorf("answer of Node %q: %w", line, err)
	}
	if answer.Failed > 0 {
		return answer, fmt.Errorf("%w: %d with Powertools", errCameBack, answer.Failed)
	}
	return answer, nil
}

func (n *node) close() error { return errors.Join(n.in.Close(), n.cmd.Wait()) }
