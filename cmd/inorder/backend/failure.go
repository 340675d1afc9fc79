package backend

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// SendOperation is what a request to a queue counts as, whichever way it sends.
const SendOperation = "SendMessage"

// timeoutError is what a client sees when no answer comes.
type timeoutError struct{ operation string }

func (e *timeoutError) Error() string   { return e.operation + ": no answer within the client's timeout" }
func (e *timeoutError) Timeout() bool   { return true }
func (e *timeoutError) Temporary() bool { return true }

// Fail answers as AWS does when it fails in one of the ways throttle, timeout, internal, denied and busy: "Error handling with
// DynamoDB" and "Transaction conflict handling in DynamoDB", Amazon DynamoDB Developer Guide, and "Common errors", Amazon
// SQS API Reference. What is busy is an item that a transaction has; queues know no such thing.
func Fail(request *http.Request, failure, operation string, body []byte) (*http.Response, error) {
	queue := operation == SendOperation
	const dynamodb = "com.amazonaws.dynamodb.v20120810#"
	switch {
	case failure == "timeout":
		return nil, &timeoutError{operation}
	case failure == "denied" && queue:
		return Answer(request, http.StatusBadRequest, "com.amazon.coral.service#AccessDeniedException", "Access to the resource is denied."), nil
	case failure == "denied":
		return Answer(request, http.StatusBadRequest, "com.amazon.coral.service#AccessDeniedException",
			"User: arn:aws:sts::000000000000:assumed-role/consumer is not authorized to perform: dynamodb:"+operation), nil
	case failure == "internal" && queue:
		return Answer(request, http.StatusInternalServerError, "com.amazonaws.sqs#InternalError", "We encountered an internal error. Please try again."), nil
	case failure == "internal":
		return Answer(request, http.StatusInternalServerError, dynamodb+"InternalServerError", "Internal server error"), nil
	case failure == "throttle" && queue:
		return Answer(request, http.StatusBadRequest, "com.amazonaws.sqs#RequestThrottled", "Request is throttled."), nil
	case failure == "throttle" && operation == "TransactWriteItems":
		return cancelled(request, body, "ThrottlingError", "Throughput exceeds the current capacity for one or more global secondary indexes or the table. DynamoDB is automatically scaling, so please try again shortly."), nil
	case failure == "busy" && operation == "TransactWriteItems":
		return cancelled(request, body, "TransactionConflict", "Transaction is ongoing for the item"), nil
	case failure == "busy" && !queue:
		return Answer(request, http.StatusBadRequest, dynamodb+"TransactionConflictException", "Transaction is ongoing for the item"), nil
	case failure == "throttle":
		return Answer(request, http.StatusBadRequest, dynamodb+"ProvisionedThroughputExceededException",
			"The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API."), nil
	}
	return nil, fmt.Errorf("unknown failure %q", failure)
}

// cancelled is how a transaction is throttled, or kept out by another one: not by an error of its own, but by a reason of
// its first item, which a careless reader takes for a failed condition.
func cancelled(request *http.Request, body []byte, code, message string) *http.Response {
	type reason struct {
		Code    string
		Message string `json:",omitempty"`
	}
	reasons := make([]reason, max(1, ItemsIn(body).Actions()))
	codes := make([]string, len(reasons))
	for n := range reasons {
		reasons[n].Code = "None"
		if n == 0 {
			reasons[n] = reason{code, message}
		}
		codes[n] = reasons[n].Code
	}
	list, err := json.Marshal(reasons)
	if err != nil {
		panic(err) // strings only
	}
	return AnswerWith(request, http.StatusBadRequest, "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
		"Transaction cancelled, please refer cancellation reasons for specific reasons ["+strings.Join(codes, ", ")+"]",
		map[string]json.RawMessage{"CancellationReasons": list})
}
