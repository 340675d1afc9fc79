package ddb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ordering"
)

// outboxTry is one call of Write.
type outboxTry struct {
	*Outbox
	w     OutboxWrite
	pk    string
	token string // in head and row of every try: who finds it there has written already

	// unheard: a try at the present number had no answer, so it may be written, or may still come to be.
	unheard  bool
	silences int // tries without an answer
}

// maxSilences bounds the tries without an answer. The client itself has made three of each already.
const maxSilences = 3

// write tries until it wins. The number only changes once it is known that the present one is somebody else's.
func (t *outboxTry) write(ctx context.Context) (at ordering.Position, err error) {
	head, err := t.head(ctx, t.pk)
	for round := 0; err == nil && round < maxOutboxRounds; round++ {
		if round > 0 {
			t.wait(ctx, round-1)
		}
		if at, err = head.next(t.w.Begin); err != nil {
			return at, err
		}
		var written bool
		if written, head, err = t.try(ctx, head, at); written {
			return at, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("%w: %d tries", ordering.ErrContended, maxOutboxRounds)
	}
	return at, err
}

// try writes once. Where that is in vain it returns the head as it is now, for another try.
func (t *outboxTry) try(ctx context.Context, head outboxHead, at ordering.Position) (written bool, now outboxHead, err error) {
	in, err := t.transaction(head, at)
	if err != nil {
		return false, head, err
	}
	_, err = t.API.TransactWriteItems(ctx, in)
	if err == nil {
		return true, head, nil
	}
	found, ok := failedItems(err)
	class, answered := classifyError(err), ok || refused(err)
	if isUnheard(err) || !answered {
		t.unheard = true
		t.silences++
	}
	switch {
	case ok:
		return t.lost(ctx, at, found, err)
	case answered && class != contended:
		return false, head, described(err)
	}
	cause := err
	written, now, err = t.look(ctx, at, cause)
	if !written && err == nil && t.unheard && t.silences >= maxSilences {
		err = fmt.Errorf("no answer to %d tries: %w", t.silences, cause)
	}
	return written, now, err
}

// lost finds out whose condition failed. A head that has moved may have been moved by this very call.
func (t *outboxTry) lost(ctx context.Context, at ordering.Position, found map[int]item, cause error) (written bool, now outboxHead, err error) {
	it, moved := found[0]
	if moved {
		if now, err = decodeOutboxHead(it); err == nil && len(it) == 0 { // not every engine returns it
			now, err = t.head(ctx, t.pk)
		}
		if err == nil {
			written, err = t.wrote(ctx, now, at)
		}
		if written || err != nil {
			return written, now, err
		}
	}
	if mine := callers(found); len(mine) > 0 {
		return false, now, &CallerConditionError{Items: mine, Cause: cause}
	}
	if !moved {
		return false, now, fmt.Errorf("%w: number %d of generation %d", ErrRowAboveHead, at.Seq, at.Gen)
	}
	return false, now, nil
}

// look reads the head after a try that did not say what it did.
func (t *outboxTry) look(ctx context.Context, at ordering.Position, cause error) (written bool, now outboxHead, err error) {
	if now, err = t.head(ctx, t.pk); err == nil {
		written, err = t.wrote(ctx, now, at)
	}
	if err != nil {
		err = fmt.Errorf("%w; before: %w", err, cause)
	}
	return written, now, err
}

// wrote reports whether the number that a head has reached is this call's. Below it nothing is known: a try that was
// not heard may still be on its way, but then any other at the same number excludes it.
func (t *outboxTry) wrote(ctx context.Context, head outboxHead, at ordering.Position) (bool, error) {
	switch {
	case !head.exists || before(head.at, at):
		return false, nil
	case head.at == at:
		t.unheard = false
		return head.token == t.token, nil
	}
	it, err := t.get(ctx, t.rowKey(at)) // others have gone on meanwhile
	if err != nil {
		return false, err
	}
	r := &itemReader{item: it}
	mine := r.text(outboxToken) == t.token
	t.unheard = false
	return mine, r.err
}

// callers lists the places of the caller's items among those that failed.
func callers(found map[int]item) []int {
	var places []int
	for i := range MaxOutboxItems {
		if _, failed := found[i+2]; failed {
			places = append(places, i)
		}
	}
	return places
}

func before(a, b ordering.Position) bool {
	return a.Gen < b.Gen || a.Gen == b.Gen && a.Seq < b.Seq
}

// next is the position behind a head.
func (h outboxHead) next(begin int64) (ordering.Position, error) {
	switch {
	case begin > 0 && h.exists && begin <= h.at.Gen:
		return h.at, fmt.Errorf("%w: %d is not higher than %d", ErrGeneration, begin, h.at.Gen)
	case begin > 0:
		return ordering.Position{Gen: begin, Seq: 1}, nil
	case h.at.Seq == math.MaxInt64:
		return h.at, fmt.Errorf("%w: and number %d is the last of generation %d", ErrGeneration, h.at.Seq, h.at.Gen)
	}
	return ordering.Position{Gen: h.at.Gen, Seq: h.at.Seq + 1}, nil
}

// transaction is everything that becomes durable with a number: the head on the condition that it is as it was read, the
// row where none is, and the caller's items.
func (t *outboxTry) transaction(head outboxHead, at ordering.Position) (*dynamodb.TransactWriteItemsInput, error) {
	draft, err := t.w.Draft(at)
	if err != nil {
		return nil, err
	}
	if n := len(draft.Items); n > MaxOutboxItems {
		return nil, fmt.Errorf("%w: %d items of the caller's own, and there is room for %d", ordering.ErrInvalid, n, MaxOutboxItems)
	}
	if err := checkEvent(draft.Event); err != nil {
		return nil, err
	}
	row := t.row(at, draft.Event)
	if err := checkRow(row); err != nil {
		return nil, err
	}
	free := newExpression()
	free.require(free.absent(attrPK))
	actions := []types.TransactWriteItem{{Put: t.headPut(head, at)}, {Put: put(t.Table, row, free)}}
	return &dynamodb.TransactWriteItemsInput{TransactItems: append(actions, draft.Items...)}, nil
}

func (t *outboxTry) headPut(head outboxHead, at ordering.Position) *types.Put {
	x := newExpression()
	if head.exists {
		x.require(x.compare(outboxGeneration, "=", integer(head.at.Gen)))
		x.require(x.compare(outboxSeq, "=", integer(head.at.Seq)))
	} else {
		x.require(x.absent(attrPK))
	}
	return put(t.Table, item{
		attrPK: text(t.pk), attrSK: text(outboxHeadSK),
		outboxGeneration: integer(at.Gen), outboxSeq: integer(at.Seq), outboxToken: text(t.token),
	}, x)
}

func (t *outboxTry) rowKey(at ordering.Position) item {
	return item{attrPK: text(t.pk), attrSK: text(outboxRowSK(at))}
}

func (t *outboxTry) row(at ordering.Position, event []byte) item {
	now := t.Now()
	row := t.rowKey(at)
	w := itemWriter(row)
	w.text(outboxEvent, string(event))
	w.text(outboxSource, t.w.Key.Source)
	w.text(outboxToken, t.token)
	w.instant(outboxPublishedAt, now)
	w.epoch(attrExpiresAt, now.Add(orDefault(t.TTL, OutboxTTL)))
	return row
}

func (o *Outbox) wait(ctx context.Context, round int) {
	if o.Wait != nil {
		o.Wait(ctx, round)
		return
	}
	timer := time.NewTimer(rand.N(min(firstOutboxPause<<min(round, 10), longestOutboxPause)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func isUnheard(err error) bool {
	_, ok := errors.AsType[*unheardError](err)
	return ok
}
