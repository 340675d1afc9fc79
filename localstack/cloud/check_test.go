package cloud

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// C6: a deployment ends when there is nothing left to deploy to, and says so in place of what the SAM CLI would.
func TestADeploymentEndsWithTheCloud(t *testing.T) {
	c := started(t)
	began := make(chan struct{})
	go func() { <-began; kill(c.PID) }()
	err := c.whileAlive(t.Context(), func(ctx context.Context) error {
		close(began)
		<-ctx.Done() // as one that would wait for ever
		return ctx.Err()
	})
	if !notRunning(err) || !strings.Contains(err.Error(), "has ended by itself") || !strings.Contains(err.Error(), "Ready.") {
		t.Errorf("it ends with %v", err)
	}
	own := errors.New("its own")
	if err := c.whileAlive(t.Context(), func(context.Context) error { return own }); !notRunning(err) {
		t.Errorf("what fails because it has ended says %v", err)
	}
	if err := (&Cloud{engine: &container{}}).whileAlive(t.Context(), func(context.Context) error { return own }); !errors.Is(err, own) {
		t.Errorf("an error of what is done is %v", err)
	}
}

// started is a Cloud in mode host, whose LocalStack pretends, for as long as the test goes on.
func started(t *testing.T) *Cloud {
	t.Helper()
	onLinux(t)
	project(t, "localstack")
	c, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// C6: what answers is right; what has ended, or hangs, or was never waited for, is told as such.
func TestCheck(t *testing.T) {
	c := started(t)
	if err := c.Check(t.Context()); err != nil {
		t.Errorf("one that answers: %v", err)
	}
	elsewhere := *c
	elsewhere.Address = "http://127.0.0.1:1"
	if err := elsewhere.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "does not answer") || !strings.Contains(err.Error(), "Ready.") {
		t.Errorf("one that does not answer: %v", err)
	}
	unseen := *c
	unseen.Version = ""
	if err := unseen.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "did not wait for it") {
		t.Errorf("one that nobody waited for: %v", err)
	}
	kill(c.PID)
	gone(t, "LocalStack", c.engine.alive)
	if err := c.Check(t.Context()); !notRunning(err) {
		t.Errorf("one that ended: %v", err)
	}
}

// C1: what runs is taken for nothing else.
func TestWhatRunsIsWhatWasAskedFor(t *testing.T) {
	for _, row := range []struct {
		runs, asked string
		fits        bool
	}{
		{Host, Host, true},
		{Host, Auto, true},
		{Host, "", true},
		{Host, Docker, false},
		{Docker, Docker, true},
		{Docker, Auto, true},
		{Docker, "", true},
		{Docker, Host, false},
	} {
		err := (&Cloud{state: state{Mode: row.runs}}).Fits(row.asked)
		if (err == nil) != row.fits || err != nil && !strings.Contains(err.Error(), "`make cloud-up CLOUD="+row.asked+"`") {
			t.Errorf("%s runs, %q was asked for: %v", row.runs, row.asked, err)
		}
	}
}

// C2: another LocalStack that took the port first is not taken for this one.
func TestAnotherOneAtItsAddress(t *testing.T) {
	first := started(t)
	second := &Cloud{folder: t.TempDir(), state: state{Address: first.Address}}
	second.engine = &host{logFile: filepath.Join(second.folder, logName)}
	if _, err := second.await(t.Context()); !errors.Is(err, errEnded) {
		t.Errorf("it found %v", err)
	}
}
