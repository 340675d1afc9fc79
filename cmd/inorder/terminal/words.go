// Package terminal is how the operator's commands speak to a person: widths, ages in words, tables that fit, and text of
// strangers that cannot command the terminal.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// Width is that of a terminal in columns, 0 of anything else: there nothing is shortened.
func Width(stream any) int {
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 80
	}
	return columns
}

// Escape shows what a terminal would obey, or not show, as an escape: control characters, marks that turn the direction
// of writing, and bytes that are no UTF-8. Ids and names are strangers' text.
func Escape(text string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch _, size := utf8.DecodeRuneInString(text[i:]); {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case printable(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

func plain(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !printable(r) }) < 0
}

// printable is unicode.IsPrint: letters, marks, digits, signs and the space.
func printable(r rune) bool { return unicode.IsPrint(r) }

// Columns is how wide a text is on a terminal: an East Asian letter takes two, a combining mark none.
func Columns(text string) int { return uniseg.StringWidth(text) }

// Fit cuts a text at a number of columns; 0 leaves it as it is.
func Fit(text string, columns int) string {
	if columns <= 0 || Columns(text) <= columns {
		return text
	}
	var b strings.Builder
	left := columns - 1
	for g := uniseg.NewGraphemes(text); g.Next(); {
		if left -= g.Width(); left < 0 {
			break
		}
		b.WriteString(g.Str())
	}
	return b.String() + "…"
}

// Count is a number with its noun.
func Count[N int | int64](n N, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Times is how often something happened.
func Times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return Count(n, "time")
}

// Age is a length of time in words, in its two largest units.
func Age(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return Count(int64(d/time.Second), "second")
	case d < time.Hour:
		return Count(int64(d/time.Minute), "minute")
	case d < day:
		return two(int64(d/time.Hour), "hour", int64(d%time.Hour/time.Minute), "minute")
	}
	return two(int64(d/day), "day", int64(d%day/time.Hour), "hour")
}

func two(n int64, noun string, rest int64, part string) string {
	if rest == 0 {
		return Count(n, noun)
	}
	return Count(n, noun) + " " + Count(rest, part)
}

// ShortAge is Age for the cells of a table: 2 h 5 min.
func ShortAge(d time.Duration) string { return shorter.Replace(Age(d)) }

// The longer words come first: the replacer takes the first that fits.
var shorter = strings.NewReplacer("seconds", "s", "second", "s", "minutes", "min", "minute", "min", "hours", "h", "hour", "h",
	"days", "d", "day", "d")

// Instant writes a time as UTC in RFC 3339.
func Instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// When is an instant with how long ago it was, or how soon it will be.
func When(t, now time.Time) string { return Instant(t) + ", " + Distance(t, now) }

// Distance is how long ago an instant was, or how soon it will be.
func Distance(t, now time.Time) string {
	if t.After(now) {
		return "in " + Age(t.Sub(now))
	}
	return Age(now.Sub(t)) + " ago"
}

// proseWidth is how wide prose is that goes anywhere but to a terminal, and at most.
const proseWidth = 110

// Wrap prints a sentence over several lines, those after the first under the first one's text.
func Wrap(w io.Writer, prefix, text string, width int) {
	if width <= 0 || width > proseWidth {
		width = proseWidth
	}
	line, indent := prefix, strings.Repeat(" ", Columns(prefix))
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case Columns(line)+1+Columns(word) > width:
			fmt.Fprintln(w, line)
			line = indent
		default:
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, line)
}
