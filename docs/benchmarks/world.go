package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"inorder/cmd/inorder/backend"
	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/docs/benchmarks/raw"
	"inorder/events"
	"inorder/functions"
)

// mode is one of the three that are measured: a stream as streams.yaml says it, and the loop that one would write instead.
type mode struct {
	name, stream string
	loop         func(api raw.API, table string) raw.Write
	inOrder      bool // the loop's writes of an entity
	same         func(api raw.API, table string, key func(entity string) string) raw.Write
}

var modes = []mode{
	{"state", "mode: state, clock: entity", raw.State, false, raw.SameState},
	{"step", "mode: step, window: 10000, projection: {sum: {balance: data.amount}}", raw.Step, true, raw.SameStep},
	{"delta", "mode: delta, window: 10000, projection: {sum: {balance: data.amount}}", raw.Delta, true, raw.SameDelta},
}

// patience is how long a try may take: what is busy is not lost, and a second try would be measured, too.
const patience = time.Minute

// atOnce is how many entities of a batch a function works on at once; the loop has as many.
const atOnce = 16

// world is an engine, with a pair of tables for each run.
type world struct {
	engine  *local.Engine
	runs    int
	through http.RoundTripper // nil: straight to the engine
}

// tables are new ones, so that no run finds what another left.
func (w *world) tables(ctx context.Context) (ddb.Tables, error) {
	w.runs++
	names := ddb.Tables{Entities: fmt.Sprintf("run-%d-entities", w.runs), Items: fmt.Sprintf("run-%d-items", w.runs)}
	return names, ddb.CreateTables(ctx, w.engine.Client(), names)
}

// options are those of functions on Lambda. What is counted goes through a counter; what is timed does not.
func (w *world) options(c *counter) ddb.ClientOptions {
	o := ddb.ClientOptions{Endpoint: w.engine.Endpoint, Transport: local.Transport(), TryTimeout: patience}
	if w.through != nil {
		o.Transport = w.through
	}
	if c != nil {
		o.Transport, o.Meter = c, &c.meter
	}
	return o
}

// parts are those of a consumer as on Lambda.
func (w *world) parts(stream string, tables ddb.Tables, c *counter) functions.Parts {
	streams, err := events.ParseStreams([]byte("consumer: c\nstreams:\n  - {name: s, types: [PlanChanged], "+stream+"}\n"), events.Options{})
	if err != nil {
		panic(err) // the streams are this program's own
	}
	queues := &backend.Queues{Now: time.Now}
	return functions.Parts{
		Streams:       streams,
		Store:         &ddb.Store{API: ddb.NewClient(w.engine.Config(), w.options(c)), Tables: tables},
		SQS:           queues.Client(nil),
		QuarantineURL: backend.QuarantineURL,
		EffectsURL:    backend.EffectsURL,
		Metrics:       io.Discard,
		Now:           time.Now,
	}
}

// consumer is a new function instance, which knows nothing yet.
func (w *world) consumer(stream string, tables ddb.Tables, c *counter) handler {
	return functions.NewConsumer(w.parts(stream, tables, c)).Handle
}

// loop is the raw loop, with the same client.
func (w *world) loop(m mode, tables ddb.Tables, c *counter) handler {
	api := ddb.NewClient(w.engine.Config(), w.options(c))
	return (&raw.Loop{Write: m.loop(api, tables.Entities), Parallel: atOnce, InOrder: m.inOrder}).Handle
}

// key is an entity's in the consumer's table.
func key(entity string) string { return "c/s/" + entity }

// sameLoop is the raw loop that makes the consumer's own write.
func (w *world) sameLoop(m mode, tables ddb.Tables) handler {
	api := ddb.NewClient(w.engine.Config(), w.options(nil))
	return (&raw.Loop{Write: m.same(api, tables.Entities, key), Parallel: atOnce, InOrder: m.inOrder}).Handle
}

// counter counts the writes that leave a client, and the units of those that were refused, of which the database says
// nothing.
type counter struct {
	meter ddb.Meter

	mu              sync.Mutex
	writes, refused int
}

// RoundTrip implements [http.RoundTripper].
func (c *counter) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	writes := 0
	switch operation {
	case "PutItem", "UpdateItem", "DeleteItem":
		writes = 1
	case "TransactWriteItems":
		return nil, fmt.Errorf("no stream here has transactions")
	}
	response, err := local.Transport().RoundTrip(request)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes += writes
	if err == nil && response.StatusCode == http.StatusBadRequest {
		c.refused += writes // of an item of up to 1 KB: billed like the others
	}
	return response, err
}

// counted is what a run cost.
type counted struct {
	writes                int // requests, the refused ones included
	writeUnits, readUnits float64
}

// reset begins anew and returns what was counted.
func (c *counter) reset() counted {
	c.mu.Lock()
	defer c.mu.Unlock()
	used := c.meter.Reset()
	out := counted{c.writes, used.WriteUnits + float64(c.refused), used.ReadUnits}
	c.writes, c.refused = 0, 0
	return out
}
