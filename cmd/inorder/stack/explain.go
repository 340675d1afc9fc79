package stack

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/smithy-go"

	"inorder/cmd/inorder/terminal"
)

// Explain says an error in words that help a person on. What the SDK says about a failed request is long, and names its
// own parts; the step that failed, and what AWS answered, is all that matters. Other errors speak for themselves. Ids of
// strangers stand in errors too, so that what a terminal would obey is escaped.
func Explain(err error) string {
	lines := strings.Split(plain(err), "\n")
	for i, line := range lines {
		lines[i] = terminal.Escape(line)
	}
	return strings.Join(lines, "\n")
}

func plain(err error) string {
	step, rest, fromAWS := strings.Cut(err.Error(), "operation error ")
	if !fromAWS {
		return err.Error()
	}
	answer, unreachable := smithy.APIError(nil), (*url.Error)(nil)
	switch {
	case errors.As(err, &answer):
		return step + answered(answer)
	case errors.As(err, &unreachable):
		return step + fmt.Sprintf("%s does not answer: %v", unreachable.URL, unreachable.Err)
	case strings.Contains(rest, "get credentials"):
		return step + "there are no AWS credentials that work: log in, or name a profile with --profile (" + last(rest) + ")"
	}
	return step + rest
}

// last is the innermost of the errors in a text.
func last(text string) string { return strings.TrimSpace(text[strings.LastIndex(text, ", ")+1:]) }

func answered(e smithy.APIError) string {
	said := e.ErrorMessage()
	switch code := e.ErrorCode(); code {
	case "ResourceNotFoundException":
		return "there is no such table or log group in this region: " + said
	case "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue":
		return "there is no such queue in this region: " + said
	case "AccessDenied", "AccessDeniedException":
		return "not allowed: " + said
	case "ExpiredToken", "ExpiredTokenException", "UnrecognizedClientException", "InvalidClientTokenId", "InvalidSignatureException":
		return "the AWS credentials are not taken, log in again: " + said
	default:
		return code + ": " + said
	}
}
