package soak

import (
	"context"
	"errors"
	"net/http"
	"sync"
)

// errDead is what a dead function would never see: its network is gone.
var errDead = errors.New("this invocation is dead")

// life is what is left of an invocation: so many requests, whatever they go to. The last one takes effect or not, and its answer
// never comes.
type life struct {
	end context.CancelFunc // of everything that the invocation still does

	mu     sync.Mutex
	doomed bool
	left   int
	before bool // the last request does not get there
	dead   bool
}

type lifeKey struct{}

// withLife draws how long an invocation lives. One that makes fewer requests dies before it answers.
func withLife(ctx context.Context, w *world, oneIn, within int) (context.Context, *life) {
	l := &life{doomed: w.oneIn(oneIn), left: w.draw(within), before: w.oneIn(2)}
	ctx, l.end = context.WithCancel(context.WithValue(ctx, lifeKey{}, l))
	return ctx, l
}

// spare lets it live, where nothing has been asked of it yet.
func (l *life) spare() { l.doomed = false }

func (l *life) answers() bool { return !l.doomed }

// spend takes one request off it: whether it gets there, and whether its answer comes.
func (l *life) spend() (there, answered bool) {
	if l == nil {
		return true, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return false, false
	}
	if l.left--; !l.doomed || l.left > 0 {
		return true, true
	}
	l.dead = true
	return !l.before, false
}

func (l *life) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

func lifeOf(ctx context.Context) *life {
	l, _ := ctx.Value(lifeKey{}).(*life)
	return l
}

// mortal is the way to DynamoDB.
type mortal struct{ next http.RoundTripper }

func (m mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	l := lifeOf(r.Context())
	there, answered := l.spend()
	if !there {
		return nil, l.died()
	}
	response, err := m.next.RoundTrip(r)
	if answered {
		return response, err
	}
	if err == nil {
		_ = response.Body.Close()
	}
	return nil, l.died()
}

func (l *life) died() error {
	l.end()
	return errDead
}
