package redrive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"inorder/events"
)

// mover looks at each message of a queue once, and moves those that are meant where it may.
type mover struct {
	from    *source
	to      *target
	streams *events.Config
	filter  filter
	moves   bool // else it only looks
	limit   int  // of messages that it moves; 0: no limit
	pace    *rate.Limiter
	most    int // messages of one receive: no more than are moved before they come back
	now     func() time.Time
	moved   func() // after each message that was moved

	seen map[string]fate
	sent map[[sha256.Size]byte]bool // what was moved, by its content
	held map[string]string          // handles of what stays, by message id: shown again at the end, so that each is looked at once
	*Result
}

// fate is what became of a message that was looked at.
type fate uint8

const (
	stays fate = iota
	gone       // it is in the events queue
)

const (
	// maxLooked bounds what one run remembers, some 50 MB, and what it holds: SQS lets 120,000 messages of a standard
	// queue be in flight ("Amazon SQS message quotas", Amazon SQS Developer Guide).
	maxLooked = 100_000

	// maxIdle is how many answers without anything new end a run. One empty answer is no proof that a queue is empty.
	maxIdle = 3
)

// run looks until nothing new comes, the limit is reached, or ctx ends, which is after the current message. Then all that
// stays is shown again.
func (m *mover) run(ctx context.Context) error {
	err := m.look(ctx)
	if ctx.Err() != nil {
		m.Interrupted, err = true, nil
	}
	return errors.Join(err, m.showAgain(context.WithoutCancel(ctx)))
}

func (m *mover) look(ctx context.Context) error {
	for idle := 0; idle < maxIdle && !m.full(); {
		if m.Looked >= maxLooked {
			m.StoppedAt = maxLooked
			return nil
		}
		batch, err := m.from.receive(ctx, m.most)
		if err != nil {
			return err
		}
		news := m.Looked
		for _, r := range batch { // before anything can fail: what is not moved has to be shown again
			m.held[r.ID] = r.handle
		}
		for _, r := range batch {
			if err := m.handle(ctx, r); err != nil {
				return err
			}
		}
		if idle++; m.Looked > news {
			idle = 0
		}
	}
	return nil
}

// full reports whether as many are moved as were asked for. A look counts all.
func (m *mover) full() bool { return m.moves && m.limit > 0 && m.Moved >= m.limit }

func (m *mover) handle(ctx context.Context, r received) error {
	if before, known := m.seen[r.ID]; known {
		if before == gone { // SQS may deliver what is deleted once more
			return m.remove(context.WithoutCancel(ctx), r)
		}
		return nil
	}
	if m.full() {
		return nil // the rest of the batch: not looked at
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	one := read(m.streams, r, m.now())
	m.seen[r.ID] = stays
	m.Looked++
	if !m.filter.takes(one) {
		return nil
	}
	if m.sent[contentOf(one.original)] { // refused again by the consumer and back, or a copy: moved again it would never end
		m.Again++
		return nil
	}
	group := m.group(one)
	group.Messages++
	m.Matching++
	if !m.moves {
		return nil
	}
	return m.move(ctx, one, group)
}

// move sends a message and then deletes it. A crash in between leaves it in both queues, where the consumer recognises the
// second one as a duplicate; deleted first, it could be lost.
func (m *mover) move(ctx context.Context, one message, group *Group) error {
	if err := m.pace.Wait(ctx); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // whoever interrupts gets the current message done
	if err := m.to.send(ctx, m.from, one); err != nil {
		if isItsOwn(err) {
			m.Refused = append(m.Refused, Refused{one.ID, err.Error()})
			return nil
		}
		return err
	}
	m.seen[one.ID] = gone
	m.sent[contentOf(one.original)] = true
	m.Moved++
	group.Moved++
	m.moved()
	return m.remove(ctx, one.received)
}

// contentOf tells a message that comes back from quarantine as the one that was moved.
func contentOf(m events.Message) [sha256.Size]byte {
	var text strings.Builder
	text.WriteString(m.Body)
	for _, name := range slices.Sorted(maps.Keys(m.Attributes)) {
		fmt.Fprintf(&text, "\n%q %+v", name, m.Attributes[name])
	}
	return sha256.Sum256([]byte(text.String()))
}

func (m *mover) remove(ctx context.Context, r received) error {
	err := m.from.remove(ctx, r)
	if err == nil {
		delete(m.held, r.ID)
	}
	return err
}

const (
	showTime   = time.Minute // how long a person waits for the end, at most
	showAtOnce = 8           // requests side by side: a hundred thousand messages are ten thousand of them
)

// showAgain makes what stays visible, as if nobody had looked.
func (m *mover) showAgain(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, showTime)
	defer stop()
	var group errgroup.Group // one that fails leaves the others to go on
	group.SetLimit(showAtOnce)
	for handles := range slices.Chunk(slices.Sorted(maps.Values(m.held)), atOnce) {
		group.Go(func() error { return m.from.show(ctx, handles) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("messages that stay may be hidden for another 10 minutes, and come back by themselves: %w", err)
	}
	return nil
}
