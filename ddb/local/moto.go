package local

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// MotoVariable names the folder of a Python environment with moto's server in it, as the Makefile installs one. Only tests start
// moto, so it is looked for nowhere else.
const MotoVariable = "INORDER_MOTO"

// MissingMotoError says that there is no moto, and how to get it.
type MissingMotoError struct{ Named string }

func (e *MissingMotoError) Error() string {
	if e.Named == "" {
		return fmt.Sprintf("no moto: install it with `make tools`, and name its folder in %s", MotoVariable)
	}
	return fmt.Sprintf("%s names %s, which has no moto_server in bin", MotoVariable, e.Named)
}

func startMoto(ctx context.Context) (*Engine, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	folder := os.Getenv(MotoVariable)
	python, server := filepath.Join(folder, "bin", "python"), filepath.Join(folder, "bin", "moto_server")
	if folder == "" || !runnable(server) {
		return nil, &MissingMotoError{folder}
	}
	version, err := exec.CommandContext(ctx, python, "-c", `import importlib.metadata; print(importlib.metadata.version("moto"))`).Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for moto's version: %w", python, err)
	}
	// -u: else what it says stays in a buffer, and nobody sees that it is ready.
	engine, err := program{
		engine: Moto, version: strings.TrimSpace(string(version)), binary: python, ready: "Running on",
		arguments: func(port string) []string { return []string{"-u", server, "-H", "127.0.0.1", "-p", port} },
	}.start(ctx)
	if err != nil {
		return nil, err
	}
	engine.serial = true
	return engine, nil
}

// serialTransport sends one request after the other. moto answers several at once and does not keep them apart: of two transactions
// on one condition both may succeed.
type serialTransport struct{ mu sync.Mutex }

func (s *serialTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	response, err := transport().RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body) // its answer is whole when it has done what was asked
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, err
}
