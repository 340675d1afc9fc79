package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"inorder/cmd/inorder/backend"
)

// A mishap is a way in which a request fails.
type mishap struct {
	kind    string
	after   bool // it takes effect first
	lasting bool // and so do all later ones of the same invocation
}

// The kinds. Of the first four an error is answered in place of what DynamoDB or SQS says.
const (
	throttled = "throttle"
	unheard   = "timeout"
	internal  = "internal"
	denied    = "denied"
	busy      = "busy"  // another transaction has the item: TransactionConflict
	inPart    = "part"  // a part of the request is throttled, and not the first
	rival     = "rival" // another function does the same work first, so that conditions fail
	death     = "death" // the process is gone
)

// mishaps are all of them, in the order of the table's columns.
var mishaps = func() (all []mishap) {
	for _, kind := range []string{throttled, unheard, internal, denied} {
		for _, after := range []bool{false, true} {
			all = append(all, mishap{kind, after, false}, mishap{kind, after, true})
		}
	}
	return append(all, mishap{busy, false, false}, mishap{busy, false, true}, mishap{inPart, false, false}, mishap{inPart, false, true},
		mishap{rival, false, false}, mishap{death, false, false}, mishap{death, true, false})
}()

// String is how a cell is named: timeout-after, or timeout-after-on where all later requests fail as well.
func (m mishap) String() string {
	text := m.column()
	if m.lasting {
		text += "-on"
	}
	return text
}

func (m mishap) column() string {
	switch {
	case m.kind == busy || m.kind == inPart || m.kind == rival:
		return m.kind
	case m.after:
		return m.kind + "-after"
	}
	return m.kind + "-before"
}

// concerns reports whether a request can fail in this way.
func (m mishap) concerns(operation string) bool {
	switch m.kind {
	case busy:
		return slices.Contains([]string{"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"}, operation)
	case inPart:
		return slices.Contains([]string{"BatchGetItem", "TransactWriteItems", "SendMessageBatch"}, operation)
	}
	return true
}

// startsAt reports whether there is a play of its own for a mishap that begins with a request. What only reads takes no
// effect, so that there is no before and after.
func (m mishap) startsAt(operation string) bool {
	reads := slices.Contains([]string{"GetItem", "BatchGetItem", "Query", indexQuery}, operation)
	return m.concerns(operation) && (!m.after || !reads)
}

// isRetried reports whether the SDK makes the request again and gets an answer: then nothing is to be seen of the mishap.
func (m mishap) isRetried(requests []string, at int) bool {
	switch {
	case m.lasting || at > len(requests):
		return false
	case m.kind == unheard || m.kind == internal:
		return true
	}
	return m.kind == throttled && !m.after && requests[at-1] != "TransactWriteItems"
}

// A planter watches the requests of one step, and plants one mishap among them.
type planter struct {
	planting

	watching bool
	rival    func()
	requests []string // their operations
	struck   bool
}

// A way is where requests go: to the engine, or to the queues.
type way struct {
	*planter
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (w way) RoundTrip(request *http.Request) (*http.Response, error) {
	if !w.watching {
		return w.next.RoundTrip(request)
	}
	body, err := take(request)
	if err != nil {
		return nil, err
	}
	operation := operationOf(request, body)
	w.requests = append(w.requests, operation)
	if !w.strikes(operation) {
		return w.next.RoundTrip(request)
	}
	w.struck = true
	return w.strike(request, operation, body)
}

// strikes reports whether the request that was counted last is to fail.
func (p *planter) strikes(operation string) bool {
	n := len(p.requests)
	return p.at > 0 && (n == p.at || n > p.at && p.mishap.lasting && p.mishap.concerns(operation))
}

// indexQuery is what a sweep reads sixteen times, once for each shard.
const indexQuery = "Query of the index"

func operationOf(request *http.Request, body []byte) string {
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	if operation == "Query" && bytes.Contains(body, []byte(`"IndexName"`)) {
		return indexQuery
	}
	return operation
}

func (w way) strike(request *http.Request, operation string, body []byte) (*http.Response, error) {
	of := request.Context().Value(invocationKey{}).(*invocation)
	of.blame()
	switch w.mishap.kind {
	case rival:
		w.watching = false
		w.rival()
		w.watching = true
		return w.next.RoundTrip(request)
	case inPart:
		return w.part(request, operation, body)
	}
	if w.mishap.after {
		response, err := w.next.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		discard(response)
	}
	switch w.mishap.kind {
	case death:
		of.kill()
		return nil, errDead
	case busy:
		return isBusy(request, operation, body), nil
	}
	if strings.HasPrefix(operation, sendOperation) {
		operation = sendOperation
	}
	return fail(request, w.mishap.kind, operation, body)
}

// blame notes that what comes of the invocation is the fault's doing.
func (i *invocation) blame() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.failed = true
}

const dynamodb = "com.amazonaws.dynamodb.v20120810#"

// isBusy is the answer where another transaction holds an item, the last one of several: "Transaction conflict handling
// in DynamoDB", Amazon DynamoDB Developer Guide.
func isBusy(request *http.Request, operation string, body []byte) *http.Response {
	if operation == "TransactWriteItems" {
		return cancelledLast(request, body, "TransactionConflict", "Transaction is ongoing for the item")
	}
	return backend.Answer(request, http.StatusBadRequest, dynamodb+"TransactionConflictException", "Transaction is ongoing for the item")
}

func cancelledLast(request *http.Request, body []byte, code, message string) *http.Response {
	reasons := make([]map[string]string, backend.ItemsIn(body).Actions())
	codes := make([]string, len(reasons))
	for n := range reasons {
		reasons[n], codes[n] = map[string]string{"Code": "None"}, "None"
	}
	reasons[len(reasons)-1], codes[len(reasons)-1] = map[string]string{"Code": code, "Message": message}, code
	list, err := json.Marshal(reasons)
	if err != nil {
		panic(err) // strings only
	}
	return backend.AnswerWith(request, http.StatusBadRequest, dynamodb+"TransactionCanceledException",
		"Transaction cancelled, please refer cancellation reasons for specific reasons ["+strings.Join(codes, ", ")+"]",
		map[string]json.RawMessage{"CancellationReasons": list})
}

// part is a request of which the last part is not carried out: "BatchGetItem", UnprocessedKeys, Amazon DynamoDB API
// Reference; "SendMessageBatch", Failed, Amazon SQS API Reference. A transaction has no such parts, only reasons.
func (w way) part(request *http.Request, operation string, body []byte) (*http.Response, error) {
	switch operation {
	case "BatchGetItem":
		return w.partly(request, body, lastKey)
	case "SendMessageBatch":
		return w.partly(request, body, lastEntry)
	}
	return cancelledLast(request, body, "ProvisionedThroughputExceeded", "The level of configured provisioned throughput for the table was exceeded"), nil
}

// partly carries out what is left when the last part is taken out of a request, and says so in the answer.
func (w way) partly(request *http.Request, body []byte, split func(in map[string]any) (left int, say func(out map[string]any))) (*http.Response, error) {
	var in map[string]any
	if err := unmarshalExactly(body, &in); err != nil {
		return nil, err
	}
	left, say := split(in)
	out := map[string]any{}
	if left > 0 {
		if err := w.ask(request, in, &out); err != nil {
			return nil, err
		}
	}
	say(out)
	text, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: request, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)),
	}, nil
}

func (w way) ask(request *http.Request, in map[string]any, out *map[string]any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	next := request.Clone(request.Context())
	next.Body, next.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	response, err := w.next.RoundTrip(next)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s, %w", response.Status, answer, err)
	}
	return unmarshalExactly(answer, out)
}

// unmarshalExactly keeps every digit.
func unmarshalExactly(text []byte, out any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(out)
}

// lastKey takes the last key of the one table of a BatchGetItem out.
func lastKey(in map[string]any) (left int, say func(out map[string]any)) {
	for table, of := range in["RequestItems"].(map[string]any) {
		request := of.(map[string]any)
		keys := request["Keys"].([]any)
		left = len(keys) - 1
		request["Keys"] = keys[:left]
		return left, func(out map[string]any) {
			if left == 0 {
				out["Responses"] = map[string]any{}
			}
			request["Keys"] = keys[left:]
			out["UnprocessedKeys"] = map[string]any{table: request}
		}
	}
	panic("a BatchGetItem of no table")
}

// lastEntry takes the last entry of a SendMessageBatch out.
func lastEntry(in map[string]any) (left int, say func(out map[string]any)) {
	entries := in["Entries"].([]any)
	left = len(entries) - 1
	in["Entries"] = entries[:left]
	return left, func(out map[string]any) {
		if left == 0 {
			out["Successful"] = []any{}
		}
		out["Failed"] = []any{map[string]any{
			"Id": entries[left].(map[string]any)["Id"], "SenderFault": false, "Code": "InternalError", "Message": "We encountered an internal error. Please try again.",
		}}
	}
}
