package rie

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// ownInit is the time from the start of a function's process to its first request for an invocation. It is the check on
// the emulator's number: the runtime API here is one handler that notes when it is called, and answers nothing.
func ownInit(t *testing.T, dir string, environment map[string]string) time.Duration {
	t.Helper()
	asked := make(chan time.Time, 1)
	var once sync.Once
	api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/2018-06-01/runtime/invocation/next" {
			once.Do(func() { asked <- time.Now() })
		}
		<-r.Context().Done()
	}))
	defer api.Close()
	var said transcript
	command := exec.Command(filepath.Join(dir, "bootstrap"))
	command.Stdout, command.Stderr = &said, &said
	command.Env = []string{"AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(api.URL, "http://")}
	for name, value := range environment {
		command.Env = append(command.Env, name+"="+value)
	}
	begin := time.Now()
	exited, stop, err := spawn(command)
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t)
	select {
	case at := <-asked:
		return at.Sub(begin)
	case <-exited:
	case <-time.After(patience):
	}
	t.Fatalf("it asks for no invocation: %s", said.String())
	return 0
}
