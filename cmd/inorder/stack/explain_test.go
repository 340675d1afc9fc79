package stack_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/stack/stacktest"
	"inorder/ddb/local"
	"inorder/ordering"
)

// A person reads what was tried and why it did not work, and nothing of the SDK's own parts.
func TestErrorsOfAWSAreExplained(t *testing.T) {
	answers := func(code, message string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"__type":"com.amazon.coral#%s","message":%q}`, code, message)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	for _, row := range []struct{ endpoint, want string }{
		{stacktest.Start(t, local.ForTest(t, local.Dynoxide)).Endpoint, "there is no such table or log group in this region: "},
		{answers("AccessDeniedException", "User x may not dynamodb:GetItem"), "not allowed: User x may not dynamodb:GetItem"},
		{answers("ExpiredTokenException", "too old"), "the AWS credentials are not taken, log in again: too old"},
		{answers("FrobnicatedException", "so it is"), "FrobnicatedException: so it is"},
		{closed.URL, closed.URL + "/ does not answer: "},
	} {
		flags := stack.Flags{Endpoint: row.endpoint, Getenv: func(string) string { return "nowhere" }}
		c, err := flags.Connect(t.Context(), stack.EntitiesTable)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Store().Entity(t.Context(), ordering.Key{Consumer: "c", Stream: "s", ID: "e"})
		got := stack.Explain(err)
		if !strings.HasPrefix(got, "read c/s/e: ") || !strings.Contains(got, row.want) || strings.Contains(got, "operation error") {
			t.Errorf("%s, want %q", got, row.want)
		}
	}
	if got := stack.Explain(errors.New("two\nlines \x1b[2J")); got != "two\nlines \\u001b[2J" {
		t.Errorf("%q", got)
	}
}
