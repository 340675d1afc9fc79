package local

import (
	"context"
	"errors"
	"os"
)

// TB is what the helpers here need of testing.TB, so that programs that start an engine do not contain the testing
// package.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(cleanup func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// ForTest starts an engine that ends with the test. Without a dynoxide or a moto the test is skipped, except where one was asked
// for, as `make test` does: then it fails, and the message names the command that installs it.
func ForTest(t TB, name string) *Engine {
	t.Helper()
	engine, err := Start(t.Context(), name)
	if err != nil {
		if absent(err) {
			t.Skipf("%v", err)
		}
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Errorf("%v", err)
		}
	})
	return engine
}

// absent tells of an engine that is not here and that nobody asked for.
func absent(err error) bool {
	dynoxide, moto := (*MissingError)(nil), (*MissingMotoError)(nil)
	switch {
	case errors.As(err, &dynoxide):
		return dynoxide.Named == "" && os.Getenv(EngineVariable) != Dynoxide
	case errors.As(err, &moto):
		return moto.Named == "" && os.Getenv(EngineVariable) != Moto
	}
	return false
}

// Need ends a test that relies on what the engine lacks: on minidyn and moto, which are known to lack things, it is skipped by
// name; on dynoxide and any other engine it fails.
func Need(t TB, findings Findings, names ...Name) {
	t.Helper()
	missing := findings.Missing(names...)
	switch {
	case missing == "":
	case findings.Engine == Minidyn, findings.Engine == Moto:
		t.Skipf("%s lacks %s", findings.Engine, missing)
	default:
		t.Fatalf("the engine %s lacks what this test relies on: %s", findings.Engine, missing)
	}
}
