package explore

import (
	"context"
	"time"

	"inorder/events"
	"inorder/ordering"
)

// body is an actor's way to the store that lives on.
type body struct {
	*walk
	*actor
	yield func(string) bool
	hand  // what neither world needs
}

// through makes a request as its end is chosen.
func through[T any](b *body, what string, do func() (T, error)) (T, error) {
	if !b.yield(what) {
		panic(stopped{})
	}
	var none T
	if b.how == answerLost || b.how == retrying {
		_, _ = do()
	}
	said := map[kind]error{throttling: ordering.ErrThrottled, contending: ordering.ErrContended, failing: errNoAnswer, answerLost: errNoAnswer}
	if err := said[b.how]; err != nil {
		return none, err
	}
	return do()
}

func (b *body) do(what string, do func() error) error {
	_, err := through(b, what, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (b *body) Entity(ctx context.Context, key ordering.Key) (*ordering.Entity, error) {
	return through(b, "read", func() (*ordering.Entity, error) { return b.store.Entity(ctx, key) })
}

func (b *body) Swap(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, _ []ordering.Marker) error {
	return b.do("swap", func() error { return b.store.Swap(ctx, key, prev, next, nil) })
}

func (b *body) SwapAudited(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, audit ordering.Audit) error {
	return b.do("skip", func() error { return b.store.SwapAudited(ctx, key, prev, next, audit) })
}

func (b *body) DropRows(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, rows []ordering.Row) error {
	return b.do("drop", func() error { return b.store.DropRows(ctx, key, prev, next, rows) })
}

func (b *body) Add(ctx context.Context, key ordering.Key, a ordering.Addition) (*ordering.Entity, error) {
	return through(b, "add", func() (*ordering.Entity, error) { return b.store.Add(ctx, key, a) })
}

func (b *body) CatchUp(ctx context.Context, key ordering.Key, at *ordering.Entity, last int64, since time.Time, token string) (*ordering.Entity, error) {
	return through(b, "catch up", func() (*ordering.Entity, error) { return b.store.CatchUp(ctx, key, at, last, since, token) })
}

func (b *body) PutRow(ctx context.Context, key ordering.Key, row ordering.Row) error {
	return b.do("log", func() error { return b.store.PutRow(ctx, key, row) })
}

func (b *body) ExtendRow(ctx context.Context, key ordering.Key, row ordering.Row, until time.Time) error {
	return b.do("extend", func() error { return b.store.ExtendRow(ctx, key, row, until) })
}

func (b *body) Rows(ctx context.Context, key ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	return through(b, "rows", func() ([]ordering.Row, error) { return b.store.Rows(ctx, key, gen, first, last) })
}

func (b *body) RowHeads(ctx context.Context, key ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	return through(b, "heads", func() ([]ordering.Row, error) { return b.store.RowHeads(ctx, key, gen, first, last) })
}

func (b *body) Copy(context.Context, ordering.Copy) error {
	return b.do("quarantine", func() error { return nil })
}

func (b *body) Send(_ context.Context, _ ordering.Key, effects []ordering.Effect) (int, error) {
	for i := range effects {
		if err := b.do("send", func() error { return nil }); err != nil {
			return i, err
		}
	}
	return len(effects), nil
}

func (b *body) Request(context.Context, []events.RepublishRequest) error {
	return b.do("ask", func() error { return nil })
}
