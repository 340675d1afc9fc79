package scenario

import (
	"context"
	"sync"
)

// An invocation is one run of a function, with what the script does to it.
type invocation struct {
	place int // among those that run at once
	turns *turnstile
	end   context.CancelFunc

	mu     sync.Mutex
	rules  []*rule
	dies   bool
	after  int // with dies: how many requests take effect
	effect int // DynamoDB requests that took effect
	dead   bool
	failed bool // a rule has made a request fail
}

// invocation begins one, with what the script has in store for the next.
func (w *world) invocation() (*invocation, context.Context, context.CancelFunc) {
	ctx, end := context.WithTimeout(w.ctx, maxInvocationTime)
	i := &invocation{rules: w.rules, end: end}
	w.rules = nil
	return i, onBehalfOf(ctx, i), end
}

// errand is what a person does: it takes nothing of what the script has in store for a function.
func (w *world) errand() (context.Context, context.CancelFunc) {
	ctx, end := context.WithTimeout(w.ctx, maxInvocationTime)
	return onBehalfOf(ctx, &invocation{end: end}), end
}

// atOnce runs invocations side by side; the turnstile decides whose request is next. What the script has in store is for
// the first of them.
func (w *world) atOnce(s step, work []func(context.Context)) []*invocation {
	turns := newTurnstile(len(work), w.seed+uint64(s.number))
	all := make([]*invocation, len(work))
	var wait sync.WaitGroup
	for n, do := range work {
		i, ctx, end := w.invocation()
		i.place, i.turns, all[n] = n, turns, i
		wait.Go(func() {
			defer end()
			defer turns.leave()
			do(ctx)
		})
	}
	wait.Wait()
	return all
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
			i.failed = true
		}
	}
	return failure, after
}

// struck reports whether the script has made a request of the invocation fail.
func (i *invocation) struck() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.failed
}
