package functions

import (
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/aws/smithy-go"
)

// maxLoggedBytes bounds each text of a log line. An id that a table can hold is shorter; but a sender may give an event an id
// as long as a message, and its line is written again for each copy.
const maxLoggedBytes = 4096

// clipped shortens the texts of a log line, and leaves all else as it is.
func clipped(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindString {
		return a
	}
	if text := a.Value.String(); len(text) > maxLoggedBytes {
		return slog.String(a.Key, cut(text, maxLoggedBytes))
	}
	return a
}

// cut shortens a text to so many bytes, where a character ends, and shows that.
func cut(text string, most int) string {
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// failure is an error for a log line. An AWS service that refuses a request may quote what it refuses, and that is event data:
// of such words only the beginning is kept, which is the service's own. The code and the request's id stand beside it.
func failure(err error) slog.Attr { return slog.String("error", ownText(err)) }

// quiet is an error that says the same as failure: for what a handler returns, which Lambda logs.
func quiet(err error) error {
	if err == nil {
		return nil
	}
	return &quietError{err, ownText(err)}
}

type quietError struct {
	error
	text string
}

func (q *quietError) Error() string { return q.text }

func (q *quietError) Unwrap() error { return q.error }

func ownText(err error) string {
	text := err.Error()
	for _, said := range answers(err, nil) {
		if message := said.ErrorMessage(); message != "" && !quotesNothing[shortCode(said.ErrorCode())] {
			text = strings.ReplaceAll(text, message, ownWords(message))
		}
	}
	return text
}

// quotesNothing are the codes whose messages speak of who may do what, of names of tables and queues, and of rates, and so are
// logged whole: "Error handling with DynamoDB", "TransactWriteItems" (its codes stand in brackets), and "SendMessage", Errors,
// in the Amazon SQS API Reference.
var quotesNothing = map[string]bool{
	"AccessDenied": true, "AccessDeniedException": true, "ExpiredTokenException": true, "IncompleteSignatureException": true,
	"InvalidClientTokenId": true, "InvalidSecurity": true, "KmsAccessDenied": true, "KmsDisabled": true, "KmsInvalidKeyUsage": true,
	"KmsInvalidState": true, "KmsNotFound": true, "KmsThrottled": true, "MissingAuthenticationTokenException": true,
	"NonExistentQueue": true, "ProvisionedThroughputExceededException": true, "QueueDoesNotExist": true, "RequestLimitExceeded": true,
	"RequestThrottled": true, "ResourceNotFoundException": true, "ThrottlingException": true, "TransactionCanceledException": true,
	"TransactionConflictException": true, "UnrecognizedClientException": true, "ConditionalCheckFailedException": true,
}

// maxOwnWords is longer than what AWS says before it quotes.
const maxOwnWords = 120

// ownWords is a message up to where it may begin to quote: "The parameter cannot be converted to a numeric value: …",
// "1 validation error detected: Value '…' at 'item' failed to satisfy constraint".
func ownWords(message string) string {
	end := strings.IndexAny(message, ":'\"`{[(<=\n")
	if end < 0 || end > maxOwnWords {
		end = min(len(message), maxOwnWords)
	}
	if end == len(message) {
		return message
	}
	return strings.TrimSpace(strings.ToValidUTF8(message[:end], "")) + "…"
}

// answers are the services' answers in an error and all that it wraps.
func answers(err error, found []smithy.APIError) []smithy.APIError {
	if said, ok := err.(smithy.APIError); ok { //nolint:errorlint // the tree is walked here, all of it
		found = append(found, said)
	}
	switch wrapping := err.(type) { //nolint:errorlint // the same
	case interface{ Unwrap() error }:
		if inner := wrapping.Unwrap(); inner != nil {
			found = answers(inner, found)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range wrapping.Unwrap() {
			found = answers(inner, found)
		}
	}
	return found
}
