package ddb

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
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
