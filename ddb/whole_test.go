package ddb_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"inorder/ddb"
)

// slowlyKnown is a body as the SDK makes it: not one that net/http knows, and closed by somebody else.
type slowlyKnown struct{ io.Reader }

func (slowlyKnown) Close() error { return nil }

// What goes to the transport is the same request with a body that is in memory, so that it goes out in one piece, also again.
func TestRequestsAreWhole(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Was", r.Method+" "+r.Header.Get("X-Amz-Target")+" "+string(body))
	}))
	defer server.Close()
	var packets []int
	client := ddb.Whole{Client: &http.Client{Transport: counting(&packets), Timeout: time.Minute}}
	for _, body := range []string{`{"a":1}`, ""} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Amz-Target", "T.Put")
		if body != "" {
			request.Body, request.ContentLength = slowlyKnown{strings.NewReader(body)}, int64(len(body))
		}
		packets = nil
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if got := answer.Header.Get("Was"); strings.TrimSpace(got) != strings.TrimSpace("POST T.Put "+body) || len(packets) != 1 {
			t.Errorf("the server got %q, in writes of %v bytes", got, packets)
		}
	}
}

// counting is a transport that notes the size of each write to its connections.
func counting(packets *[]int) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return countedConn{c, packets}, err
	}
	return t
}

type countedConn struct {
	net.Conn
	packets *[]int
}

func (c countedConn) Write(p []byte) (int, error) {
	*c.packets = append(*c.packets, len(p))
	return c.Conn.Write(p)
}
