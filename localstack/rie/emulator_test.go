package rie

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is for what a busy machine may take; nothing waits that long when all is well.
const patience = 2 * time.Minute

// emulator is a function under the runtime interface emulator.
type emulator struct {
	*testing.T
	address string     // where it takes invocations
	out     transcript // what goes to CloudWatch: the function's output, and START, END and REPORT around it
	log     transcript // the emulator's own
	invoked int
	stop    func()
}

// answer is what one invocation came to.
type answer struct {
	status int
	body   string
	took   time.Duration
	output string // what the function printed, init included when it was the first; empty where the init failed
}

// start runs a function with an environment, and nothing else of this process's own. Its working directory is not the
// function's, so that what lies beside the binary is found there.
func start(t *testing.T, name function, environment map[string]string) *emulator {
	t.Helper()
	binary, dir := emulatorBinary(t), artifacts(t, name)
	for attempt := 1; ; attempt++ {
		e, err := tryStart(t, binary, filepath.Join(dir, "bootstrap"), environment)
		if err == nil {
			return e
		}
		if attempt == 5 {
			t.Fatalf("the emulator does not start: %v\n%s", err, e.log.String())
		}
	}
}

func tryStart(t *testing.T, binary, bootstrap string, environment map[string]string) (*emulator, error) {
	e := &emulator{T: t, address: freeAddress(t)}
	api := freeAddress(t)
	command := exec.Command(binary, "--log-level", "info",
		"--runtime-api-address", api, "--runtime-interface-emulator-address", e.address, bootstrap)
	command.Dir, command.Stdout, command.Stderr = t.TempDir(), &e.out, &e.log
	command.WaitDelay = patience
	for name, value := range environment {
		command.Env = append(command.Env, name+"="+value)
	}
	exited, stop, err := spawn(command)
	if err != nil {
		return e, err
	}
	e.stop = func() { stop(t) }
	t.Cleanup(e.stop)
	return e, awaitListening(exited, api, e.address)
}

// awaitListening returns once somebody listens at both addresses, or an error when the emulator has ended by then.
func awaitListening(exited <-chan struct{}, addresses ...string) error {
	deadline := time.Now().Add(patience)
	for _, address := range addresses {
		for {
			connection, err := net.Dial("tcp", address)
			if err == nil {
				connection.Close()
				break
			}
			if time.Now().After(deadline) {
				return err
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
	select {
	case <-exited: // somebody else has taken a port
		return errors.New("it has ended")
	default:
		return nil
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// client goes through nobody's proxy.
var client = &http.Client{Transport: &http.Transport{}}

// invoke hands an event to the function as Lambda does, and waits for its answer.
func (e *emulator) invoke(event string) answer {
	e.Helper()
	e.invoked++
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", e.invoked)
	request, err := http.NewRequestWithContext(e.Context(), http.MethodPost,
		"http://"+e.address+"/2015-03-31/functions/function/invocations", strings.NewReader(event))
	if err != nil {
		e.Fatal(err)
	}
	request.Header.Set("X-Amzn-Requestid", id)
	begin := time.Now()
	response, err := client.Do(request)
	if err != nil {
		e.Fatalf("%v\n%s", err, e.log.String())
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		e.Fatal(err)
	}
	got := answer{status: response.StatusCode, body: string(body), took: time.Since(begin)}
	if got.status == http.StatusOK { // the output of an init that failed has no end
		got.output = e.outputOf(id)
	}
	return got
}

// outputOf is what was printed between the START and the END line of an invocation.
func (e *emulator) outputOf(id string) string {
	_, after, _ := strings.Cut(e.out.await("END RequestId: "+id+"\n", 1), "START RequestId: "+id+" Version: $LATEST\n")
	within, _, whole := strings.Cut(after, "END RequestId: "+id)
	if !whole {
		e.Fatalf("no output of its own in:\n%s", after)
	}
	return within
}

// transcript keeps what a process prints.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await is the text once it holds some words so many times, or what there is of it after a while: it comes through a
// pipe, a little later than the answer.
func (s *transcript) await(words string, times int) string {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if text := s.String(); strings.Count(text, words) >= times || time.Now().After(deadline) {
			return text
		}
	}
}
