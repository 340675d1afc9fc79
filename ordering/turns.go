package ordering

import (
	"context"

	"inorder/events"
)

// numbered is one invocation's work on one entity whose events have numbers, step or delta: turns that learn something
// or write, until every job is decided.
type numbered struct {
	*Loop
	key    Key
	stream *events.Stream
	jobs   []*job
	report *Report

	entity *Entity
	fresh  bool // entity was read, written or returned by a lost write in this invocation, not cached
	lost   int  // rounds that were lost to others

	forget func(newer *Entity) // what was learnt beside the entity, before a newer one takes its place; nil: nothing
}

// takeTurns begins with the entity that it is given, or what the cache holds, or a read, and goes on while a job is open
// or there is more to do.
func (n *numbered) takeTurns(ctx context.Context, more func() bool, turn func(context.Context) error) error {
	if n.entity == nil {
		n.entity = n.Cache.get(n.key)
	}
	if n.entity == nil {
		if err := n.readAgain(ctx); err != nil {
			return err
		}
	}
	for turns := 0; firstOpen(n.jobs) != nil || more(); turns++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n.lost >= maxRounds {
			return errBusy
		}
		if turns >= maxTurns {
			return errNoEnd
		}
		if err := turn(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (n *numbered) readAgain(ctx context.Context) error {
	e, err := n.read(ctx, n.key)
	if err == nil {
		n.learn(e)
	}
	return err
}

// learn takes a newer state of the entity.
func (n *numbered) learn(e *Entity) {
	if n.forget != nil {
		n.forget(e)
	}
	n.entity, n.fresh = e, true
	n.Cache.put(n.key, e)
}

// again is another round, a little later, on an item that a transaction holds.
func (n *numbered) again(ctx context.Context) error {
	n.lost++
	n.wait(ctx, n.lost)
	return nil
}
