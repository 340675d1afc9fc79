package functions

import (
	"context"
	"log/slog"
)

// Version says which code runs. The build sets it, with -ldflags "-X inorder/functions.Version=...".
var Version = "unknown"

// logStart writes the line from which support sees that an execution environment started, and with which code.
func logStart(ctx context.Context, log *slog.Logger, function, consumer string) {
	log.LogAttrs(ctx, slog.LevelInfo, "started",
		slog.String("function", function), slog.String("version", Version), slog.String("consumer", consumer))
}
