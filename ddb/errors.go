package ddb

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"inorder/ordering"
)

// class is what an error of the database means, the milder first: where a transaction has several reasons, the most
// severe one counts.
type class uint8

const (
	unknown   class = iota // not understood: the outcome is unknown, and the error stands for itself
	condition              // a condition did not hold
	contended
	throttled
	tooLarge
	numberRange
	invalid
)

// classErrors are the errors of the store's contract. A condition's is made where the items are at hand.
var classErrors = map[class]error{
	contended:   ordering.ErrContended,
	throttled:   ordering.ErrThrottled,
	tooLarge:    ordering.ErrTooLarge,
	numberRange: ordering.ErrNumberRange,
	invalid:     ordering.ErrInvalid,
}

// codes are the database's error codes, and, without "Exception", those of the reasons of a cancelled transaction:
// "TransactWriteItems", Errors, and "Error handling with DynamoDB", both in the Amazon DynamoDB documentation.
var codes = map[string]class{
	"ConditionalCheckFailed":          condition,
	"TransactionConflict":             contended,
	"TransactionInProgress":           contended,
	"ReplicatedWriteConflict":         contended,
	"ProvisionedThroughputExceeded":   throttled,
	"RequestLimitExceeded":            throttled,
	"Throttling":                      throttled,
	"ThrottlingError":                 throttled,
	"Validation":                      invalid,
	"ValidationError":                 invalid,
	"ItemCollectionSizeLimitExceeded": invalid,
	"IdempotentParameterMismatch":     invalid,
	"DuplicateItem":                   invalid,
}

// messages tell what a validation error is about, and there is no other sign. These are AWS's own words, listed in part
// under "TransactWriteItems", Errors; dynoxide says the same.
var messages = []struct {
	text  string
	class class
}{
	{"Item size has exceeded the maximum allowed size", tooLarge},
	{"Item size to update has exceeded the maximum allowed size", tooLarge},
	{"Number overflow", numberRange},
	{"Number underflow", numberRange},
	{"Attempting to store more than 38 significant digits in a Number", numberRange},
}

// classify reads a code and its message.
func classify(code, message string) class {
	c := codes[strings.TrimSuffix(code, "Exception")]
	if c != invalid {
		return c
	}
	for _, m := range messages {
		if strings.Contains(message, m.text) {
			return m.class
		}
	}
	return invalid
}

// classifyError reads what the SDK returned: an error's own code, or the reasons of a cancelled transaction.
func classifyError(err error) class {
	if cancelled := (*types.TransactionCanceledException)(nil); errors.As(err, &cancelled) {
		return classifyReasons(cancelled.CancellationReasons)
	}
	if api := smithy.APIError(nil); errors.As(err, &api) {
		return classify(api.ErrorCode(), api.ErrorMessage())
	}
	return unknown
}

// classifyReasons returns the most severe reason. One that is not understood makes the whole not understood, unless
// another one proves a mistake.
func classifyReasons(reasons []types.CancellationReason) class {
	worst, strange := unknown, len(reasons) == 0
	for _, r := range reasons {
		if r.Code == nil || *r.Code == "None" {
			continue
		}
		c := classify(*r.Code, deref(r.Message))
		strange = strange || c == unknown
		worst = max(worst, c)
	}
	if strange && worst != invalid {
		return unknown
	}
	return worst
}

// described returns an error of the contract around err, or err itself where it is not understood. A refusal says that
// nothing was written only where it answers every try: one before it may have been carried out unheard.
func described(err error) error {
	c := classifyError(err)
	if unheard := (*unheardError)(nil); errors.As(err, &unheard) && (c == throttled || c == contended) {
		return err
	}
	if known := classErrors[c]; known != nil {
		return &storeError{known, err}
	}
	return err
}

// storeError is an error of the contract, with the database's own words.
type storeError struct{ known, cause error }

func (e *storeError) Error() string { return fmt.Sprintf("%v: %v", e.known, e.cause) }

func (e *storeError) Unwrap() []error { return []error{e.known, e.cause} }

// lacksContains reports that the engine takes contains of a missing attribute for an error, as minidyn does.
func lacksContains(err error) bool {
	return errors.Is(err, ordering.ErrInvalid) && strings.Contains(err.Error(), "contains is not supported for path")
}

// failedItems returns the places whose condition failed with the item that is there; an item may be missing.
func failedItems(err error) (map[int]item, bool) {
	if single := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &single) {
		return map[int]item{0: single.Item}, true
	}
	cancelled := (*types.TransactionCanceledException)(nil)
	if !errors.As(err, &cancelled) || classifyReasons(cancelled.CancellationReasons) != condition {
		return nil, false
	}
	failed := make(map[int]item)
	for i, r := range cancelled.CancellationReasons {
		if classify(deref(r.Code), deref(r.Message)) == condition {
			failed[i] = r.Item
		}
	}
	return failed, true
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
