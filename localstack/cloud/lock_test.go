package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// C6: of many who change a Cloud one at a time does; each other is told who, and waits.
func TestOneAtATime(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "below", "up")
	var inside atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			unlock, err := Lock(t.Context(), folder, "deploy", &bytes.Buffer{})
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			if n := inside.Add(1); n != 1 {
				t.Errorf("%d at a time", n)
			}
			runtime.Gosched()
			inside.Add(-1)
		})
	}
	all.Wait()
}

// C6: the second one says which process has it, at what, and gives up when it is told to; afterwards nobody is busy.
func TestWhoHoldsIt(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "up")
	unlock, err := Lock(t.Context(), folder, "deploy --stack inorder", nil)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	impatient, giveUp := context.WithCancel(t.Context())
	giveUp()
	_, err = Lock(impatient, folder, "down", &said)
	want := fmt.Sprintf("process %d is at `deploy --stack inorder` here", os.Getpid())
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), want) || said.String() != want+": waiting for its end; Ctrl-C gives up\n" {
		t.Errorf("it says %q, and the error is %v", said.String(), err)
	}
	if got := Busy(folder); got != want {
		t.Errorf("busy: %q", got)
	}
	unlock()
	if got := Busy(folder); got != "" {
		t.Errorf("it was unlocked, and %s", got)
	}
	if unlock, err = Lock(t.Context(), folder, "down", &said); err != nil { // who gave up does not keep it
		t.Fatal(err)
	}
	unlock()
}

// C6: whoever is killed while it has the lock leaves it to the next one.
func TestALockEndsWithItsHolder(t *testing.T) {
	onLinux(t)
	folder := filepath.Join(t.TempDir(), "up")
	_, holder := pretender(t, "holder", folder)
	if want := fmt.Sprintf("process %d is at `up` here", holder.Process.Pid); Busy(folder) != want {
		t.Errorf("busy: %q, want %q", Busy(folder), want)
	}
	kill9(t, holder)
	if got := Busy(folder); got != "" {
		t.Errorf("it was killed, and %s", got)
	}
	var said bytes.Buffer
	unlock, err := Lock(t.Context(), folder, "up", &said)
	if err != nil || said.Len() > 0 {
		t.Fatalf("it waits for a dead one: %q, %v", said.String(), err)
	}
	unlock()
}
