package ddb

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Whole is an HTTP client of the SDK that sends each request in one piece.
//
// The SDK wraps a request's body, and closes it as soon as the answer begins. net/http takes a body that it does not know for
// a slow one: it sends the header, then the body, and then asks whether there is more. Where the server was faster than that
// question, the closed body answers it with an error, the connection is closed, and the rest of the answer is lost: the SDK
// tries again, and what a ReceiveMessage handed out stays hidden (aws/aws-sdk-go-v2#2737 tells of such connections). A body in
// memory is known, and goes out with its header.
type Whole struct{ Client aws.HTTPClient }

// Do sends a request.
func (w Whole) Do(request *http.Request) (*http.Response, error) {
	if request.Body == nil || request.Body == http.NoBody {
		return w.Client.Do(request)
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	whole := *request
	whole.Body, whole.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	whole.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return w.Client.Do(&whole)
}
