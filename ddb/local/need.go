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

// ForTest starts an engine that ends with the test. Without a dynoxide the test is skipped, except where one was asked
// for, as `make test` does: then it fails, and the message names the command that installs it.
func ForTest(t TB, name string) *Engine {
	t.Helper()
	engine, err := Start(t.Context(), name)
	if err != nil {
		if missing := (*MissingError)(nil); errors.As(err, &missing) && !asked(missing) {
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

func asked(missing *MissingError) bool {
	return missing.Named != "" || os.Getenv(EngineVariable) == Dynoxide
}

// Need ends a test that relies on what the engine lacks: on minidyn, which is known to lack things, it is skipped by
// name; on dynoxide and any other engine it fails.
func Need(t TB, findings Findings, names ...Name) {
	t.Helper()
	missing := findings.Missing(names...)
	switch {
	case missing == "":
	case findings.Engine == Minidyn:
		t.Skipf("minidyn lacks %s", missing)
	default:
		t.Fatalf("the engine %s lacks what this test relies on: %s", findings.Engine, missing)
	}
}
