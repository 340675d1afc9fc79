package stacktest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"inorder/cmd/inorder/golden"
	"inorder/cmd/inorder/stack"
	"inorder/ddb/local"
	"inorder/events"
)

// Began is when the stories of the commands' tests begin.
var Began = time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC)

// streamsFile is each package's own.
const streamsFile = "testdata/streams.yaml"

// World is a deployment with the streams of a package's testdata, for the tests of its command.
type World struct {
	*Cloud
	T       *testing.T
	Streams *events.Config
}

// NewWorld starts a deployment on the local engine.
func NewWorld(t *testing.T) *World {
	t.Helper()
	return NewWorldOn(t, local.ForTest(t, local.Dynoxide))
}

// NewWorldOn starts a deployment on an engine that the test has.
func NewWorldOn(t *testing.T, engine *local.Engine) *World {
	t.Helper()
	text, err := os.ReadFile(streamsFile)
	if err != nil {
		t.Fatal(err)
	}
	return &World{Start(t, engine), t, Streams(t, string(text))}
}

// Flags are those of a command that runs here.
func (w *World) Flags() stack.Flags { return w.Cloud.Flags(streamsFile) }

// Post lets an entity have an event of each of some numbers, with n as its data.
func (w *World) Post(at time.Time, typ, id string, n any, seqs ...int64) {
	w.T.Helper()
	for _, seq := range seqs {
		body, err := json.Marshal(map[string]any{
			"event_id": fmt.Sprint(typ, id, seq), "type": typ, "entity_id": id, "seq": seq, "data": map[string]any{"n": n},
		})
		if err != nil {
			w.T.Fatal(err)
		}
		w.Consume(w.Streams, at, string(body))
	}
}

// Command is an operator's command, its arguments parsed.
type Command interface {
	Validate() error
	Run(ctx context.Context, out, notes io.Writer) (exitCode int, err error)
}

// Run runs a command as a person would, who reads its errors below what it printed.
func (w *World) Run(ctx context.Context, c Command) (out string, exitCode int) {
	w.T.Helper()
	if err := c.Validate(); err != nil {
		return "inorder: " + err.Error() + "\n", stack.ExitUsage
	}
	var b bytes.Buffer
	code, err := c.Run(ctx, &b, &b)
	if err != nil {
		fmt.Fprintf(&b, "inorder: %v\n", err)
	}
	return b.String(), code
}

// Reads is Run of a command that only reads.
func (w *World) Reads(c Command) (out string, exitCode int) {
	w.T.Helper()
	out, exitCode = w.Run(w.T.Context(), c)
	if n := w.Writes(); n != 0 {
		w.T.Errorf("a command that reads made %d requests that write", n)
	}
	return out, exitCode
}

// Changes is Run of a command that changes tables and queues only where it was told to.
func (w *World) Changes(ctx context.Context, c Command, told bool) (out string, exitCode int) {
	w.T.Helper()
	before := w.Dump()
	out, exitCode = w.Run(ctx, c)
	if !told && w.Dump() != before {
		w.T.Error("tables or queues changed, and nobody said so")
	}
	return out, exitCode
}

// Shows compares what a command printed with a golden file, and how it ended.
func (w *World) Shows(name string, want int, out string, exitCode int) {
	w.T.Helper()
	if exitCode != want {
		w.T.Errorf("%s: exit %d, want %d", name, exitCode, want)
	}
	golden.Check(w.T, name, out)
}
