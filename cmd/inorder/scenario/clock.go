package scenario

import (
	"sync"
	"time"
)

// epoch is when every script begins.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// A clock is virtual time: it stands still until a step moves it.
type clock struct {
	mu sync.Mutex
	at time.Time
}

// Now is the instant that consumer and queues are given.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}
