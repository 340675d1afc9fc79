package local

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

func startDynoxide(ctx context.Context, binary string) (*Engine, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	version, err := versionOf(ctx, binary)
	if err != nil {
		return nil, err
	}
	return program{
		engine: Dynoxide, version: strings.TrimPrefix(version, "dynoxide "), binary: binary, ready: "listening on",
		arguments: func(port string) []string { return []string{"--host", "127.0.0.1", "--port", port} },
	}.start(ctx)
}

func versionOf(ctx context.Context, binary string) (string, error) {
	out, err := exec.CommandContext(ctx, binary, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", binary, err)
	}
	return strings.TrimSpace(string(out)), nil
}
