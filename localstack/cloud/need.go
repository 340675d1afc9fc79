package cloud

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// TB is what ForTest needs of testing.TB, so that programs that start a cloud do not contain the testing package.
type TB interface {
	Helper()
	Context() context.Context
	Name() string
	Cleanup(cleanup func())
	Failed() bool
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Asked tells whether tests shall run on a cloud: `make cloud-test` asks, and then none may be skipped.
func Asked() bool { return os.Getenv(ModeVariable) != "" }

// NotAsked is why such a test is skipped.
const NotAsked = "it deploys to a local cloud: `make cloud-test` runs it"

// ForTest starts a Cloud that ends with the test, or skips the test where none was asked for. Where the test fails,
// what LocalStack said is kept, and told where.
func ForTest(t TB) *Cloud {
	t.Helper()
	return ForTestAs(t, Options{})
}

// ForTestAs is ForTest for one that is not like the others.
func ForTestAs(t TB, o Options) *Cloud {
	t.Helper()
	if !Asked() {
		t.Skipf(NotAsked)
	}
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatalf("start a local cloud: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			if err := c.Check(context.Background()); err != nil {
				t.Logf("it may be no fault of the test: %v", err)
			}
			c.keepLog(t)
		}
		if err := c.Stop(); err != nil {
			t.Errorf("stop the local cloud: %v", err)
		}
	})
	t.Logf("%s", c)
	return c
}

func (c *Cloud) keepLog(t TB) {
	kept := filepath.Join(filepath.Dir(c.folder), strings.ReplaceAll(t.Name(), "/", "-")+".log")
	if err := c.KeepLog(kept); err != nil {
		t.Logf("what LocalStack said is not kept: %v", err)
		return
	}
	t.Logf("what LocalStack said: %s", kept)
}

// KeepLog copies what LocalStack has said so far to a file: Stop removes it with all else.
func (c *Cloud) KeepLog(file string) error { return os.WriteFile(file, []byte(c.engine.log()), 0o644) }
