package ordering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"inorder/events"
)

// Store keeps entities, their logs and markers.
//
// Reads are strongly consistent. A write is atomic, with its markers where it has any, and durable once it returns
// nil. Every write carries the condition under which it was decided; losing it is a *LostError, which tells what is
// there instead. ErrThrottled, ErrContended, ErrTooLarge, ErrNumberRange and ErrInvalid say that nothing was written.
// Any other error leaves the outcome unknown: the write may or may not have happened.
//
// Nothing that is passed in is kept or changed, and nothing that is returned is changed later.
type Store interface {
	// Entity returns the zero Entity for one that was never seen.
	Entity(ctx context.Context, key Key) (*Entity, error)

	// Swap replaces the whole entity by next, provided that it still is at prev: at prev.Rev and prev.Clock, or absent
	// if prev does not exist. next.Rev is prev.Rev + 1. (The clock counts because PutNewer begins revisions anew.)
	Swap(ctx context.Context, key Key, prev, next *Entity, markers []Marker) error

	// PutNewer replaces the whole entity by next, provided that it is absent, or that its Clock is lower than next's and
	// no mark of it is higher. next has no marks: those that are there and not higher are thereby forgotten.
	PutNewer(ctx context.Context, key Key, next *Entity, markers []Marker) error

	// Merge changes the parts of an entity whose clocks are lower than the ones it brings, all or none of them.
	// ErrTooComplex, with nothing written, says that they do not fit into one update: split them, or swap the whole.
	Merge(ctx context.Context, key Key, merge Merge, markers []Marker) error

	// Add lets the database add the amounts and the numbers, provided that the entity is absent, or in the same
	// generation with its cursor below every number and none of them counted yet. It returns the entity as it is then.
	// At most MaxAddNumbers numbers.
	Add(ctx context.Context, key Key, add Addition) (*Entity, error)

	// CatchUp moves the cursor from at.Applied to through and forgets the numbers ahead that it passed, provided that
	// cursor and generation are as in at. Numbers that are added meanwhile do not disturb it, for a number leaves the
	// set by a catching up only. Attempts at a gap start again, the witnesses of at that are passed leave, and where
	// gapSince is not zero, at has a gap and is that old from now on. It returns the entity as it is then.
	CatchUp(ctx context.Context, key Key, at *Entity, through int64, gapSince time.Time, token string) (*Entity, error)

	// AddMarked lets the database add the amounts, provided that no marker is there yet.
	AddMarked(ctx context.Context, key Key, amounts map[string]events.Number, last Last, markers []Marker) error

	// PutMarker writes one marker alone, for an event that is stale.
	PutMarker(ctx context.Context, marker Marker) error

	// PutRow logs an event where its number is free. A *TakenError returns the row that holds the number.
	PutRow(ctx context.Context, key Key, row Row) error

	// ExtendRow moves a row's expiry to until, provided that it still is the one in row. A row that is gone, or was
	// extended by someone else, is a *TakenError with the row that is there, zero if none.
	ExtendRow(ctx context.Context, key Key, row Row, until time.Time) error

	// Rows returns the rows of one generation from first to last, in order, void ones included. A row past its expiry
	// is a row.
	Rows(ctx context.Context, key Key, gen, first, last int64) ([]Row, error)
}

// Upkeep is what sweeper and operator need beside what a consumer does. All that the contract of Store says holds here.
type Upkeep interface {
	Store

	// Marked hands over the entities of one shard of the gaps index, 0 to Shards()-1, page by page, until visit returns
	// false: those that are marked since an instant or later, oldest first, and then, oldest first again, those before
	// it. From the zero instant on that is all, oldest first. No page is empty. The index is eventually consistent: an
	// entity may be missing, or be here no longer by right.
	Marked(ctx context.Context, shard int, from time.Time, visit func(page []Marked) (more bool)) error

	// Shards is the number of partitions of the gaps index.
	Shards() int

	// Entities reads many at once, in batches of 100, each strongly consistent. The result has the order of keys, in
	// which one may stand twice. What is stored of one entity and cannot be understood is that one's EntityRead.Err; an
	// error of the call is all of them's, and there is no result.
	Entities(ctx context.Context, keys []Key) ([]EntityRead, error)

	// RowHeads is Rows without the messages: Message holds its ID and what ReceivedAt tells, no body and no attributes.
	RowHeads(ctx context.Context, key Key, gen, first, last int64) ([]Row, error)

	// DropRows is Swap that also deletes rows, of which RowHeads tells enough, each provided that it is there, the same
	// event's and with the same expiry. All or nothing. A *LostError tells that the entity has moved; where it has not, a
	// *TakenError tells of the first row that is not as it was: what is there, zero if nothing is. At most MaxDropRows,
	// each once, else ErrInvalid.
	DropRows(ctx context.Context, key Key, prev, next *Entity, rows []Row) error

	// SwapAudited is Swap that also keeps an audit row, which has no TTL. Where one of the same instant is there already
	// its At becomes the next nanosecond that is free.
	SwapAudited(ctx context.Context, key Key, prev, next *Entity, audit Audit) error

	// Audits returns the audit rows of an entity, oldest first.
	Audits(ctx context.Context, key Key) ([]Audit, error)

	// Bookmark returns where the consumer's sweeper stopped, in words of its own; empty where it did not.
	Bookmark(ctx context.Context, consumer string) (after string, err error)

	// MoveBookmark moves the bookmark from where it was read, empty being none. Where another sweeper has moved it
	// meanwhile, that one's stays, and there is no error: it knows as much.
	MoveBookmark(ctx context.Context, consumer, from, to string) error
}

// EntityRead is what a reading of many found of one.
type EntityRead struct {
	Entity *Entity // the zero Entity for one that was never seen; nil with Err
	Err    error   // what is stored cannot be understood, or the key cannot be one
}

// MaxDropRows is the most rows that one DropRows takes: a transaction holds 100 actions and 4 MB, which an entity and
// nine rows of the largest size cannot exceed.
const MaxDropRows = 9

// Marked is one entity of the gaps index, by its key there.
type Marked struct {
	PK    string    // as the table has it
	Key   Key       // zero where PK is no entity's key
	Since time.Time // zero where it is no instant
}

// MaxAddNumbers is the most numbers that one Add takes: each is a condition and a set element, and an expression holds
// 300 operators and 4 KB.
const MaxAddNumbers = 90

// MaxMarkers is the most markers that one write takes beside the entity: a transaction holds 100 actions.
const MaxMarkers = 99

// MaxMergeParts is the most parts that one Merge takes, for the same limits of an expression.
const MaxMergeParts = 40

// Merge is a partial change of a state entity.
type Merge struct {
	// Floor, where it is not empty, is the start of the events' generation: a new entity begins with it, and an
	// existing one must have a Clock from it on and below every part's clock. Where it is empty the entity must have
	// no Clock, or one below every part's clock.
	Floor string
	Parts []Part // each leaves Tombs by its name, or joins them where it is a tombstone
	Last  Last
	Token string
}

// Part is what has one clock: an attribute, or all that a source owns.
type Part struct {
	Name   string // of the attribute or source
	Clock  string
	Set    map[string]any
	Remove []string
	Tomb   bool // with `clock: source`: a tombstone
}

// Addition is what Add adds.
type Addition struct {
	Gen     int64
	Numbers []int64 // not empty, ascending, distinct
	Amounts map[string]events.Number
	Last    Last
	Token   string
	// GapSince, where it is not zero, sets the gap attributes unless they are there already.
	GapSince time.Time
	// Shown, where it is not nil, joins those who showed a gap.
	Shown *Witness
}

// LostError says that a condition did not hold, and nothing was written.
type LostError struct {
	Now  *Entity        // the entity as it is, where its own condition failed; nil where that held
	Seen map[int]Marker // the markers that are there already, by their place in the call
}

func (e *LostError) Error() string {
	if e.Now == nil {
		return fmt.Sprintf("%d markers are there already", len(e.Seen))
	}
	return fmt.Sprintf("the entity has moved to revision %d", e.Now.Rev)
}

// TakenError says that a log row is not free, or not as it was.
type TakenError struct{ Row Row }

func (e *TakenError) Error() string {
	return fmt.Sprintf("number %d is taken by event %q", e.Row.Seq, e.Row.EventID)
}

// What a store reports when nothing was written.
var (
	ErrThrottled   = errors.New("throttled")
	ErrContended   = errors.New("another transaction holds the item")
	ErrTooLarge    = errors.New("the item would be too large")
	ErrNumberRange = errors.New("a sum does not fit into a number of the database")
	ErrTooComplex  = errors.New("the change does not fit into one update")
	ErrInvalid     = errors.New("the database calls the request invalid")
)

// Quarantine takes copies of messages that cannot succeed, or not now and not by themselves.
type Quarantine interface {
	// Copy returns nil once the copy is durable.
	Copy(ctx context.Context, c Copy) error
}

// Copy is one message for quarantine.
type Copy struct {
	Delivery Delivery // Message is always set; Event may be nil
	Outcome  Outcome
}

// EffectSender takes effects to the effects queue.
type EffectSender interface {
	// Send returns how many of them are durable, in the order given: all of them, or fewer and an error. The one
	// behind those may have been sent as well.
	Send(ctx context.Context, key Key, effects []Effect) (sent int, err error)

	// Sendable returns an error for an effect that can never be sent, whatever the time: too large, or no JSON. It does
	// no I/O.
	Sendable(e Effect) error
}
