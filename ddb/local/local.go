// Package local starts the DynamoDB engines that tests, the demo and the terminal run on.
//
// Engines, all spoken to by the real SDK over HTTP:
//
//   - dynoxide, a small program with its data in memory, is what the project is tested on;
//   - minidyn, inside this process, is the second, independent opinion, and what a machine without dynoxide falls
//     back to. It lacks some of what AWS does; [Probe] says what;
//   - moto's server, in Python, is a third opinion, for tests alone;
//   - any other, whose URL is its name, is not started here and not ended: LocalStack's, say.
//
// Guarantees, cited by the tests that prove them:
//
//	L1. An engine that was asked for by name, or by INORDER_ENGINE or DYNOXIDE, is started or Start fails; there is
//	    no silent replacement.
//	L2. An engine answers when Start returns, and is gone when Close returns.
//	L3. A dynoxide ends when the process that started it ends, in whatever way (on Windows: unless it is killed).
package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// The engines that Start knows.
const (
	Dynoxide = "dynoxide"
	Minidyn  = "minidyn"
	Moto     = "moto"
)

// EngineVariable names the engine that Start("") is to start. `make test` sets it to dynoxide, so that a test run
// without the engine fails instead of passing on the weaker one.
const EngineVariable = "INORDER_ENGINE"

// Engines accept any region and any key; these are fixed so that no engine ever sees the user's own.
const (
	region    = "eu-west-1"
	accessKey = "local"
	secretKey = "local"
)

// idleConnections is how many connections to the engine stay open: beyond the SDK's ten, parallel workers would open
// and close one for nearly every request and run out of ports.
const idleConnections = 256

// Engine is a running DynamoDB on this machine.
type Engine struct {
	Name     string // Dynoxide, Minidyn, Moto, or the endpoint of one that was not started here
	Version  string // as the engine tells it
	Endpoint string // http://127.0.0.1:port
	Note     string // one sentence for the user when this is not the engine one would expect; else empty

	stop   func() error
	serial bool // it is asked one thing at a time
}

// Start starts an engine: Dynoxide, Minidyn, Moto, the URL of one that runs already, or "" for the one that [EngineVariable] names and otherwise the better
// one that is to be had. The context bounds the start only; the engine runs until Close.
//
// The error of an absent dynoxide is [*MissingError].
func Start(ctx context.Context, name string) (*Engine, error) {
	if name == "" {
		name = os.Getenv(EngineVariable)
	}
	switch name {
	case Dynoxide:
		binary, err := find()
		if err != nil {
			return nil, err
		}
		return startDynoxide(ctx, binary)
	case Minidyn:
		return startMinidyn()
	case Moto:
		return startMoto(ctx)
	case "":
		return startBest(ctx)
	}
	if u, err := url.Parse(name); err == nil && u.Scheme == "http" && u.Host != "" {
		return &Engine{Name: name, Version: "unknown", Endpoint: name, stop: func() error { return nil }}, nil
	}
	return nil, fmt.Errorf("no engine %q: there are %s, %s, %s and the URL of one that runs", name, Dynoxide, Minidyn, Moto)
}

func startBest(ctx context.Context) (*Engine, error) {
	binary, err := find()
	if err == nil {
		return startDynoxide(ctx, binary)
	}
	if missing := (*MissingError)(nil); !errors.As(err, &missing) || missing.Named != "" {
		return nil, err
	}
	engine, err := startMinidyn()
	if err != nil {
		return nil, err
	}
	engine.Note = "dynoxide is not installed here, so this runs on minidyn, which is not exact with numbers " +
		"and cannot keep partial states (clock: attribute or source): `make tools` in the project installs dynoxide, and DYNOXIDE names one elsewhere."
	return engine, nil
}

// Close ends the engine and forgets its data. Closing twice is fine. The error says that the engine had already ended
// by itself, and its last words.
func (e *Engine) Close() error { return e.stop() }

// Config is an SDK configuration that cannot reach anything but an engine: fixed region and credentials, nothing from
// the environment.
func (e *Engine) Config() aws.Config {
	return aws.Config{
		Region:       region,
		Credentials:  credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
		BaseEndpoint: aws.String(e.Endpoint),
		HTTPClient:   &http.Client{Transport: e.transport()},
	}
}

func (e *Engine) transport() http.RoundTripper {
	if e.serial {
		return &serialTransport{}
	}
	return transport()
}

// Client returns a client of this engine. Clients share their connections.
func (e *Engine) Client(options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.NewFromConfig(e.Config(), options...)
}

// Via makes a client send its requests through rt, which may count them, delay them or make them fail, and hands them
// on to [Transport].
func Via(rt http.RoundTripper) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.HTTPClient = &http.Client{Transport: rt} }
}

// Transport is what clients send through unless told otherwise.
func Transport() http.RoundTripper { return transport() }

var transport = sync.OnceValue(func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil // 127.0.0.1 is behind nobody's proxy
	t.MaxIdleConns = idleConnections
	t.MaxIdleConnsPerHost = idleConnections
	return t
})
