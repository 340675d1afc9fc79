package ddb

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ordering"
)

// The attributes of the outbox table, beside its keys and expires_at.
const (
	outboxEvent       = "event"        // of a row: the JSON as it is sent
	outboxPublishedAt = "published_at" // of a row
	outboxSource      = "source"       // of a row, where there is one
	outboxSeq         = "seq"          // of a head
	outboxGeneration  = "generation"   // of a head
	outboxToken       = "token"        // of both: of the call that wrote it
)

// OutboxTTL is how long a row is kept unless an Outbox says otherwise: as long as a message can wait in a queue and then
// in its dead-letter queue, 14 days each.
const OutboxTTL = 28 * 24 * time.Hour

// MaxOutboxItems is how many items of its own a producer may write with an event: a transaction has 100 at most
// ("TransactWriteItems" in the Amazon DynamoDB API Reference), and two are the outbox's.
const MaxOutboxItems = 98

// maxOutboxRounds bounds the tries of one Write. Each round some writer of the entity wins, so this is about the number
// of writers that may meet; with the longest pauses it takes three seconds.
const maxOutboxRounds = 24

// The pauses between two rounds grow from the first to the longest.
const (
	firstOutboxPause   = 5 * time.Millisecond
	longestOutboxPause = 250 * time.Millisecond
)

// OutboxAPI is what an outbox needs of the SDK's client.
type OutboxAPI interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Outbox numbers a producer's events and keeps them until they are surely consumed. It is safe for concurrent use, and
// for many processes at once.
//
// Guarantees, cited by the tests that prove them:
//
//	O1. An event, its number and the caller's own items are written together or not at all.
//	O2. The numbers of a history are 1, 2, 3 and so on without a hole, in the order of the commits, whoever writes; a
//	    new generation begins at 1 again.
//	O3. One Write leaves one event at most, whatever becomes of answers. Where it cannot find out, the error is
//	    ErrOutcomeUnknown.
//	O4. A caller's failed condition is a *CallerConditionError and nothing was written; it is never tried again.
//	O5. What could not be sent, or not be held by the table, is refused before anything is written.
type Outbox struct {
	API   OutboxAPI
	Table string
	Now   func() time.Time

	// The zero value of what follows is what a producer wants.
	TTL      time.Duration                        // OutboxTTL
	Wait     func(ctx context.Context, round int) // before another try; a random pause that grows
	NewToken func() string                        // unique for every Write
}

// OutboxWrite is one event to write.
type OutboxWrite struct {
	Key OutboxKey

	// Begin starts a new generation, which must be higher than the one that is there; its event has number 1. Zero goes
	// on with the present one, or begins with generation 0.
	Begin int64

	// Draft makes the event of a number. It is called again, with another number, where somebody else was faster.
	Draft func(at ordering.Position) (OutboxDraft, error)
}

// OutboxDraft is what becomes durable with a number.
type OutboxDraft struct {
	Event []byte                    // JSON, as consumers get it; OutboxEvent.Body makes one
	Items []types.TransactWriteItem // the caller's own, at most MaxOutboxItems, none of the outbox table's same items
}

// What an outbox answers beside the errors of ordering.Store.
var (
	// ErrOutcomeUnknown: there was no answer, and no finding out. The event may be written, now or in a moment.
	ErrOutcomeUnknown = errors.New("whether the event was written is not known")
	// ErrGeneration: a new generation is out of range, or not higher than the one that is there.
	ErrGeneration = errors.New("no new generation")
	// ErrRowAboveHead: a row holds the next number already, so the head was set back; nothing is overwritten.
	ErrRowAboveHead = errors.New("a row stands above the head of its history")
)

// CallerConditionError says which of the caller's own items had a condition that did not hold.
type CallerConditionError struct {
	Items []int // places in OutboxDraft.Items, ascending
	Cause error // the database's own words, a *types.TransactionCanceledException with what is there in it
}

func (e *CallerConditionError) Error() string {
	return fmt.Sprintf("the condition of the caller's items %v did not hold: %v", e.Items, e.Cause)
}

func (e *CallerConditionError) Unwrap() error { return e.Cause }

// Write gives an event the next number of its history and writes it. It returns the number once it is durable.
func (o *Outbox) Write(ctx context.Context, w OutboxWrite) (ordering.Position, error) {
	if err := w.check(); err != nil {
		return ordering.Position{}, err
	}
	t := outboxTry{Outbox: o, w: w, pk: OutboxPK(w.Key), token: o.token()}
	at, err := t.write(ctx)
	if err != nil && t.unheard {
		err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	if err != nil {
		return ordering.Position{}, fmt.Errorf("write an event of %s: %w", t.pk, err)
	}
	return at, nil
}

func (w OutboxWrite) check() error {
	if w.Begin < 0 || w.Begin > MaxGeneration {
		return fmt.Errorf("%w: %d is not from 0 to %d", ErrGeneration, w.Begin, int64(MaxGeneration))
	}
	return w.Key.Check()
}

func (o *Outbox) token() string {
	if o.NewToken != nil {
		return o.NewToken()
	}
	return crand.Text()
}

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

// sizeOf is a value's share of an item's size, "DynamoDB item sizes and formats", of the kinds that an outbox writes.
func sizeOf(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return len(v.Value)/2 + 2
	default:
		return 0
	}
}
