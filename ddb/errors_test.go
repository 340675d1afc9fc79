package ddb

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"inorder/ordering"
)

// What AWS says, in its own words: "TransactWriteItems", Errors (API reference) lists most of them.
const (
	itemSize   = "Item size has exceeded the maximum allowed size"
	updateSize = "Item size to update has exceeded the maximum allowed size"
	overflow   = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	underflow  = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
	digits     = "Attempting to store more than 38 significant digits in a Number"
	syntax     = "Invalid UpdateExpression: Syntax error; token: \"SETT\", near: \"SETT #0\""
	typeFault  = "An operand in the update expression has an incorrect data type"
)

func TestErrorsAreClassified(t *testing.T) {
	api := func(code, message string) error {
		return fmt.Errorf("operation error DynamoDB: PutItem, %w", &smithy.GenericAPIError{Code: code, Message: message})
	}
	for _, c := range []struct {
		err  error
		want error // nil: it stands for itself
	}{
		{api("ValidationException", itemSize), ordering.ErrTooLarge},
		{api("ValidationException", updateSize), ordering.ErrTooLarge},
		{api("ValidationException", overflow), ordering.ErrNumberRange},
		{api("ValidationException", underflow), ordering.ErrNumberRange},
		{api("ValidationException", "One or more parameter values were invalid: "+digits), ordering.ErrNumberRange},
		{api("ValidationException", syntax), ordering.ErrInvalid},
		{api("ProvisionedThroughputExceededException", "The level of configured provisioned throughput ..."), ordering.ErrThrottled},
		{api("ThrottlingException", "Throughput exceeds the current capacity of your table or index."), ordering.ErrThrottled},
		{api("RequestLimitExceeded", "Throughput exceeds the current throughput limit for your account."), ordering.ErrThrottled},
		{api("TransactionConflictException", "Transaction is ongoing for the item"), ordering.ErrContended},
		{api("TransactionInProgressException", ""), ordering.ErrContended},
		{&types.ThrottlingException{ThrottlingReasons: []types.ThrottlingReason{{
			Reason: aws.String("TableWriteKeyRangeThroughputExceeded"),
		}}}, ordering.ErrThrottled},
		{api("AccessDeniedException", "User is not authorized to perform dynamodb:PutItem"), nil},
		{api("ResourceNotFoundException", "Requested resource not found"), nil},
		{api("InternalServerError", ""), nil},
		{api("SomethingNew", itemSize), nil},
		{errors.New("connection reset by peer"), nil},
	} {
		got := described(c.err)
		if !errors.Is(got, c.err) {
			t.Errorf("%v: the database's own words are lost: %v", c.err, got)
		}
		var is error
		for _, known := range classErrors {
			if errors.Is(got, known) {
				is = known
			}
		}
		if !errors.Is(is, c.want) {
			t.Errorf("%v is taken for %v, want %v", c.err, is, c.want)
		}
	}
}

// The most severe reason of a cancelled transaction wins, wherever it stands, and one that is not understood is never
// taken for a lost race.
func TestCancelledTransactions(t *testing.T) {
	for _, c := range []struct {
		reasons []types.CancellationReason
		want    class
	}{
		{reasons("None", "", "ConditionalCheckFailed", ""), condition},
		{reasons("ConditionalCheckFailed", "", "TransactionConflict", ""), contended},
		{reasons("TransactionConflict", "", "ConditionalCheckFailed", ""), contended},
		{reasons("TransactionConflict", "", "ThrottlingError", ""), throttled},
		{reasons("ProvisionedThroughputExceeded", "", "ConditionalCheckFailed", ""), throttled},
		{reasons("ValidationError", updateSize, "ThrottlingError", ""), tooLarge},
		{reasons("ConditionalCheckFailed", "", "ValidationError", itemSize), tooLarge},
		{reasons("ValidationError", overflow, "ConditionalCheckFailed", ""), numberRange},
		{reasons("ValidationError", updateSize, "ValidationError", typeFault), invalid},
		{reasons("ValidationError", typeFault, "ThrottlingError", ""), invalid},
		{reasons("ItemCollectionSizeLimitExceeded", ""), invalid},
		{reasons("None", "", "None", ""), unknown},
		{reasons("SomethingNew", "", "ConditionalCheckFailed", ""), unknown},
		{reasons("SomethingNew", "", "ValidationError", typeFault), invalid},
		{nil, unknown},
	} {
		err := fmt.Errorf("operation error: %w", &types.TransactionCanceledException{CancellationReasons: c.reasons})
		if got := classifyError(err); got != c.want {
			t.Errorf("%v: class %d, want %d", codesOf(c.reasons), got, c.want)
		}
		if _, lost := failedItems(err); lost != (c.want == condition) {
			t.Errorf("%v: taken for a lost race: %t", codesOf(c.reasons), lost)
		}
	}
}

func TestFailedItemsAreToldByPlace(t *testing.T) {
	err := &types.TransactionCanceledException{CancellationReasons: reasons("None", "", "ConditionalCheckFailed", "", "None", "")}
	err.CancellationReasons[1].Item = item{attrPK: text("x")}
	found, ok := failedItems(err)
	if !ok || len(found) != 1 || found[1][attrPK] == nil {
		t.Fatalf("got %v, want the item in place 1", found)
	}
}

// reasons makes cancellation reasons of codes and messages.
func reasons(codesAndMessages ...string) (out []types.CancellationReason) {
	for i := 0; i < len(codesAndMessages); i += 2 {
		out = append(out, types.CancellationReason{Code: &codesAndMessages[i], Message: &codesAndMessages[i+1]})
	}
	return out
}

func codesOf(reasons []types.CancellationReason) (codes []string) {
	for _, r := range reasons {
		codes = append(codes, *r.Code)
	}
	return codes
}
