package local

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/truora/minidyn/server"
)

// minidynVersion is the one in go.mod, as a test checks: a library does not tell its version.
const minidynVersion = "0.8.2"

// readHeaderTimeout bounds what a stranger on this machine's loopback can hold open.
const readHeaderTimeout = 10 * time.Second

func startMinidyn() (*Engine, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start minidyn: %w", err)
	}
	web := &http.Server{Handler: server.NewServer(), ReadHeaderTimeout: readHeaderTimeout}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	return &Engine{
		Name:     Minidyn,
		Version:  minidynVersion,
		Endpoint: "http://" + listener.Addr().String(),
		stop:     sync.OnceValue(func() error { return stopServing(web, served) }),
	}, nil
}

func stopServing(web *http.Server, served <-chan error) error {
	_ = web.Close() // closes what it can; what Serve says is what counts
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("minidyn ended by itself: %w", err)
	}
	return nil
}
