package functions

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/smithy-go"
)

// Of what AWS says only the part is logged that is its own: what it may quote is left out, and what helps an operator stays.
func TestErrorsOfAWSAreLoggedWithoutWhatTheyQuote(t *testing.T) {
	for _, tt := range []struct{ code, message, want string }{
		{"ValidationException", "The parameter cannot be converted to a numeric value: secret", "The parameter cannot be converted to a numeric value…"},
		{"ValidationException", "1 validation error detected: Value 'secret' at 'item' failed", "1 validation error detected…"},
		{"ValidationException", "Item size has exceeded the maximum allowed size", "Item size has exceeded the maximum allowed size"},
		{"ValidationException", strings.Repeat("word ", 30), strings.TrimSpace(strings.Repeat("word ", 24)) + "…"},
		{"InvalidMessageContents", "secret", "secret"}, // a word that nothing tells from AWS's own is bounded, and no more
		{"AccessDeniedException", "User: arn:aws:sts::1:role/x is not authorized to perform: dynamodb:PutItem", "User: arn:aws:sts::1:role/x is not authorized to perform: dynamodb:PutItem"},
		{"AWS.SimpleQueueService.NonExistentQueue", "The specified queue does not exist: q", "The specified queue does not exist: q"},
	} {
		said := &smithy.GenericAPIError{Code: tt.code, Message: tt.message}
		for _, err := range []error{said, fmt.Errorf("put: %w", said), errors.Join(errors.New("x"), fmt.Errorf("put: %w", said))} {
			want := strings.Replace(err.Error(), tt.message, tt.want, 1)
			if got := failure(err).Value.String(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if got := quiet(err); got.Error() != want || !errors.Is(got, err) {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
	if quiet(nil) != nil {
		t.Error("no error became one")
	}
}

// A line has an end, whatever a sender calls things, and stays one line.
func TestLogLinesAreBoundedAndOneLine(t *testing.T) {
	var out bytes.Buffer
	hostile := "\n{\"level\":\"ERROR\"}\r\n\x1b[2J\u2028" + strings.Repeat("\U0001F600", 300_000)
	log := NewLogger(&out, slog.LevelInfo)
	log.LogAttrs(t.Context(), slog.LevelInfo, hostile, slog.String("event_id", hostile), slog.String("entity_id", hostile), failure(errors.New(hostile)))
	if n := strings.Count(out.String(), "\n"); n != 1 || out.Len() > 4*2*maxLoggedBytes || strings.ContainsAny(out.String(), "\x1b\r\u2028") {
		t.Errorf("%d lines of %d bytes: %.200q", n, out.Len(), out.String())
	}
}

// What AWS says before it quotes is short. Words that go on and on are somebody else's, wherever a sign of it stands.
func TestOwnWordsAreFew(t *testing.T) {
	for _, end := range []string{"", ": quoted"} {
		said := ownWords(strings.Repeat("word ", 100) + end)
		if len(said) > maxOwnWords+len("…") || !strings.HasSuffix(said, "…") {
			t.Errorf("%d bytes: %s", len(said), said)
		}
	}
}
