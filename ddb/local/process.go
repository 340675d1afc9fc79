package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	portAttempts = 5           // a free port may be taken before the engine binds it
	startTimeout = time.Minute // dynoxide takes 20 ms, moto some seconds; a machine that builds on all cores takes longer
	startPoll    = 5 * time.Millisecond
	lastWords    = 4096 // of the engine's output, for the error when it dies
)

// program is an engine that is a process of its own.
type program struct {
	engine, version string
	binary          string
	ready           string                     // what it says once it listens
	arguments       func(port string) []string // to listen on 127.0.0.1
}

func (p program) start(ctx context.Context) (*Engine, error) {
	var err error
	for range portAttempts {
		var engine *Engine
		if engine, err = p.try(ctx); err == nil {
			return engine, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("start %s: %w", p.binary, err)
}

func (p program) try(ctx context.Context) (*Engine, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd, quit, err := tied(p.binary, p.arguments(strconv.Itoa(port))...)
	if err != nil {
		return nil, err
	}
	child, err := spawn(p, cmd, quit)
	if err != nil {
		return nil, err
	}
	engine := &Engine{
		Name:     p.engine,
		Version:  p.version,
		Endpoint: "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		stop:     sync.OnceValue(child.end),
	}
	if err := child.await(ctx, engine.Endpoint); err != nil {
		if ended := engine.Close(); ended != nil {
			return nil, ended
		}
		return nil, err
	}
	return engine, nil
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return port, listener.Close()
}

// child is an engine's process of ours.
type child struct {
	name   string
	ready  string // what it says once it listens
	quit   func() error
	said   said
	exited chan struct{} // closed once the process is gone; err is set before
	err    error
}

// spawn starts the process on a thread of its own that then waits for it: Linux ties the death signal to the thread
// that forked, not to the process, so that thread must live as long as the child does.
func spawn(p program, cmd *exec.Cmd, quit func() error) (*child, error) {
	c := &child{name: p.engine, ready: p.ready, quit: quit, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &c.said, &c.said
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer close(c.exited)
		err := cmd.Start()
		started <- err
		if err == nil {
			c.err = cmd.Wait()
		}
	}()
	return c, <-started
}

// await returns once this very process listens and answers. Its own line is waited for first, because on a port that
// someone else has just taken the other one would answer.
func (c *child) await(ctx context.Context, endpoint string) error {
	tick := time.NewTicker(startPoll)
	defer tick.Stop()
	for {
		if c.said.contains(c.ready) && answers(ctx, endpoint) {
			return nil
		}
		select {
		case <-c.exited:
			return errors.New("it ended before it answered")
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

func answers(ctx context.Context, endpoint string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint, http.NoBody)
	if err != nil {
		return false
	}
	response, err := transport().RoundTrip(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// end kills the process and waits for it: its data is in memory, there is nothing to save.
func (c *child) end() error {
	select {
	case <-c.exited:
		return fmt.Errorf("%s ended by itself: %w: %s", c.name, orExited(c.err), c.said.String())
	default:
	}
	_ = c.quit() // fails only when it has just ended, which is what is wanted
	<-c.exited
	return nil
}

func orExited(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// said keeps the last of what the engine prints.
type said struct {
	mu   sync.Mutex
	text []byte
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p...)
	if extra := len(s.text) - lastWords; extra > 0 {
		s.text = append([]byte(nil), s.text[extra:]...)
	}
	return len(p), nil
}

func (s *said) contains(words string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Contains(s.text, []byte(words))
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(string(s.text))
}
