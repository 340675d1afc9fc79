package scenario

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"inorder/cmd/inorder/backend"
)

// recorder is an engine that remembers which operations took effect.
type recorder struct {
	mu   sync.Mutex
	done []string
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = append(r.done, strings.TrimPrefix(request.Header.Get("X-Amz-Target"), "DynamoDB_20120810."))
	return backend.Answer(request, http.StatusOK, "", ""), nil
}

func newWire() (*wire, *recorder) {
	engine := &recorder{}
	clock := &clock{at: epoch}
	return &wire{engine: engine, queues: &backend.Queues{Now: clock.Now}}, engine
}

// ask makes one request on behalf of an invocation and says how it ended.
func (w *wire) ask(i *invocation, target, body string) string {
	ctx := onBehalfOf(context.Background(), i)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://engine", strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	request.Header.Set("X-Amz-Target", target)
	response, err := w.RoundTrip(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return response.Status + " " + string(answer)
}

const (
	putItem = "DynamoDB_20120810.PutItem"
	getItem = "DynamoDB_20120810.GetItem"
	sending = "AmazonSQS.SendMessage"
	aText   = `{"QueueUrl":"https://sqs.inorder.invalid/000000000000/quarantine","MessageBody":"text"}`
)

func TestRequestsAreCountedByTheItemsTheyConcern(t *testing.T) {
	w, _ := newWire()
	i := &invocation{end: func() {}, rules: []*rule{{op: "PutItem", failure: "denied", nth: 1, times: 1}}}
	for _, request := range []struct{ operation, body string }{
		{"PutItem", "{}"},
		{"UpdateItem", "{}"},
		{"DeleteItem", "{}"},
		{"GetItem", "{}"},
		{"Query", "{}"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{}},{"ConditionCheck":{}},{"Update":{}}]}`},
		{"TransactGetItems", `{"TransactItems":[{"Get":{}},{"Get":{}}]}`},
		{"BatchGetItem", `{"RequestItems":{"t":{"Keys":[{},{},{}]},"u":{"Keys":[{}]}}}`},
		{"BatchWriteItem", `{"RequestItems":{"t":[{"PutRequest":{}},{"DeleteRequest":{}}]}}`},
	} {
		w.ask(i, "DynamoDB_20120810."+request.operation, request.body)
	}
	w.ask(i, sending, aText)
	if writes, reads := w.costs(); writes != 3+3+2 || reads != 2+2+4 {
		t.Errorf("%d writes, %d reads", writes, reads)
	}
}

func TestAFaultBeforeIsNotCarriedOutAndOneAfterIs(t *testing.T) {
	w, engine := newWire()
	i := &invocation{end: func() {}, rules: []*rule{
		{op: "PutItem", failure: "timeout", nth: 2, times: 1},
		{op: "any", failure: "internal", nth: 4, times: 2, after: true},
	}}
	var got []string
	for _, target := range []string{putItem, putItem, getItem, putItem, sending, getItem} {
		got = append(got, w.ask(i, target, aText))
	}
	for n, want := range []string{"OK", "no answer", "OK", "Internal server error", "internal error", "OK"} {
		if !strings.Contains(got[n], want) {
			t.Errorf("request %d: %s, want %s", n+1, got[n], want)
		}
	}
	if want := []string{"PutItem", "GetItem", "PutItem", "GetItem"}; !slices.Equal(engine.done, want) {
		t.Errorf("%v took effect, want %v", engine.done, want)
	}
	if sent := w.queues.(*backend.Queues).Sent(backend.QuarantineURL); len(sent) != 1 {
		t.Errorf("%d messages in the queue: the failure came after", len(sent))
	}
}

func TestAnInvocationDiesAfterSoManyRequestsTookEffect(t *testing.T) {
	w, engine := newWire()
	ended := false
	i := &invocation{end: func() { ended = true }, dies: true, after: 2}
	w.ask(i, putItem, "{}")
	w.ask(i, sending, aText)
	if ended {
		t.Error("it died of a request that is none of DynamoDB's")
	}
	if got := w.ask(i, getItem, "{}"); got != errDead.Error() || !ended {
		t.Errorf("its last request: %s", got)
	}
	for _, target := range []string{putItem, sending} {
		if got := w.ask(i, target, aText); got != errDead.Error() {
			t.Errorf("after its death: %s", got)
		}
	}
	if len(engine.done) != 2 || len(w.queues.(*backend.Queues).Sent(backend.QuarantineURL)) != 1 {
		t.Errorf("%v took effect", engine.done)
	}
}

func TestARequestOfNobodyIsRefused(t *testing.T) {
	w, _ := newWire()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://engine", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.RoundTrip(request); err == nil { //nolint:bodyclose // there is none
		t.Error("nobody counts it and no fault reaches it")
	}
}

func TestAThrottledTransactionIsCancelledForThatReason(t *testing.T) {
	w, _ := newWire()
	i := &invocation{end: func() {}, rules: []*rule{{op: "TransactWriteItems", failure: "throttle", nth: 1, times: 1}}}
	got := w.ask(i, "DynamoDB_20120810.TransactWriteItems", `{"TransactItems":[{"Put":{}},{"Update":{}}]}`)
	for _, want := range []string{"TransactionCanceledException", "[ThrottlingError, None]", `{"Code":"None"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}

func TestATimeoutIsATimeout(t *testing.T) {
	_, err := fail(nil, "timeout", "PutItem", nil) //nolint:bodyclose // there is none
	if timeout := interface{ Timeout() bool }(nil); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Error(err)
	}
}
