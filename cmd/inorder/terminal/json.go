package terminal

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// JSON prints one object over several lines. Whatever a terminal would obey stands in it as an escape, too: outside of
// strings JSON has nothing that is not printable.
func JSON(w io.Writer, v any) error { return write(w, v, jsontext.WithIndent("  ")) }

// JSONLine prints one object as one line.
func JSONLine(w io.Writer, v any) error { return write(w, v) }

func write(w io.Writer, v any, options ...json.Options) error {
	text, err := json.Marshal(v, append(options, json.Deterministic(true), jsontext.AllowInvalidUTF8(true), json.FormatNilSliceAsNull(false))...)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, escaped(string(text))+"\n")
	return err
}

func escaped(text string) string {
	out := make([]rune, 0, len(text))
	for _, r := range text {
		switch {
		case r == '\n' || printable(r):
			out = append(out, r)
		case r < 0x10000:
			out = append(out, []rune(fmt.Sprintf(`\u%04x`, r))...)
		default: // as JSON has it: two surrogates
			r -= 0x10000
			out = append(out, []rune(fmt.Sprintf(`\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff))...)
		}
	}
	return string(out)
}
