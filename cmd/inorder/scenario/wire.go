package scenario

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"inorder/cmd/inorder/backend"
)

// A wire carries the requests of one world: to the engine, or to the queues. On it requests are counted, fail where
// the script says so, and wait for their turn where several invocations run at once.
type wire struct {
	engine http.RoundTripper
	queues http.RoundTripper

	mu     sync.Mutex
	writes int64
	reads  int64
}

type invocationKey struct{}

// onBehalfOf marks a context as an invocation's own: the SDK hands it on to its requests.
func onBehalfOf(ctx context.Context, i *invocation) context.Context {
	return context.WithValue(ctx, invocationKey{}, i)
}

// errDead is what a dead invocation gets for whatever it still asks.
var errDead = errors.New("the function is gone")

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(request *http.Request) (*http.Response, error) {
	i, _ := request.Context().Value(invocationKey{}).(*invocation)
	if i == nil {
		return nil, errors.New("a request of no invocation")
	}
	i.enter()
	if i.isDead() {
		return nil, errDead
	}
	body, err := take(request)
	if err != nil {
		return nil, err
	}
	service, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	if isQueue := strings.HasPrefix(service, "AmazonSQS"); isQueue {
		return w.send(request, i)
	}
	w.count(operation, body)
	failure, after := i.fails(operation)
	if failure != "" && !after {
		return fail(request, failure, operation, body)
	}
	response, err := w.engine.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if i.tookEffect() {
		discard(response)
		return nil, errDead
	}
	if failure != "" {
		discard(response)
		return fail(request, failure, operation, body)
	}
	return response, nil
}

// send is a request to a queue, of one message or of several: a script calls both SendMessage.
func (w *wire) send(request *http.Request, i *invocation) (*http.Response, error) {
	failure, after := i.fails(sendOperation)
	if failure != "" && !after {
		return fail(request, failure, sendOperation, nil)
	}
	response, err := w.queues.RoundTrip(request)
	if err != nil || failure == "" {
		return response, err
	}
	discard(response)
	return fail(request, failure, sendOperation, nil)
}

// take reads a request's body and leaves it there.
func take(request *http.Request) ([]byte, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

func discard(response *http.Response) {
	_, _ = io.Copy(io.Discard, response.Body) // so that the connection can be used again
	_ = response.Body.Close()
}

// count adds what a request costs.
func (w *wire) count(operation string, body []byte) {
	writes, reads := backend.Cost(operation, body)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes += writes
	w.reads += reads
}

// costs returns what was counted since the last reset.
func (w *wire) costs() (writes, reads int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writes, w.reads
}

func (w *wire) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes, w.reads = 0, 0
}
