package functions

import (
	"context"
	"time"
)

// limits is what has to end before Lambda's deadline: the work itself a margin before it, and what has to follow the work
// whatever happened half a margin before it. What is left then is for stragglers, metrics and the answer.
type limits struct {
	work, rest context.Context
	margin     time.Duration
}

// limited derives them from Lambda's deadline. Lambda's default timeout is as long as the usual margin: so the margin
// never takes more than a quarter of what is left.
func limited(ctx context.Context, margin time.Duration) (l limits, end context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return limits{ctx, ctx, margin}, func() {}
	}
	left := max(time.Until(deadline), 0) //nolint:forbidigo // the deadline is the process's own, not a time of any Now
	margin = min(margin, left/4)
	work, endWork := context.WithDeadline(ctx, deadline.Add(-margin))
	rest, endRest := context.WithDeadline(ctx, deadline.Add(-margin/2))
	return limits{work, rest, margin}, func() { endWork(); endRest() }
}
