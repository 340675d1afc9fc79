package scenario

import (
	"context"
	"sync"

	"inorder/functions"
)

// An invocation is one run of the function, with what the script does to it.
type invocation struct {
	consumer *functions.Consumer

	place int // among those that run at once
	turns *turnstile
	end   context.CancelFunc

	mu     sync.Mutex
	rules  []*rule
	dies   bool
	after  int // with dies: how many requests take effect
	effect int // DynamoDB requests that took effect
	dead   bool
}

// enter waits for the turn of the invocation's next request.
func (i *invocation) enter() {
	if i.turns != nil {
		i.turns.enter(i.place)
	}
}

// kill ends the invocation: nothing that it still does counts.
func (i *invocation) kill() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.die()
}

func (i *invocation) die() {
	i.dead = true
	i.end()
}

func (i *invocation) isDead() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.dead
}

// tookEffect counts a DynamoDB request that was carried out, and reports whether it was the invocation's last.
func (i *invocation) tookEffect() (last bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.effect++
	if i.dies && i.effect >= i.after {
		i.die()
	}
	return i.dead
}

// fails asks the rules about a request: the failure, empty where it goes well, and whether it takes effect before.
// Every rule counts every request that it matches; where several strike, the first one in the script does.
func (i *invocation) fails(operation string) (failure string, after bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, r := range i.rules {
		if r.strikes(operation) && failure == "" {
			failure, after = r.failure, r.after
		}
	}
	return failure, after
}
