package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"inorder/events"
	"inorder/ordering"
	"inorder/ordering/memory"
)

const (
	effectsQueue    = "https://sqs/effects.fifo"
	quarantineQueue = "https://sqs/quarantine"
	republishQueue  = "https://sqs/republish"
)

// fifoWindow is how long a FIFO queue drops copies: from the first message of a deduplication id on, which a dropped
// copy does not prolong ("Using the message deduplication ID in Amazon SQS", Amazon SQS Developer Guide).
const fifoWindow = 5 * time.Minute

// effectsWorld is one consumer's tables and queues, with functions that fail and die at any request.
type effectsWorld struct {
	streams     func(mode string) *events.Config
	store       ordering.Upkeep
	projections map[string]ordering.Projector
	now         time.Time
	tokens      int

	received []arrival            // what left the effects queue, in order
	accepted map[string]time.Time // deduplication ids
	copies   map[string]int       // messages in quarantine, by reason
	sends    int                  // effects that were tried to be sent

	metrics bytes.Buffer

	down  bool   // the effects queue refuses everything
	fault *fault // of one call, whichever comes then
	turn  func() // before each request, where somebody else decides whose turn it is
}

// arrival is an effect as its receivers see it.
type arrival struct {
	Consumer, Stream string
	EntityID         string `json:"entity_id"`
	Source           string
	Generation, Seq  int64
	Index            int

	at time.Time
}

func (r arrival) position() [3]int64 { return [3]int64{r.Generation, r.Seq, int64(r.Index)} }

func (r arrival) String() string { return fmt.Sprintf("%d.%d.%d", r.Generation, r.Seq, r.Index) }

// fault happens to the nth request from now on: before it takes effect or after, once or to all that follow.
type fault struct {
	nth   int
	after bool
	kills bool
	hit   bool
}

var errEffectsDown = errors.New("the effects queue is down")

// killed is how a function ends that dies at a request.
type killed struct{}

func newEffectsWorld(streams func(mode string) *events.Config) *effectsWorld {
	return &effectsWorld{streams: streams, store: &memory.Store{}, now: testNow, accepted: map[string]time.Time{}, copies: map[string]int{}}
}

// streamL is one step stream. With the mode "none" it has no effects at all.
func streamL(t *testing.T, projection string) func(mode string) *events.Config {
	t.Helper()
	return func(mode string) *events.Config {
		text := fmt.Sprintf("consumer: c\nstreams:\n  - {name: l, types: [Posted], ignore: [Viewed], mode: step, on_expired: skip, window: 200, %s, effects: %t}\n", projection, mode != "none")
		config, err := events.ParseStreams([]byte(text), events.Options{Projections: []string{"telling"}})
		if err != nil {
			t.Fatal(err)
		}
		return config
	}
}

// parts are those of a function that is deployed in a mode: on, off, hold, or none where the stream has no effects.
func (w *effectsWorld) parts(mode string) SweeperParts {
	modes := map[string]ordering.EffectsMode{"on": ordering.EffectsOn, "off": ordering.EffectsOff, "hold": ordering.EffectsHold}
	return SweeperParts{
		Parts: Parts{
			Streams: w.streams(mode), Projections: w.projections, Store: mortalStore{w.store, w}, SQS: w,
			QuarantineURL: quarantineQueue, EffectsURL: effectsQueue, EffectsMode: modes[mode],
			Metrics: &w.metrics, Now: func() time.Time { return w.now }, Parallel: 1, RowsAtOnce: 1,
			Wait: func(context.Context, int) {},
			NewToken: func() string {
				w.tokens++
				return fmt.Sprint("t", w.tokens)
			},
		},
		Upkeep: mortalStore{w.store, w}, RepublishURL: republishQueue,
	}
}

func (w *effectsWorld) consumer(mode string) *Consumer { return NewConsumer(w.parts(mode).Parts) }

// deliver is one invocation; it returns the messages that come back. One that a fault killed brings back all.
func (w *effectsWorld) deliver(t *testing.T, c *Consumer, batch ...awsevents.SQSMessage) (back []awsevents.SQSMessage) {
	t.Helper()
	out, err := c.Handle(t.Context(), awsevents.SQSEvent{Records: batch})
	if err != nil {
		t.Fatal(err)
	}
	if w.fault != nil && w.fault.kills && w.fault.hit {
		return batch
	}
	for _, f := range out.BatchItemFailures {
		i := slices.IndexFunc(batch, func(r awsevents.SQSMessage) bool { return r.MessageId == f.ItemIdentifier })
		back = append(back, batch[i])
	}
	return back
}

func (w *effectsWorld) sweep(t *testing.T, mode string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil && p != (killed{}) {
			panic(p)
		}
	}()
	if err := NewSweeper(w.parts(mode)).Sweep(t.Context()); err != nil && w.fault == nil {
		t.Fatal(err)
	}
}

func (w *effectsWorld) entity(t *testing.T, id string) *ordering.Entity {
	t.Helper()
	e, err := w.store.Entity(t.Context(), ordering.Key{Consumer: "c", Stream: "l", ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// call lets a request happen, fail or kill its function.
func call[T any](w *effectsWorld, do func() (T, error)) (T, error) {
	if w.turn != nil {
		w.turn()
	}
	f := w.fault
	if f == nil {
		return do()
	}
	if f.hit && f.kills {
		panic(killed{})
	}
	if f.nth--; f.nth != 0 {
		return do()
	}
	f.hit = true
	var none T
	if f.after {
		_, _ = do()
	}
	if f.kills {
		panic(killed{})
	}
	return none, errBroken
}

func (w *effectsWorld) do(do func() error) error {
	_, err := call(w, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// SendMessage is all three queues. Only the one of effects is FIFO.
func (w *effectsWorld) SendMessage(_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	return call(w, func() (*sqs.SendMessageOutput, error) {
		out := &sqs.SendMessageOutput{MessageId: aws.String("sent")}
		switch *in.QueueUrl {
		case quarantineQueue:
			mark, _ := MarkOf(receiveUnopened(delivered(in)))
			w.copies[string(mark.Reason)]++
			return out, nil
		case effectsQueue:
		default:
			return out, nil
		}
		w.sends++
		if w.down {
			return nil, errEffectsDown
		}
		if first, known := w.accepted[*in.MessageDeduplicationId]; known && w.now.Sub(first) < fifoWindow {
			return out, nil
		}
		w.accepted[*in.MessageDeduplicationId] = w.now
		r := arrival{at: w.now}
		if err := json.Unmarshal([]byte(*in.MessageBody), &r); err != nil {
			return nil, err
		}
		w.received = append(w.received, r)
		return out, nil
	})
}

// remembered is what a receiver makes of it that remembers, for each entity, the highest position.
func (w *effectsWorld) remembered(entity string) (took []string) {
	var highest [3]int64
	for _, r := range w.received {
		if at := r.position(); r.EntityID == entity && slices.Compare(at[:], highest[:]) > 0 {
			highest = at
			took = append(took, r.String())
		}
	}
	return took
}

// mortalStore is the way of a function, which may fail or die, to the tables.
type mortalStore struct {
	ordering.Upkeep
	w *effectsWorld
}

func (s mortalStore) Entity(ctx context.Context, key ordering.Key) (*ordering.Entity, error) {
	return call(s.w, func() (*ordering.Entity, error) { return s.Upkeep.Entity(ctx, key) })
}

func (s mortalStore) Entities(ctx context.Context, keys []ordering.Key) ([]ordering.EntityRead, error) {
	return call(s.w, func() ([]ordering.EntityRead, error) { return s.Upkeep.Entities(ctx, keys) })
}

func (s mortalStore) Rows(ctx context.Context, key ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	return call(s.w, func() ([]ordering.Row, error) { return s.Upkeep.Rows(ctx, key, gen, first, last) })
}

func (s mortalStore) RowHeads(ctx context.Context, key ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	return call(s.w, func() ([]ordering.Row, error) { return s.Upkeep.RowHeads(ctx, key, gen, first, last) })
}

func (s mortalStore) Swap(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, markers []ordering.Marker) error {
	return s.w.do(func() error { return s.Upkeep.Swap(ctx, key, prev, next, markers) })
}

func (s mortalStore) SwapAudited(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, audit ordering.Audit) error {
	return s.w.do(func() error { return s.Upkeep.SwapAudited(ctx, key, prev, next, audit) })
}

func (s mortalStore) PutRow(ctx context.Context, key ordering.Key, row ordering.Row) error {
	return s.w.do(func() error { return s.Upkeep.PutRow(ctx, key, row) })
}

func (s mortalStore) ExtendRow(ctx context.Context, key ordering.Key, row ordering.Row, until time.Time) error {
	return s.w.do(func() error { return s.Upkeep.ExtendRow(ctx, key, row, until) })
}

// posted is an event of entity id; data is JSON.
func posted(message, id string, generation, seq int64, data string) awsevents.SQSMessage {
	return numberedRecord(message, "Posted", id, generation, seq, data)
}

func numberedRecord(message, typ, id string, generation, seq int64, data string) awsevents.SQSMessage {
	return record(message, fmt.Sprintf(`{"event_id":"%s:%d:%d","type":%q,"entity_id":%q,"generation":%d,"seq":%d,"data":%s}`, id, generation, seq, typ, id, generation, seq, data))
}

func voided(message, id string, generation, seq int64, reason events.VoidReason) awsevents.SQSMessage {
	return record(message, fmt.Sprintf(`{"type":"inorder.void","stream":"l","entity_id":%q,"generation":%d,"ranges":[[%d,%d]],"reason":%q}`, id, generation, seq, seq, reason))
}

func (w *effectsWorld) atOnce(rng *rand.Rand, works ...func()) { interleave(rng, &w.turn, works...) }

// interleave lets several functions run at the same time, request by request in an order that rng draws. Before each request they
// are to call turn.
func interleave(rng *rand.Rand, turn *func(), works ...func()) {
	arrive, done := make(chan chan struct{}), make(chan struct{})
	*turn = func() {
		mine := make(chan struct{})
		arrive <- mine
		<-mine
	}
	var waiting []chan struct{}
	untilItWaits := func() {
		select {
		case mine := <-arrive:
			waiting = append(waiting, mine)
		case <-done:
		}
	}
	for _, work := range works {
		go func() {
			defer func() { done <- struct{}{} }()
			work()
		}()
		untilItWaits()
	}
	for len(waiting) > 0 {
		i := rng.IntN(len(waiting))
		next := waiting[i]
		waiting = slices.Delete(waiting, i, i+1)
		close(next)
		untilItWaits()
	}
	*turn = nil
}

// someFault is drawn once in a while; nil otherwise.
func someFault(rng *rand.Rand) *fault {
	if rng.IntN(3) > 0 {
		return nil
	}
	return &fault{nth: 1 + rng.IntN(12), after: rng.IntN(2) == 0, kills: rng.IntN(2) == 0}
}
