package e2e

import (
	"context"
	"fmt"
	"os"
	"time"

	"inorder/ddb"
	"inorder/functions"
	"inorder/ordering"
)

// write writes an event as a producer with an outbox does, connected by the stack's outputs alone. It returns its number.
func (s *stack) write(ctx context.Context, stream, id, kind string, said data) (int64, error) {
	outbox, err := functions.StartOutbox(ctx, s.getenv, time.Now)
	if err != nil {
		return 0, err
	}
	// The numbers that are expected leave no room for a write that was given up; LocalStack on a busy machine takes its time.
	outbox.API = ddb.NewClient(here.cloud.Config(), ddb.ClientOptions{TryTimeout: time.Minute})
	at, err := outbox.Write(ctx, ddb.OutboxWrite{
		Key: ddb.OutboxKey{Stream: stream, EntityID: id, Source: "outbox"},
		Draft: func(at ordering.Position) (ddb.OutboxDraft, error) {
			body, err := ddb.OutboxEvent{
				EventID: fmt.Sprintf("%s:%d", id, at.Seq), Type: kind, EntityID: id, Source: "outbox", PublishedAt: time.Now(), Data: said,
			}.Body(at)
			return ddb.OutboxDraft{Event: body}, err
		},
	})
	return at.Seq, err
}

// getenv has what a producer's own template takes of the outputs; all else is the process's.
func (s *stack) getenv(name string) string {
	switch name {
	case "OUTBOX_TABLE":
		return s.outputs["OutboxTable"]
	case "OUTBOX_TTL":
		return s.outputs["OutboxTtl"]
	}
	return os.Getenv(name)
}
