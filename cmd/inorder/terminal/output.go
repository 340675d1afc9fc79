package terminal

import (
	"io"
	"time"
)

// Output is what all of the operator's commands have in common beside their connection: what they print, and at what
// time. A command embeds it.
type Output struct {
	JSON bool `name:"json" help:"Print one JSON object."`

	Now   func() time.Time `kong:"-"` // nil: the wall clock
	Width int              `kong:"-"` // 0: the terminal's
}

// Time is the time now.
func (o *Output) Time() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

// Columns is how wide what goes to a stream may be; 0: as wide as it likes.
func (o *Output) Columns(out io.Writer) int {
	if o.Width > 0 {
		return o.Width
	}
	return Width(out)
}

// Show prints a result, as JSON where that was asked for, otherwise in words.
func (o *Output) Show(out io.Writer, result any, words func(out io.Writer, width int)) error {
	if o.JSON {
		return JSON(out, result)
	}
	words(out, o.Columns(out))
	return nil
}
