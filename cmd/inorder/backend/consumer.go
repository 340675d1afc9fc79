package backend

import (
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"inorder/events"
	"inorder/functions"
	"inorder/functions/projections"
	"inorder/ordering"
)

// Parts are what a consumer is put together from.
type Parts struct {
	Streams  *events.Config
	Store    ordering.Store
	SQS      functions.Sender
	Now      func() time.Time
	Parallel int // entities of a batch at once
	Metrics  io.Writer
	Log      io.Writer // nil: no log lines
	Observe  func(events.Message, []ordering.Outcome)
}

// cachedEntities is how many entities a warm consumer remembers; the same number as in Lambda would be.
const cachedEntities = 1000

// margin is what the consumer keeps of an invocation's time for its last writes.
const margin = time.Second

// Consumer puts a cold consumer together: what it remembers begins empty.
func (p Parts) Consumer() *functions.Consumer {
	quarantine := &functions.Quarantine{SQS: p.SQS, URL: QuarantineURL}
	log := slog.New(slog.DiscardHandler)
	if p.Log != nil {
		log = functions.NewLogger(p.Log, slog.LevelDebug)
	}
	return &functions.Consumer{
		Loop: &ordering.Loop{
			Store:       p.Store,
			Quarantine:  quarantine,
			Effects:     &functions.Effects{SQS: p.SQS, URL: EffectsURL},
			Streams:     p.Streams,
			Projections: projections.All(),
			Cache:       ordering.NewCache(cachedEntities),
			Now:         p.Now,
			NewToken:    newToken,
		},
		Streams:    p.Streams,
		Quarantine: quarantine,
		Metrics:    functions.NewMetrics(p.Metrics, p.Streams.Consumer, p.Now),
		Log:        log,
		Now:        p.Now,
		Parallel:   p.Parallel,
		Margin:     margin,
		Observe:    p.Observe,
	}
}

// Tokens need be unique within the process only, for no table outlives it; so that a run can be repeated, they are
// numbered.
var tokens atomic.Int64

func newToken() string { return fmt.Sprintf("token-%d", tokens.Add(1)) }
