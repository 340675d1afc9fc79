package demo

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress tells how far the run is: a bar on a terminal, a line now and then elsewhere.
type progress interface {
	add(done int)
	more(total int) // than it seemed
	end()
}

// lineEvery is how often a line is written where there is no terminal.
const lineEvery = 5 * time.Second

func newProgress(w io.Writer, total int) progress {
	if !isTerminal(w) {
		return &lines{w: w, total: total, last: time.Now()}
	}
	return bar{progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("messages"), progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(36), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false))}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// bar draws; what goes wrong with drawing is nobody's business.
type bar struct{ *progressbar.ProgressBar }

func (b bar) add(done int)   { _ = b.Add(done) }
func (b bar) more(total int) { b.AddMax(total) }
func (b bar) end()           { _ = b.Clear() }

type lines struct {
	w     io.Writer
	total int

	mu   sync.Mutex
	done int
	last time.Time
}

func (l *lines) add(done int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done += done
	if now := time.Now(); now.Sub(l.last) >= lineEvery {
		l.last = now
		_, _ = fmt.Fprintf(l.w, "%d of %d messages\n", l.done, l.total)
	}
}

func (l *lines) more(total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total += total
}

func (l *lines) end() {}
