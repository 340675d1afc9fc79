package functions

import (
	"context"
	crand "crypto/rand"
	"io"
	"log/slog"
	"time"

	"inorder/events"
	"inorder/ordering"
)

const (
	// cachedEntities is how many entities a warm function keeps: those of some hundred batches, at a few KB each.
	cachedEntities = 1000

	// atOnce is how many entities of a batch are worked on side by side, and rows of one entity. They wait for the
	// database, not for a processor; more than this only reaches its throttles sooner.
	atOnce = 16

	// margin is kept of the function's timeout. The template's is ten times as long.
	margin = 3 * time.Second
)

// Parts are what a consumer is put together from: what it talks to, and where the terminal needs it, what it does
// otherwise than on Lambda.
type Parts struct {
	Streams       *events.Config
	Projections   map[string]ordering.Projector
	Store         ordering.Store
	SQS           Sender
	QuarantineURL string // of a standard queue
	EffectsURL    string // of a FIFO queue
	EffectsMode   ordering.EffectsMode
	Metrics       io.Writer
	Log           *slog.Logger // nil: no log lines
	Now           func() time.Time

	// The zero value of what follows is what a function on Lambda has.
	Parallel   int                                  // entities of a batch at once
	RowsAtOnce int                                  // log rows of one entity at once
	Wait       func(ctx context.Context, round int) // before another round on an item that others fight over
	NewToken   func() string                        // unique for every write
	Observe    func(m events.Message, outcomes []ordering.Outcome)
}

// NewConsumer puts a cold consumer together: what it remembers begins empty.
func NewConsumer(p Parts) *Consumer {
	p = p.orAsOnLambda()
	quarantine := &Quarantine{SQS: p.SQS, URL: p.QuarantineURL}
	return &Consumer{
		Loop: &ordering.Loop{
			Store:       p.Store,
			Quarantine:  quarantine,
			Effects:     &Effects{SQS: p.SQS, URL: p.EffectsURL},
			EffectsMode: p.EffectsMode,
			Streams:     p.Streams,
			Projections: p.Projections,
			Cache:       ordering.NewCache(cachedEntities),
			Now:         p.Now,
			NewToken:    p.NewToken,
			RowsAtOnce:  p.RowsAtOnce,
			Wait:        p.Wait,
		},
		Streams:    p.Streams,
		Quarantine: quarantine,
		Metrics:    NewMetrics(p.Metrics, p.Streams.Consumer, p.Now),
		Log:        p.Log,
		Now:        p.Now,
		Parallel:   p.Parallel,
		Margin:     margin,
		Observe:    p.Observe,
	}
}

func (p Parts) orAsOnLambda() Parts {
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	if p.Parallel == 0 {
		p.Parallel = atOnce
	}
	if p.RowsAtOnce == 0 {
		p.RowsAtOnce = atOnce
	}
	if p.Wait == nil {
		p.Wait = waitShortly
	}
	if p.NewToken == nil {
		p.NewToken = crand.Text
	}
	return p
}
