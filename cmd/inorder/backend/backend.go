// Package backend is what the terminal's commands consume messages with: a DynamoDB engine on this machine or at an
// address, queues in memory behind the real SQS client, and a consumer put together as the Lambda function puts its
// own.
package backend

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"time"

	"inorder/ddb"
	"inorder/ddb/local"
)

// Choice is where the entities are kept, as the user chose on the command line.
type Choice struct {
	Engine   string `help:"DynamoDB engine on this machine: dynoxide or minidyn (default: the better one that is there)." placeholder:"NAME"`
	Endpoint string `help:"Address of any other DynamoDB engine, such as http://127.0.0.1:8000." placeholder:"URL"`
}

// ChoiceError says that a choice cannot be followed, and what to do instead.
type ChoiceError struct{ text string }

func (e *ChoiceError) Error() string { return e.text }

// Validate is called by the command line parser.
func (c Choice) Validate() error {
	if c.Engine != "" && c.Endpoint != "" {
		return &ChoiceError{"--engine and --endpoint exclude each other: name one of them"}
	}
	if c.Engine != "" && c.Engine != local.Dynoxide && c.Engine != local.Minidyn {
		return &ChoiceError{fmt.Sprintf("--engine %s: there are %s and %s", c.Engine, local.Dynoxide, local.Minidyn)}
	}
	if c.Endpoint == "" {
		return nil
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return &ChoiceError{fmt.Sprintf("--endpoint %s: an address begins with http:// or https://", c.Endpoint)}
	}
	return nil
}

// Backend is a running engine, or one that runs elsewhere.
type Backend struct {
	engine *local.Engine
	owned  bool
}

// Open starts what was chosen. A note about a weaker engine goes to notes.
func Open(ctx context.Context, c Choice, notes io.Writer) (*Backend, error) {
	if c.Endpoint != "" {
		return &Backend{engine: &local.Engine{Name: c.Endpoint, Endpoint: c.Endpoint}}, nil
	}
	engine, err := local.Start(ctx, c.Engine)
	if err != nil {
		return nil, err
	}
	if engine.Note != "" {
		_, _ = fmt.Fprintln(notes, "note: "+engine.Note)
	}
	return &Backend{engine: engine, owned: true}, nil
}

// Name is the engine's name, or its address.
func (b *Backend) Name() string { return b.engine.Name }

// Parallel is how many users the engine stands that also create and drop tables: minidyn's map of tables is guarded by
// nothing.
func (b *Backend) Parallel() int {
	if b.engine.Name == local.Minidyn {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// Close ends an engine that Open started.
func (b *Backend) Close() error {
	if !b.owned {
		return nil
	}
	return b.engine.Close()
}

// CreateTables creates both tables under names of their own.
func (b *Backend) CreateTables(ctx context.Context, prefix string) (ddb.Tables, error) {
	names := ddb.Tables{Entities: prefix + "-entities", Items: prefix + "-items"}
	return names, ddb.CreateTables(ctx, b.engine.Client(), names)
}

// Store is a store over some tables whose requests go through rt; nil: straight to the engine. It tries as often as on
// AWS, without the pauses: nothing that fails here gets better with time. Nor does a try time out while an engine on a
// busy machine takes its time.
func (b *Backend) Store(tables ddb.Tables, rt http.RoundTripper) *ddb.Store {
	return &ddb.Store{API: ddb.NewClient(b.engine.Config(), through(rt)), Tables: tables}
}

func through(rt http.RoundTripper) ddb.ClientOptions {
	if rt == nil {
		rt = local.Transport()
	}
	return ddb.ClientOptions{Transport: rt, MaxPause: time.Nanosecond, TryTimeout: time.Minute}
}

// CreateOutbox creates a producer's outbox table.
func (b *Backend) CreateOutbox(ctx context.Context, name string) error {
	return ddb.CreateOutbox(ctx, b.engine.Client(), name)
}

// Outbox is a producer's outbox, as it is or as its relay reads it. Its requests go where a store's do.
func (b *Backend) Outbox(name string, rt http.RoundTripper, now func() time.Time) *ddb.Outbox {
	return &ddb.Outbox{API: ddb.NewClient(b.engine.Config(), through(rt)), Table: name, Now: now, NewToken: newToken}
}
