package demo

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// engine answers every request with the same body and counts them.
type engine struct {
	answer string
	asked  []string
}

func (e *engine) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	e.asked = append(e.asked, string(body))
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(e.answer))}, err
}

func send(ctx context.Context, w http.RoundTripper, operation string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://engine", strings.NewReader(`{"TableName":"t"}`))
	if err != nil {
		return "", err
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	response, err := w.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// A worker that dies after two requests: both take effect, the second's answer never arrives, no third is made, SQS
// hears nothing more, and whatever the invocation still does is called off.
func TestDeathOnTheWire(t *testing.T) {
	e := &engine{answer: `{}`}
	w := &wire{next: e}
	ctx, l := withLife(t.Context(), 2)
	if _, err := send(ctx, w, "PutItem"); err != nil {
		t.Error(err)
	}
	if _, err := send(ctx, mortal{e}, "SendMessage"); err != nil {
		t.Error("SQS is out of reach of the living")
	}
	for range 2 {
		if _, err := send(ctx, w, "PutItem"); !errors.Is(err, errDead) {
			t.Errorf("the dead got an answer: %v", err)
		}
	}
	if _, err := send(ctx, mortal{e}, "SendMessage"); !errors.Is(err, errDead) {
		t.Error("the dead reached SQS")
	}
	if len(e.asked) != 3 || ctx.Err() == nil || l.answers() {
		t.Errorf("%d requests took effect, the context says %v", len(e.asked), ctx.Err())
	}
}

// An invocation that was to die and makes too few requests for it dies before it answers.
func TestDoomedNeverAnswers(t *testing.T) {
	if _, l := withLife(t.Context(), 5); l.answers() {
		t.Error("it answers")
	}
	if _, l := withLife(t.Context(), 0); !l.answers() {
		t.Error("one that lives does not answer")
	}
}

// What requests consume is asked for and added up; the judge's own reads are not in it.
func TestTraffic(t *testing.T) {
	e := &engine{}
	w := &wire{next: e}
	ctx, _ := withLife(t.Context(), 0)
	for _, step := range []struct{ operation, answer string }{
		{"PutItem", `{"ConsumedCapacity":{"CapacityUnits":1.5}}`},
		{"GetItem", `{"ConsumedCapacity":{"CapacityUnits":0.5}}`},
		{"TransactWriteItems", `{"ConsumedCapacity":[{"CapacityUnits":2},{"CapacityUnits":4}]}`},
		{"UpdateItem", `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"}`},
		{"TransactWriteItems", `{"__type":"x#TransactionCanceledException","CancellationReasons":[{},{}]}`},
		{"Query", `no JSON`},
	} {
		e.answer = step.answer
		if body, err := send(ctx, w, step.operation); err != nil || body != step.answer {
			t.Errorf("%s: %q, %v", step.operation, body, err)
		}
	}
	if _, err := send(t.Context(), w, "GetItem"); err != nil {
		t.Error(err)
	}
	want := traffic{requests: 6, writeUnits: 7.5, readUnits: 0.5, told: 4, refused: 5}
	if got := w.traffic(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, body := range e.asked {
		if !strings.HasPrefix(body, `{"ReturnConsumedCapacity":"TOTAL",`) {
			t.Errorf("not asked for its cost: %s", body)
		}
	}
}
