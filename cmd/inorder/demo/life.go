package demo

import (
	"context"
	"errors"
	"net/http"
	"sync"
)

// errDead is what a dead process would never see: its network is gone.
var errDead = errors.New("this invocation is dead")

// life is what is left of an invocation. It is drawn before the invocation begins, and it is over after that many
// requests to DynamoDB: the last of them takes effect, and its answer never arrives.
type life struct {
	mu     sync.Mutex
	doomed bool
	left   int
	dead   bool
	end    context.CancelFunc // of everything that the invocation still does
}

type lifeKey struct{}

// withLife gives an invocation a life of so many requests; 0: it does not end early.
func withLife(ctx context.Context, requests int) (context.Context, *life) {
	l := &life{doomed: requests > 0, left: requests}
	ctx, l.end = context.WithCancel(context.WithValue(ctx, lifeKey{}, l))
	return ctx, l
}

// spend takes one request off a life: whether it may be made, and whether it is the last.
func (l *life) spend() (allowed, last bool) {
	if l == nil {
		return true, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return false, false
	}
	if !l.doomed {
		return true, false
	}
	l.left--
	l.dead = l.left <= 0
	return true, l.dead
}

func (l *life) alive() bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.dead
}

// answers tells whether SQS hears from the invocation. One that was to die and made too few requests for it dies before
// it answers.
func (l *life) answers() bool { return !l.doomed }

// lifeOf finds the life that a request belongs to; nil for those of the judge.
func lifeOf(r *http.Request) *life {
	l, _ := r.Context().Value(lifeKey{}).(*life)
	return l
}

// mortal lets the requests of the living pass. It is the way to SQS.
type mortal struct{ next http.RoundTripper }

func (m mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	if !lifeOf(r).alive() {
		return nil, errDead
	}
	return m.next.RoundTrip(r)
}
