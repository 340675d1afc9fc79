package demo

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// wire is the way to DynamoDB. It counts what the workers' requests cost, and it is where workers die.
type wire struct {
	next http.RoundTripper

	mu   sync.Mutex
	used traffic
}

// traffic is what went over the wire.
type traffic struct {
	requests              int
	writeUnits, readUnits float64
	told                  int // answers that said what they cost
	refused               int // writes whose condition failed: billed, and nobody says so
}

// RoundTrip sends one request of a worker, if it still lives, and keeps the answer from it if it dies of this one.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	l := lifeOf(r)
	allowed, last := l.spend()
	if !allowed {
		return nil, errDead
	}
	operation := r.Header.Get("X-Amz-Target")
	operation = operation[strings.IndexByte(operation, '.')+1:]
	if err := askForCapacity(r, operation); err != nil {
		return nil, err
	}
	response, err := w.next.RoundTrip(r)
	if err == nil && l != nil {
		err = w.count(operation, response)
	}
	if last {
		l.end()
		if err == nil {
			_ = response.Body.Close()
		}
		return nil, errDead
	}
	return response, err
}

func (w *wire) traffic() traffic {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.used
}

// priced are the operations that say what they cost when asked.
var priced = map[string]bool{
	"GetItem": false, "BatchGetItem": false, "Query": false,
	"PutItem": true, "UpdateItem": true, "DeleteItem": true, "TransactWriteItems": true,
}

// askForCapacity adds the option to a request that lacks it. That breaks its signature, which no engine on this machine
// looks at.
func askForCapacity(r *http.Request, operation string) error {
	if _, known := priced[operation]; !known {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if !bytes.Contains(body, []byte(`"ReturnConsumedCapacity"`)) {
		body = append([]byte(`{"ReturnConsumedCapacity":"TOTAL",`), bytes.TrimPrefix(body, []byte("{"))...)
	}
	setBody(r, body)
	return nil
}

func setBody(r *http.Request, body []byte) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
}

// capacity is what an answer says that its request consumed.
type capacity struct{ CapacityUnits *float64 }

// count reads an answer and puts it back.
func (w *wire) count(operation string, response *http.Response) error {
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return err
	}
	var answer struct {
		ConsumedCapacity    json.RawMessage
		CancellationReasons []json.RawMessage
		Type                string `json:"__type"`
	}
	told := json.Unmarshal(body, &answer) == nil // what is no JSON is the client's to judge
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used.requests++
	if !told {
		return nil
	}
	for _, c := range capacities(answer.ConsumedCapacity) {
		w.used.add(priced[operation], c)
	}
	switch {
	case strings.HasSuffix(answer.Type, "ConditionalCheckFailedException"):
		w.used.refused++
	case strings.HasSuffix(answer.Type, "TransactionCanceledException"):
		w.used.refused += 2 * len(answer.CancellationReasons) // a transaction's writes cost twice
	}
	return nil
}

// capacities reads one, or a transaction's list of them.
func capacities(raw json.RawMessage) []capacity {
	var many []capacity
	if json.Unmarshal(raw, &many) == nil {
		return many
	}
	var one capacity
	if json.Unmarshal(raw, &one) == nil {
		return []capacity{one}
	}
	return nil
}

func (t *traffic) add(write bool, c capacity) {
	if c.CapacityUnits == nil {
		return
	}
	t.told++
	if write {
		t.writeUnits += *c.CapacityUnits
	} else {
		t.readUnits += *c.CapacityUnits
	}
}
