package terminal

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress shows on a terminal how far something long has come. It is nothing but a kindness: a bar that cannot be drawn
// is no reason to stop. A nil Progress shows nothing.
type Progress struct{ bar *progressbar.ProgressBar }

// NewProgress begins a bar of so many of something. It returns nil for anything but a terminal.
func NewProgress(w io.Writer, total int, what string) *Progress {
	if total <= 0 || Width(w) == 0 {
		return nil
	}
	return &Progress{progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())}
}

// Add says that so many more are done.
func (p *Progress) Add(n int) {
	if p != nil {
		_ = p.bar.Add(n)
	}
}

// End takes the bar away, also before its end.
func (p *Progress) End() {
	if p != nil {
		_ = p.bar.Finish()
	}
}
